import { concat, prefixEnd, uint64BigEndian, readUint64BigEndian } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import { createItem, createMap, messageCodec, uint64Codec } from "../../store/collections.ts";
import { PoolMetadata } from "../../../../cosmos/proto/gen/neutron/dex/pool_metadata.ts";
import type { KVStore } from "../../store/kv-store.ts";
import * as keys from "./keys.ts";
import { expirationCodec, recordCodecs } from "./record-codecs.ts";
import type {
  Expiration,
  PoolKey,
  PoolReserves,
  PoolReservesKey,
  TickLiquidity,
  TradePairId,
  Tranche,
  TrancheKey,
  TrancheUser,
} from "./types.ts";

const { MODULE_NAME } = keys;

/** Number of pools ever created. */
const poolCountItem = createItem(MODULE_NAME, keys.POOL_COUNT_KEY, uint64Codec);
/** Number of tranche keys ever assigned. */
const trancheCountItem = createItem(MODULE_NAME, keys.TRANCHE_COUNT_KEY, uint64Codec);

/** Metadata of all pools, by id. */
export const poolMetadata = createMap(
  MODULE_NAME,
  keys.POOL_METADATA_PREFIX,
  uint64Codec,
  messageCodec(PoolMetadata),
);

/** Returns one side of a pool. */
export function getReserves(context: Context, key: PoolReservesKey): PoolReserves | undefined {
  const bytes = context.store(MODULE_NAME).get(keys.poolReservesPath(key));
  const record = bytes === undefined ? undefined : recordCodecs(context).tick.decode(bytes);
  return record?.kind === "pool" ? record.reserves : undefined;
}

/** Writes one side of a pool. */
export function setReserves(context: Context, reserves: PoolReserves): void {
  const path = keys.poolReservesPath(reserves.key);
  context.store(MODULE_NAME).set(path, recordCodecs(context).tick.encode({ kind: "pool", reserves }));
}

/** Deletes one side of a pool. */
export function deleteReserves(context: Context, key: PoolReservesKey): void {
  context.store(MODULE_NAME).delete(keys.poolReservesPath(key));
}

/** Returns an active tranche. */
export function getActiveTranche(context: Context, key: TrancheKey): Tranche | undefined {
  return readTranche(context, keys.activeTranchePath(key));
}

/** Returns the active tranche that an expiration refers to. */
export function getActiveTrancheByRef(context: Context, ref: Uint8Array): Tranche | undefined {
  return readTranche(context, concat(keys.TICK_LIQUIDITY_PREFIX, ref));
}

function readTranche(context: Context, path: Uint8Array): Tranche | undefined {
  const bytes = context.store(MODULE_NAME).get(path);
  const record = bytes === undefined ? undefined : recordCodecs(context).tick.decode(bytes);
  return record?.kind === "tranche" ? record.tranche : undefined;
}

/** Writes an active tranche. */
export function setActiveTranche(context: Context, tranche: Tranche): void {
  const path = keys.activeTranchePath(tranche.key);
  context.store(MODULE_NAME).set(path, recordCodecs(context).tick.encode({ kind: "tranche", tranche }));
}

/** Deletes an active tranche. */
export function deleteActiveTranche(context: Context, key: TrancheKey): void {
  context.store(MODULE_NAME).delete(keys.activeTranchePath(key));
}

/** Iterates over a tick's active tranches in the byte order of their keys. */
export function* activeTranchesAtTick(
  context: Context,
  tradePairId: TradePairId,
  tick: bigint,
): IterableIterator<Tranche> {
  for (const record of walkTicks(context, ...keys.trancheRange(tradePairId, tick)))
    if (record.kind === "tranche") yield record.tranche;
}

/** Iterates over a snapshot of the records that a taker meets: by ascending tick, pools (by fee) before tranches (by key). */
export function ticksOfSide(context: Context, tradePairId: TradePairId): IterableIterator<TickLiquidity> {
  return walkTicks(context, ...keys.sideRange(tradePairId));
}

