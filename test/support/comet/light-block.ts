import type { JsonObject } from "../../../src/platform/base/json.ts";
import type { SignedHeader, ValidatorSet } from "../../../src/cosmos/comet/block-types.ts";
import { verifyHeader } from "../../../src/cosmos/comet/light-client.ts";
import { signedHeaderToProto, validatorSetToProto } from "../../../src/cosmos/comet/proto-blocks.ts";
import { commitToJson, headerToJson } from "../../../src/cosmos/comet/rpc-json.ts";
import type { Height } from "../../../src/cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { Header as UpdateHeader } from "../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { NodeView } from "../../../src/localnet/node/base/node-view.ts";

const CENTURY_NS = 100n * 365n * 86_400n * 1_000_000_000n;

/** A signed header and the validator set of its height. */
export interface LightBlock extends SignedHeader {
  readonly validatorSet: ValidatorSet;
}

/** Converts a signed header to the `signed_header` of a `commit` response. */
export function signedHeaderToJson({ header, commit }: SignedHeader): JsonObject {
  return { header: headerToJson(header), commit: commitToJson(commit) };
}

/**
 * Creates the header of a client update from `trustedHeight` to `target`. `next` is the block after the trusted height:
 * the client knows the hash of its validators.
 */
export function updateHeader(target: LightBlock, trustedHeight: Height, next: LightBlock): UpdateHeader {
  return {
    signedHeader: signedHeaderToProto(target),
    validatorSet: validatorSetToProto(target.validatorSet),
    trustedHeight,
    trustedValidators: validatorSetToProto(next.validatorSet),
  };
}

/** Returns header, commit and validators of a height. Throws if the node does not have them. */
export function lightBlockAt(view: NodeView, height: bigint): LightBlock {
  const header = view.block(height)?.header;
  const commit = view.commit(height);
  const validatorSet = view.validators(height);
  if (header === undefined || commit === undefined || validatorSet === undefined) {
    throw new Error(`no light block at ${height}`);
  }
  return { header, commit, validatorSet };
}

/** Verifies a block against an earlier one, at the time of the block. Throws `CometError` if it is invalid. */
export function verifyLightBlock(trusted: LightBlock, untrusted: LightBlock): void {
  verifyHeader(
    { header: trusted.header, validators: trusted.validatorSet },
    { header: untrusted.header, commit: untrusted.commit, validators: untrusted.validatorSet },
    {
      nowNs: untrusted.header.timeNs + 1n,
      trustingPeriodNs: CENTURY_NS,
      maxClockDriftNs: 10_000_000_000n,
      trustLevel: { numerator: 1n, denominator: 3n },
    },
  );
}
