import { validatorsHash } from "../../../../../cosmos/comet/block-hashes.ts";
import type { SignedHeader, ValidatorSet } from "../../../../../cosmos/comet/block-types.ts";
import { CometError } from "../../../../../cosmos/comet/comet-error.ts";
import { revisionOfChainId, withRevision } from "../../../../../cosmos/comet/ibc-height.ts";
import { verifyHeader } from "../../../../../cosmos/comet/light-client.ts";
import * as protoBlocks from "../../../../../cosmos/comet/proto-blocks.ts";
import { timestampToNs } from "../../../../../cosmos/comet/timestamp.ts";
import { validateSignedHeader } from "../../../../../cosmos/comet/validate.ts";
import {
  createSignatureChecks,
  verifyCommitLight,
  verifyCommitLightTrusting,
} from "../../../../../cosmos/comet/verify-commit.ts";
import type { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import {
  type ClientState,
  Header,
  Misbehaviour,
} from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { TYPE_URL } from "../../../../../cosmos/proto/registry.ts";
import { equalBytes, upperHex } from "../../../../../platform/base/bytes.ts";
import * as errors from "../../../runtime/errors.ts";
import * as ibcErrors from "../host/errors.ts";
import { compareHeights, formatHeight, goHeight, ZERO_HEIGHT } from "../host/height.ts";
import { validateClientId } from "../host/identifiers.ts";
import { type ClientStore, type ConsensusState, durationNs, isSameState } from "./client-store.ts";

/** The content of a client update: a header, or two conflicting headers (misbehaviour). */
export type ClientMessage =
  | { readonly kind: "header"; readonly header: Header }
  | { readonly kind: "misbehaviour"; readonly misbehaviour: Misbehaviour };

/** Decodes a client message from its Any. Throws `ModuleError` if the Any is missing, cannot be decoded, or has an unsupported type. */
export function unpackClientMessage(any: Any | undefined): ClientMessage {
  if (any === undefined) throw ibcErrors.ErrUnpackAny("protobuf Any message cannot be nil");
  switch (any.typeUrl) {
    case TYPE_URL.tendermintHeader:
      return { kind: "header", header: ibcErrors.decodeUntrusted(() => Header.decode(any.value)) };
    case TYPE_URL.tendermintMisbehaviour:
      return {
        kind: "misbehaviour",
        misbehaviour: ibcErrors.decodeUntrusted(() => Misbehaviour.decode(any.value)),
      };
    default:
      throw errors.unregisteredError(
        `no concrete type registered for type URL ${any.typeUrl} against interface *exported.ClientMessage`,
      );
  }
}

/** Properties of the block in which a client message is verified. */
export interface VerifyingBlock {
  readonly timeNs: bigint;
  /** Called before the slow verifier checks a signature. Charges gas for the check. */
  readonly beforeSlowSignature: () => void;
}

/** Returns the consensus state at a header's trusted height. Throws ErrConsensusStateNotFound with `name` in the message. */
function trustedStateOf(header: Header, store: ClientStore, name = "Header"): ConsensusState {
  const trusted = trustedHeightOf(header);
  const state = store.consensusState(trusted);
  if (state !== undefined) return state;
  throw ibcErrors.ErrConsensusStateNotFound(
    `could not get trusted consensus state from clientStore for ${name} at TrustedHeight: ${formatHeight(trusted)}`,
  );
}

/**
 * Returns a header's trusted validators. Each header must contain these validators, because the client stores only their hash.
 * Throws ErrInvalidValidatorSet if the set does not match the hash in the trusted consensus state.
 */
function trustedValidatorsOf(header: Header, trusted: ConsensusState): ValidatorSet {
  const set = ibcErrors.asModuleError("trusted validator set in not tendermint validator set type", () =>
    protoBlocks.validatorSetFromProto(header.trustedValidators),
  );
  const hash = validatorsHash(set.validators);
  if (equalBytes(trusted.nextValidatorsHash, hash)) return set;
  throw ibcErrors.ErrInvalidValidatorSet(
    `trusted validators, does not hash to latest trusted validators. Expected: ${upperHex(trusted.nextValidatorsHash)}, got: ${upperHex(hash)}`,
  );
}

/**
 * Verifies a header against the client's consensus state at the header's trusted height (ibc-go `verifyHeader`). Checks the
 * trusted validators, revision and heights, then runs CometBFT's light client. Throws `ModuleError`.
 */
export function verifyUpdateHeader(
  client: ClientState,
  header: Header,
  store: ClientStore,
  block: VerifyingBlock,
): void {
  const trusted = trustedStateOf(header, store);
  const validators = trustedValidatorsOf(header, trusted);
  const height = heightOfHeader(header);
  const trustedHeight = trustedHeightOf(header);
  if (height.revisionNumber !== trustedHeight.revisionNumber) {
    throw ibcErrors.ErrInvalidHeaderHeight(
      `header height revision ${height.revisionNumber} does not match trusted header revision ${trustedHeight.revisionNumber}`,
    );
  }
  const untrusted = readHeader(header);
  if (compareHeights(height, trustedHeight) <= 0) {
    throw ibcErrors.ErrInvalidClientHeader(
      `header height ≤ consensus state height (${formatHeight(height)} ≤ ${formatHeight(trustedHeight)})`,
    );
  }
  // Use the chain id in the client state. After a recovery to a later revision, the client then rejects headers of earlier revisions.
  const trustedHeader = {
    chainId: client.chainId,
    height: trustedHeight.revisionHeight,
    timeNs: trusted.timeNs,
    nextValidatorsHash: trusted.nextValidatorsHash,
  };
  ibcErrors.asModuleError("failed to verify header", () =>
    verifyHeader(
      { header: trustedHeader, validators },
      { ...untrusted.signed, validators: untrusted.validators },
      { ...trustOptions(client), nowNs: block.timeNs, beforeSlowSignature: block.beforeSlowSignature },
    ),
  );
}

/** Returns a client's trust options for CometBFT's light client. As in Go, missing fields are zero. */
function trustOptions(client: ClientState): {
  readonly trustingPeriodNs: bigint;
  readonly maxClockDriftNs: bigint;
  readonly trustLevel: { readonly numerator: bigint; readonly denominator: bigint };
} {
  return {
    trustingPeriodNs: durationNs(client.trustingPeriod),
    maxClockDriftNs: durationNs(client.maxClockDrift),
    trustLevel: client.trustLevel ?? { numerator: 0n, denominator: 0n },
  };
}

/**
 * Returns a header's height, with the revision from its chain id, or the zero height if the inner header is missing. As in Go,
 * where an int64 is converted to a uint64, a negative height becomes a very large height.
 */
export function heightOfHeader(header: Header): Height {
  const inner = header.signedHeader?.header;
  if (inner === undefined) return ZERO_HEIGHT;
  return {
    revisionNumber: revisionOfChainId(inner.chainId),
    revisionHeight: BigInt.asUintN(64, inner.height),
  };
}

/** Returns a header's trusted height, i.e. the height of the consensus state against which the header is verified. */
export function trustedHeightOf(header: Header): Height {
  return header.trustedHeight ?? ZERO_HEIGHT;
}

/** Returns the consensus state that a header describes. Missing fields become empty values. */
export function consensusStateOfHeader(header: Header): ConsensusState {
  const inner = header.signedHeader?.header;
  return {
    timeNs: timestampToNs(inner?.time),
    root: inner?.appHash ?? new Uint8Array(0),
    nextValidatorsHash: inner?.nextValidatorsHash ?? new Uint8Array(0),
  };
}

/** Decodes the signed header and the validator set, or throws `ModuleError` if one of them is invalid. */
function readHeader(header: Header): {
  readonly signed: SignedHeader;
  readonly validators: ValidatorSet;
} {
  const signed = ibcErrors.asModuleError("signed header in not tendermint signed header type", () =>
    protoBlocks.signedHeaderFromProto(header.signedHeader),
  );
  const validators = ibcErrors.asModuleError("validator set in not tendermint validator set type", () =>
    protoBlocks.validatorSetFromProto(header.validatorSet),
  );
  return { signed, validators };
}

/** Performs the stateless checks of a header (07-tendermint `Header.ValidateBasic`), in ibc-go's order. Throws `ModuleError`. */
export function validateUpdateHeader(header: Header): void {
  if (header.signedHeader === undefined) {
    throw ibcErrors.ErrInvalidClientHeader("tendermint signed header cannot be nil");
  }
  if (header.signedHeader.header === undefined)
    throw ibcErrors.ErrInvalidClientHeader("tendermint header cannot be nil");
  const signed = ibcErrors.asModuleError("header is not a tendermint header", () =>
    protoBlocks.signedHeaderFromProto(header.signedHeader),
  );
  ibcErrors.asModuleError("header failed basic validation", () =>
    validateSignedHeader(signed, signed.header.chainId),
  );
  const trusted = trustedHeightOf(header);
  const height = heightOfHeader(header);
  if (compareHeights(trusted, height) >= 0) {
    throw ibcErrors.ErrInvalidHeaderHeight(
      `TrustedHeight ${goHeight(trusted)} must be less than header height ${goHeight(height)}`,
    );
  }
  checkOwnValidators(header, signed);
}

/**
 * Compares the hash of a header's own validators with its `validators_hash`. The trusted validators are checked later against the
 * client's consensus state.
 */
function checkOwnValidators(header: Header, signed: SignedHeader): void {
  if (header.validatorSet === undefined) throw ibcErrors.ErrInvalidClientHeader("validator set is nil");
  const set = ibcErrors.asModuleError("validator set is not tendermint validator set", () =>
    protoBlocks.validatorSetFromProto(header.validatorSet),
  );
  if (equalBytes(signed.header.validatorsHash, validatorsHash(set.validators))) return;
  throw ibcErrors.ErrInvalidClientHeader("validator set does not match hash");
}

interface HeaderPair {
  readonly first: Header;
  readonly second: Header;
}

/** Performs the stateless checks of misbehaviour (`Misbehaviour.ValidateBasic`), in ibc-go's order. Throws `ModuleError`. */
export function validateMisbehaviour(misbehaviour: Misbehaviour, block: VerifyingBlock): void {
  const { first, second } = headersOf(misbehaviour);
  const named = [
    ["Header1", first],
    ["Header2", second],
  ] as const;
  for (const [name, header] of named) {
    if (trustedHeightOf(header).revisionHeight === 0n)
      throw ibcErrors.ErrInvalidHeaderHeight(`misbehaviour ${name} cannot have zero revision height`);
  }
  for (const [name, { trustedValidators }] of named) {
    if (trustedValidators === undefined)
      throw ibcErrors.ErrInvalidValidatorSet(`trusted validator set in ${name} cannot be empty`);
  }
  if (first.signedHeader?.header?.chainId !== second.signedHeader?.header?.chainId) {
    throw ibcErrors.ErrInvalidMisbehaviour("headers must have identical chainIDs");
  }
  errors.wrapErrors("misbehaviour client ID is invalid", () => validateClientId(misbehaviour.clientId));
  requireValid(first, "header 1 failed validation");
  requireValid(second, "header 2 failed validation");
  const heights = [heightOfHeader(first), heightOfHeader(second)] as const;
  if (compareHeights(heights[0], heights[1]) < 0) {
    throw ibcErrors.ErrInvalidMisbehaviour(
      `Header1 height is less than Header2 height (${formatHeight(heights[0])} < ${formatHeight(heights[1])})`,
    );
  }
  requireCommitted(first, block);
  requireCommitted(second, block);
}

/**
 * Checks that enough trusted validators signed each header (ibc-go `verifyMisbehaviour`). Like ibc-go, does not check the clock
 * drift. Throws `ModuleError`.
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
  errors.wrapErrors("verifying Header1 in Misbehaviour failed", () =>
    verifySigners(client, first, trusted1, block),
  );
  errors.wrapErrors("verifying Header2 in Misbehaviour failed", () =>
    verifySigners(client, second, trusted2, block),
  );
}

/**
 * Returns whether two verified headers conflict: either they have the same height but different blocks, or the header with the
 * greater height does not have the later time.
 */
export function isContradiction(misbehaviour: Misbehaviour): boolean {
  const { first, second } = headersOf(misbehaviour);
  if (compareHeights(heightOfHeader(first), heightOfHeader(second)) === 0) {
    return !equalBytes(blockHashOf(first), blockHashOf(second));
  }
  // The first header must have the later time, because ValidateBasic requires it to have the greater height.
  return consensusStateOfHeader(first).timeNs <= consensusStateOfHeader(second).timeNs;
}

/**
 * Returns whether a verified header contradicts the stored consensus states (ibc-go `CheckForMisbehaviour`). The header is a
 * contradiction if a different state is stored at its height, or if its time is not between the times of the neighbouring states.
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
  return protoBlocks.blockIdFromProto(header.signedHeader?.commit?.blockId).hash;
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
    throw ibcErrors.ErrTrustingPeriodExpired(
      `current timestamp minus the latest consensus state timestamp is greater than or equal to the trusting period (${ageNs} >= ${trustingPeriodNs})`,
    );
  }
  const { commit } = readHeader(header).signed;
  const chainId = withRevision(client.chainId, heightOfHeader(header).revisionNumber);
  orMisbehaviour(
    () => {
      const checks = createSignatureChecks(block.beforeSlowSignature);
      verifyCommitLightTrusting(validators, { chainId, commit }, trustLevel, checks);
    },
    (reason) => `validator set in header has too much change from trusted validator set: ${reason}`,
  );
}

/** Runs a CometBFT check. If the check throws, throws ErrInvalidMisbehaviour instead. */
function orMisbehaviour(check: () => void, words: (reason: string) => string): void {
  try {
    check();
  } catch (error) {
    throw error instanceof CometError ? ibcErrors.ErrInvalidMisbehaviour(words(error.message)) : error;
  }
}

function headersOf(misbehaviour: Misbehaviour): HeaderPair {
  const { header1, header2 } = misbehaviour;
  if (header1 === undefined) throw ibcErrors.ErrInvalidHeader("misbehaviour Header1 cannot be nil");
  if (header2 === undefined) throw ibcErrors.ErrInvalidHeader("misbehaviour Header2 cannot be nil");
  return { first: header1, second: header2 };
}

function requireValid(header: Header, words: string): void {
  errors.wrapErrors(
    (error) => ibcErrors.ErrInvalidMisbehaviour(`${words}: ${error.message}`),
    () => validateUpdateHeader(header),
  );
}

/** Throws unless validators with more than two thirds of the header's voting power have signed the header. */
function requireCommitted(header: Header, block: VerifyingBlock): void {
  const { signed, validators } = readHeader(header);
  const { commit } = signed;
  const { chainId } = signed.header;
  const signedBlock = { chainId, blockId: commit.blockId, height: commit.height, commit };
  orMisbehaviour(
    () => verifyCommitLight(validators, signedBlock, createSignatureChecks(block.beforeSlowSignature)),
    () => "validator set did not commit to header",
  );
}
