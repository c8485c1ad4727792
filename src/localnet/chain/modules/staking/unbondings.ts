import { DVPairs } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Context } from "../../runtime/context.ts";
import { bytesCodec, createMap } from "../../store/collections.ts";
import { pairKey, reversedPairKey } from "./delegations.ts";
import { lengthPrefixed, MODULE_NAME, UNBONDING_QUEUE, UNBONDINGS, UNBONDINGS_BY_VALIDATOR } from "./keys.ts";
import { concat } from "../../../../platform/base/bytes.ts";
import { bondCoins } from "./pools.ts";
import { NOT_BONDED_POOL } from "./keys.ts";
import { createQueue } from "./queue.ts";
import { type Unbonding, unbondingCodec, type UnbondingEntry } from "./records.ts";
import type { Environment, Pair } from "./types.ts";
import {
  forgetUnbonding,
  ignoringErrors,
  indexUnbonding,
  takeUnbondingId,
  UNBONDING_KIND,
} from "./unbonding-ids.ts";

const EMPTY = new Uint8Array(0);

/** Unbonding delegations. Write them with {@link saveUnbonding}. */
export const unbondings = createMap(MODULE_NAME, UNBONDINGS, pairKey, unbondingCodec);
/** Index of {@link unbondings} by validator. */
const byValidator = createMap(MODULE_NAME, UNBONDINGS_BY_VALIDATOR, reversedPairKey, bytesCodec);

/** Pairs whose undelegations end at a time. */
export const unbondingQueue = createQueue<DVPairs>(UNBONDING_QUEUE, DVPairs, (a, b) => ({
  pairs: [...a.pairs, ...b.pairs],
}));

/** Stores an unbonding delegation; deletes it without entries. */
export function saveUnbonding(context: Context, pair: Pair, unbonding: Unbonding): void {
  if (unbonding.entries.length === 0) {
    unbondings.delete(context, pair);
    byValidator.delete(context, pair);
  } else {
    unbondings.set(context, pair, unbonding);
    byValidator.set(context, pair, EMPTY);
  }
}

/** Walks the unbonding delegations of a validator, in order of delegators. */
export function* unbondingsFrom(
  context: Context,
  validator: Uint8Array,
): IterableIterator<readonly [Pair, Unbonding]> {
  for (const [pair] of byValidator.entries(context, lengthPrefixed(validator))) {
    const unbonding = unbondings.get(context, pair);
    if (unbonding !== undefined) yield [pair, unbonding];
  }
}

/** Whether an entry is complete at the time of the block. */
export function isMature(
  context: Context,
  entry: { readonly completionTimeNs: bigint; readonly unbondingOnHoldRefCount: bigint },
): boolean {
  return entry.completionTimeNs <= context.timeNs && entry.unbondingOnHoldRefCount <= 0n;
}

/**
 * Adds an undelegation of the current block. One of the same block merges into the existing entry: it takes an id and calls no
 * hook.
 */
export function addUnbonding(
  context: Context,
  environment: Environment,
  pair: Pair,
  part: { readonly completionTimeNs: bigint; readonly amount: bigint },
): void {
  const known = unbondings.get(context, pair) ?? {
    delegatorAddress: environment.accounts.format(pair.delegator),
    validatorAddress: environment.operators.format(pair.validator),
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
  indexUnbonding(context, id, UNBONDING_KIND.delegation, concat(UNBONDINGS, pairKey.encode(pair)));
  ignoringErrors(() => environment.hooks.afterUnbondingInitiated(context, id));
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

/** Pays the complete entries of a pair. Returns the sum; undefined when the pair has no unbonding delegation. */
export function completeUnbonding(
  context: Context,
  environment: Environment,
  pair: Pair,
): bigint | undefined {
  const unbonding = unbondings.get(context, pair);
  if (unbonding === undefined) return undefined;
  let sum = 0n;
  for (const entry of unbonding.entries.filter((one) => isMature(context, one))) {
    forgetUnbonding(context, entry.unbondingId);
    if (entry.balance === 0n) continue;
    environment.bank.undelegate(context, NOT_BONDED_POOL, pair.delegator, bondCoins(context, entry.balance));
    sum += entry.balance;
  }
  const entries = unbonding.entries.filter((one) => !isMature(context, one));
  saveUnbonding(context, pair, { ...unbonding, entries });
  return sum;
}
