import {
  createItemOr,
  bytesCodec,
  createMap,
  messageCodec,
  textCodec,
  uint64Codec,
} from "../../store/collections.ts";
import { type ChainNames, type FindMessage, type Context, dryRun, event } from "../../runtime/context.ts";
import type { BankKeeper } from "../bank/keeper.ts";
import type { StakingKeeper } from "../staking/keeper.ts";
import { nsToTimestamp, timestampToNs } from "../../../../cosmos/comet/timestamp.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { uint64BigEndian } from "../../../../platform/base/bytes.ts";
import { type Dec18, DEC18_ONE, mulDec18, truncateDec18 } from "../../../../platform/base/decimal.ts";
import { joinNs } from "../../../../platform/base/time.ts";
import { parseAddress } from "../../runtime/address.ts";
import * as money from "../../runtime/coins.ts";
import { ErrInvalidCoins, ErrInvalidSigner, unregisteredError, wrapErrors } from "../../runtime/errors.ts";
import * as keys from "./keys.ts";
import * as gov from "../../../../cosmos/proto/gen/cosmos/gov/v1/gov.ts";

export type GovOptions = Pick<ChainNames, "bech32Prefix" | "denom" | "authority">;

export interface GovDeps {
  readonly bank: Pick<BankKeeper, "sendToModule" | "sendFromModule" | "burn">;
  readonly staking: Pick<StakingKeeper, "bonded" | "delegationsOf">;
  readonly findMessage: FindMessage;
}

export interface Keepers extends GovOptions, GovDeps {}

export const proposalCodec = messageCodec(gov.Proposal);
/** Proposals. The key is 0x00 and the proposal id (8 bytes, big-endian). */
export const proposals = createMap(keys.MODULE_NAME, Uint8Array.of(0x00), uint64Codec, proposalCodec);
/** Ids of proposals in their voting period. The key is 0x01, the period's end and the proposal id. */
export const activeQueue = createMap(keys.MODULE_NAME, Uint8Array.of(0x01), bytesCodec, uint64Codec);
/** Ids of proposals in their deposit period. The key is 0x02, the period's end and the proposal id. */
export const inactiveQueue = createMap(keys.MODULE_NAME, Uint8Array.of(0x02), bytesCodec, uint64Codec);
export const nextProposalId = createItemOr(keys.MODULE_NAME, Uint8Array.of(0x03), uint64Codec, 1n);
/** Marks each proposal in its voting period with the byte 01. Key: `0x04 | id`. */
const votingPeriod = createMap(keys.MODULE_NAME, Uint8Array.of(0x04), uint64Codec, bytesCodec);
/** Deposits on proposals. The key is 0x10, the proposal id and the depositor's length-prefixed address. */
export const deposits = createMap(
  keys.MODULE_NAME,
  Uint8Array.of(0x10),
  bytesCodec,
  messageCodec(gov.Deposit),
);
/** Votes on proposals. The key is 0x20, the proposal id and the voter's length-prefixed address. */
export const votes = createMap(keys.MODULE_NAME, Uint8Array.of(0x20), bytesCodec, messageCodec(gov.Vote));
export const constitution = createItemOr(keys.MODULE_NAME, Uint8Array.of(0x31), textCodec, "");

/** Stores a proposal, and updates the index of proposals in their voting period. */
export function setProposal(context: Context, proposal: gov.Proposal): void {
  if (proposal.status === gov.ProposalStatus.PROPOSAL_STATUS_VOTING_PERIOD)
    votingPeriod.set(context, proposal.id, Uint8Array.of(1));
  else votingPeriod.delete(context, proposal.id);
  proposals.set(context, proposal.id, proposal);
}

/** Returns a proposal, or throws an unregistered error for an unknown id. */
export function requireProposal(context: Context, id: bigint): gov.Proposal {
  const proposal = proposals.get(context, id);
  if (proposal !== undefined) return proposal;
  throw unregisteredError(
    `collections: not found: key '${id}' of type github.com/cosmos/gogoproto/cosmos.gov.v1.Proposal`,
  );
}

/** Deletes a proposal and its queue entries. */
export function deleteProposal(context: Context, proposal: gov.Proposal): void {
  inactiveQueue.delete(context, keys.queueKey(timestampToNs(proposal.depositEndTime), proposal.id));
  if (proposal.votingEndTime !== undefined) {
    activeQueue.delete(context, keys.queueKey(timestampToNs(proposal.votingEndTime), proposal.id));
    votingPeriod.delete(context, proposal.id);
  }
  proposals.delete(context, proposal.id);
}

