import { toHex } from "../../platform/base/bytes.ts";
import type { LightBlockBytes } from "../../cosmos/client/chain-client.ts";
import { BLOCK_ID_FLAG } from "../../cosmos/comet/block-types.ts";
import type { TrustLevel } from "../../cosmos/comet/verify-commit.ts";
import { SignedHeader } from "../../cosmos/proto/gen/tendermint/types/types.ts";
import { ValidatorSet } from "../../cosmos/proto/gen/tendermint/types/validator.ts";

/** Voting power by address, in hex. */
export type Powers = ReadonlyMap<string, bigint>;

/** What a path needs of a block. */
export interface SignedBlock {
  /** Addresses in hex of the validators that signed it. */
  readonly signers: ReadonlySet<string>;
  readonly validators: Powers;
}

/** What to do next on the way from a trusted header to another one. */
export type HeaderPath =
  /** read the block of this height, and plan again; `heights` are a way already, to a lower height */
  | { readonly kind: "read"; readonly height: bigint; readonly heights: readonly bigint[] }
  /** update the client to these heights, in order: each can be verified from the one before it */
  | { readonly kind: "known"; readonly heights: readonly bigint[] };

/** Headers of one path. The next one goes on where a longer way was broken off. */
export const MAX_HEADERS = 16;

/**
 * Plans client updates from the trusted height `from` to `to` by bisection, as CometBFT's light client: too few of the
 * validators that are trusted at `from` may have signed the block `to`. The block after a trusted one can always be
 * verified, so there is a path. Its last height is `to`, or a lower one after {@link MAX_HEADERS} headers.
 *
 * Starts again with each block that was read. Of a trusted height it needs the next block: a light client trusts the
 * validators of that one.
 */
export function planHeaderPath(
  { from, to }: { readonly from: bigint; readonly to: bigint },
  blocks: ReadonlyMap<bigint, SignedBlock>,
  level: TrustLevel,
): HeaderPath {
  let heights: readonly bigint[] = [];
  // Farthest first.
  let goals: readonly bigint[] = [to];
  for (;;) {
    const [trusted = from, nearest] = [heights.at(-1), goals.at(-1)];
    if (nearest === undefined) return { kind: "known", heights };
    if (!blocks.has(trusted + 1n)) return { kind: "read", height: trusted + 1n, heights };
    if (heights.length === MAX_HEADERS) return { kind: "known", heights };
    if (!blocks.has(nearest)) return { kind: "read", height: nearest, heights };
    const [goal] = goals.filter((height) => isVerifiable(trusted, height, blocks, level));
    if (goal === undefined) goals = [...goals, (trusted + nearest) / 2n];
    else {
      goals = goals.filter((height) => height > goal);
      // Without the heights on the way that are not needed.
      const path = [from, ...heights];
      const start = path.findIndex((height) => isVerifiable(height, goal, blocks, level));
      heights = [...path.slice(1, start + 1), goal];
    }
  }
}

function isVerifiable(
  trusted: bigint,
  height: bigint,
  blocks: ReadonlyMap<bigint, SignedBlock>,
  level: TrustLevel,
): boolean {
  if (height === trusted + 1n) return true;
  const [next, block] = [blocks.get(trusted + 1n), blocks.get(height)];
  return next !== undefined && block !== undefined && isTrusted(next.validators, block, level);
}

/**
 * Whether validators with more than `level` of the trusted power signed the block. Verifies no signature, since the chain
 * does: it says which headers the chain can accept.
 */
export function isTrusted(
  trusted: Powers,
  { signers }: Pick<SignedBlock, "signers">,
  { numerator, denominator }: TrustLevel,
): boolean {
  let [total, signed] = [0n, 0n];
  for (const [address, power] of trusted) {
    total += power;
    if (signers.has(address)) signed += power;
  }
  return signed > (total * numerator) / denominator;
}

/** Decodes what a path needs of a block. */
export function signedBlock({ signedHeader, validatorSet }: LightBlockBytes): SignedBlock {
  const { signatures = [] } = SignedHeader.decode(signedHeader).commit ?? {};
  const signed = signatures.filter(({ blockIdFlag }) => blockIdFlag === BLOCK_ID_FLAG.commit);
  return {
    signers: new Set(signed.map(({ validatorAddress }) => toHex(validatorAddress))),
    validators: powersOf(validatorSet),
  };
}

/** Decodes the powers of an encoded validator set. */
export function powersOf(validatorSet: Uint8Array): Powers {
  const { validators } = ValidatorSet.decode(validatorSet);
  return new Map(validators.map(({ address, votingPower }) => [toHex(address), votingPower]));
}
