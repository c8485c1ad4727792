import { compareBytes, equalBytes, toHex } from "../../platform/base/bytes.ts";
import { BLOCK_ID_FLAG, type Commit, type Validator, type ValidatorSet } from "./block-types.ts";
import { malformed } from "./comet-error.ts";
import { addressOf } from "./validator-key.ts";

/**
 * Maximum total power: an eighth of the largest int64, so that sums do not overflow in CometBFT
 * (`MaxTotalVotingPower`).
 */
const MAX_TOTAL_POWER = (2n ** 63n - 1n) / 8n;

/** Returns the validators' total voting power. Throws `CometError` if the sum exceeds {@link MAX_TOTAL_POWER}. */
export function totalPower(validators: readonly Pick<Validator, "power">[]): bigint {
  const total = validators.reduce((sum, { power }) => sum + power, 0n);
  if (total > MAX_TOTAL_POWER) {
    throw malformed(
      "validator set",
      `Total voting power should be guarded to not exceed ${MAX_TOTAL_POWER}; got: ${total}`,
    );
  }
  return total;
}

/** Compares validators in set order: descending power, then ascending address. */
function compareValidators(
  a: Pick<Validator, "power" | "address">,
  b: Pick<Validator, "power" | "address">,
): number {
  if (a.power !== b.power) return a.power > b.power ? -1 : 1;
  return compareBytes(a.address, b.address);
}

/**
 * Returns the validator with the highest priority. If several validators have this priority, returns the validator with the lowest
 * address. Returns undefined for an empty set.
 */
function highestPriority(validators: readonly Validator[]): Validator | undefined {
  return validators.reduce<Validator | undefined>(
    (best, one) => (best === undefined || hasHigherPriority(one, best) ? one : best),
    undefined,
  );
}

function hasHigherPriority(a: Validator, b: Validator): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority;
  return compareBytes(a.address, b.address) < 0;
}

/** Creates a set from validators in set order. The proposer is computed from the priorities. */
export function validatorSetOf(validators: readonly Validator[]): ValidatorSet {
  return { validators, proposer: highestPriority(validators) };
}

/** Creates a validator with a priority of zero. */
export function newValidator(publicKey: Uint8Array, power: bigint): Validator {
  return { address: addressOf(publicKey), publicKey, power, priority: 0n };
}

/** Priorities in a set differ by at most this multiple of the set's total power (`PriorityWindowSizeFactor`). */
const PRIORITY_WINDOW = 2n;

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** A change to the validator set: a validator's new power, or 0 to remove the validator. */
interface ValidatorUpdate {
  readonly publicKey: Uint8Array;
  readonly power: bigint;
}

/** Creates a chain's first validator set, with its first proposer, like `NewValidatorSet`. */
export function createValidatorSet(updates: readonly ValidatorUpdate[]): ValidatorSet {
  const empty: ValidatorSet = { validators: [], proposer: undefined };
  if (updates.length === 0) return empty;
  return rotateProposer(applyUpdates(empty, updates, false), 1);
}

/**
 * Advances the proposer `times` times, like `IncrementProposerPriority`. Each time, every validator gains its power as priority,
 * and the validator with the highest priority proposes and loses the total power. Over many turns, each validator proposes in
 * proportion to its power. Throws `CometError` if the set is empty.
 */
export function rotateProposer(set: ValidatorSet, times: number): ValidatorSet {
  if (set.validators.length === 0 || times < 1) {
    throw malformed("validator set", "cannot rotate an empty validator set, or by less than one");
  }
  const total = totalPower(set.validators);
  // As in Go, rescale and center only once per call instead of once per turn, because this affects the resulting priorities.
  let validators = center(rescale(set.validators, PRIORITY_WINDOW * total));
  let proposer: Validator | undefined;
  for (let turn = 0; turn < times; turn++) {
    const gained = validators.map((one) => ({ ...one, priority: clip(one.priority + one.power) }));
    const leader = highestPriority(gained);
    validators = gained.map((one) =>
      one === leader ? { ...one, priority: clip(one.priority - total) } : one,
    );
    proposer = validators[leader === undefined ? -1 : gained.indexOf(leader)];
  }
  return { validators, proposer };
}

/** Applies changes to a set without advancing the proposer, like `UpdateWithChangeSet`. Throws `CometError` for an invalid change. */
export function updateValidatorSet(set: ValidatorSet, updates: readonly ValidatorUpdate[]): ValidatorSet {
  return updates.length === 0 ? set : applyUpdates(set, updates, true);
}