/** Iterates over all active records in store order. */
export function allTicks(context: Context): IterableIterator<TickLiquidity> {
  return walkTicks(context, keys.TICK_LIQUIDITY_PREFIX, prefixEnd(keys.TICK_LIQUIDITY_PREFIX));
}

function* walkTicks(
  context: Context,
  start: Uint8Array,
  end: Uint8Array | undefined,
): IterableIterator<TickLiquidity> {
  const { tick } = recordCodecs(context);
  for (const [, value] of context.store(MODULE_NAME).iterate(start, end)) yield tick.decode(value);
}

/** Returns a filled, cancelled or expired tranche. */
export function getInactiveTranche(context: Context, key: TrancheKey): Tranche | undefined {
  const bytes = context.store(MODULE_NAME).get(inactivePath(key));
  return bytes === undefined ? undefined : recordCodecs(context).tranche.decode(bytes);
}

/** Writes an inactive tranche. */
export function setInactiveTranche(context: Context, tranche: Tranche): void {
  context.store(MODULE_NAME).set(inactivePath(tranche.key), recordCodecs(context).tranche.encode(tranche));
}

/** Deletes an inactive tranche. */
export function deleteInactiveTranche(context: Context, key: TrancheKey): void {
  context.store(MODULE_NAME).delete(inactivePath(key));
}

/** Iterates over all inactive tranches in store order. */
export function* allInactiveTranches(context: Context): IterableIterator<Tranche> {
  const start = keys.INACTIVE_TRANCHE_PREFIX;
  for (const [, value] of context.store(MODULE_NAME).iterate(start, prefixEnd(start)))
    yield recordCodecs(context).tranche.decode(value);
}

function inactivePath(key: TrancheKey): Uint8Array {
  return concat(keys.INACTIVE_TRANCHE_PREFIX, keys.trancheRef(key));
}

/** Returns a user's part of a tranche. */
export function getTrancheUser(
  context: Context,
  address: string,
  trancheKey: string,
): TrancheUser | undefined {
  const bytes = context.store(MODULE_NAME).get(keys.trancheUserPath(address, trancheKey));
  return bytes === undefined ? undefined : recordCodecs(context).trancheUser.decode(bytes);
}

/** Writes a user's part of a tranche. */
export function setTrancheUser(context: Context, user: TrancheUser): void {
  const path = keys.trancheUserPath(user.address, user.trancheKey);
  context.store(MODULE_NAME).set(path, recordCodecs(context).trancheUser.encode(user));
}

/** Deletes a user's part of a tranche. */
export function deleteTrancheUser(context: Context, user: TrancheUser): void {
  context.store(MODULE_NAME).delete(keys.trancheUserPath(user.address, user.trancheKey));
}

/** Iterates over all tranche parts, or over one address's parts, in store order. */
export function* trancheUsers(context: Context, address?: string): IterableIterator<TrancheUser> {
  const within = address === undefined ? new Uint8Array(0) : keys.trancheUserPrefix(address);
  const start = concat(keys.TRANCHE_USER_PREFIX, within);
  for (const [, value] of context.store(MODULE_NAME).iterate(start, prefixEnd(start)))
    yield recordCodecs(context).trancheUser.decode(value);
}

/** Writes an expiration. */
export function setExpiration(context: Context, expiration: Expiration): void {
  context.store(MODULE_NAME).set(expirationPath(expiration), expirationCodec.encode(expiration));
}

/** Deletes an expiration. */
export function deleteExpiration(context: Context, expiration: Expiration): void {
  context.store(MODULE_NAME).delete(expirationPath(expiration));
}

/** Iterates over the expirations by time and, within the same second, by tranche key. JIT orders come first. */
export function* expirations(context: Context): IterableIterator<Expiration> {
  const start = keys.EXPIRATION_PREFIX;
  for (const [, value] of context.store(MODULE_NAME).iterate(start, prefixEnd(start)))
    yield expirationCodec.decode(value);
}

