import { QueryAdminsResponse } from "../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/query.ts";
import { MsgExecuteContract } from "../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { GenesisState } from "../../../cosmos/proto/gen/neutron/cron/genesis.ts";
import { Params } from "../../../cosmos/proto/gen/neutron/cron/params.ts";
import * as wire from "../../../cosmos/proto/gen/neutron/cron/query.ts";
import { ExecutionStage, Schedule, ScheduleCount } from "../../../cosmos/proto/gen/neutron/cron/schedule.ts";
import * as tx from "../../../cosmos/proto/gen/neutron/cron/tx.ts";
import { TYPE_URL } from "../../../cosmos/proto/registry.ts";
import { utf8 } from "../../../platform/base/bytes.ts";
import type { JsonField, JsonValue } from "../../../platform/base/json.ts";
import type { ChainParts } from "../../../localnet/chain/module-set.ts";
import { asUintNumber, customMessages } from "../../../localnet/chain/modules/wasm/custom-json.ts";
import type {
  CustomMessageHandler,
  CustomMessageResult,
} from "../../../localnet/chain/modules/wasm/types.ts";
import { formatAddress, moduleAddress } from "../../../localnet/chain/runtime/address.ts";
import type {
  Context,
  ChainModule,
  MessageHandler,
  QueryHandler,
} from "../../../localnet/chain/runtime/context.ts";
import * as errors from "../../../localnet/chain/runtime/errors.ts";
import { atPath, partOr, genesisSchema } from "../../../localnet/chain/runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../../localnet/chain/runtime/handlers.ts";
import { readPage } from "../../../localnet/chain/runtime/pagination.ts";
import { defineParams, type ModuleParams } from "../../../localnet/chain/runtime/params.ts";
import {
  checkUpdate,
  type ParamsModuleOptions,
  requireAddress,
  requireAuthorityAddress,
} from "../../../localnet/chain/runtime/params-module.ts";
import { createItem, createMap, messageCodec, textCodec } from "../../../localnet/chain/store/collections.ts";

/** Name of the module, of its store, and of the account that sends the scheduled messages. */
const MODULE_NAME = "cron";

/** Schedules by name, stored under `0x01 | name`. */
const schedules = createMap(MODULE_NAME, Uint8Array.of(1), textCodec, messageCodec<Schedule>(Schedule));
const count = createItem(MODULE_NAME, Uint8Array.of(3), messageCodec<ScheduleCount>(ScheduleCount));

/**
 * `limit` is the maximum number of schedules that run per block in each stage. The account `security_address` may remove schedules,
 * like the admins.
 */
const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(5),
  type: Params,
  defaults: { securityAddress: "", limit: 5n },
  unset: { securityAddress: "", limit: 0n },
});

/** The `cron` module, with the custom messages that contracts can send. */
export interface CronModule extends ChainModule {
  readonly handleCustomMessage: CustomMessageHandler;
}

type CronDeps = Pick<ChainParts, "findMessage" | "findQuery">;

interface Keepers extends ParamsModuleOptions, CronDeps {}

/** Creates the `cron` module, which calls contracts at fixed block intervals. */
export function createCronModule(options: ParamsModuleOptions, deps: CronDeps): CronModule {
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
    handleCustomMessage: customMessages({
      add_schedule: (context, sender, fields) => addForContract(context, sender, fields, keepers),
      remove_schedule: (context, sender, fields) => removeForContract(context, sender, fields, keepers),
    }),
  };
}

/** Creates the handlers for messages, which only the authority may send. */
function createHandlers(keepers: Keepers): readonly MessageHandler[] {
  return messageHandlers(
    tx.Msg,
    {
      AddSchedule: (context, message) => runAdd(context, message, keepers),
      RemoveSchedule: (context, message) => runRemove(context, message, keepers),
      UpdateParams: moduleParams.update({
        authority: keepers.authority,
        signerError: errors.ErrInvalidRequest,
        check: checkUpdate(keepers.bech32Prefix, ({ securityAddress }) =>
          requireAddress(keepers.bech32Prefix, securityAddress, "security_address is invalid"),
        ),
      }),
    },
    keepers.chainName,
  );
}

function runAdd(context: Context, message: tx.MsgAddSchedule, keepers: Keepers): void {
  const { name, period, msgs, executionStage } = message;
  errors.wrapErrors("failed to validate MsgAddSchedule", () => {
    requireAuthorityAddress(keepers.bech32Prefix, message.authority);
    if (name === "") throw errors.ErrInvalidRequest("name is invalid");
    if (period === 0n) throw errors.ErrInvalidRequest("period is invalid");
    if (msgs.length === 0) throw errors.ErrInvalidRequest("msgs should not be empty");
  });
  requireAuthority(message.authority, keepers);
  errors.wrapErrors("failed to add schedule", () =>
    addSchedule(context, { name, period, msgs, executionStage }),
  );
}

function runRemove(context: Context, message: tx.MsgRemoveSchedule, keepers: Keepers): void {
  errors.wrapErrors("failed to validate MsgRemoveSchedule", () => {
    requireAuthorityAddress(keepers.bech32Prefix, message.authority);
    if (message.name === "") throw errors.ErrInvalidRequest("name is invalid");
  });
  requireAuthority(message.authority, keepers);
  removeSchedule(context, message.name);
}

function requireAuthority(signer: string, { authority }: Keepers): void {
  if (signer !== authority)
    throw errors.ErrInvalidRequest(`invalid authority; expected ${authority}, got ${signer}`);
}

