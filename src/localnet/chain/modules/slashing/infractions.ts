import { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { LastCommitVote, Misbehavior } from "../../runtime/abci.ts";
import type { Context } from "../../runtime/context.ts";
import { type ChainEvent, event } from "../../runtime/events.ts";
import { clearMissed, hasMissed, publicKeys, setMissed, type SigningInfo, signingInfos } from "./keeper.ts";
import { fractionOf, jailTimeNs, leastSigned, paramsOf } from "./params.ts";
import type { Keepers } from "./types.ts";

/** A vote was for the block before, and the set of validators is that of one block earlier still. */
const VOTE_SET_DELAY = 2n;

/**
 * Counts one vote of the last commit, and slashes and jails a validator that missed too many blocks of the window. Votes of
 * validators that the staking module does not know are not counted: genesis or the control API made them.
 */
export function countVote(context: Context, keepers: Keepers, vote: LastCommitVote): void {
  const { address } = vote;
  const validator = keepers.staking.byConsensus(context, address);
  const known = signingInfos.get(context, address);
  if (validator === undefined || known === undefined || validator.jailed) return;
  const counted = countBlock(context, known, vote);
  if (!vote.signed) {
    const text = keepers.format(address);
    context.emit(liveness(text, counted.missedBlocksCounter, context.height));
  }
  const isDown = isBelowMinimum(context, counted);
  signingInfos.set(context, address, isDown ? punish(context, keepers, counted, vote) : counted);
}

function countBlock(context: Context, info: SigningInfo, { address, signed }: LastCommitVote): SigningInfo {
  const index = info.indexOffset % paramsOf(context).signedBlocksWindow;
  // The window has one bit for each block. This block takes the bit of the block one window ago, so the counter changes only when
  // the two differ.
  const before = hasMissed(context, address, index);
  if (before === signed) setMissed(context, address, index, !signed);
  const change = before === signed ? (signed ? -1n : 1n) : 0n;
  return {
    ...info,
    indexOffset: info.indexOffset + 1n,
    missedBlocksCounter: info.missedBlocksCounter + change,
  };
}

function isBelowMinimum(context: Context, info: SigningInfo): boolean {
  const params = paramsOf(context);
  const most = params.signedBlocksWindow - leastSigned(params);
  // A validator that is younger than a window cannot have signed enough blocks yet.
  return context.height > info.startHeight + params.signedBlocksWindow && info.missedBlocksCounter > most;
}

function punish(
  context: Context,
  { staking, format }: Keepers,
  info: SigningInfo,
  { address, power }: LastCommitVote,
): SigningInfo {
  const params = paramsOf(context);
  const burned = staking.slash(context, {
    consensus: address,
    height: context.height - VOTE_SET_DELAY,
    power,
    fraction: fractionOf(params.slashFractionDowntime),
  });
  const text = format(address);
  context.emit(slashed({ address: text, power, reason: "missing_signature", burned, jailed: text }));
  staking.jail(context, address);
  clearMissed(context, address);
  const jailedUntilNs = context.timeNs + jailTimeNs(params);
  return { ...info, jailedUntilNs, missedBlocksCounter: 0n, indexOffset: 0n };
}

/** The SDK jails for a double sign until the last second of the year 9999. */
const JAIL_END_NS = 253_402_300_799n * 1_000_000_000n;
/** Validators of a height were set one block before it. */
const EVIDENCE_SET_DELAY = 1n;

/**
 * Handles evidence that a validator signed two blocks of one height: slashes, jails and tombstones it. Ignores evidence against
 * validators that are unknown, unbonded or tombstoned, and evidence that is too old.
 */
export function punishDoubleSign(context: Context, keepers: Keepers, evidence: Misbehavior): void {
  const { address, height, power } = evidence;
  const { staking, format } = keepers;
  const validator = staking.byConsensus(context, address);
  if (validator === undefined || validator.status === BondStatus.BOND_STATUS_UNBONDED) return;
  const info = signingInfos.get(context, address);
  const isKnown = publicKeys.has(context, address);
  if (!isKnown || info === undefined || info.tombstoned || isTooOld(context, keepers, evidence)) return;
  const fraction = fractionOf(paramsOf(context).slashFractionDoubleSign);
  const burned = staking.slash(context, {
    consensus: address,
    height: height - EVIDENCE_SET_DELAY,
    power,
    fraction,
  });
  context.emit(slashed({ address: format(address), power, reason: "double_sign", burned }));
  if (!validator.jailed) {
    staking.jail(context, address);
    context.emit(jailed(format(address)));
  }
  signingInfos.set(context, address, { ...info, jailedUntilNs: JAIL_END_NS, tombstoned: true });
}

function isTooOld(context: Context, { evidenceAge }: Keepers, { height, timeNs }: Misbehavior): boolean {
  const most = evidenceAge(context);
  return context.height - height > most.blocks && context.timeNs - timeNs > most.timeNs;
}

/** Creates `liveness`: a validator missed a block. Addresses are bech32. */
function liveness(address: string, missed: bigint, height: bigint): ChainEvent {
  return event("liveness", [
    ["address", address],
    ["missed_blocks", missed.toString()],
    ["height", height.toString()],
  ]);
}

/** Creates `slash`. For downtime it also names the jailed validator; for a double sign {@link jailed} follows. */
function slashed(slash: {
  readonly address: string;
  readonly power: bigint;
  readonly reason: "missing_signature" | "double_sign";
  readonly burned: bigint;
  readonly jailed?: string;
}): ChainEvent {
  return event("slash", [
    ["address", slash.address],
    ["power", slash.power.toString()],
    ["reason", slash.reason],
    ...(slash.jailed === undefined ? [] : [["jailed", slash.jailed] as const]),
    ["burned_coins", slash.burned.toString()],
  ]);
}

/** Creates `slash` with the jailed validator only. */
function jailed(address: string): ChainEvent {
  return event("slash", [["jailed", address]]);
}
