import { type Observation, readingOf } from "../sources/observation.ts";
import type {
  MissGrowth,
  PeerComparison,
  SharedMisses,
  SigningInfo,
  SlashingParams,
  SlashingReading,
  UnjailTerms,
} from "../sources/standing-readings.ts";
import { mulDec18 } from "../../platform/base/decimal.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import type { SuccessRate } from "./reward-tier.ts";

/** A validator's signing window, computed exactly as the chain does. */
export interface SigningWindow {
  readonly windowBlocks: bigint;
  /** Number of blocks in the window so far, which is below `windowBlocks` if the validator entered the set recently. */
  readonly counted: bigint;
  readonly missed: bigint;
  /** Number of misses that a window may contain before the validator is jailed. */
  readonly allowed: bigint;
  /** Number of further misses allowed before the validator is jailed. */
  readonly left: bigint;
  /** The share of the window's blocks that the validator signed; undefined until the first block has been counted. */
  readonly signed: SuccessRate | undefined;
  /** Blocks until jail if the validator misses every block from now on; undefined if the chain jails nobody for downtime. */
  readonly ifAllMissed: BlockRange | undefined;
  /** Blocks until the validator is jailed at its current rate of misses. */
  readonly atPresentRate: PresentRate;
}

/** Bounds on the number of blocks until jail. The exact number depends on which blocks were missed, which the chain does not reveal. */
interface BlockRange {
  readonly least: bigint;
  readonly most: bigint;
}

/**
 * When the validator is jailed at its current rate of misses. "unknown" means that there are too few readings, and "never" that the
 * validator isn't jailed at this rate.
 */
export type PresentRate =
  | { readonly kind: "unknown" }
  | { readonly kind: "never" }
  | { readonly kind: "jail"; readonly blocks: bigint; readonly growth: MissGrowth };

export interface WindowInput {
  readonly params: SlashingParams;
  readonly info: SigningInfo;
  /** The chain's latest height; if undefined, the validator is assumed to have been in the set for more than a window. */
  readonly height: bigint | undefined;
  readonly growth: MissGrowth | undefined;
}

/**
 * Computes how many more misses a signing window allows. Above height `start + window`, the chain jails a validator that missed more than
 * `window - min · window` blocks of its window. `min · window` is rounded half to even (`x/slashing` v0.50 keeper/infractions.go,
 * types/params.go).
 */
export function signingWindow({ params, info, height, growth }: WindowInput): SigningWindow {
  const { windowBlocks } = params;
  const { missedBlocks: missed, indexOffset, startHeight } = info;
  const allowed = allowedMisses(params);
  const counted = minInt(indexOffset, windowBlocks);
  const needed = missed > allowed ? 1n : allowed + 1n - missed;
  // Number of blocks until the validator can be jailed at the earliest.
  const earliest = height === undefined ? 1n : startHeight + windowBlocks + 1n - height;
  const isJailable = allowed < windowBlocks;
  return {
    windowBlocks,
    counted,
    missed,
    allowed,
    left: maxInt(allowed - missed, 0n),
    signed: counted === 0n ? undefined : { good: maxInt(counted - missed, 0n), total: counted },
    // A miss that pushes an old miss out of the window adds nothing, but a whole window of misses certainly exceeds the limit.
    ifAllMissed: isJailable
      ? { least: maxInt(needed, earliest), most: maxInt(minInt(needed + missed, windowBlocks), earliest) }
      : undefined,
    atPresentRate: isJailable ? presentRate(needed, earliest, growth, windowBlocks) : { kind: "never" },
  };
}

/** Returns the maximum number of misses in a window before a validator is jailed. */
export function allowedMisses({ windowBlocks, minSigned }: SlashingParams): bigint {
  return windowBlocks - mulDec18(minSigned, windowBlocks);
}

/** Returns "never" if jail is more than a full window away, because by then all current misses have left the window. */
function presentRate(
  needed: bigint,
  earliest: bigint,
  growth: MissGrowth | undefined,
  windowBlocks: bigint,
): PresentRate {
  if (growth === undefined) return { kind: "unknown" };
  if (growth.missed <= 0n) return { kind: "never" };
  const blocks = (needed * growth.blocks + growth.missed - 1n) / growth.missed;
  return blocks > windowBlocks
    ? { kind: "never" }
    : { kind: "jail", blocks: maxInt(blocks, earliest), growth };
}

/** A validator's standing on the chain: jail, signing window, and a comparison with the other validators in its set. */
export interface Standing {
  readonly jail: Jail;
  readonly window: WindowStanding | undefined;
  /** Explains why there is no window, phrased to end a sentence; undefined if there is a window. */
  readonly windowNote: string | undefined;
  /** How many other validators also missed the latest commits; undefined if unknown. */
  readonly commits: SharedMisses | undefined;
  /** How many other validators also missed the latest oracle votes; undefined if unknown. */
  readonly votes: SharedMisses | undefined;
  readonly peers: PeersStanding;
}

/** A validator's possible jail states, where "unknown" means that the data that was read does not show the state. */
export const JAIL_STATES = ["active", "jailed", "tombstoned", "unknown"] as const;

export interface Jail {
  readonly state: (typeof JAIL_STATES)[number];
  /** The earliest time at which a jailed validator can be released; absent if the validator is not jailed. */
  readonly untilMs?: number;
  /** The command that releases a jailed validator; absent if the validator is not jailed. */
  readonly command?: string;
}

export interface WindowStanding extends SigningWindow {
  /** Shortest time until jail if every block is missed from now on; undefined if never jailed or if the block time is unknown. */
  readonly allMissedMs: number | undefined;
  /**
   * Shortest time until jail at the current rate of misses; undefined if the validator is never jailed at that rate, or if the rate or the
   * block time is unknown.
   */
  readonly presentMs: number | undefined;
}