function expirationPath({ timeNs, trancheRef }: Expiration): Uint8Array {
  return concat(keys.EXPIRATION_PREFIX, keys.expirationKey(timeNs, trancheRef));
}

/** Returns the number of pools ever created, which is the next pool's id. */
export function getPoolCount(context: Context): bigint {
  return poolCountItem.get(context) ?? 0n;
}

/** Counts a new pool. Go reads the count a second time before increasing it, and both reads consume gas. */
export function incrementPoolCount(context: Context): void {
  setPoolCount(context, getPoolCount(context) + 1n);
}

/** Writes the number of pools ever created. */
export function setPoolCount(context: Context, count: bigint): void {
  poolCountItem.set(context, count);
}

/** Returns a pool's id, or undefined if the pool was never created. */
export function getPoolId(context: Context, key: PoolKey): bigint | undefined {
  const bytes = context.store(MODULE_NAME).get(keys.poolPlace(key).idPath);
  return bytes === undefined ? undefined : uint64Codec.decode(bytes);
}

/** Writes a pool's metadata and adds its id to the index. */
export function setPoolMetadata(context: Context, metadata: PoolMetadata): void {
  const { id, tick, fee, pairId } = metadata;
  poolMetadata.set(context, id, metadata);
  const { idPath } = keys.poolPlace({ pairId: pairId ?? { token0: "", token1: "" }, tick, fee });
  context.store(MODULE_NAME).set(idPath, uint64Codec.encode(id));
}

/** Returns the number of tranche keys ever assigned. */
export function getTrancheCount(context: Context): bigint {
  return trancheCountItem.get(context) ?? 0n;
}

/** Writes the number of tranche keys ever assigned. */
export function setTrancheCount(context: Context, count: bigint): void {
  trancheCountItem.set(context, count);
}

/**
 * Assigns a tranche key. The specification joins the parts of a key with "||"; the key has the length and sort order of the
 * deployed `tk-N`. Like the pool count, the tranche count is read twice.
 */
export function nextTrancheKey(context: Context): string {
  const count = getTrancheCount(context);
  setTrancheCount(context, getTrancheCount(context) + 1n);
  return context.profile.deployed("dexTrancheKeys") ? `tk-${count}` : `t||${count}`;
}

// The deployed module counts in a transient store, which has its own gas prices.
const TRANSIENT_READ_COST = 100;
const TRANSIENT_WRITE_COST_FLAT = 200;
const TRANSIENT_WRITE_COST_PER_BYTE = 3;

/** Returns the number of JIT orders placed in this block. */
export function getJitsInBlock(context: Context): bigint {
  context.gas.charge(TRANSIENT_READ_COST, "ReadFlat");
  const bytes = withoutGas(context).get(keys.JITS_IN_BLOCK_KEY);
  return bytes === undefined ? 0n : readUint64BigEndian(bytes);
}

/** Writes the number of JIT orders placed in this block. */
export function setJitsInBlock(context: Context, count: bigint): void {
  const value = uint64BigEndian(count);
  context.gas.charge(TRANSIENT_WRITE_COST_FLAT, "WriteFlat");
  const bytes = keys.JITS_IN_BLOCK_KEY.length + value.length;
  context.gas.charge(TRANSIENT_WRITE_COST_PER_BYTE * bytes, "WritePerByte");
  withoutGas(context).set(keys.JITS_IN_BLOCK_KEY, value);
}

function withoutGas(context: Context): KVStore {
  return context.withGas(createGasMeter()).store(MODULE_NAME);
}

/** Resets the number of JIT orders placed in this block. */
export function clearJitsInBlock(context: Context): void {
  context.store(MODULE_NAME).delete(keys.JITS_IN_BLOCK_KEY);
}
