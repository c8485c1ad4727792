import type { Height } from "../proto/gen/ibc/core/client/v1/client.ts";
import type { Header as UpdateHeader } from "../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { LightBlock } from "./block-types.ts";
import { signedHeaderToProto, validatorSetToProto } from "./proto-blocks.ts";

/**
 * The header of a client update: `target` proven from `trustedHeight`. `next` is the light block right after the
 * trusted height, whose validators the client knows by the hash it keeps.
 */
export function updateHeader(target: LightBlock, trustedHeight: Height, next: LightBlock): UpdateHeader {
  return {
    signedHeader: signedHeaderToProto(target),
    validatorSet: validatorSetToProto(target.validatorSet),
    trustedHeight,
    trustedValidators: validatorSetToProto(next.validatorSet),
  };
}
