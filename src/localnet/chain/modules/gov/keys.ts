import { timeKey } from "../staking/keys.ts";
import { concat, uint64BigEndian } from "../../../../platform/base/bytes.ts";
import { errorsOf } from "../../runtime/errors.ts";
import { lengthPrefixed } from "../../store/collections.ts";

/** Name of the module, its store and its account, and the error codespace. */
export const MODULE_NAME = "gov";

/** Encodes the key of a deposit or vote, without its prefix: `id | lp(address)`. */
export function partKey(id: bigint, address: Uint8Array): Uint8Array {
  return concat(uint64BigEndian(id), lengthPrefixed(address));
}

/** Encodes the key of a queue entry, without its prefix: `time (29 bytes) | id`. */
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