/** A new proposal that has not been assigned an id yet. */
export interface Draft {
  readonly messages: readonly Any[];
  readonly metadata: string;
  readonly title: string;
  readonly summary: string;
  readonly proposer: string;
  readonly expedited: boolean;
}

const MAX_METADATA_BYTES = 255;
const MAX_SUMMARY_BYTES = 40 * MAX_METADATA_BYTES;

/** Stores a new proposal in its deposit period. Throws `ModuleError` if a text is too long or x/gov cannot run a message. */
export function addProposal(context: Context, draft: Draft, keepers: Keepers): gov.Proposal {
  const { messages, metadata, title, summary, proposer, expedited } = draft;
  requireLength(metadata);
  if (Buffer.byteLength(summary) > MAX_SUMMARY_BYTES)
    throw keys.ErrSummaryTooLong(`got summary with length ${Buffer.byteLength(summary)}`);
  requireLength(title);
  for (const message of messages) requireRunnable(context, message, keepers);
  const id = nextProposalId.get(context);
  nextProposalId.set(context, id + 1n);
  const { maxDepositPeriod } = keys.moduleParams.get(context);
  const endNs = context.timeNs + joinNs(maxDepositPeriod);
  const proposal: gov.Proposal = {
    ...gov.Proposal.decode(new Uint8Array(0)),
    id,
    messages: [...messages],
    status: gov.ProposalStatus.PROPOSAL_STATUS_DEPOSIT_PERIOD,
    finalTallyResult: { yesCount: "0", abstainCount: "0", noCount: "0", noWithVetoCount: "0" },
    submitTime: nsToTimestamp(context.timeNs),
    depositEndTime: nsToTimestamp(endNs),
    metadata,
    title,
    summary,
    proposer,
    expedited,
  };
  setProposal(context, proposal);
  inactiveQueue.set(context, keys.queueKey(endNs, id), id);
  context.emit(
    event("submit_proposal", {
      proposal_id: id.toString(),
      proposal_messages: messages.map(({ typeUrl }) => `,${typeUrl}`).join(""),
    }),
  );
  return proposal;
}

function requireLength(text: string): void {
  const length = Buffer.byteLength(text);
  if (length > MAX_METADATA_BYTES) throw keys.ErrMetadataTooLong(`got metadata with length ${length}`);
}

/**
 * Throws unless the message has a handler and the module's account is its only signer. If the message contains legacy content, also
 * runs the message and discards its writes.
 */
function requireRunnable(
  context: Context,
  { typeUrl, value }: Any,
  { authority, findMessage }: Keepers,
): void {
  const handler = findMessage(typeUrl);
  if (handler === undefined) throw keys.ErrUnroutableProposalMsg(typeUrl);
  const [signer, ...others] = handler.signers(value);
  if (signer === undefined || others.length > 0) throw ErrInvalidSigner();
  if (signer !== authority) throw ErrInvalidSigner(signer);
  if (typeUrl !== "/cosmos.gov.v1.MsgExecLegacyContent") return;
  wrapErrors(
    (error) => keys.ErrInvalidProposalContent(error.message),
    () => dryRun(context, (inner) => handler.handle(inner, value)),
  );
}

/** Requires an initial deposit of the minimum size, in allowed denominations only. Throws `ModuleError`. */
export function checkInitialDeposit(
  params: gov.Params,
  deposit: readonly money.Coin[],
  expedited: boolean,
): void {
  if (!money.areValidCoins(deposit)) throw ErrInvalidCoins(money.formatCoins(deposit));
  const ratio = keys.ratioOf(params.minInitialDepositRatio);
  if (ratio > 0n) {
    const least = money.mapAmounts(keys.minDepositOf(params, expedited), (amount) =>
      truncateDec18(mulDec18(amount * DEC18_ONE, ratio) + DEC18_ONE / 2n),
    );
    if (!coversAll(deposit, least))
      throw keys.ErrMinDepositTooSmall(
        `was (${money.formatCoins(deposit)}), need (${money.formatCoins(least)})`,
      );
  }
  requireDepositDenoms(params, deposit);
}