function applyUpdates(
  set: ValidatorSet,
  updates: readonly ValidatorUpdate[],
  allowRemoval: boolean,
): ValidatorSet {
  const changes = checkedChanges(updates, allowRemoval);
  const current = new Map(set.validators.map((one) => [toHex(one.address), one]));
  for (const [address, change] of changes) {
    if (change.power === 0n && !current.has(address)) {
      throw malformed("validator update", `failed to find validator ${address.toUpperCase()} to remove`);
    }
  }
  const merged = mergeChanges(set, changes, current);
  if (merged.length === 0)
    throw malformed("validator update", "applying the validator changes would result in empty set");
  const total = totalPower(merged);
  const validators = center(rescale(merged, PRIORITY_WINDOW * total)).toSorted(compareValidators);
  return { validators, proposer: updatedProposer(set.proposer, validators) };
}

/** Returns the proposer's entry in the new set. If the proposer was removed, returns the validator with the highest priority. */
function updatedProposer(
  proposer: Validator | undefined,
  validators: readonly Validator[],
): Validator | undefined {
  const current = validators.find(
    (one) => proposer !== undefined && equalBytes(one.address, proposer.address),
  );
  return current ?? highestPriority(validators);
}

/**
 * Applies changes to the validators by address. A new validator starts with a priority of -1.125 times the total power. Without
 * this penalty, a validator could reset a negative priority by leaving and joining again (`computeNewPriorities`).
 */
function mergeChanges(
  set: ValidatorSet,
  changes: ReadonlyMap<string, Validator>,
  current: ReadonlyMap<string, Validator>,
): readonly Validator[] {
  const merged = new Map(current);
  for (const [address, change] of changes) if (change.power > 0n) merged.set(address, change);
  // As in Go, the total for the penalty includes the validators that are removed below.
  const total = totalPower([...merged.values()]);
  const penalty = -(total + (total >> 3n));
  const priorityOf = (address: string): bigint => current.get(address)?.priority ?? penalty;
  for (const [address, change] of changes) {
    if (change.power === 0n) merged.delete(address);
    else merged.set(address, { ...change, priority: priorityOf(address) });
  }
  const before = set.validators.flatMap((one) => merged.get(toHex(one.address)) ?? []);
  const added = [...merged].flatMap(([address, one]) => (current.has(address) ? [] : [one]));
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

/**
 * Divides the priorities by a common ratio if they differ by more than `window`. Without this step, a validator with a large old
 * priority would propose many blocks in a row after the total power drops. Divisions round toward zero, as in Go.
 */
function rescale(validators: readonly Validator[], window: bigint): readonly Validator[] {
  const priorities = validators.map((one) => one.priority);
  const span = priorities.reduce((a, b) => (b > a ? b : a)) - priorities.reduce((a, b) => (b < a ? b : a));
  if (window <= 0n || span <= window) return validators;
  const ratio = (span + window - 1n) / window;
  return validators.map((one) => ({ ...one, priority: one.priority / ratio }));
}

/**
 * Subtracts the average from the priorities, so that they stay around zero and away from the int64 limits. The average is rounded
 * down, like Go's `big.Int.Div` with a positive divisor. Negative sums are handled separately, because bigint division rounds
 * toward zero.
 */
function center(validators: readonly Validator[]): readonly Validator[] {
  const count = BigInt(validators.length);
  const sum = validators.reduce((total, one) => total + one.priority, 0n);
  const average = sum >= 0n ? sum / count : -((-sum + count - 1n) / count);
  return validators.map((one) => ({ ...one, priority: clip(one.priority - average) }));
}

/** Clips a value to the int64 range, like Go's `safeAddClip` and `safeSubClip`. */
function clip(value: bigint): bigint {
  if (value > INT64_MAX) return INT64_MAX;
  return value < INT64_MIN ? INT64_MIN : value;
}

/**
 * Computes the time of the next block (BFT time): the median of the commit's vote times, weighted by power (CometBFT `MedianTime`).
 * `validators` is the set that signed, in any order. Votes for nil are included, but absent votes are not. Returns undefined if
 * there are no votes.
 */
export function medianTimeNs(
  commit: Pick<Commit, "signatures">,
  validators: readonly Validator[],
): bigint | undefined {
  const powers = new Map(validators.map((one) => [toHex(one.address), one.power]));
  const votes = commit.signatures
    .filter((sig) => sig.flag !== BLOCK_ID_FLAG.absent)
    .flatMap(({ validatorAddress, timestampNs }) => {
      const power = powers.get(toHex(validatorAddress));
      return power === undefined ? [] : [{ timestampNs, power }];
    })
    .toSorted((a, b) => (a.timestampNs < b.timestampNs ? -1 : 1));
  // Like Go, truncate this division and compare with <=. Any other rounding would change the time and thus the block hash.
  let median = votes.reduce((sum, vote) => sum + vote.power, 0n) / 2n;
  for (const vote of votes) {
    if (median <= vote.power) return vote.timestampNs;
    median -= vote.power;
  }
  return undefined;
}
