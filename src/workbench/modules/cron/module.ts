import { QueryAdminsResponse } from "../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/query.ts";
import { GenesisState } from "../../../cosmos/proto/gen/neutron/cron/genesis.ts";
import * as wire from "../../../cosmos/proto/gen/neutron/cron/query.ts";
import { ExecutionStage, Schedule } from "../../../cosmos/proto/gen/neutron/cron/schedule.ts";
import * as tx from "../../../cosmos/proto/gen/neutron/cron/tx.ts";
import { isRecord, type JsonField, type JsonValue } from "../../../platform/base/json.ts";
import { parseAddress } from "../../../localnet/chain/runtime/address.ts";
import type { Context } from "../../../localnet/chain/runtime/context.ts";
import {
  ErrInvalidRequest,
  ErrUnauthorized,
  GrpcCode,
  QueryError,
  unregisteredError,
  wrapErrors,
  orThrow,
} from "../../../localnet/chain/runtime/errors.ts";
import {
  atPath,
  type GenesisSchema,
  partOr,
  printGenesis,
  readGenesis,
} from "../../../localnet/chain/runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import type { ChainModule, MessageHandler, QueryHandler } from "../../../localnet/chain/runtime/module.ts";
import { paginate } from "../../../localnet/chain/runtime/pagination.ts";
import { checkUpdate } from "../../../localnet/chain/runtime/params-module.ts";
import { asUintNumber, customFields } from "../../../localnet/chain/modules/wasm/custom-json.ts";
import type { CustomMessageResult } from "../../../localnet/chain/modules/wasm/types.ts";
import {
  addSchedule,
  type CronDeps,
  type CronOptions,
  type Keepers,
  MODULE_NAME,
  moduleParams,
  removeSchedule,
  runSchedules,
  schedules,
  SCHEDULES_PREFIX,
} from "./schedules.ts";

/** The module and its custom messages for contracts. */
export interface CronModule extends ChainModule {
  /** Runs a contract's custom message for this module. Returns undefined for any other message. */
  readonly handleCustomMessage: (
    context: Context,
    sender: string,
    message: unknown,
  ) => CustomMessageResult | undefined;
}

/** Creates the `cron` module, which calls contracts at intervals given in blocks. */
export function createCronModule(options: CronOptions, deps: CronDeps): CronModule {
  const keepers: Keepers = { ...options, ...deps };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(keepers),
    queries: createQueries(options),
    beginBlock: (context) => runSchedules(context, ExecutionStage.EXECUTION_STAGE_BEGIN_BLOCKER, keepers),
    endBlock: (context) => runSchedules(context, ExecutionStage.EXECUTION_STAGE_END_BLOCKER, keepers),
    initGenesis,
    exportGenesis,
    handleCustomMessage: (context, sender, message) => handleCustomMessage(context, sender, message, keepers),
  };
}

/** Only the authority may send these messages. */
function createHandlers(keepers: Keepers): readonly MessageHandler[] {
  return messageHandlers(
    tx.Msg,
    {
      AddSchedule: (context, message) => runAdd(context, message, keepers),
      RemoveSchedule: (context, message) => runRemove(context, message, keepers),
      UpdateParams: moduleParams.update({
        authority: keepers.authority,
        signerError: ErrInvalidRequest,
        check: checkUpdate(keepers.bech32Prefix, ({ securityAddress }) =>
          requireAddress("security_address", securityAddress, keepers),
        ),
      }),
    },
    keepers.chainName,
  );
}

function runAdd(context: Context, message: tx.MsgAddSchedule, keepers: Keepers): void {
  const { name, period, msgs, executionStage } = message;
  wrapErrors("failed to validate MsgAddSchedule", () => {
    requireAddress("authority", message.authority, keepers);
    if (name === "") throw ErrInvalidRequest("name is invalid");
    if (period === 0n) throw ErrInvalidRequest("period is invalid");
    if (msgs.length === 0) throw ErrInvalidRequest("msgs should not be empty");
  });
  requireAuthority(message.authority, keepers);
  wrapErrors("failed to add schedule", () => addSchedule(context, { name, period, msgs, executionStage }));
}

function runRemove(context: Context, message: tx.MsgRemoveSchedule, keepers: Keepers): void {
  wrapErrors("failed to validate MsgRemoveSchedule", () => {
    requireAddress("authority", message.authority, keepers);
    if (message.name === "") throw ErrInvalidRequest("name is invalid");
  });
  requireAuthority(message.authority, keepers);
  removeSchedule(context, message.name);
}