/** Adds a schedule for a contract, which must be an `adminmodule` admin. As in Go, the response is empty. */
function addForContract(
  context: Context,
  sender: string,
  fields: JsonField,
  keepers: Keepers,
): CustomMessageResult {
  if (!isAdmin(context, sender, keepers)) throw errors.ErrUnauthorized("only admin can add schedule");
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
    // As in Go, treat an unknown stage as the end of the block.
    executionStage:
      stage === "EXECUTION_STAGE_BEGIN_BLOCKER"
        ? ExecutionStage.EXECUTION_STAGE_BEGIN_BLOCKER
        : ExecutionStage.EXECUTION_STAGE_END_BLOCKER,
  };
  errors.wrapErrors(`failed to add ${name} schedule`, () => runAdd(context, message, keepers));
  return {};
}

function removeForContract(
  context: Context,
  sender: string,
  fields: JsonField,
  keepers: Keepers,
): CustomMessageResult {
  const { securityAddress } = moduleParams.get(context);
  if (!isAdmin(context, sender, keepers) && sender !== securityAddress)
    throw errors.ErrUnauthorized("only admin or security dao can remove schedule");
  const name = fields.member("name").asText();
  errors.wrapErrors(`failed to remove ${name} schedule`, () =>
    runRemove(context, { authority: keepers.authority, name }, keepers),
  );
  return {};
}

function isAdmin(context: Context, address: string, { findQuery }: Keepers): boolean {
  const handler = findQuery("/cosmos.adminmodule.adminmodule.Query/Admins");
  if (handler === undefined) return false;
  return QueryAdminsResponse.decode(handler.query(context, new Uint8Array(0))).admins.includes(address);
}

/** Adds a schedule that first runs after one period. Throws `ModuleError` if the name is already in use. */
function addSchedule(context: Context, schedule: Omit<Schedule, "lastExecuteHeight">): void {
  const { name } = schedule;
  if (schedules.has(context, name))
    throw errors.unregisteredError(`schedule already exists with name=${name}`);
  schedules.set(context, name, { ...schedule, lastExecuteHeight: context.height });
  changeCount(context, 1);
}

/** Removes the schedule with this name, if the schedule exists. */
function removeSchedule(context: Context, name: string): void {
  if (!schedules.has(context, name)) return;
  changeCount(context, -1);
  schedules.delete(context, name);
}

function changeCount(context: Context, change: number): void {
  count.set(context, { count: (count.get(context)?.count ?? 0) + change });
}

/** Runs schedules that are due in a stage, in name order, up to the limit in the params. */
function runSchedules(context: Context, stage: ExecutionStage, keepers: Keepers): void {
  const { limit } = moduleParams.get(context);
  const due: Schedule[] = [];
  for (const [, schedule] of schedules.entries(context)) {
    if (schedule.executionStage !== stage) continue;
    if (context.height < schedule.lastExecuteHeight + schedule.period) continue;
    due.push(schedule);
    if (BigInt(due.length) >= limit) break;
  }
  for (const schedule of due) runSchedule(context, schedule, keepers);
}

/**
 * Runs a schedule's messages. If a message fails, all writes of the schedule's messages are discarded. Either way, the next run is
 * one period later.
 */
function runSchedule(context: Context, schedule: Schedule, keepers: Keepers): void {
  schedules.set(context, schedule.name, { ...schedule, lastExecuteHeight: context.height });
  const handler = keepers.findMessage(TYPE_URL.executeContract);
  if (handler === undefined) return;
  const sender = formatAddress(keepers.bech32Prefix, moduleAddress(MODULE_NAME));
  try {
    context.atomically((inner) => {
      for (const { contract, msg } of schedule.msgs)
        handler.handle(
          inner,
          MsgExecuteContract.encode({ sender, contract, msg: utf8(msg), funds: [] }).finish(),
        );
    });
  } catch (error) {
    if (!(error instanceof errors.ModuleError)) throw error;
  }
}

function createQueries({ chainName }: ParamsModuleOptions): readonly QueryHandler[] {
  return queryHandlers(
    wire.Query,
    {
      Params: moduleParams.query,
      Schedule: (context, { name }) => {
        const schedule = schedules.get(context, name);
        if (schedule === undefined)
          throw new errors.QueryError(errors.GrpcCode.NotFound, "schedule not found");
        return { schedule };
      },
      Schedules: (context, request) => {
        const range = schedules.range(context);
        const { items, pagination } = readPage(range, request.pagination, (_name, value) =>
          Schedule.decode(value),
        );
        return { schedules: items, pagination };
      },
    },
    chainName,
  );
}

const SCHEMA = genesisSchema(MODULE_NAME, "neutron.cron.GenesisState", GenesisState);

/** Stores schedules and params. As in Go, each period starts at the chain's start. Throws `GenesisError` if a name occurs twice. */
function initGenesis(context: Context, json: JsonValue | undefined): void {
  const state = SCHEMA.read(json);
  for (const [index, schedule] of (state?.scheduleList ?? []).entries())
    atPath(`app_state.${MODULE_NAME}.scheduleList[${index}]`, () => addSchedule(context, schedule));
  moduleParams.set(context, partOr(json, "params", state?.params, moduleParams.defaults));
}

function exportGenesis(context: Context): JsonValue {
  return SCHEMA.print({
    params: moduleParams.get(context),
    scheduleList: [...schedules.entries(context)].map(([, schedule]) => schedule),
  });
}
