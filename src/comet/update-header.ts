import type { Height } from "../proto/gen/ibc/core/client/v1/client.ts";
import type { Header as UpdateHeader } from "../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { SignedHeader } from "../proto/gen/tendermint/types/types.ts";
import type { ValidatorSet } from "../proto/gen/tendermint/types/validator.ts";
import type { LightBlock } from "./block-types.ts";
import { signedHeaderToProto, validatorSetToProto } from "./proto-blocks.ts";

/** A block as a client update carries it. */
export interface EncodedBlock {
  readonly signedHeader: SignedHeader;
  readonly validatorSet: ValidatorSet;
}

/**
 * The header of a client update: `target` proven from `trustedHeight`. `next` is the light block right after the
 * trusted height, whose validators the client knows by the hash it keeps.
 */
export function updateHeader(target: LightBlock, trustedHeight: Height, next: LightBlock): UpdateHeader {
  const signedHeader = signedHeaderToProto(target);
  const block = { signedHeader, validatorSet: validatorSetToProto(target.validatorSet) };
  return headerFrom(block, trustedHeight, validatorSetToProto(next.validatorSet));
}

/** The same of blocks that are in protobuf's form already. */
export function headerFrom(
  { signedHeader, validatorSet }: EncodedBlock,
  trustedHeight: Height,
  trustedValidators: ValidatorSet,
): UpdateHeader {
  return { signedHeader, validatorSet, trustedHeight, trustedValidators };
}
