import type { ValidatorStake } from "../staking/keeper.ts";
import { nsToTimestamp, timestampToNs } from "../../../../cosmos/comet/timestamp.ts";
import { toHex, uint64BigEndian } from "../../../../platform/base/bytes.ts";
import * as decimal from "../../../../platform/base/decimal.ts";
import { joinNs } from "../../../../platform/base/time.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Context, event } from "../../runtime/context.ts";
import { ModuleError } from "../../runtime/errors.ts";
import { timeKey } from "../staking/types.ts";
import * as keeper from "./keeper.ts";
import { queueKey, moduleParams, ratioOf } from "./keys.ts";
import * as gov from "../../../../cosmos/proto/gen/cosmos/gov/v1/gov.ts";

/**
 * Deletes proposals that have not reached the minimum deposit by the end of their deposit period, and tallies proposals whose
 * voting period has ended.
 */
export function endBlock(context: Context, keepers: keeper.Keepers): void {
  const isDue = ([key]: readonly [Uint8Array, bigint]): boolean =>
    Buffer.compare(key.subarray(0, timeKey(context.timeNs).length), timeKey(context.timeNs)) <= 0;
  for (const [, id] of [...keeper.inactiveQueue.entries(context)].filter(isDue))
    dropProposal(context, keeper.requireProposal(context, id), keepers);
  for (const [, id] of [...keeper.activeQueue.entries(context)].filter(isDue))
    endVote(context, keeper.requireProposal(context, id), keepers);
}

function dropProposal(context: Context, proposal: gov.Proposal, keepers: keeper.Keepers): void {
  keeper.deleteProposal(context, proposal);
  if (moduleParams.get(context).burnProposalDepositPrevote)
    keeper.burnDeposits(context, proposal.id, keepers);
  else keeper.refundDeposits(context, proposal.id, keepers);
  context.emit(
    event("inactive_proposal", { proposal_id: proposal.id.toString(), proposal_result: "proposal_dropped" }),
  );
}

function endVote(context: Context, proposal: gov.Proposal, keepers: keeper.Keepers): void {
  const params = moduleParams.get(context);
  const { passes, burns, result } = tally(context, proposal, keepers, true);
  // A failed expedited proposal keeps its deposits, because a regular vote follows.
  if (passes || !proposal.expedited) {
    if (burns) keeper.burnDeposits(context, proposal.id, keepers);
    else keeper.refundDeposits(context, proposal.id, keepers);
  }
  keeper.activeQueue.delete(context, queueKey(timestampToNs(proposal.votingEndTime), proposal.id));
  const [ended, outcome, log] = passes
    ? runProposal(context, proposal, keepers)
    : proposal.expedited
      ? continueAsRegular(context, proposal, params)
      : rejected(proposal);
  keeper.setProposal(context, { ...ended, finalTallyResult: result });
  const id = proposal.id.toString();
  context.emit(event("active_proposal", { proposal_id: id, proposal_result: outcome, proposal_log: log }));
}

type Outcome = readonly [proposal: gov.Proposal, result: string, log: string];

/** Runs the messages of a passed proposal. If a message fails, the writes of all messages are dropped. */
function runProposal(context: Context, proposal: gov.Proposal, { findMessage }: keeper.Keepers): Outcome {
  let at = 0;
  try {
    context.atomically((inner) => {
      for (const [index, { typeUrl, value }] of proposal.messages.entries()) {
        at = index;
        findMessage(typeUrl)?.handle(inner, value);
      }
    });
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    const { message: failedReason } = error;
    const status = gov.ProposalStatus.PROPOSAL_STATUS_FAILED;
    const log = `passed, but msg ${at} (${proposal.messages[at]?.typeUrl ?? ""}) failed on execution: ${failedReason}`;
    return [{ ...proposal, status, failedReason }, "proposal_failed", log];
  }
  return [{ ...proposal, status: gov.ProposalStatus.PROPOSAL_STATUS_PASSED }, "proposal_passed", "passed"];
}

function continueAsRegular(context: Context, proposal: gov.Proposal, { votingPeriod }: gov.Params): Outcome {
  const endNs = timestampToNs(proposal.votingStartTime) + joinNs(votingPeriod);
  keeper.activeQueue.set(context, queueKey(endNs, proposal.id), proposal.id);
  return [
    { ...proposal, expedited: false, votingEndTime: nsToTimestamp(endNs) },
    "expedited_proposal_rejected",
    "expedited proposal converted to regular",
  ];
}