function requireDepositDenoms(params: gov.Params, deposit: readonly money.Coin[]): void {
  const denoms = params.minDeposit.map(({ denom }) => denom);
  if (deposit.every(({ denom }) => denoms.includes(denom))) return;
  throw keys.ErrInvalidDepositDenom(
    `deposited ${money.formatCoins(deposit)}, but gov accepts only the following denom(s): [${denoms.join(" ")}]`,
  );
}

function coversAll(coins: readonly money.Coin[], least: readonly money.Coin[]): boolean {
  return least.every(({ denom, amount }) => money.amountOf(coins, denom) >= amount);
}

interface Payment {
  readonly id: bigint;
  readonly depositor: string;
  readonly amount: readonly money.Coin[];
}

/** Adds a deposit and returns whether the deposit started the vote. Throws `ModuleError`. */
export function addDeposit(context: Context, { id, depositor, amount }: Payment, keepers: Keepers): boolean {
  const { bank, bech32Prefix } = keepers;
  const proposal = requireProposal(context, id);
  const isPending = proposal.status === gov.ProposalStatus.PROPOSAL_STATUS_DEPOSIT_PERIOD;
  if (!isPending && proposal.status !== gov.ProposalStatus.PROPOSAL_STATUS_VOTING_PERIOD)
    throw keys.ErrInactiveProposal(id.toString());
  const params = keys.moduleParams.get(context);
  const least = keys.minDepositOf(params, proposal.expedited);
  requireDepositDenoms(params, amount);
  requireRatioOf(params, least, amount);
  const address = parseAddress(bech32Prefix, depositor);
  bank.sendToModule(context, address, keys.MODULE_NAME, amount);
  const total = money.sumCoins([...money.parseCoins(proposal.totalDeposit), ...amount]);
  const funded = { ...proposal, totalDeposit: total.map(money.toWireCoin) };
  setProposal(context, funded);
  const starts = isPending && coversAll(total, least);
  if (starts) startVote(context, funded);
  const key = keys.partKey(id, address);
  const before = money.parseCoins(deposits.get(context, key)?.amount ?? []);
  context.emit(
    event("proposal_deposit", { depositor, amount: money.formatCoins(amount), proposal_id: id.toString() }),
  );
  deposits.set(context, key, {
    proposalId: id,
    depositor,
    amount: money.sumCoins([...before, ...amount]).map(money.toWireCoin),
  });
  return starts;
}

/** Throws unless the amount of at least one coin is at least `min_deposit_ratio` times the deposit that starts the vote. */
function requireRatioOf(
  params: gov.Params,
  least: readonly money.Coin[],
  amount: readonly money.Coin[],
): void {
  const ratio = keys.ratioOf(params.minDepositRatio);
  if (ratio === 0n) return;
  const thresholds = partsOf(least, ratio);
  const isMet = thresholds.some((threshold) =>
    amount.some((coin) => coin.denom === threshold.denom && coin.amount >= threshold.amount),
  );
  if (isMet) return;
  const needed = thresholds.map(money.formatCoin).join(",");
  throw keys.ErrMinDepositTooSmall(
    `received ${money.formatCoins(amount)} but need at least one of the following: ${needed}`,
  );
}

/** Multiplies each coin's amount by `ratio`, rounded down. */
function partsOf(coins: readonly money.Coin[], ratio: Dec18): readonly money.Coin[] {
  return money.mapAmounts(coins, (amount) => truncateDec18(mulDec18(amount * DEC18_ONE, ratio)));
}

function startVote(context: Context, proposal: gov.Proposal): void {
  const params = keys.moduleParams.get(context);
  const period = proposal.expedited ? params.expeditedVotingPeriod : params.votingPeriod;
  const endNs = context.timeNs + joinNs(period);
  setProposal(context, {
    ...proposal,
    votingStartTime: nsToTimestamp(context.timeNs),
    votingEndTime: nsToTimestamp(endNs),
    status: gov.ProposalStatus.PROPOSAL_STATUS_VOTING_PERIOD,
  });
  inactiveQueue.delete(context, keys.queueKey(timestampToNs(proposal.depositEndTime), proposal.id));
  activeQueue.set(context, keys.queueKey(endNs, proposal.id), proposal.id);
}

