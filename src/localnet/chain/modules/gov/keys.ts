import { timeKey } from "../staking/types.ts";
import { concat, uint64BigEndian } from "../../../../platform/base/bytes.ts";
import { errorsOf, orThrow, unregisteredError } from "../../runtime/errors.ts";
import { lengthPrefixed } from "../../store/collections.ts";
import { Params } from "../../../../cosmos/proto/gen/cosmos/gov/v1/gov.ts";
import { DEC18_ONE, type Dec18, parseDec18 } from "../../../../platform/base/decimal.ts";
import { joinNs } from "../../../../platform/base/time.ts";
import { arePositive, type Coin, formatCoins, parseCoins } from "../../runtime/coins.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";

/** Name of the module, its store, its account and its error codespace. */
export const MODULE_NAME = "gov";

/** Encodes the key of a deposit or vote, without its prefix: the proposal id and the length-prefixed address. */
export function partKey(id: bigint, address: Uint8Array): Uint8Array {
  return concat(uint64BigEndian(id), lengthPrefixed(address));
}

/** Encodes the key of a queue entry without its prefix: the time (29 bytes) and the proposal id. */
export function queueKey(timeNs: bigint, id: bigint): Uint8Array {
  return concat(timeKey(timeNs), uint64BigEndian(id));
}

const govError = errorsOf(MODULE_NAME);
export const ErrInactiveProposal = govError(3, "inactive proposal");
export const ErrInvalidProposalContent = govError(5, "invalid proposal content");
export const ErrInvalidVote = govError(7, "invalid vote option");
export const ErrUnroutableProposalMsg = govError(10, "proposal message not recognized by router");
export const ErrNoProposalMsgs = govError(11, "no messages proposed");
export const ErrMetadataTooLong = govError(15, "metadata too long");
export const ErrMinDepositTooSmall = govError(16, "minimum deposit is too small");
export const ErrInvalidProposer = govError(18, "invalid proposer");
export const ErrVotingPeriodEnded = govError(20, "voting period already ended");
export const ErrInvalidProposal = govError(21, "invalid proposal");
export const ErrSummaryTooLong = govError(22, "summary too long");
export const ErrInvalidDepositDenom = govError(23, "invalid deposit denom");

const MIN_DEPOSIT = 10_000_000n;

/** Returns the SDK's default parameters with the chain's denomination. Ratios are decimal strings, where 1 means 100 %. */
export function defaultParams(denom: string): Params {
  return {
    minDeposit: [{ denom, amount: MIN_DEPOSIT.toString() }],
    maxDepositPeriod: { seconds: 172_800n, nanos: 0 },
    votingPeriod: { seconds: 172_800n, nanos: 0 },
    quorum: "0.334000000000000000",
    threshold: "0.500000000000000000",
    vetoThreshold: "0.334000000000000000",
    minInitialDepositRatio: "0.000000000000000000",
    proposalCancelRatio: "0.500000000000000000",
    proposalCancelDest: "",
    expeditedVotingPeriod: { seconds: 86_400n, nanos: 0 },
    expeditedThreshold: "0.667000000000000000",
    expeditedMinDeposit: [{ denom, amount: (5n * MIN_DEPOSIT).toString() }],
    burnVoteQuorum: false,
    burnProposalDepositPrevote: false,
    burnVoteVeto: true,
    minDepositRatio: "0.010000000000000000",
  };
}

/** Parameters for deposits and votes. By default, genesis stores {@link defaultParams} with the chain's denomination. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(0x30),
  type: Params,
  defaults: defaultParams("stake"),
  validate: validateParams,
});

/** Returns the deposit required to start the vote. */
export function minDepositOf(params: Params, expedited: boolean): readonly Coin[] {
  return parseCoins(expedited ? params.expeditedMinDeposit : params.minDeposit);
}

/** Parses a ratio. Throws `ModuleError` if the text is not a decimal. */
export function ratioOf(text: string, name = "ratio"): Dec18 {
  const refuse = (): Error =>
    unregisteredError(`invalid ${name} string: ${JSON.stringify(text.slice(0, 40))} is not a decimal`);
  return orThrow(() => parseDec18(text), refuse);
}

/** Throws an unregistered error if a parameter is invalid. */
function validateParams(params: Params): void {
  const least = requireCoins("minimum deposit", params.minDeposit);
  const expedited = requireCoins("expedited minimum deposit", params.expeditedMinDeposit);
  if (
    !least.every(({ denom, amount }) =>
      expedited.some((coin) => coin.denom === denom && coin.amount > amount),
    )
  )
    throw unregisteredError(
      `expedited minimum deposit must be greater than minimum deposit: ${formatCoins(expedited)}`,
    );
  requirePeriod("maximum deposit period", params.maxDepositPeriod);
  requirePeriod("voting period", params.votingPeriod);
  requirePeriod("expedited voting period", params.expeditedVotingPeriod);
  if (joinNs(params.expeditedVotingPeriod) >= joinNs(params.votingPeriod))
    throw unregisteredError("expedited voting period must be less than the regular voting period");
  requireRatio("quorum", params.quorum, 0n);
  requireRatio("vote threshold", params.threshold, 1n);
  requireRatio("expedited vote threshold", params.expeditedThreshold, 1n);
  if (ratioOf(params.expeditedThreshold) <= ratioOf(params.threshold))
    throw unregisteredError("expedited vote threshold must be greater than the regular threshold");
  requireRatio("veto threshold", params.vetoThreshold, 1n);
  requireRatio("minimum initial deposit ratio", params.minInitialDepositRatio, 0n);
  requireRatio("proposal cancel ratio", params.proposalCancelRatio, 0n);
  requireRatio("minimum deposit ratio", params.minDepositRatio, 0n);
}

function requireCoins(name: string, wire: Params["minDeposit"]): readonly Coin[] {
  const coins = parseCoins(wire);
  if (!arePositive(coins)) throw unregisteredError(`invalid ${name}: ${formatCoins(coins)}`);
  return coins;
}

function requirePeriod(name: string, period: Params["votingPeriod"]): void {
  if (period === undefined) throw unregisteredError(`${name} must not be nil`);
  if (joinNs(period) <= 0n) throw unregisteredError(`${name} must be positive: ${joinNs(period)}`);
}

function requireRatio(name: string, text: string, least: bigint): void {
  const ratio = ratioOf(text, name);
  if (ratio < least)
    throw unregisteredError(`${name} ${least === 0n ? "cannot be negative" : "must be positive"}: ${text}`);
  if (ratio > DEC18_ONE) throw unregisteredError(`${name} too large: ${text}`);
}
