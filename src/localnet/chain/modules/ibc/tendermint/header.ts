import { revisionOfChainId } from "../../../../../cosmos/comet/ibc-height.ts";
import { equalBytes } from "../../../../../platform/base/bytes.ts";
import type { SignedHeader, ValidatorSet } from "../../../../../cosmos/comet/block-types.ts";
import { signedHeaderFromProto, validatorSetFromProto } from "../../../../../cosmos/comet/proto-blocks.ts";
import { timestampToNs } from "../../../../../cosmos/comet/timestamp.ts";
import { validateSignedHeader } from "../../../../../cosmos/comet/validate.ts";
import { validatorsHash } from "../../../../../cosmos/comet/block-hashes.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { Header } from "../../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { ConsensusState } from "../client/consensus-state.ts";
import { asModuleError, ErrInvalidClientHeader, ErrInvalidHeaderHeight } from "../errors.ts";
import { compareHeights, goHeight, ZERO_HEIGHT } from "../height.ts";

/**
 * Returns the height of a header, with the revision of its chain id; zero when the inner header is absent. Go converts
 * the int64 height to uint64, so that a negative height becomes a huge one.
 */
export function heightOfHeader(header: Header): Height {
  const inner = header.signedHeader?.header;
  if (inner === undefined) return ZERO_HEIGHT;
  return {
    revisionNumber: revisionOfChainId(inner.chainId),
    revisionHeight: BigInt.asUintN(64, inner.height),
  };
}

/** Returns the trusted height of a header: the height of the consensus state that it is verified from. */
export function trustedHeightOf(header: Header): Height {
  return header.trustedHeight ?? ZERO_HEIGHT;
}

/** Returns the consensus state of a header. Absent parts are empty. */
export function consensusStateOfHeader(header: Header): ConsensusState {
  const inner = header.signedHeader?.header;
  return {
    timeNs: timestampToNs(inner?.time),
    root: inner?.appHash ?? new Uint8Array(0),
    nextValidatorsHash: inner?.nextValidatorsHash ?? new Uint8Array(0),
  };
}

/** Decodes the signed header and the validator set. Throws `ModuleError` when one is invalid. */
export function readHeader(header: Header): {
  readonly signed: SignedHeader;
  readonly validators: ValidatorSet;
} {
  const signed = asModuleError("signed header in not tendermint signed header type", () =>
    signedHeaderFromProto(header.signedHeader),
  );
  const validators = asModuleError("validator set in not tendermint validator set type", () =>
    validatorSetFromProto(header.validatorSet),
  );
  return { signed, validators };
}

/** Stateless checks of a header (07-tendermint `Header.ValidateBasic`), in ibc-go's order. Throws `ModuleError`. */
export function validateUpdateHeader(header: Header): void {
  if (header.signedHeader === undefined) {
    throw ErrInvalidClientHeader("tendermint signed header cannot be nil");
  }
  if (header.signedHeader.header === undefined)
    throw ErrInvalidClientHeader("tendermint header cannot be nil");
  const signed = asModuleError("header is not a tendermint header", () =>
    signedHeaderFromProto(header.signedHeader),
  );
  asModuleError("header failed basic validation", () => validateSignedHeader(signed, signed.header.chainId));
  const trusted = trustedHeightOf(header);
  const height = heightOfHeader(header);
  if (compareHeights(trusted, height) >= 0) {
    throw ErrInvalidHeaderHeight(
      `TrustedHeight ${goHeight(trusted)} must be less than header height ${goHeight(height)}`,
    );
  }
  checkOwnValidators(header, signed);
}

/**
 * Checks the header's own validator set against `validators_hash`. The trusted set is checked later, against the
 * client.
 */
function checkOwnValidators(header: Header, signed: SignedHeader): void {
  if (header.validatorSet === undefined) throw ErrInvalidClientHeader("validator set is nil");
  const set = asModuleError("validator set is not tendermint validator set", () =>
    validatorSetFromProto(header.validatorSet),
  );
  if (equalBytes(signed.header.validatorsHash, validatorsHash(set.validators))) return;
  throw ErrInvalidClientHeader("validator set does not match hash");
}
