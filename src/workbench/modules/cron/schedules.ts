import { MsgExecuteContract } from "../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { Params } from "../../../cosmos/proto/gen/neutron/cron/params.ts";
import {
  type ExecutionStage,
  Schedule,
  ScheduleCount,
} from "../../../cosmos/proto/gen/neutron/cron/schedule.ts";
import { TYPE_URL } from "../../../cosmos/proto/registry.ts";
import { utf8 } from "../../../platform/base/bytes.ts";
import { formatAddress, moduleAddress } from "../../../localnet/chain/runtime/address.ts";
import type { Context } from "../../../localnet/chain/runtime/context.ts";
import { ModuleError, unregisteredError } from "../../../localnet/chain/runtime/errors.ts";
import type { MessageHandler, QueryHandler } from "../../../localnet/chain/runtime/module.ts";
import { defineParams, type ModuleParams } from "../../../localnet/chain/runtime/params.ts";
import { createItem, createMap, messageCodec, textCodec } from "../../../localnet/chain/store/collections.ts";

/** Name of the module and its store. The module account sends the scheduled messages. */
export const MODULE_NAME = "cron";

/** Schedules by name: `0x01 | name`. */
export const SCHEDULES_PREFIX = Uint8Array.of(1);
export const schedules = createMap(
  MODULE_NAME,
  SCHEDULES_PREFIX,
  textCodec,
  messageCodec<Schedule>(Schedule),
);
const count = createItem(MODULE_NAME, Uint8Array.of(3), messageCodec<ScheduleCount>(ScheduleCount));

/**
 * `limit`: maximum number of schedules that a block runs in each stage. `security_address`: an account besides the admins that may
 * remove schedules.
 */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(5),
  type: Params,
  defaults: { securityAddress: "", limit: 5n },
  unset: { securityAddress: "", limit: 0n },
});

export interface CronOptions {
  readonly chainName: string;
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change schedules and params. */
  readonly authority: string;
}

export interface CronDeps {
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
  readonly findQuery: (path: string) => QueryHandler | undefined;
}

export interface Keepers extends CronOptions, CronDeps {}

/** Adds a schedule that first runs after one period. Throws `ModuleError` if the name exists. */
export function addSchedule(context: Context, schedule: Omit<Schedule, "lastExecuteHeight">): void {
  const { name } = schedule;
  if (schedules.has(context, name)) throw unregisteredError(`schedule already exists with name=${name}`);
  schedules.set(context, name, { ...schedule, lastExecuteHeight: context.height });
  changeCount(context, 1);
}

/** Removes a schedule. An unknown name is not an error. */
export function removeSchedule(context: Context, name: string): void {
  if (!schedules.has(context, name)) return;
  changeCount(context, -1);
  schedules.delete(context, name);
}

function changeCount(context: Context, change: number): void {
  count.set(context, { count: (count.get(context)?.count ?? 0) + change });
}

/** Runs a stage's due schedules in name order, up to the limit in the params. */
export function runSchedules(context: Context, stage: ExecutionStage, keepers: Keepers): void {
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

/** If a message fails, drops its schedule's writes. In any case, the schedule runs again after its period. */
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
    if (!(error instanceof ModuleError)) throw error;
  }
}