/** A comparison with other validators, and the time when their data was read. */
export type DatedComparison = PeerComparison & { readonly atMs: number };

export interface PeersStanding {
  readonly comparisons: readonly DatedComparison[];
  /** Sentences that explain why comparisons with other validators are missing. */
  readonly notes: readonly string[];
}

/**
 * Computes a validator's jail state, signing window and comparisons from the observation of one poll. `blockTimeMs` is the mean time
 * between blocks, or undefined if unknown.
 */
export function standingOf(observation: Observation, blockTimeMs: number | undefined): Standing {
  const { chain, nodes } = observation;
  const view = slashingOf(chain.slashing);
  const readings = nodes.flatMap(({ metrics }) => readingOf(metrics) ?? []);
  const jail: Jail = typeof view === "string" ? { state: "unknown" } : jailOf(view, observation);
  const window = typeof view === "string" ? view : windowOf(view, jail, observation);
  return {
    jail,
    ...(typeof window === "string"
      ? { window: undefined, windowNote: window }
      : { window: windowStanding(window, blockTimeMs), windowNote: undefined }),
    commits: readingOf(chain.validator)?.commits,
    votes: readings.find(({ sharedVotes }) => sharedVotes !== undefined)?.sharedVotes,
    peers: peersOf(observation, readings.find(({ voteComparison }) => voteComparison)?.voteComparison),
  };
}

/** Returns the signing window, or a text that explains why there is no signing window. */
function windowOf(
  { params, info, growth }: SlashingReading,
  { state }: Jail,
  { chain: { head } }: Observation,
): SigningWindow | string {
  if (state === "jailed" || state === "tombstoned")
    return "the validator is jailed: its window starts over when it is released";
  if (info === undefined) return "the chain has no signing info for this address: it was never in the set";
  return signingWindow({
    params,
    info,
    height: readingOf(head)?.height,
    growth,
  });
}

/** Returns the data read from the slashing module, or a text that explains why there is no such data. */
function slashingOf(seen: Observation["chain"]["slashing"]): SlashingReading | string {
  if (seen === undefined || seen.state === "not-configured")
    return "it needs chain.rest and consensus_address in the configuration";
  if (seen.state === "error") return `the slashing module cannot be read: ${seen.failure.text}`;
  return seen.state === "absent" ? NO_SLASHING : seen.value;
}

/** The note shown if the chain lacks the slashing module. */
export const NO_SLASHING = "the chain has no slashing module";

function windowStanding(window: SigningWindow, blockTimeMs: number | undefined): WindowStanding {
  const timeOf = (blocks: bigint | undefined): number | undefined =>
    blocks === undefined || blockTimeMs === undefined ? undefined : Math.round(Number(blocks) * blockTimeMs);
  const { ifAllMissed, atPresentRate } = window;
  return {
    ...window,
    allMissedMs: timeOf(ifAllMissed?.least),
    presentMs: timeOf(atPresentRate.kind === "jail" ? atPresentRate.blocks : undefined),
  };
}

/**
 * Returns the jail state that the staking module reports. If that module cannot be read, an unexpired jail time shows that the validator is
 * jailed, and membership in the set shows that the validator is active.
 */
function jailOf({ info, isJailed, unjail }: SlashingReading, { chain, atMs }: Observation): Jail {
  const head = readingOf(chain.head);
  const isInSet = readingOf(chain.validator)?.isInSet === true;
  if (info?.isTombstoned === true) return { state: "tombstoned" };
  const isHeld = info !== undefined && info.jailedUntilMs > (head?.blockTimeMs ?? atMs);
  if (!(isJailed ?? isHeld)) return { state: isJailed === false || isInSet ? "active" : "unknown" };
  return {
    state: "jailed",
    ...(info === undefined ? {} : { untilMs: info.jailedUntilMs }),
    ...(unjail === undefined ? {} : { command: unjailCommand(unjail, head?.chainId) }),
  };
}

/** Formats the Cosmos SDK command that releases the validator. Values from other hosts are quoted for the shell. */
function unjailCommand({ program, from, gasPrice }: UnjailTerms, chainId: string | undefined): string {
  return [
    `${program} tx slashing unjail --from ${from ?? "OPERATOR"}`,
    ...(chainId === undefined ? [] : [`--chain-id ${shellWord(chainId)}`]),
    "--gas auto --gas-adjustment 1.5",
    ...(gasPrice === undefined ? [] : [`--gas-prices ${shellWord(gasPrice)}`]),
  ].join(" ");
}

function shellWord(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Returns the chain's comparisons of the validator with others, and a comparison by a node's vote counters if the chain compares no votes.
 */
function peersOf({ chain, atMs }: Observation, votes: PeerComparison | undefined): PeersStanding {
  const { peers } = chain;
  const reading = readingOf(peers);
  const ofChain = (reading?.comparisons ?? []).map((one) => ({ ...one, atMs: reading?.atMs ?? atMs }));
  const isPaid = ofChain.some(({ measure }) => measure === "votes");
  return {
    comparisons: votes === undefined || isPaid ? ofChain : [...ofChain, { ...votes, atMs }],
    notes: [...(reading?.notes ?? []), ...(reading === undefined ? [noteOf(peers)] : [])],
  };
}

function noteOf(peers: Observation["chain"]["peers"]): string {
  if (peers?.state === "error") return `the other validators cannot be read: ${peers.failure.text}`;
  return "the other validators have not been read yet, or chain.rest and consensus_address are not configured";
}
