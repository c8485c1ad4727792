import type { LastCommitVote } from "../../runtime/abci.ts";
import type { Context } from "../../runtime/context.ts";
import { liveness, slashed } from "./events.ts";
import { clearMissed, hasMissed, setMissed } from "./missed-blocks.ts";
import { fractionOf, jailTimeNs, leastSigned, paramsOf } from "./params.ts";
import { type SigningInfo, signingInfos } from "./signing-infos.ts";
import type { Environment } from "./types.ts";

/** A vote was for the block before, and the set of validators is that of one block earlier still. */
const UPDATE_DELAY = 2n;

/**
 * Counts one vote of the last commit, and slashes and jails a validator that missed too many blocks of the window. Votes of
 * validators that the staking module does not know are not counted: genesis or the control API made them.
 */
export function countVote(context: Context, environment: Environment, vote: LastCommitVote): void {
  const { address } = vote;
  const validator = environment.staking.byConsensus(context, address);
  const known = signingInfos.get(context, address);
  if (validator === undefined || known === undefined || validator.jailed) return;
  const counted = countBlock(context, known, vote);
  if (!vote.signed) {
    const text = environment.format(address);
    context.emit(liveness(text, counted.missedBlocksCounter, context.height));
  }
  const isDown = isBelowMinimum(context, counted);
  signingInfos.set(context, address, isDown ? punish(context, environment, counted, vote) : counted);
}

function countBlock(context: Context, info: SigningInfo, { address, signed }: LastCommitVote): SigningInfo {
  const index = info.indexOffset % paramsOf(context).signedBlocksWindow;
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
  return context.height > info.startHeight + params.signedBlocksWindow && info.missedBlocksCounter > most;
}

function punish(
  context: Context,
  { staking, format }: Environment,
  info: SigningInfo,
  { address, power }: LastCommitVote,
): SigningInfo {
  const params = paramsOf(context);
  const burned = staking.slash(context, {
    consensus: address,
    height: context.height - UPDATE_DELAY,
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
