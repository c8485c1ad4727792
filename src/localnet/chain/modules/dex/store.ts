import { type Codec, createItemOr, createMap, messageCodec, uint64Codec } from "../../store/collections.ts";
import { concat, prefixEnd, uint64BigEndian, readUint64BigEndian } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import { PoolMetadata } from "../../../../cosmos/proto/gen/neutron/dex/pool_metadata.ts";
import type { KVStore } from "../../store/cache-store.ts";
import * as types from "./types.ts";
import { expirationCodec, recordCodecs } from "./record-codecs.ts";

const { MODULE_NAME } = types;

/** Number of pools ever created, which is the next pool's id. */
export const poolCount = createItemOr(MODULE_NAME, types.POOL_COUNT_KEY, uint64Codec, 0n);
/** Number of tranche keys ever assigned. */
export const trancheCount = createItemOr(MODULE_NAME, types.TRANCHE_COUNT_KEY, uint64Codec, 0n);

/** Pool metadata, keyed by pool id. */
export const poolMetadata = createMap(
  MODULE_NAME,
  types.POOL_METADATA_PREFIX,
  uint64Codec,
  messageCodec(PoolMetadata),
);

export function getReserves(context: Context, key: types.PoolReservesKey): types.PoolReserves | undefined {
  const bytes = context.store(MODULE_NAME).get(types.poolReservesPath(key));
  const record = bytes === undefined ? undefined : recordCodecs(context).tick.decode(bytes);
  return record?.kind === "pool" ? record.reserves : undefined;
}

export function setReserves(context: Context, reserves: types.PoolReserves): void {
  const path = types.poolReservesPath(reserves.key);
  context.store(MODULE_NAME).set(path, recordCodecs(context).tick.encode({ kind: "pool", reserves }));
}

export function deleteReserves(context: Context, key: types.PoolReservesKey): void {
  context.store(MODULE_NAME).delete(types.poolReservesPath(key));
}

export function getActiveTranche(context: Context, key: types.TrancheKey): types.Tranche | undefined {
  return readTranche(context, types.activeTranchePath(key));
}

/** Returns the active tranche that an expiration refers to. */
export function getActiveTrancheByRef(context: Context, ref: Uint8Array): types.Tranche | undefined {
  return readTranche(context, concat(types.TICK_LIQUIDITY_PREFIX, ref));
}

function readTranche(context: Context, path: Uint8Array): types.Tranche | undefined {
  const bytes = context.store(MODULE_NAME).get(path);
  const record = bytes === undefined ? undefined : recordCodecs(context).tick.decode(bytes);
  return record?.kind === "tranche" ? record.tranche : undefined;
}

export function setActiveTranche(context: Context, tranche: types.Tranche): void {
  const path = types.activeTranchePath(tranche.key);
  context.store(MODULE_NAME).set(path, recordCodecs(context).tick.encode({ kind: "tranche", tranche }));
}

export function deleteActiveTranche(context: Context, key: types.TrancheKey): void {
  context.store(MODULE_NAME).delete(types.activeTranchePath(key));
}

/** Iterates over the active tranches at one tick, in byte order of the tranche keys. */
export function* activeTranchesAtTick(
  context: Context,
  tradePairId: types.TradePairId,
  tick: bigint,
): IterableIterator<types.Tranche> {
  for (const record of walkTicks(context, ...types.trancheRange(tradePairId, tick)))
    if (record.kind === "tranche") yield record.tranche;
}

/**
 * Iterates over a snapshot of the records from which a taker can buy, by ascending tick. At the same tick, pools (ordered by fee)
 * come before tranches (ordered by key).
 */
export function ticksOfSide(
  context: Context,
  tradePairId: types.TradePairId,
): IterableIterator<types.TickLiquidity> {
  return walkTicks(context, ...types.sideRange(tradePairId));
}

/** Iterates over all active records in store order. */
export function allTicks(context: Context): IterableIterator<types.TickLiquidity> {
  return walkTicks(context, types.TICK_LIQUIDITY_PREFIX, prefixEnd(types.TICK_LIQUIDITY_PREFIX));
}

function* walkTicks(
  context: Context,
  start: Uint8Array,
  end: Uint8Array | undefined,
): IterableIterator<types.TickLiquidity> {
  const { tick } = recordCodecs(context);
  for (const [, value] of context.store(MODULE_NAME).iterate(start, end)) yield tick.decode(value);
}

/** Reads and writes records whose encoding depends on the chain's profile. */
interface Records<K, V> {
  readonly get: (context: Context, key: K) => V | undefined;
  readonly set: (context: Context, key: K, record: V) => void;
  readonly delete: (context: Context, key: K) => void;
  /** Iterates over all records in store order. */
  readonly all: (context: Context) => IterableIterator<V>;
}

