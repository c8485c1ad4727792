import { withRevision } from "../../../../../cosmos/comet/ibc-height.ts";
import { equalBytes } from "../../../../../platform/base/bytes.ts";
import { CometError } from "../../../../../cosmos/comet/comet-error.ts";
import { blockIdFromProto } from "../../../../../cosmos/comet/proto-blocks.ts";
import {
  createSignatureChecks,
  verifyCommitLight,
  verifyCommitLightTrusting,
} from "../../../../../cosmos/comet/verify-commit.ts";
import type {
  ClientState,
  Header,
  Misbehaviour,
} from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import type { ClientStore } from "../client/client-store.ts";
import { isSameState, type ConsensusState } from "../client/consensus-state.ts";
import {
  ErrInvalidHeader,
  ErrInvalidHeaderHeight,
  ErrInvalidMisbehaviour,
  ErrInvalidValidatorSet,
  ErrTrustingPeriodExpired,
} from "../errors.ts";
import { compareHeights, formatHeight } from "../height.ts";
import { validateClientId } from "../identifiers.ts";
import {
  heightOfHeader,
  readHeader,
  consensusStateOfHeader,
  trustedHeightOf,
  validateUpdateHeader,
} from "./header.ts";
import { trustedStateOf, trustedValidatorsOf, trustOptions, type VerifyingBlock } from "./verify-header.ts";

interface HeaderPair {
  readonly first: Header;
  readonly second: Header;
}

/** Stateless checks of a misbehaviour (`Misbehaviour.ValidateBasic`), in ibc-go's order. Throws `ModuleError`. */
export function validateMisbehaviour(misbehaviour: Misbehaviour, block: VerifyingBlock): void {
  const { first, second } = headersOf(misbehaviour);
  requireTrustedHeight(first, "Header1");
  requireTrustedHeight(second, "Header2");
  requireTrustedValidators(first, "Header1");
  requireTrustedValidators(second, "Header2");
  if (first.signedHeader?.header?.chainId !== second.signedHeader?.header?.chainId) {
    throw ErrInvalidMisbehaviour("headers must have identical chainIDs");
  }
  wrapWith("misbehaviour client ID is invalid", () => validateClientId(misbehaviour.clientId));
  requireValid(first, "header 1 failed validation");
  requireValid(second, "header 2 failed validation");
  const heights = [heightOfHeader(first), heightOfHeader(second)] as const;
  if (compareHeights(heights[0], heights[1]) < 0) {
    throw ErrInvalidMisbehaviour(
      `Header1 height is less than Header2 height (${formatHeight(heights[0])} < ${formatHeight(heights[1])})`,
    );
  }
  requireCommitted(first, block);
  requireCommitted(second, block);
}

/**
 * Checks that enough trusted validators signed each header (ibc-go `verifyMisbehaviour`). As in ibc-go, the clock drift
 * is not checked. Throws `ModuleError`.
 */
export function verifyMisbehaviour(
  client: ClientState,
  misbehaviour: Misbehaviour,
  store: ClientStore,
  block: VerifyingBlock,
): void {
  const { first, second } = headersOf(misbehaviour);
  const trusted1 = trustedStateOf(first, store, "Header1");
  const trusted2 = trustedStateOf(second, store, "Header2");
  wrapWith("verifying Header1 in Misbehaviour failed", () => verifySigners(client, first, trusted1, block));
  wrapWith("verifying Header2 in Misbehaviour failed", () => verifySigners(client, second, trusted2, block));
}

/** Whether two verified headers contradict each other: different blocks of one height, or times out of order. */
export function isContradiction(misbehaviour: Misbehaviour): boolean {
  const { first, second } = headersOf(misbehaviour);
  if (compareHeights(heightOfHeader(first), heightOfHeader(second)) === 0) {
    return !equalBytes(blockHashOf(first), blockHashOf(second));
  }
  // ValidateBasic requires that the first header is the higher one, so that its time must be later.
  return consensusStateOfHeader(first).timeNs <= consensusStateOfHeader(second).timeNs;
}

/**
 * Whether a verified header contradicts the stored consensus states: a different state of its height, or a time that is
 * not between those of the neighbouring heights (ibc-go `CheckForMisbehaviour`).
 */
export function contradictsHistory(header: Header, store: ClientStore): boolean {
  const height = heightOfHeader(header);
  const state = consensusStateOfHeader(header);
  const stored = store.consensusState(height);
  if (stored !== undefined) return !isSameState(stored, state);
  const before = store.previousConsensusState(height);
  const after = store.nextConsensusState(height);
  return (
    (before !== undefined && before.timeNs >= state.timeNs) ||
    (after !== undefined && after.timeNs <= state.timeNs)
  );
}

function blockHashOf(header: Header): Uint8Array {
  return blockIdFromProto(header.signedHeader?.commit?.blockId).hash;
}

function verifySigners(
  client: ClientState,
  header: Header,
  trusted: ConsensusState,
  block: VerifyingBlock,
): void {
  const validators = trustedValidatorsOf(header, trusted);
  const { trustingPeriodNs, trustLevel } = trustOptions(client);
  const ageNs = block.timeNs - trusted.timeNs;
  if (ageNs >= trustingPeriodNs) {
    throw ErrTrustingPeriodExpired(
      `current timestamp minus the latest consensus state timestamp is greater than or equal to the trusting period (${ageNs} >= ${trustingPeriodNs})`,
    );
  }
  const { commit } = readHeader(header).signed;
  const chainId = withRevision(client.chainId, heightOfHeader(header).revisionNumber);
  try {
    const checks = createSignatureChecks(block.beforeSlowSignature);
    verifyCommitLightTrusting(validators, { chainId, commit }, trustLevel, checks);
  } catch (error) {
    if (!(error instanceof CometError)) throw error;
    throw ErrInvalidMisbehaviour(
      `validator set in header has too much change from trusted validator set: ${error.message}`,
    );
  }
}

function headersOf(misbehaviour: Misbehaviour): HeaderPair {
  const { header1, header2 } = misbehaviour;
  if (header1 === undefined) throw ErrInvalidHeader("misbehaviour Header1 cannot be nil");
  if (header2 === undefined) throw ErrInvalidHeader("misbehaviour Header2 cannot be nil");
  return { first: header1, second: header2 };
}

function requireTrustedHeight(header: Header, name: string): void {
  if (trustedHeightOf(header).revisionHeight !== 0n) return;
  throw ErrInvalidHeaderHeight(`misbehaviour ${name} cannot have zero revision height`);
}

function requireTrustedValidators(header: Header, name: string): void {
  if (header.trustedValidators !== undefined) return;
  throw ErrInvalidValidatorSet(`trusted validator set in ${name} cannot be empty`);
}

function requireValid(header: Header, words: string): void {
  wrapErrors(
    (error) => ErrInvalidMisbehaviour(`${words}: ${error.message}`),
    () => validateUpdateHeader(header),
  );
}

/** Checks that more than two thirds of the header's own validator set signed it. */
function requireCommitted(header: Header, block: VerifyingBlock): void {
  const { signed, validators } = readHeader(header);
  const { commit } = signed;
  const { chainId } = signed.header;
  try {
    const checks = createSignatureChecks(block.beforeSlowSignature);
    verifyCommitLight(
      validators,
      { chainId, blockId: commit.blockId, height: commit.height, commit },
      checks,
    );
  } catch (error) {
    if (error instanceof CometError) throw ErrInvalidMisbehaviour("validator set did not commit to header");
    throw error;
  }
}

function wrapWith(words: string, check: () => void): void {
  wrapErrors((error) => error.wrap(words), check);
}
