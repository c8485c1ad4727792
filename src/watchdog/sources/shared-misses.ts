import type { NodeReading, VoteReports } from "./observation.ts";
import type { PeerComparison, Share, SharedMisses } from "./standing-readings.ts";
import { ascending } from "../../platform/base/order.ts";

export interface Member {
  /** The validator's bech32 consensus address. */
  readonly address: string;
  readonly votingPower: bigint;
}

/** Number of recent polls whose commits are compared. */
const COMMITS = 10;

interface Commit {
  readonly height: bigint;
  /** Bech32 addresses of the validators in the set that did not sign the commit. */
  readonly missing: ReadonlySet<string>;
}

/**
 * Creates a function that counts the other validators that missed at least half of the recent commits that `own` missed or, if `own` missed
 * none, at least half of all recent commits. Call the function with each poll's latest commit and the members of the set.
 */
export function createCommitTracker(
  own: string,
): (commit: Commit, members: readonly Member[]) => SharedMisses {
  let commits: readonly Commit[] = [];
  return (commit, members) => {
    if (commits.at(-1)?.height !== commit.height) commits = [...commits, commit].slice(-COMMITS);
    const ofOwn = commits.filter(({ missing }) => missing.has(own));
    const compared = ofOwn.length > 0 ? ofOwn : commits;
    const others = members.filter(({ address }) => address !== own);
    const missing = others.filter(({ address }) =>
      isHalf(compared.filter((one) => one.missing.has(address)).length, compared.length),
    );
    return {
      seen: commits.length,
      missed: ofOwn.length,
      others: others.length,
      missing: missing.length,
      power: { others: powerOf(others), missing: powerOf(missing) },
    };
  };
}

function isHalf(missed: number, of: number): boolean {
  return missed > 0 && missed * 2 >= of;
}

function powerOf(members: readonly Member[]): bigint {
  return members.reduce((sum, { votingPower }) => sum + votingPower, 0n);
}

/** The period over which votes are compared. */
const VOTES_MS = 30_000;
/** If polls are less frequent than {@link VOTES_MS}, compare the last two polls, unless they are further apart than this. */
const MAX_VOTES_MS = 300_000;
/** Minimum time between two stored readings, so that at most seven are stored. */
const STEP_MS = 5000;

type VotesByValidator = NonNullable<NodeReading["votes"]>["byValidator"];
type VoteComparison = Pick<NodeReading, "sharedVotes" | "voteComparison">;

/**
 * Creates a function that compares the votes of `own` in the last half minute with the other validators' votes. Call the function with
 * every reading of the vote counters. A vote without a price for the pair counts as a miss. A counter that has decreased was reset to zero.
 */
export function createVoteTracker(own: string): (votes: VotesByValidator, nowMs: number) => VoteComparison {
  let past: readonly { readonly atMs: number; readonly votes: VotesByValidator }[] = [];
  return (votes, nowMs) => {
    const before = past.at(-1);
    if (before !== undefined && hasFallen(before.votes.get(own), votes.get(own))) past = [];
    const base =
      past.find(({ atMs }) => nowMs - atMs <= VOTES_MS) ??
      past.findLast(({ atMs }) => nowMs - atMs <= MAX_VOTES_MS);
    if (nowMs - (past.at(-1)?.atMs ?? -Infinity) >= STEP_MS)
      past = [...past.filter(({ atMs }) => nowMs - atMs <= VOTES_MS), { atMs: nowMs, votes }];
    return base === undefined ? {} : compareVotes(own, base.votes, votes);
  };
}

function hasFallen(before: VoteReports | undefined, now: VoteReports | undefined): boolean {
  return before !== undefined && (now === undefined || now.total < before.total);
}

function compareVotes(own: string, before: VotesByValidator, now: VotesByValidator): VoteComparison {
  // Omit validators whose counters don't grow, because they have left the set.
  const active = [...now].flatMap(([address, { total, withPrice }]) => {
    const start = before.get(address);
    const seen = Number(total - (start?.total ?? 0n));
    const missed = seen - Number(withPrice - (start?.withPrice ?? 0n));
    return seen <= 0 ? [] : [{ address, seen, missed, share: { good: withPrice, total } }];
  });
  const self = active.find(({ address }) => address === own);
  if (self === undefined) return {};
  const others = active.filter(({ address }) => address !== own);
  const compared = comparePeers(
    self.share,
    others.map(({ share }) => share),
  );
  return {
    sharedVotes: {
      seen: self.seen,
      missed: self.missed,
      others: others.length,
      missing: others.filter(({ seen, missed }) => isHalf(missed, seen)).length,
    },
    ...(compared === undefined
      ? {}
      : { voteComparison: { measure: "votes", since: "start of the node", ...compared } }),
  };
}

/** Ranks a validator's share of good blocks or votes among others, without rounding. Returns undefined if there are no other validators. */
export function comparePeers(
  own: Share,
  others: readonly Share[],
): Pick<PeerComparison, "own" | "rank" | "compared" | "notBetter" | "median"> | undefined {
  const sorted = others.toSorted(compareShares);
  const median = medianOf(sorted);
  if (median === undefined) return undefined;
  const better = sorted.filter((other) => compareShares(other, own) > 0).length;
  return { own, rank: better + 1, compared: others.length + 1, notBetter: others.length - better, median };
}

function compareShares(a: Share, b: Share): number {
  return ascending(a.good * b.total, b.good * a.total);
}

/** Returns the middle value, or the mean of the two middle values. */
function medianOf(sorted: readonly Share[]): Share | undefined {
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined || upper === lower) return upper;
  return { good: lower.good * upper.total + upper.good * lower.total, total: 2n * lower.total * upper.total };
}
