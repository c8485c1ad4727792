import * as types from "./types.ts";
import { toHex } from "../../../../platform/base/bytes.ts";
import { isRecord, type JsonValue } from "../../../../platform/base/json.ts";
import type { DepositRecord } from "../../../../cosmos/proto/gen/neutron/dex/deposit_record.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/neutron/dex/genesis.ts";
import type { Params } from "../../../../cosmos/proto/gen/neutron/dex/params.ts";
import { type Context, createContext } from "../../runtime/context.ts";
import { GenesisError, genesisSchema, partOr } from "../../runtime/genesis.ts";
import { ModuleError } from "../../runtime/errors.ts";
import { moduleParams, validateParams } from "./params.ts";
import { getPool } from "./pool.ts";
import * as records from "./records.ts";
import * as store from "./store.ts";
import { toDepositRecord } from "./queries.ts";
import { parseAddress, formatAddress, moduleAddress } from "../../runtime/address.ts";
import type { MsgDeposit, MsgPlaceLimitOrder } from "../../../../cosmos/proto/gen/neutron/dex/tx.ts";
import { type Profile, SPECIFICATION } from "../../deviations/deviations.ts";
import type { Coin } from "../../runtime/coins.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import { createBranch, type KVStore } from "../../store/cache-store.ts";
import { deposit } from "./liquidity.ts";
import { parseDeposit, parsePlaceLimitOrder } from "./messages.ts";
import { placeLimitOrder } from "./limit-orders.ts";

const SCHEMA = genesisSchema(types.MODULE_NAME, "neutron.dex.GenesisState", GenesisState);

/**
 * Reads the module's genesis. Uses the default parameters if the genesis or its `params` are missing. If an active tranche's
 * expiration is missing from `limit_order_expiration_list`, creates the expiration. Ignores `deposit_record_list` and `pool_list`,
 * because both can be derived from the balances and the other lists. Throws `GenesisError`.
 */
export function initGenesis(context: Context, json: JsonValue | undefined, bech32Prefix: string): void {
  const state = SCHEMA.read(json, context.profile.proto) ?? GenesisState.decode(new Uint8Array(0));
  const params = partOr(json, "params", state.params, moduleParams.defaults);
  const ticks = readTicks(state);
  validate(params, ticks, state, bech32Prefix);
  store.poolCount.set(context, state.poolCount);
  // Do not store 0, because the deployed chain's genesis has no tranche count and reading a missing count consumes less gas.
  if (state.trancheCount > 0n) store.trancheCount.set(context, state.trancheCount);
  moduleParams.set(context, params);
  for (const tick of ticks) initTick(context, tick);
  for (const tranche of state.inactiveLimitOrderTrancheList.map(records.fromWireTranche))
    store.inactiveTranches.set(context, tranche.key, tranche);
  for (const user of state.limitOrderTrancheUserList.map(records.fromWireTrancheUser))
    store.trancheUsers.set(context, user, user);
  for (const metadata of state.poolMetadataList) store.setPoolMetadata(context, metadata);
  for (const { expirationTime, trancheRef: ref } of state.limitOrderExpirationList) {
    const timeNs = records.timestampNs(expirationTime ?? { seconds: 0n, nanos: 0 });
    store.setExpiration(context, { timeNs, trancheRef: ref });
  }
}

function readTicks({ tickLiquidityList }: GenesisState): readonly types.TickLiquidity[] {
  return tickLiquidityList.map((tick, index) => {
    if (tick.record !== undefined) return records.fromWireTick(tick);
    throw failure(`tick_liquidity_list[${index}]: expected liquidity or limit_order_tranche`);
  });
}

function initTick(context: Context, tick: types.TickLiquidity): void {
  if (tick.kind === "pool") return store.setReserves(context, tick.reserves);
  const { key, expirationTimeNs } = tick.tranche;
  store.setActiveTranche(context, tick.tranche);
  if (expirationTimeNs !== undefined)
    store.setExpiration(context, { timeNs: expirationTimeNs, trancheRef: types.trancheRef(key) });
}

