import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { isRecord, type JsonObject, type JsonValue } from "../../src/platform/base/json.ts";
import { poolMetadata } from "../../src/localnet/chain/modules/dex/store.ts";
import { ModuleError, QueryError } from "../../src/localnet/chain/runtime/errors.ts";
import type { ChainEvent } from "../../src/localnet/chain/runtime/context.ts";
import { MsgPlaceLimitOrderResponse } from "../../src/cosmos/proto/gen/neutron/dex/tx.ts";
import { messageFromJson, messageToJson } from "../../src/cosmos/proto/json.ts";
import { allBalances, createDexWorld, type DexWorld } from "./dex-world.ts";
import { type DexAction, DENOMS, USERS } from "./dex-actions.ts";

const NS = 1_000_000_000n;

/** A message that was executed. Exactly one of `response` and `error` is set. */
export interface ExecutedMessage {
  /** Name without `Msg`. */
  readonly name: string;
  readonly json: JsonObject;
  readonly response?: JsonValue;
  /** The encoded response; empty after an error. */
  readonly bytes: Uint8Array;
  readonly events: readonly ChainEvent[];
  readonly error?: ModuleError;
  /** The simulation before the execution: its response or its error. */
  readonly simulated: JsonValue | ModuleError | QueryError;
}

/** A world to which actions are applied. */
export interface DexSequence {
  readonly world: DexWorld;
  readonly timeNs: () => bigint;
  /** Applies an action. Returns undefined for a block, and when there is nothing to withdraw or cancel. */
  readonly apply: (action: DexAction) => ExecutedMessage | undefined;
  readonly execute: (name: string, json: JsonObject) => ExecutedMessage;
  /** Pool shares of an address. */
  readonly sharesOf: (address: string) => readonly (readonly [denom: string, amount: bigint])[];
}

/** Creates a world whose users have coins. */
export function createDexSequence(): DexSequence {
  const world = createDexWorld();
  const coins = DENOMS.map((denom) => ({ denom, amount: 10n ** 30n }));
  for (const address of USERS) world.fund(address, coins);
  let timeNs = 1_790_000_000n * NS;
  const orders: (readonly [owner: string, key: string])[] = [];
  const execute = (name: string, json: JsonObject): ExecutedMessage => {
    const executed = executeOn(world, timeNs, name, json);
    if (name === "PlaceLimitOrder" && executed.error === undefined)
      orders.push([textOf(json["creator"]), MsgPlaceLimitOrderResponse.decode(executed.bytes).trancheKey]);
    return executed;
  };
  const sharesOf: DexSequence["sharesOf"] = (address) =>
    world
      .read(timeNs, allBalances)
      .filter(([owner, denom]) => owner === address && denom.startsWith("neutron/pool/"))
      .map(([, denom, shares]) => [denom, shares] as const);
  return {
    world,
    timeNs: () => timeNs,
    execute,
    sharesOf,
    apply: (each) => {
      if (each.kind === "block") {
        world.run(timeNs, (context) => world.module.endBlock?.(context));
        timeNs += BigInt(each.seconds) * NS;
        world.run(timeNs, (context) => world.module.beginBlock?.(context, { lastCommit: [] }));
        return undefined;
      }
      if (each.kind === "cancel" || each.kind === "withdrawFilled") {
        const [creator, key] = orders[each.pick % Math.max(orders.length, 1)] ?? [];
        if (creator === undefined) return undefined;
        const name = each.kind === "cancel" ? "CancelLimitOrder" : "WithdrawFilledLimitOrder";
        return execute(name, { creator, tranche_key: key ?? "" });
      }
      if (each.kind === "withdraw") {
        const json = withdrawalOf(each, { world, timeNs, shares: sharesOf(each.user) });
        return json === undefined ? undefined : execute("Withdrawal", json);
      }
      const [name, json] = messageOf(each, timeNs);
      return execute(name, json);
    },
  };
}

