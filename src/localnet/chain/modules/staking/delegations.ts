import {
  type StoredMap,
  lengthPrefixed,
  splitAddresses,
  type Codec,
  bytesCodec,
  createMap,
  createItem,
  messageCodec,
  uint64Codec,
} from "../../store/collections.ts";
import { concat, prefixEnd } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import {
  type Delegation,
  delegationCodec,
  redelegationCodec,
  unbondingCodec,
  type UnbondingEntry,
} from "./records.ts";
import { DVPairs, DVVTriplets } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Dec18 } from "../../../../platform/base/decimal.ts";
import { isOutOfGas, ModuleError } from "../../runtime/errors.ts";
import * as types from "./types.ts";

const EMPTY = new Uint8Array(0);

/** Codec for keys `lp(delegator) | lp(validator)`, where `lp` prefixes an address with its length (1 byte). */
const pairKey: Codec<types.Pair> = {
  encode: ({ delegator, validator }) => lengthPrefixed(delegator, validator),
  decode: (bytes) => {
    const [delegator = EMPTY, validator = EMPTY] = splitAddresses(bytes);
    return { delegator, validator };
  },
};

/** Codec for keys `lp(validator) | lp(delegator)`, which are sorted by validator. */
const reversedPairKey: Codec<types.Pair> = {
  encode: ({ delegator, validator }) => lengthPrefixed(validator, delegator),
  decode: (bytes) => {
    const [validator = EMPTY, delegator = EMPTY] = splitAddresses(bytes);
    return { delegator, validator };
  },
};

/** Codec for the index keys of delegations, `lp(validator) | delegator`, which are sorted by validator. */
const indexKey: Codec<types.Pair> = {
  encode: ({ delegator, validator }) => concat(lengthPrefixed(validator), delegator),
  decode: (bytes) => {
    const end = 1 + (bytes[0] ?? 0);
    return { validator: bytes.slice(1, end), delegator: bytes.slice(end) };
  },
};

/** Delegations. Write delegations with {@link setDelegation}, which also updates the index by validator. */
export const byPair = createMap(types.MODULE_NAME, Uint8Array.of(0x31), pairKey, delegationCodec);
export const byValidator = createMap(types.MODULE_NAME, Uint8Array.of(0x71), indexKey, bytesCodec);

export function setDelegation(context: Context, pair: types.Pair, delegation: Delegation): void {
  byPair.set(context, pair, delegation);
  byValidator.set(context, pair, EMPTY);
}

/** Runs the hook `beforeDelegationRemoved`, then deletes a delegation. */
export function deleteDelegation(context: Context, { hooks }: types.Keepers, pair: types.Pair): void {
  hooks.beforeDelegationRemoved(context, pair.delegator, pair.validator);
  byPair.delete(context, pair);
  byValidator.delete(context, pair);
}

/** Unbonding delegations. Write these records with {@link saveUnbonding}, which also updates the index. */
export const unbondings = createMap(types.MODULE_NAME, types.UNBONDINGS, pairKey, unbondingCodec);
export const unbondingsByValidator = createMap(
  types.MODULE_NAME,
  Uint8Array.of(0x33),
  reversedPairKey,
  bytesCodec,
);

/** Queue of undelegations, ordered by completion time. Each entry is a pair of delegator and validator. */
export const unbondingQueue = createQueue<DVPairs>(Uint8Array.of(0x41), DVPairs, (a, b) => ({
  pairs: [...a.pairs, ...b.pairs],
}));

/** Stores an unbonding delegation and its index entry, or deletes both if the delegation has no entries. */
export const saveUnbonding = saverOf(unbondings, [unbondingsByValidator]);
export const unbondingsFrom = indexedBy(unbondings, unbondingsByValidator);

/**
 * Returns a function that stores a record and its index entries. If the record has no entries, the function deletes the record from
 * the map and the indexes.
 */
function saverOf<K, V extends { readonly entries: readonly unknown[] }>(
  records: StoredMap<K, V>,
  indexes: readonly StoredMap<K, Uint8Array>[],
): (context: Context, key: K, record: V) => void {
  return (context, key, record) => {
    if (record.entries.length === 0) {
      for (const map of [records, ...indexes]) map.delete(context, key);
      return;
    }
    records.set(context, key, record);
    for (const index of indexes) index.set(context, key, EMPTY);
  };
}

/** Returns a function that iterates over a validator's records through an index, and skips index entries without a record. */
function indexedBy<K, V>(records: StoredMap<K, V>, index: StoredMap<K, Uint8Array>) {
  return function* (context: Context, validator: Uint8Array): IterableIterator<readonly [K, V]> {
    for (const [key] of index.entries(context, lengthPrefixed(validator))) {
      const record = records.get(context, key);
      if (record !== undefined) yield [key, record];
    }
  };
}