/** Validates a genesis state with the checks and error texts of x/dex, in the same order. Throws `GenesisError`. */
function validate(
  params: Params,
  ticks: readonly types.TickLiquidity[],
  state: GenesisState,
  bech32Prefix: string,
): void {
  const users = state.limitOrderTrancheUserList.map(({ address, trancheKey }) =>
    types.trancheUserKey(address, trancheKey),
  );
  requireUnique(users.map(toHex), "duplicated index for LimitOrderTrancheUser");
  requireUnique(ticks.map(keyOfTick), "duplicated index for tickLiquidity");
  const inactive = state.inactiveLimitOrderTrancheList.map((tranche) =>
    toHex(types.trancheRef(records.fromWireTranche(tranche).key)),
  );
  requireUnique(inactive, "duplicated index for inactiveLimitOrderTranche");
  const ids = new Set<bigint>();
  for (const { id } of state.poolMetadataList) {
    if (ids.has(id)) throw failure("duplicated id for poolMetadata");
    if (id >= state.poolCount) throw failure("poolMetadata id should be lower or equal than the last id");
    ids.add(id);
  }
  try {
    validateParams(params, bech32Prefix);
  } catch (thrown) {
    throw thrown instanceof ModuleError ? failure(thrown.message, thrown) : thrown;
  }
}

function keyOfTick(tick: types.TickLiquidity): string {
  return toHex(
    tick.kind === "pool" ? types.poolReservesKey(tick.reserves.key) : types.trancheRef(tick.tranche.key),
  );
}

function requireUnique(keys: readonly string[], text: string): void {
  if (new Set(keys).size !== keys.length) throw failure(text);
}

function failure(text: string, cause?: unknown): GenesisError {
  return new GenesisError(`app_state.${types.MODULE_NAME}`, text, cause);
}

/** Exports the module's entire state, from which {@link initGenesis} restores an identical store. */
export function exportGenesis(context: Context, bank: Pick<types.DexBank, "balance" | "holders">): JsonValue {
  const poolMetadataList = store.poolMetadata.values(context);
  const state: GenesisState = {
    params: moduleParams.get(context),
    tickLiquidityList: [...store.allTicks(context)].map(records.toWireTick),
    inactiveLimitOrderTrancheList: [...store.inactiveTranches.all(context)].map(records.toWireTranche),
    limitOrderTrancheUserList: [...store.trancheUsers.all(context)].map(records.toWireTrancheUser),
    limitOrderExpirationList: [...store.expirations.all(context)].map(records.toWireExpiration),
    poolMetadataList,
    depositRecordList: poolMetadataList.flatMap(({ id }) => depositsInto(context, id, bank)),
    poolList: poolMetadataList.flatMap(({ pairId = types.NO_PAIR, tick, fee }) => {
      const pool = getPool(context, { pairId, tick, fee });
      return pool === undefined ? [] : [records.toWirePool(pool)];
    }),
    poolCount: store.poolCount.get(context),
    trancheCount: store.trancheCount.get(context),
  };
  const json = SCHEMA.print(state, context.profile.proto);
  if (!context.profile.deployed("dexGenesis") || !isRecord(json)) return json;
  return Object.fromEntries(Object.entries(json).filter(([name]) => !NOT_DEPLOYED.includes(name)));
}

/** Genesis fields that the deployed module does not have. The values of these fields can be derived from the other fields. */
const NOT_DEPLOYED = ["limit_order_expiration_list", "deposit_record_list", "pool_list"];

/** Returns a deposit record for each holder of a pool's shares, in address order. */
function depositsInto(
  context: Context,
  id: bigint,
  bank: Pick<types.DexBank, "balance" | "holders">,
): readonly DepositRecord[] {
  const denom = types.poolDenom(id);
  return Array.from(bank.holders(context, denom), (address) =>
    toDepositRecord(context, id, bank.balance(context, address, denom).amount),
  );
}

interface SeedBalance {
  /** Bech32 address. */
  readonly address: string;
  readonly coins: readonly Coin[];
}