/** Creates the accessors for records under a prefix. `path` returns a record's complete key. */
function createRecords<K, V>(
  prefix: Uint8Array,
  path: (key: K) => Uint8Array,
  codecOf: (context: Context) => Codec<V>,
): Records<K, V> {
  return {
    get: (context, key) => {
      const bytes = context.store(MODULE_NAME).get(path(key));
      return bytes === undefined ? undefined : codecOf(context).decode(bytes);
    },
    set: (context, key, record) => context.store(MODULE_NAME).set(path(key), codecOf(context).encode(record)),
    delete: (context, key) => context.store(MODULE_NAME).delete(path(key)),
    all: function* (context) {
      for (const [, value] of context.store(MODULE_NAME).iterate(prefix, prefixEnd(prefix)))
        yield codecOf(context).decode(value);
    },
  };
}

/** Tranches that were filled, cancelled or have expired, and are therefore no longer on the book. */
export const inactiveTranches = createRecords(
  types.INACTIVE_TRANCHE_PREFIX,
  inactivePath,
  (context) => recordCodecs(context).tranche,
);

function inactivePath(key: types.TrancheKey): Uint8Array {
  return concat(types.INACTIVE_TRANCHE_PREFIX, types.trancheRef(key));
}

/** Users' positions in tranches, keyed by address and tranche key. */
export const trancheUsers = createRecords(
  types.TRANCHE_USER_PREFIX,
  types.trancheUserPath,
  (context) => recordCodecs(context).trancheUser,
);

/** Expirations, ordered by time and, within the same second, by tranche key. Expirations of JIT orders come first. */
export const expirations = createRecords(types.EXPIRATION_PREFIX, expirationPath, () => expirationCodec);

export function setExpiration(context: Context, expiration: types.Expiration): void {
  expirations.set(context, expiration, expiration);
}

function expirationPath({ timeNs, trancheRef }: types.Expiration): Uint8Array {
  return concat(types.EXPIRATION_PREFIX, types.expirationKey(timeNs, trancheRef));
}

/** Returns a pool's id, or undefined if the pool was never created. */
export function getPoolId(context: Context, key: types.PoolKey): bigint | undefined {
  const bytes = context.store(MODULE_NAME).get(types.poolPlace(key).idPath);
  return bytes === undefined ? undefined : uint64Codec.decode(bytes);
}

/** Writes a pool's metadata and adds its id to the index. */
export function setPoolMetadata(context: Context, metadata: PoolMetadata): void {
  const { id, tick, fee, pairId } = metadata;
  poolMetadata.set(context, id, metadata);
  const { idPath } = types.poolPlace({ pairId: pairId ?? types.NO_PAIR, tick, fee });
  context.store(MODULE_NAME).set(idPath, uint64Codec.encode(id));
}

/**
 * Assigns a tranche key. The specification's keys (`t||N`) have the same length and sort order as the deployed module's keys
 * (`tk-N`). As in Go, the tranche count is read twice, because each read consumes gas.
 */
export function nextTrancheKey(context: Context): string {
  const count = trancheCount.get(context);
  trancheCount.set(context, trancheCount.get(context) + 1n);
  return context.profile.deployed("dexTrancheKeys") ? `tk-${count}` : `t||${count}`;
}

// Gas costs of the SDK's transient store, in which the deployed module counts the block's JIT orders.
const TRANSIENT_READ_COST = 100;
const TRANSIENT_WRITE_COST_FLAT = 200;
const TRANSIENT_WRITE_COST_PER_BYTE = 3;

/** Returns the number of JIT orders placed in this block. */
export function getJitsInBlock(context: Context): bigint {
  context.gas.charge(TRANSIENT_READ_COST, "ReadFlat");
  const bytes = withoutGas(context).get(types.JITS_IN_BLOCK_KEY);
  return bytes === undefined ? 0n : readUint64BigEndian(bytes);
}

export function setJitsInBlock(context: Context, count: bigint): void {
  const value = uint64BigEndian(count);
  context.gas.charge(TRANSIENT_WRITE_COST_FLAT, "WriteFlat");
  const bytes = types.JITS_IN_BLOCK_KEY.length + value.length;
  context.gas.charge(TRANSIENT_WRITE_COST_PER_BYTE * bytes, "WritePerByte");
  withoutGas(context).set(types.JITS_IN_BLOCK_KEY, value);
}

function withoutGas(context: Context): KVStore {
  return context.withGas(createGasMeter()).store(MODULE_NAME);
}

export function clearJitsInBlock(context: Context): void {
  context.store(MODULE_NAME).delete(types.JITS_IN_BLOCK_KEY);
}