/** Stores a vote, replacing any earlier vote by the same voter. Throws gov/3 outside the voting period. */
export function addVote(context: Context, vote: gov.Vote, { bech32Prefix }: Keepers): void {
  if (!votingPeriod.has(context, vote.proposalId)) throw keys.ErrInactiveProposal(vote.proposalId.toString());
  requireLength(vote.metadata);
  votes.set(context, keys.partKey(vote.proposalId, parseAddress(bech32Prefix, vote.voter)), vote);
  const option = printOptions(vote.options);
  context.emit(
    event("proposal_vote", { voter: vote.voter, option, proposal_id: vote.proposalId.toString() }),
  );
}

function printOptions(options: readonly gov.WeightedVoteOption[]): string {
  return `[${options.map(({ option, weight }) => `{"option":${option},"weight":"${weight}"}`).join(",")}]`;
}

function deleteVotes(context: Context, id: bigint): void {
  const all = [...votes.entries(context, uint64BigEndian(id))];
  for (const [key] of all) votes.delete(context, key);
}

export function refundDeposits(context: Context, id: bigint, keepers: Keepers): void {
  for (const deposit of deposits.values(context, uint64BigEndian(id))) {
    const address = parseAddress(keepers.bech32Prefix, deposit.depositor);
    keepers.bank.sendFromModule(context, keys.MODULE_NAME, address, money.parseCoins(deposit.amount));
    deposits.delete(context, keys.partKey(id, address));
  }
}

export function burnDeposits(context: Context, id: bigint, { bank, bech32Prefix }: Keepers): void {
  const all = deposits.values(context, uint64BigEndian(id));
  for (const { depositor } of all)
    deposits.delete(context, keys.partKey(id, parseAddress(bech32Prefix, depositor)));
  bank.burn(context, keys.MODULE_NAME, money.sumCoins(all.flatMap(({ amount }) => money.parseCoins(amount))));
}

/**
 * MsgCancelProposal, sent by the proposer before the vote ends. The fraction `proposal_cancel_ratio` of each deposit is burned or
 * sent to `proposal_cancel_dest`. The remainder is refunded. Throws `ModuleError`.
 */
export function cancelProposal(context: Context, id: bigint, proposer: string, keepers: Keepers): void {
  const proposal = requireProposal(context, id);
  if (proposal.proposer === "")
    throw keys.ErrInvalidProposal(`proposal ${id} doesn't have proposer ${proposer}, so cannot be canceled`);
  if (proposal.proposer !== proposer) throw keys.ErrInvalidProposer(`invalid proposer ${proposer}`);
  const { PROPOSAL_STATUS_DEPOSIT_PERIOD, PROPOSAL_STATUS_VOTING_PERIOD } = gov.ProposalStatus;
  if (proposal.status !== PROPOSAL_STATUS_DEPOSIT_PERIOD && proposal.status !== PROPOSAL_STATUS_VOTING_PERIOD)
    throw keys.ErrInvalidProposal("proposal should be in the deposit or voting period");
  if (proposal.votingEndTime !== undefined && timestampToNs(proposal.votingEndTime) < context.timeNs)
    throw keys.ErrVotingPeriodEnded(`voting period is already ended for this proposal ${id}`);
  chargeDeposits(context, id, keepers);
  deleteVotes(context, id);
  deleteProposal(context, proposal);
}

function chargeDeposits(context: Context, id: bigint, keepers: Keepers): void {
  const { bank, bech32Prefix } = keepers;
  const { proposalCancelRatio, proposalCancelDest } = keys.moduleParams.get(context);
  const ratio = keys.ratioOf(proposalCancelRatio);
  const charged: money.Coin[] = [];
  for (const { depositor, amount } of deposits.values(context, uint64BigEndian(id))) {
    const address = parseAddress(bech32Prefix, depositor);
    const coins = money.parseCoins(amount);
    const charges = partsOf(coins, ratio);
    const rest = money.sumCoins(
      money.mapAmounts(coins, (each, denom) => each - money.amountOf(charges, denom)),
    );
    if (rest.length > 0) bank.sendFromModule(context, keys.MODULE_NAME, address, rest);
    charged.push(...charges);
    deposits.delete(context, keys.partKey(id, address));
  }
  const total = money.sumCoins(charged);
  if (total.length === 0) return;
  if (proposalCancelDest === "") bank.burn(context, keys.MODULE_NAME, total);
  else bank.sendFromModule(context, keys.MODULE_NAME, parseAddress(bech32Prefix, proposalCancelDest), total);
}