/** Options of {@link seedDex}, such as the initial balances and the messages to run before the first block. */
interface SeedOptions extends types.DexOptions {
  /** Block time at which the messages run. */
  readonly timeNs: bigint;
  /** The chain's profile. Default: `specification`. */
  readonly profile?: Profile;
  readonly balances: readonly SeedBalance[];
  readonly deposits: readonly MsgDeposit[];
  readonly orders: readonly MsgPlaceLimitOrder[];
}

/** The module's genesis state and all balances, including the module account's, after the messages have run. */
export interface SeededDex {
  readonly genesis: JsonValue;
  readonly balances: readonly SeedBalance[];
}

/** Creates a genesis state by running messages on an empty state. Throws `ModuleError` if a message fails. */
export function seedDex(options: SeedOptions): SeededDex {
  const { timeNs, bech32Prefix, profile = SPECIFICATION } = options;
  const context = createContext(
    { chainId: "", height: 0n, timeNs, profile },
    { mode: "deliver", gas: createGasMeter(), branch: createBranch(() => EMPTY), emit: () => undefined },
  );
  const ledger = createLedger(options);
  const keepers = { ...options, bank: ledger.bank };
  initGenesis(context, undefined, bech32Prefix);
  for (const message of options.deposits) deposit(context, parseDeposit(message, bech32Prefix), keepers);
  for (const message of options.orders)
    placeLimitOrder(context, parsePlaceLimitOrder(message, bech32Prefix), keepers);
  const balances = ledger.balances();
  return { genesis: exportGenesis(context, ledger.bank), balances };
}

const EMPTY: KVStore = {
  get: () => undefined,
  has: () => false,
  set: () => undefined,
  delete: () => undefined,
  iterate: () => [][Symbol.iterator](),
  iterateReverse: () => [][Symbol.iterator](),
};

interface Ledger {
  readonly bank: types.DexBank;
  /** Returns the balances, ordered by address and then by denomination. */
  readonly balances: () => readonly SeedBalance[];
}

function createLedger({ bech32Prefix, balances }: SeedOptions): Ledger {
  const amounts = new Map<string, Map<string, bigint>>();
  const add = (address: string, coins: readonly Coin[], sign: 1n | -1n): void => {
    const own = amounts.get(address) ?? new Map<string, bigint>();
    amounts.set(address, own);
    for (const { denom, amount } of coins) {
      const after = (own.get(denom) ?? 0n) + sign * amount;
      if (after < 0n) throw new Error(`${address} has too few ${denom}`);
      own.set(denom, after);
    }
  };
  const coinsOf = (address: string): readonly Coin[] =>
    sorted(amounts.get(address) ?? new Map<string, bigint>()).flatMap(([denom, amount]) =>
      amount > 0n ? [{ denom, amount }] : [],
    );
  const text = (address: Uint8Array): string => formatAddress(bech32Prefix, address);
  const own = text(moduleAddress(types.MODULE_NAME));
  const sum = (denom: string): bigint =>
    [...amounts.values()].reduce((total, coins) => total + (coins.get(denom) ?? 0n), 0n);
  for (const { address, coins } of balances) add(address, coins, 1n);
  return {
    bank: {
      balance: (_context, address, denom) => ({
        denom,
        amount: amounts.get(text(address))?.get(denom) ?? 0n,
      }),
      holders: (_context, denom) =>
        sorted(amounts)
          .flatMap(([address, coins]) =>
            (coins.get(denom) ?? 0n) > 0n ? [parseAddress(bech32Prefix, address)] : [],
          )
          .values(),
      balances: (_context, address) => coinsOf(text(address)).values(),
      supply: (_context, denom) => sum(denom),
      sendToModule: (_context, from, _module, coins) => {
        add(text(from), coins, -1n);
        add(own, coins, 1n);
      },
      sendFromModule: (_context, _module, to, coins) => {
        add(own, coins, -1n);
        add(text(to), coins, 1n);
      },
      mint: (_context, _module, coins) => add(own, coins, 1n),
      burn: (_context, _module, coins) => add(own, coins, -1n),
    },
    balances: () => sorted(amounts).map(([address]) => ({ address, coins: coinsOf(address) })),
  };
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