/** Returns whether an entry can be completed: its completion time has been reached, and no module has put the entry on hold. */
export function isMature(
  context: Context,
  entry: { readonly completionTimeNs: bigint; readonly unbondingOnHoldRefCount: bigint },
): boolean {
  return entry.completionTimeNs <= context.timeNs && entry.unbondingOnHoldRefCount <= 0n;
}

/**
 * Adds an undelegation in the current block. If the undelegation is merged into an entry from the same block, an unbonding id is
 * used up, but no hook is called.
 */
export function addUnbonding(
  context: Context,
  keepers: types.Keepers,
  pair: types.Pair,
  part: { readonly completionTimeNs: bigint; readonly amount: bigint },
): void {
  const known = unbondings.get(context, pair) ?? {
    delegatorAddress: keepers.accounts.format(pair.delegator),
    validatorAddress: keepers.operators.format(pair.validator),
    entries: [],
  };
  const id = takeUnbondingId(context);
  const [entries, isNew] = withEntry(known.entries, {
    creationHeight: context.height,
    completionTimeNs: part.completionTimeNs,
    initialBalance: part.amount,
    balance: part.amount,
    unbondingId: id,
    unbondingOnHoldRefCount: 0n,
  });
  saveUnbonding(context, pair, { ...known, entries });
  if (!isNew) return;
  indexUnbonding(context, id, UNBONDING_KIND.delegation, concat(types.UNBONDINGS, pairKey.encode(pair)));
  ignoringErrors(() => keepers.hooks.afterUnbondingInitiated(context, id));
}

function withEntry(
  entries: readonly UnbondingEntry[],
  added: UnbondingEntry,
): readonly [readonly UnbondingEntry[], boolean] {
  const isSame = (entry: UnbondingEntry): boolean =>
    entry.creationHeight === added.creationHeight && entry.completionTimeNs === added.completionTimeNs;
  if (!entries.some(isSame)) return [[...entries, added], true];
  const merged = entries.map((entry) =>
    isSame(entry)
      ? {
          ...entry,
          balance: entry.balance + added.balance,
          initialBalance: entry.initialBalance + added.initialBalance,
        }
      : entry,
  );
  return [merged, false];
}

/**
 * Pays out completed undelegations of a delegator from a validator. Returns the total amount, or undefined if there is no unbonding
 * delegation.
 */
export function completeUnbonding(
  context: Context,
  keepers: types.Keepers,
  pair: types.Pair,
): bigint | undefined {
  const unbonding = unbondings.get(context, pair);
  if (unbonding === undefined) return undefined;
  let sum = 0n;
  for (const entry of unbonding.entries.filter((one) => isMature(context, one))) {
    forgetUnbonding(context, entry.unbondingId);
    if (entry.balance === 0n) continue;
    keepers.bank.undelegate(
      context,
      types.NOT_BONDED_POOL,
      pair.delegator,
      types.bondCoins(context, entry.balance),
    );
    sum += entry.balance;
  }
  const entries = unbonding.entries.filter((one) => !isMature(context, one));
  saveUnbonding(context, pair, { ...unbonding, entries });
  return sum;
}

/** A queue of records ordered by time. Records that are due are removed at the end of a block. */
interface TimeQueue<T> {
  readonly insert: (context: Context, timeNs: bigint, value: T) => void;
  /** Removes and returns the records due by the block time, ordered by time. */
  readonly takeDue: (context: Context) => readonly T[];
}

/** Creates a queue under a store prefix. Records with the same time are merged. */
function createQueue<T>(
  prefix: Uint8Array,
  type: Parameters<typeof messageCodec<T>>[0],
  join: (known: T, added: T) => T,
): TimeQueue<T> {
  const codec = messageCodec<T>(type);
  return {
    insert: (context, timeNs, value) => {
      const store = context.store(types.MODULE_NAME);
      const key = concat(prefix, types.timeKey(timeNs));
      const known = store.get(key);
      store.set(key, codec.encode(known === undefined ? value : join(codec.decode(known), value)));
    },
    takeDue: (context) => {
      const store = context.store(types.MODULE_NAME);
      const due = [...store.iterate(prefix, prefixEnd(concat(prefix, types.timeKey(context.timeNs))))];
      for (const [key] of due) store.delete(key);
      return due.map(([, value]) => codec.decode(value));
    },
  };
}

/** The kinds of operations that get an unbonding id. */
export const UNBONDING_KIND = { delegation: 1n, redelegation: 2n, validator: 3n } as const;

export const lastUnbondingId = createItem(types.MODULE_NAME, Uint8Array.of(0x37), uint64Codec);
const keysById = createMap(types.MODULE_NAME, Uint8Array.of(0x38), uint64Codec, bytesCodec);
const kindsById = createMap(types.MODULE_NAME, Uint8Array.of(0x39), uint64Codec, uint64Codec);

