import { concat } from "../../../../platform/base/bytes.ts";
import type { Dec18 } from "../../../../platform/base/decimal.ts";
import { DVVTriplets } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Context } from "../../runtime/context.ts";
import { bytesCodec, type Codec, createMap } from "../../store/collections.ts";
import {
  lengthPrefixed,
  MODULE_NAME,
  REDELEGATION_QUEUE,
  REDELEGATIONS,
  REDELEGATIONS_BY_DESTINATION,
  REDELEGATIONS_BY_SOURCE,
  splitAddresses,
} from "./keys.ts";
import { createQueue } from "./queue.ts";
import { type Redelegation, redelegationCodec } from "./records.ts";
import type { Environment, Triplet } from "./types.ts";
import {
  forgetUnbonding,
  ignoringErrors,
  indexUnbonding,
  takeUnbondingId,
  UNBONDING_KIND,
} from "./unbonding-ids.ts";
import { isMature } from "./unbondings.ts";

const EMPTY = new Uint8Array(0);

function tripletKey(order: readonly [keyof Triplet, keyof Triplet, keyof Triplet]): Codec<Triplet> {
  return {
    encode: (triplet) => lengthPrefixed(...order.map((name) => triplet[name])),
    decode: (bytes) => {
      const parts = splitAddresses(bytes);
      const part = (name: keyof Triplet): Uint8Array => parts[order.indexOf(name)] ?? EMPTY;
      return { delegator: part("delegator"), source: part("source"), destination: part("destination") };
    },
  };
}

const storedKey = tripletKey(["delegator", "source", "destination"]);
/** Redelegations. Write them with {@link saveRedelegation}. */
export const redelegations = createMap(MODULE_NAME, REDELEGATIONS, storedKey, redelegationCodec);
const bySource = createMap(
  MODULE_NAME,
  REDELEGATIONS_BY_SOURCE,
  tripletKey(["source", "delegator", "destination"]),
  bytesCodec,
);
const byDestination = createMap(
  MODULE_NAME,
  REDELEGATIONS_BY_DESTINATION,
  tripletKey(["destination", "delegator", "source"]),
  bytesCodec,
);

/** Triplets whose redelegations end at a time. */
export const redelegationQueue = createQueue<DVVTriplets>(REDELEGATION_QUEUE, DVVTriplets, (a, b) => ({
  triplets: [...a.triplets, ...b.triplets],
}));

/** Stores a redelegation; deletes it without entries. */
export function saveRedelegation(context: Context, triplet: Triplet, redelegation: Redelegation): void {
  if (redelegation.entries.length === 0) {
    redelegations.delete(context, triplet);
    bySource.delete(context, triplet);
    byDestination.delete(context, triplet);
  } else {
    redelegations.set(context, triplet, redelegation);
    bySource.set(context, triplet, EMPTY);
    byDestination.set(context, triplet, EMPTY);
  }
}

/** Walks the redelegations away from a validator. */
export function* redelegationsFrom(
  context: Context,
  source: Uint8Array,
): IterableIterator<readonly [Triplet, Redelegation]> {
  for (const [triplet] of bySource.entries(context, lengthPrefixed(source))) {
    const redelegation = redelegations.get(context, triplet);
    if (redelegation !== undefined) yield [triplet, redelegation];
  }
}

/** Whether a delegator has a redelegation to the validator that is not complete. */
export function hasReceiving(context: Context, delegator: Uint8Array, destination: Uint8Array): boolean {
  return byDestination.entries(context, lengthPrefixed(destination, delegator)).next().done !== true;
}

/** Adds a redelegation. Entries never merge. */
export function addRedelegation(
  context: Context,
  environment: Environment,
  triplet: Triplet,
  part: {
    readonly creationHeight: bigint;
    readonly completionTimeNs: bigint;
    readonly initialBalance: bigint;
    readonly sharesDst: Dec18;
  },
): void {
  const id = takeUnbondingId(context);
  const known = redelegations.get(context, triplet) ?? {
    delegatorAddress: environment.accounts.format(triplet.delegator),
    validatorSrcAddress: environment.operators.format(triplet.source),
    validatorDstAddress: environment.operators.format(triplet.destination),
    entries: [],
  };
  const entry = { ...part, unbondingId: id, unbondingOnHoldRefCount: 0n };
  saveRedelegation(context, triplet, { ...known, entries: [...known.entries, entry] });
  const key = concat(REDELEGATIONS, storedKey.encode(triplet));
  indexUnbonding(context, id, UNBONDING_KIND.redelegation, key);
  ignoringErrors(() => environment.hooks.afterUnbondingInitiated(context, id));
}

/** Removes the complete entries of a triplet. Returns their sum; undefined when the triplet has no redelegation. */
export function completeRedelegation(context: Context, triplet: Triplet): bigint | undefined {
  const redelegation = redelegations.get(context, triplet);
  if (redelegation === undefined) return undefined;
  const due = redelegation.entries.filter((one) => isMature(context, one));
  for (const { unbondingId } of due) forgetUnbonding(context, unbondingId);
  const entries = redelegation.entries.filter((one) => !isMature(context, one));
  saveRedelegation(context, triplet, { ...redelegation, entries });
  return due.reduce((sum, { initialBalance }) => sum + initialBalance, 0n);
}