function messageOf(
  action: Exclude<DexAction, { readonly kind: "block" | "withdraw" | "cancel" | "withdrawFilled" }>,
  timeNs: bigint,
): readonly [name: string, json: JsonObject] {
  const parties = { creator: action.user, receiver: action.user };
  switch (action.kind) {
    case "deposit": {
      const [tokenA, tokenB] = action.pair;
      const { positions } = action;
      return [
        "Deposit",
        {
          ...parties,
          token_a: tokenA,
          token_b: tokenB,
          amounts_a: positions.map(({ a }) => a),
          amounts_b: positions.map(({ b }) => b),
          tick_indexes_a_to_b: positions.map((each) => each.tick),
          fees: positions.map(({ fee }) => fee),
          options: positions.map(({ options }) => options),
        },
      ];
    }
    case "order": {
      const [tokenIn, tokenOut] = action.reversed ? action.pair.toReversed() : action.pair;
      const seconds = Number(timeNs / NS) + action.seconds;
      const isTimed = action.type === "GOOD_TIL_TIME";
      return [
        "PlaceLimitOrder",
        {
          ...parties,
          token_in: tokenIn ?? "",
          token_out: tokenOut ?? "",
          tick_index_in_to_out: action.tick,
          amount_in: action.amount,
          order_type: action.type,
          expiration_time: isTimed ? new Date(seconds * 1000).toISOString() : null,
          max_amount_out: action.type === "FILL_OR_KILL" ? action.maxOut : null,
          min_average_sell_price: action.minAverage,
        },
      ];
    }
    case "swap":
      return [
        "MultiHopSwap",
        {
          ...parties,
          routes: action.routes.map((hops) => ({ hops: [...hops] })),
          amount_in: action.amount,
          exit_limit_price: action.exit,
          pick_best_route: action.best,
        },
      ];
  }
}

interface WithdrawalScope {
  readonly world: DexWorld;
  readonly timeNs: bigint;
  readonly shares: readonly (readonly [denom: string, amount: bigint])[];
}

function withdrawalOf(
  { user: creator, pick, permille }: Extract<DexAction, { readonly kind: "withdraw" }>,
  { world, timeNs, shares }: WithdrawalScope,
): JsonObject | undefined {
  const [denom, owned] = shares[pick % Math.max(shares.length, 1)] ?? [];
  if (denom === undefined || owned === undefined) return undefined;
  const id = BigInt(denom.slice("neutron/pool/".length));
  const metadata = world.read(timeNs, (context) => poolMetadata.get(context, id));
  if (metadata === undefined) throw new Error(`no pool ${id}`);
  const { token0 = "", token1 = "" } = metadata.pairId ?? {};
  return {
    creator,
    receiver: creator,
    token_a: token0,
    token_b: token1,
    shares_to_remove: [((owned * BigInt(permille)) / 1000n + 1n).toString()],
    tick_indexes_a_to_b: [metadata.tick.toString()],
    fees: [metadata.fee.toString()],
  };
}

function executeOn(world: DexWorld, timeNs: bigint, name: string, json: JsonObject): ExecutedMessage {
  const bytes = messageFromJson(`neutron.dex.Msg${name}`, json);
  const simulated = simulate(world, timeNs, name, bytes);
  const handler = world.module.messages.find(({ typeUrl }) => typeUrl === `/neutron.dex.Msg${name}`);
  if (handler === undefined) throw new Error(`no handler of ${name}`);
  try {
    const { result, events } = world.run(timeNs, (context) => handler.handle(context, bytes));
    const response = messageToJson(`neutron.dex.Msg${name}Response`, result.response);
    return { name, json, response, bytes: result.response, events, simulated };
  } catch (error) {
    // Any other exception stops a chain. It must fail the test.
    if (!(error instanceof ModuleError)) throw error;
    return { name, json, error, bytes: new Uint8Array(0), events: [], simulated };
  }
}

function simulate(
  world: DexWorld,
  timeNs: bigint,
  name: string,
  message: Uint8Array,
): JsonValue | ModuleError | QueryError {
  try {
    const request = new BinaryWriter().uint32(10).bytes(message).finish();
    const handler = world.module.queries.find(({ path }) => path === `/neutron.dex.Query/Simulate${name}`);
    if (handler === undefined) throw new Error(`no simulation of ${name}`);
    const bytes = world.read(timeNs, (context) => handler.query(context, request));
    const json = messageToJson(`neutron.dex.QuerySimulate${name}Response`, bytes);
    return isRecord(json) ? (json["resp"] ?? null) : null;
  } catch (error) {
    if (error instanceof ModuleError || error instanceof QueryError) return error;
    throw error;
  }
}

/** Returns a text of a message's JSON. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
