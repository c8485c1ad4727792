import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { toHex, fromHex, concat } from "../../../src/base/bytes.ts";
import { sha256 } from "../../../src/base/sha256.ts";
import type { CommitSig, Header, LightBlock, ValidatorSet } from "../../../src/comet/block-types.ts";
import { BLOCK_ID_FLAG, NO_BLOCK_ID } from "../../../src/comet/block-types.ts";
import { commitSignBytes } from "../../../src/comet/commit-bytes.ts";
import { headerHash } from "../../../src/comet/header-hash.ts";
import { createValidatorSet } from "../../../src/comet/proposer-rotation.ts";
import { validatorsHash } from "../../../src/comet/validator-set.ts";

const PKCS8_PREFIX = fromHex("302e020100300506032b657004220420");
const SECOND = 1_000_000_000n;

/** Validators with their keys: all that is needed to sign any header. */
export interface Signers {
  readonly set: ValidatorSet;
  readonly keys: ReadonlyMap<string, KeyObject>;
}

/** Validators with keys made from `name` and their index, of these powers. */
export function createSigners(name: string, powers: readonly bigint[]): Signers {
  const made = powers.map((power, index) => {
    const seed = createHash("sha256").update(`${name} ${index}`).digest();
    const der = Buffer.from(concat(PKCS8_PREFIX, seed));
    const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    const publicKey = new Uint8Array(
      createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32),
    );
    return { key, publicKey, power };
  });
  return {
    set: createValidatorSet(made.map(({ publicKey, power }) => ({ publicKey, power }))),
    keys: new Map(made.map(({ key, publicKey }) => [toHex(publicKey), key])),
  };
}

/** What differs between blocks; the rest is made up from the height. */
export interface BlockFacts {
  readonly chainId: string;
  readonly height: bigint;
  readonly timeNs?: bigint;
  /** Something to tell apart two blocks of one height. */
  readonly appHash?: Uint8Array;
  /** Who comes next; by default the same. */
  readonly next?: Signers;
  /** Whether the validator at this index signs; by default all do. */
  readonly signs?: (index: number) => boolean;
}

/** Time of a block unless it is given: a second each. */
export function blockTimeNs(height: bigint): bigint {
  return 1_800_000_000n * SECOND + height * SECOND;
}

/** A block's header, signed by these validators. */
export function signBlock(signers: Signers, facts: BlockFacts): LightBlock {
  const header = headerOf(signers, facts);
  const hash = headerHash(header);
  const blockId = { hash, parts: { total: 1, hash: new Uint8Array(sha256(hash)) } };
  const unsigned = signers.set.validators.map(
    (validator): CommitSig => ({
      flag: BLOCK_ID_FLAG.commit,
      validatorAddress: validator.address,
      timestampNs: header.timeNs + SECOND,
      signature: new Uint8Array(0),
    }),
  );
  const draft = { height: header.height, round: 0, blockId, signatures: unsigned };
  const bytesOf = commitSignBytes(header.chainId, draft);
  const signatures = unsigned.map((entry, index): CommitSig => {
    if (facts.signs?.(index) === false) return ABSENT;
    const key = signers.keys.get(toHex(signers.set.validators[index]?.publicKey ?? new Uint8Array(0)));
    if (key === undefined) throw new Error(`no key for validator ${index}`);
    return { ...entry, signature: new Uint8Array(sign(null, bytesOf(index), key)) };
  });
  return { header, commit: { ...draft, signatures }, validatorSet: signers.set };
}

const ABSENT: CommitSig = {
  flag: BLOCK_ID_FLAG.absent,
  validatorAddress: new Uint8Array(0),
  timestampNs: -62_135_596_800n * SECOND,
  signature: new Uint8Array(0),
};

function headerOf(signers: Signers, facts: BlockFacts): Header {
  const word = (name: string): Uint8Array => new Uint8Array(sha256(Buffer.from(`${name} ${facts.height}`)));
  return {
    version: { block: 11n, app: 0n },
    chainId: facts.chainId,
    height: facts.height,
    timeNs: facts.timeNs ?? blockTimeNs(facts.height),
    lastBlockId: NO_BLOCK_ID,
    lastCommitHash: word("commit"),
    dataHash: word("data"),
    validatorsHash: validatorsHash(signers.set.validators),
    nextValidatorsHash: validatorsHash((facts.next ?? signers).set.validators),
    consensusHash: word("params"),
    appHash: facts.appHash ?? word("app"),
    lastResultsHash: word("results"),
    evidenceHash: word("evidence"),
    proposerAddress: signers.set.validators[0]?.address ?? new Uint8Array(20),
  };
}