function rejected(proposal: gov.Proposal): Outcome {
  const failedReason = "proposal did not get enough votes to pass";
  const status = gov.ProposalStatus.PROPOSAL_STATUS_REJECTED;
  return [{ ...proposal, status, failedReason }, "proposal_rejected", "rejected"];
}

interface Tally {
  readonly passes: boolean;
  /** True if the deposits must be burned. */
  readonly burns: boolean;
  readonly result: gov.TallyResult;
}

/**
 * Counts the votes, weighted by stake. The delegations of a voter add weight to the voter's own vote. If a delegator did not vote,
 * the delegation adds weight to the bonded validator's vote, if any. If `removesVotes` is true, deletes the counted votes.
 */
export function tally(
  context: Context,
  proposal: gov.Proposal,
  keepers: keeper.Keepers,
  removesVotes: boolean,
): Tally {
  const { counts, total, bonded } = countVotes(context, proposal.id, keepers, removesVotes);
  const of = (option: number): decimal.Dec18 => counts.get(option) ?? 0n;
  const result = {
    yesCount: decimal.truncateDec18(of(gov.VoteOption.VOTE_OPTION_YES)).toString(),
    abstainCount: decimal.truncateDec18(of(gov.VoteOption.VOTE_OPTION_ABSTAIN)).toString(),
    noCount: decimal.truncateDec18(of(gov.VoteOption.VOTE_OPTION_NO)).toString(),
    noWithVetoCount: decimal.truncateDec18(of(gov.VoteOption.VOTE_OPTION_NO_WITH_VETO)).toString(),
  };
  const ends = (passes: boolean, burns: boolean): Tally => ({ passes, burns, result });
  const params = moduleParams.get(context);
  if (bonded === 0n) return ends(false, false);
  if (decimal.quoDec18(total, bonded * decimal.DEC18_ONE) < ratioOf(params.quorum))
    return ends(false, params.burnVoteQuorum);
  const decided = total - of(gov.VoteOption.VOTE_OPTION_ABSTAIN);
  if (decided === 0n) return ends(false, false);
  if (decimal.quoDec18(of(gov.VoteOption.VOTE_OPTION_NO_WITH_VETO), total) > ratioOf(params.vetoThreshold))
    return ends(false, params.burnVoteVeto);
  const threshold = ratioOf(proposal.expedited ? params.expeditedThreshold : params.threshold);
  return ends(decimal.quoDec18(of(gov.VoteOption.VOTE_OPTION_YES), decided) > threshold, false);
}

type Ballot = readonly { readonly option: number; readonly weight: string }[];

interface Candidate extends ValidatorStake {
  /** Shares of the validator's delegators that have voted. */
  deducted: decimal.Dec18;
  ballot: Ballot;
}

/** Returns the voting power per option and in total, and the bonded validators' total tokens. */
function countVotes(context: Context, id: bigint, keepers: keeper.Keepers, removesVotes: boolean) {
  const validators = new Map<string, Candidate>();
  for (const each of keepers.staking.bonded(context))
    validators.set(toHex(each.operator), { ...each, deducted: 0n, ballot: [] });
  const counts = new Map<number, decimal.Dec18>();
  let total: decimal.Dec18 = 0n;
  const add = (power: decimal.Dec18, ballot: Ballot): void => {
    for (const { option, weight } of ballot)
      counts.set(option, (counts.get(option) ?? 0n) + decimal.mulDec18(power, ratioOf(weight)));
    total += power;
  };
  const all = [...keeper.votes.entries(context, uint64BigEndian(id))];
  for (const [key, { voter, options }] of all) {
    const address = parseAddress(keepers.bech32Prefix, voter);
    const own = validators.get(toHex(address));
    if (own !== undefined) own.ballot = options;
    for (const { validator, shares } of keepers.staking.delegationsOf(context, address)) {
      const candidate = validators.get(toHex(validator));
      if (candidate === undefined) continue;
      candidate.deducted += shares;
      add(powerOf(candidate, shares), options);
    }
    if (removesVotes) keeper.votes.delete(context, key);
  }
  for (const candidate of validators.values())
    if (candidate.ballot.length > 0)
      add(powerOf(candidate, candidate.shares - candidate.deducted), candidate.ballot);
  const bonded = [...validators.values()].reduce((sum, { tokens }) => sum + tokens, 0n);
  return { counts, total, bonded };
}

function powerOf({ tokens, shares: all }: ValidatorStake, shares: decimal.Dec18): decimal.Dec18 {
  return decimal.quoDec18(shares * tokens, all);
}
