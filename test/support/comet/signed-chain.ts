import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { commitSignBytes, headerHash, validatorsHash } from "../../../src/cosmos/comet/block-hashes.ts";
import {
  BLOCK_ID_FLAG,
  type CommitSig,
  type Header,
  NO_BLOCK_ID,
  type ValidatorSet,
} from "../../../src/cosmos/comet/block-types.ts";
import { createValidatorSet } from "../../../src/cosmos/comet/validator-set.ts";
import { concat, fromHex, sha256, toHex } from "../../../src/platform/base/bytes.ts";
import type { LightBlock } from "./light-block.ts";

const PKCS8_PREFIX = fromHex("302e020100300506032b657004220420");
const SECOND = 1_000_000_000n;

/** A validator set and its private keys, by public key in hex. */
export interface Signers {
  readonly set: ValidatorSet;
  readonly keys: ReadonlyMap<string, KeyObject>;
}

/** Creates validators with these powers. Their keys are derived from `name` and the index. */
export function createSigners(name: string, powers: readonly bigint[]): Signers {
  const validators = powers.map((power, index) => {
    const seed = createHash("sha256").update(`${name} ${index}`).digest();
    const der = Buffer.from(concat(PKCS8_PREFIX, seed));
    const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    const publicKey = new Uint8Array(
      createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32),
    );
    return { key, publicKey, power };
  });
  return {
    set: createValidatorSet(validators.map(({ publicKey, power }) => ({ publicKey, power }))),
    keys: new Map(validators.map(({ key, publicKey }) => [toHex(publicKey), key])),
  };
}

/** Fields of a test block. All others are derived from the height. */
export interface BlockFacts {
  readonly chainId: string;
  readonly height: bigint;
  readonly timeNs?: bigint;
  /** Makes two blocks of one height different. */
  readonly appHash?: Uint8Array;
  /** Next validators; by default the same. */
  readonly next?: Signers;
  /** Whether the validator at this index signs; by default all validators sign. */
  readonly signs?: (index: number) => boolean;
}

/** Returns the default time of a block. Blocks are one second apart. */
export function blockTimeNs(height: bigint): bigint {
  return 1_800_000_000n * SECOND + height * SECOND;
}

/** Creates a header and signs it with the keys of the validators. */
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
  const hashFor = (name: string): Uint8Array =>
    new Uint8Array(sha256(Buffer.from(`${name} ${facts.height}`)));
  return {
    version: { block: 11n, app: 0n },
    chainId: facts.chainId,
    height: facts.height,
    timeNs: facts.timeNs ?? blockTimeNs(facts.height),
    lastBlockId: NO_BLOCK_ID,
    lastCommitHash: hashFor("commit"),
    dataHash: hashFor("data"),
    validatorsHash: validatorsHash(signers.set.validators),
    nextValidatorsHash: validatorsHash((facts.next ?? signers).set.validators),
    consensusHash: hashFor("params"),
    appHash: facts.appHash ?? hashFor("app"),
    lastResultsHash: hashFor("results"),
    evidenceHash: hashFor("evidence"),
    proposerAddress: signers.set.validators[0]?.address ?? new Uint8Array(20),
  };
}
