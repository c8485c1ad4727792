import { equalBytes, toHex } from "../base/bytes.ts";
import type { Validator, ValidatorSet } from "./block-types.ts";
import { malformed } from "./comet-error.ts";
import { compareValidators, mostPrior, newValidator, totalPower } from "./validator-set.ts";

/** Priorities of a set lie within this many times its total power. */
const PRIORITY_WINDOW = 2n;

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** A change of the validator set: power 0 removes. */
export interface ValidatorUpdate {
  readonly publicKey: Uint8Array;
  readonly power: bigint;
}

/** The first validator set of a chain, its first proposer already chosen, as `NewValidatorSet`. */
export function createValidatorSet(updates: readonly ValidatorUpdate[]): ValidatorSet {
  const empty: ValidatorSet = { validators: [], proposer: undefined };
  if (updates.length === 0) return empty;
  return rotateProposer(applyUpdates(empty, updates, false), 1);
}

/**
 * Lets `times` proposers pass, as `IncrementProposerPriority`: priorities are scaled into their window and centred,
 * then each time everyone gains its power and the proposer pays the total.
 */
export function rotateProposer(set: ValidatorSet, times: number): ValidatorSet {
  if (set.validators.length === 0 || times < 1) {
    throw malformed("validator set", "cannot rotate an empty validator set, or by less than one");
  }
  const total = totalPower(set.validators);
  let validators = center(rescale(set.validators, PRIORITY_WINDOW * total));
  let proposer: Validator | undefined;
  for (let turn = 0; turn < times; turn++) {
    const gained = validators.map((one) => ({ ...one, priority: clip(one.priority + one.power) }));
    const leader = mostPrior(gained);
    validators = gained.map((one) =>
      one === leader ? { ...one, priority: clip(one.priority - total) } : one,
    );
    proposer = validators[leader === undefined ? -1 : gained.indexOf(leader)];
  }
  return { validators, proposer };
}

/** The set after these changes, as `UpdateWithChangeSet`. The proposer is not rotated. Throws `CometError` on a wrong change. */
export function updateValidatorSet(set: ValidatorSet, updates: readonly ValidatorUpdate[]): ValidatorSet {
  return updates.length === 0 ? set : applyUpdates(set, updates, true);
}

function applyUpdates(
  set: ValidatorSet,
  updates: readonly ValidatorUpdate[],
  allowRemoval: boolean,
): ValidatorSet {
  const changes = checkedChanges(updates, allowRemoval);
  const known = new Map(set.validators.map((one) => [toHex(one.address), one]));
  for (const [address, change] of changes) {
    if (change.power === 0n && !known.has(address)) {
      throw malformed("validator update", `failed to find validator ${address.toUpperCase()} to remove`);
    }
  }
  const joined = join(set, changes, known);
  if (joined.length === 0)
    throw malformed("validator update", "applying the validator changes would result in empty set");
  const total = totalPower(joined);
  const validators = center(rescale(joined, PRIORITY_WINDOW * total)).toSorted(compareValidators);
  return { validators, proposer: keptProposer(set.proposer, validators) };
}

/** A proposer that left, or a new set, gives way to the most prior validator. */
function keptProposer(
  proposer: Validator | undefined,
  validators: readonly Validator[],
): Validator | undefined {
  const kept = validators.find((one) => proposer !== undefined && equalBytes(one.address, proposer.address));
  return kept ?? mostPrior(validators);
}

/** Newcomers start at -1.125 of the total power (before removals), so that leaving and rejoining does not pay. */
function join(
  set: ValidatorSet,
  changes: ReadonlyMap<string, Validator>,
  known: ReadonlyMap<string, Validator>,
): readonly Validator[] {
  const merged = new Map(known);
  for (const [address, change] of changes) if (change.power > 0n) merged.set(address, change);
  const total = totalPower([...merged.values()]);
  const penalty = -(total + (total >> 3n));
  const priorityOf = (address: string): bigint => known.get(address)?.priority ?? penalty;
  for (const [address, change] of changes) {
    if (change.power === 0n) merged.delete(address);
    else merged.set(address, { ...change, priority: priorityOf(address) });
  }
  const before = set.validators.flatMap((one) => merged.get(toHex(one.address)) ?? []);
  const added = [...merged].flatMap(([address, one]) => (known.has(address) ? [] : [one]));
  return [...before, ...added];
}

function checkedChanges(
  updates: readonly ValidatorUpdate[],
  allowRemoval: boolean,
): ReadonlyMap<string, Validator> {
  const changes = new Map<string, Validator>();
  for (const { publicKey, power } of updates) {
    const change = newValidator(publicKey, power);
    const address = toHex(change.address);
    if (power < 0n) throw malformed("validator update", `voting power can't be negative: ${power}`);
    if (power === 0n && !allowRemoval) {
      throw malformed("validator update", `cannot process validators with voting power 0: ${address}`);
    }
    if (changes.has(address))
      throw malformed("validator update", `duplicate entry ${address} in the changes`);
    changes.set(address, change);
  }
  return changes;
}

/** Divides priorities until they span at most `window`. Division is toward zero, as in Go. */
function rescale(validators: readonly Validator[], window: bigint): readonly Validator[] {
  const priorities = validators.map((one) => one.priority);
  const span = priorities.reduce((a, b) => (b > a ? b : a)) - priorities.reduce((a, b) => (b < a ? b : a));
  if (window <= 0n || span <= window) return validators;
  const ratio = (span + window - 1n) / window;
  return validators.map((one) => ({ ...one, priority: one.priority / ratio }));
}

/** Shifts priorities by their average (floored, as big.Int division by a positive number does). */
function center(validators: readonly Validator[]): readonly Validator[] {
  const count = BigInt(validators.length);
  const sum = validators.reduce((total, one) => total + one.priority, 0n);
  const average = sum >= 0n ? sum / count : -((-sum + count - 1n) / count);
  return validators.map((one) => ({ ...one, priority: clip(one.priority - average) }));
}

function clip(value: bigint): bigint {
  if (value > INT64_MAX) return INT64_MAX;
  return value < INT64_MIN ? INT64_MIN : value;
}