function requireAddress(field: string, text: string, { bech32Prefix }: Keepers): void {
  orThrow(
    () => parseAddress(bech32Prefix, text),
    (reason) => unregisteredError(`${field} is invalid: ${reason}`),
  );
}

function requireAuthority(signer: string, { authority }: Keepers): void {
  if (signer !== authority)
    throw ErrInvalidRequest(`invalid authority; expected ${authority}, got ${signer}`);
}

/** Runs a contract's `add_schedule` or `remove_schedule`, only for admins of the admin module. As in Go, there is no response. */
function handleCustomMessage(
  context: Context,
  sender: string,
  message: unknown,
  keepers: Keepers,
): CustomMessageResult | undefined {
  if (!isRecord(message)) return undefined;
  const { add_schedule: add, remove_schedule: remove } = message;
  if (isRecord(add)) addForContract(context, sender, customFields(add), keepers);
  else if (isRecord(remove)) removeForContract(context, sender, customFields(remove), keepers);
  else return undefined;
  return {};
}

function addForContract(context: Context, sender: string, fields: JsonField, keepers: Keepers): void {
  if (!isAdmin(context, sender, keepers)) throw ErrUnauthorized("only admin can add schedule");
  const name = fields.member("name").asText();
  const stage = fields.member("execution_stage").asText();
  const message = {
    authority: keepers.authority,
    name,
    period: asUintNumber(fields.member("period")),
    msgs: fields
      .member("msgs")
      .elements()
      .map((each) => ({ contract: each.member("contract").asText(), msg: each.member("msg").asText() })),
    // As in Go, an unknown stage means the end of a block.
    executionStage:
      stage === "EXECUTION_STAGE_BEGIN_BLOCKER"
        ? ExecutionStage.EXECUTION_STAGE_BEGIN_BLOCKER
        : ExecutionStage.EXECUTION_STAGE_END_BLOCKER,
  };
  wrapErrors(`failed to add ${name} schedule`, () => runAdd(context, message, keepers));
}

function removeForContract(context: Context, sender: string, fields: JsonField, keepers: Keepers): void {
  const { securityAddress } = moduleParams.get(context);
  if (!isAdmin(context, sender, keepers) && sender !== securityAddress)
    throw ErrUnauthorized("only admin or security dao can remove schedule");
  const name = fields.member("name").asText();
  wrapErrors(`failed to remove ${name} schedule`, () =>
    runRemove(context, { authority: keepers.authority, name }, keepers),
  );
}

function isAdmin(context: Context, address: string, { findQuery }: Keepers): boolean {
  const handler = findQuery("/cosmos.adminmodule.adminmodule.Query/Admins");
  if (handler === undefined) return false;
  return QueryAdminsResponse.decode(handler.query(context, new Uint8Array(0))).admins.includes(address);
}

function createQueries({ chainName }: CronOptions): readonly QueryHandler[] {
  return queryHandlers(
    wire.Query,
    {
      Params: moduleParams.query,
      Schedule: (context, { name }) => {
        const schedule = schedules.get(context, name);
        if (schedule === undefined) throw new QueryError(GrpcCode.NotFound, "schedule not found");
        return { schedule };
      },
      Schedules: (context, request) => {
        const page: Schedule[] = [];
        const paged = { store: context.store(MODULE_NAME), prefix: SCHEDULES_PREFIX };
        const pagination = paginate(paged, request.pagination, (_name, value) =>
          page.push(Schedule.decode(value)),
        );
        return { schedules: page, pagination };
      },
    },
    chainName,
  );
}

const SCHEMA: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "neutron.cron.GenesisState",
  type: GenesisState,
};

/** As in Go, the schedules' periods begin when the chain starts. Throws `GenesisError` if a name occurs twice. */
function initGenesis(context: Context, json: JsonValue | undefined): void {
  const state = readGenesis(SCHEMA, json);
  for (const [index, schedule] of (state?.scheduleList ?? []).entries())
    atPath(`app_state.${MODULE_NAME}.scheduleList[${index}]`, () => addSchedule(context, schedule));
  moduleParams.set(context, partOr(json, "params", state?.params, moduleParams.defaults));
}

function exportGenesis(context: Context): JsonValue {
  return printGenesis(SCHEMA, {
    params: moduleParams.get(context),
    scheduleList: [...schedules.entries(context)].map(([, schedule]) => schedule),
  });
}