/** Assigns and returns the next unbonding id. */
export function takeUnbondingId(context: Context): bigint {
  const id = (lastUnbondingId.get(context) ?? 0n) + 1n;
  lastUnbondingId.set(context, id);
  return id;
}

/** Adds an unbonding operation to the index, which maps the operation's id to its store key. */
export function indexUnbonding(context: Context, id: bigint, kind: bigint, key: Uint8Array): void {
  keysById.set(context, id, key);
  kindsById.set(context, id, kind);
}

/** Removes a completed operation from the index. As in the SDK, the operation's kind remains stored. */
export function forgetUnbonding(context: Context, id: bigint): void {
  keysById.delete(context, id);
}

/**
 * Calls a hook and ignores its error, because the SDK only logs such errors. After an error, the action continues, and the hook's
 * earlier writes are kept. Running out of gas still ends the transaction.
 */
export function ignoringErrors(call: () => void): void {
  try {
    call();
  } catch (error) {
    if (!(error instanceof ModuleError) || isOutOfGas(error)) throw error;
  }
}

function tripletKey(
  order: readonly [keyof types.Triplet, keyof types.Triplet, keyof types.Triplet],
): Codec<types.Triplet> {
  return {
    encode: (triplet) => lengthPrefixed(...order.map((name) => triplet[name])),
    decode: (bytes) => {
      const parts = splitAddresses(bytes);
      const part = (name: keyof types.Triplet): Uint8Array => parts[order.indexOf(name)] ?? EMPTY;
      return { delegator: part("delegator"), source: part("source"), destination: part("destination") };
    },
  };
}

const storedKey = tripletKey(["delegator", "source", "destination"]);
/** Redelegations. Write these records with {@link saveRedelegation}, which also updates the indexes. */
export const redelegations = createMap(types.MODULE_NAME, types.REDELEGATIONS, storedKey, redelegationCodec);
export const redelegationsBySource = createMap(
  types.MODULE_NAME,
  Uint8Array.of(0x35),
  tripletKey(["source", "delegator", "destination"]),
  bytesCodec,
);
const byDestination = createMap(
  types.MODULE_NAME,
  Uint8Array.of(0x36),
  tripletKey(["destination", "delegator", "source"]),
  bytesCodec,
);

/** Queue of redelegations, ordered by completion time. Each entry is a triplet of delegator, source validator and destination validator. */
export const redelegationQueue = createQueue<DVVTriplets>(Uint8Array.of(0x42), DVVTriplets, (a, b) => ({
  triplets: [...a.triplets, ...b.triplets],
}));

/** Stores a redelegation and its index entries. If the redelegation has no entries, deletes the redelegation and its index entries. */
export const saveRedelegation = saverOf(redelegations, [redelegationsBySource, byDestination]);
export const redelegationsFrom = indexedBy(redelegations, redelegationsBySource);

/** Returns whether a delegator has an incomplete redelegation to the validator. */
export function hasReceiving(context: Context, delegator: Uint8Array, destination: Uint8Array): boolean {
  return byDestination.entries(context, lengthPrefixed(destination, delegator)).next().done !== true;
}

/** Adds a redelegation. The redelegation always becomes a separate entry. */
export function addRedelegation(
  context: Context,
  keepers: types.Keepers,
  triplet: types.Triplet,
  part: {
    readonly creationHeight: bigint;
    readonly completionTimeNs: bigint;
    readonly initialBalance: bigint;
    readonly sharesDst: Dec18;
  },
): void {
  const id = takeUnbondingId(context);
  const known = redelegations.get(context, triplet) ?? {
    delegatorAddress: keepers.accounts.format(triplet.delegator),
    validatorSrcAddress: keepers.operators.format(triplet.source),
    validatorDstAddress: keepers.operators.format(triplet.destination),
    entries: [],
  };
  const entry = { ...part, unbondingId: id, unbondingOnHoldRefCount: 0n };
  saveRedelegation(context, triplet, { ...known, entries: [...known.entries, entry] });
  const key = concat(types.REDELEGATIONS, storedKey.encode(triplet));
  indexUnbonding(context, id, UNBONDING_KIND.redelegation, key);
  ignoringErrors(() => keepers.hooks.afterUnbondingInitiated(context, id));
}

/**
 * Removes completed redelegations of a delegator between two validators. Returns the total amount, or undefined if there is no
 * redelegation.
 */
export function completeRedelegation(context: Context, triplet: types.Triplet): bigint | undefined {
  const redelegation = redelegations.get(context, triplet);
  if (redelegation === undefined) return undefined;
  const due = redelegation.entries.filter((one) => isMature(context, one));
  for (const { unbondingId } of due) forgetUnbonding(context, unbondingId);
  const entries = redelegation.entries.filter((one) => !isMature(context, one));
  saveRedelegation(context, triplet, { ...redelegation, entries });
  return due.reduce((sum, { initialBalance }) => sum + initialBalance, 0n);
}
