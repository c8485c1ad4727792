import { timeKey } from "../staking/keys.ts";
import { concat, uint64BigEndian } from "../../../../platform/base/bytes.ts";
import { errorsOf } from "../../runtime/errors.ts";
import { lengthPrefixed } from "../../store/collections.ts";

/** Name of the module, its store and its account, and the error codespace. */
export const MODULE_NAME = "gov";

/** `| id (8 bytes)`: the proposal. */
export const PROPOSALS = Uint8Array.of(0x00);
/** `| end of voting | id`: the id, for proposals in their voting period. */
export const ACTIVE_QUEUE = Uint8Array.of(0x01);
/** `| end of deposits | id`: the id, for proposals in their deposit period. */
export const INACTIVE_QUEUE = Uint8Array.of(0x02);
/** The id of the next proposal. */
export const PROPOSAL_ID = Uint8Array.of(0x03);
/** `| id`: 01, for proposals in their voting period. */
export const VOTING_PERIOD = Uint8Array.of(0x04);
/** `| id | lp(depositor)`: the deposit. */
export const DEPOSITS = Uint8Array.of(0x10);
/** `| id | lp(voter)`: the vote. */
export const VOTES = Uint8Array.of(0x20);
export const PARAMS = Uint8Array.of(0x30);
/** The constitution, text. */
export const CONSTITUTION = Uint8Array.of(0x31);

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
