import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import type { ValidatorSet } from "../../../cosmos/comet/block-types.ts";
import { CometError } from "../../../cosmos/comet/comet-error.ts";
import { addressOf } from "../../../cosmos/comet/validator-key.ts";
import { updateValidatorSet } from "../../../cosmos/comet/validator-set.ts";
import { concat, fromHex, sha256, toHex, utf8 } from "../../../platform/base/bytes.ts";
import type { ValidatorPower } from "../../chain/runtime/abci.ts";
import type { Misbehavior } from "../../chain/runtime/context.ts";
import { NodeError } from "../base/errors.ts";

/** This node's validator keys, the absent validators, and scheduled changes to the set. */
export type Validators = ReturnType<typeof createValidators>;

/** Creates a node's keys. `saveKey` makes a scheduled validator's key durable. */
export function createValidators(
  seeds: readonly Uint8Array[],
  saveKey: (address: Uint8Array, seed: Uint8Array) => void,
) {
  // The keys by lower-case hex address.
  const keys = new Map(seeds.map(validatorKey).map((key) => [toHex(key.address), key]));
  let absent: ReadonlySet<string> = new Set();
  let scheduled: readonly ValidatorPower[] = [];
  // There is at most one accusation per validator, so their number is bounded by the set's size.
  const accused = new Map<string, Misbehavior>();
  const schedule = (seed: Uint8Array, power: bigint, upcoming: ValidatorSet): ValidatorKey => {
    const key = validatorKey(seed);
    // A newer update replaces an older one for the same key, because CometBFT rejects two in a block.
    const updates = [
      ...scheduled.filter((one) => toHex(one.publicKey) !== toHex(key.publicKey)),
      { publicKey: key.publicKey, power },
    ];
    checkUpdates(upcoming, updates);
    // Save the key before the block that adds the validator. Otherwise, the validator could not sign after a restart.
    saveKey(key.address, seed);
    keys.set(toHex(key.address), key);
    scheduled = updates;
    return key;
  };
  return {
    /**
     * Schedules a new power (0 removes) for the validator with a 32-byte seed. The next block contains the change, and the
     * validator starts to sign two heights after that block. `upcoming` is the set two heights above the last block. Throws
     * `NodeError` `bad-validator-update` if CometBFT would reject the change.
     */
    schedule,
    /** Returns the key for an address, or undefined if the validator is absent or this node does not have its key. */
    signingKey: (address: Uint8Array): ValidatorKey | undefined =>
      absent.has(toHex(address)) ? undefined : keys.get(toHex(address)),
    /** Replaces the list of absent addresses. From now on, absent validators do not sign; all others do. */
    setAbsent: (addresses: readonly Uint8Array[]) => {
      absent = new Set(addresses.map(toHex));
    },
    /** Returns the absent validators' addresses in lower-case hex. */
    absent: (): readonly string[] => [...absent],
    /** Schedules evidence for the next block. A restart before that block loses it. */
    accuse: (evidence: Misbehavior) => void accused.set(toHex(evidence.address), evidence),
    /** Returns true if evidence against an address is scheduled. */
    isAccused: (address: Uint8Array): boolean => accused.has(toHex(address)),
    /** Returns the scheduled evidence and clears it. */
    takeEvidence: (): readonly Misbehavior[] => {
      const taken = [...accused.values()];
      accused.clear();
      return taken;
    },
    /** Returns the scheduled changes and clears them. */
    takeUpdates: (): readonly ValidatorPower[] => {
      const taken = scheduled;
      scheduled = [];
      return taken;
    },
  };
}

/** Throws if the updates are invalid, because in a block they would stop the node. Applies them to a copy of the set. */
function checkUpdates(upcoming: ValidatorSet, updates: readonly ValidatorPower[]): void {
  try {
    updateValidatorSet(upcoming, updates);
  } catch (error) {
    if (!(error instanceof CometError)) throw error;
    throw new NodeError({ code: "bad-validator-update", reason: error.message }, error.message);
  }
}

/** A validator's Ed25519 key pair. */
export interface ValidatorKey {
  readonly publicKey: Uint8Array;
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly sign: (message: Uint8Array) => Uint8Array;
}

/** DER header of a PKCS #8 document with an ed25519 private key (RFC 8410), followed by the 32-byte seed. */
const PKCS8_PREFIX = fromHex("302e020100300506032b657004220420");

/** Derives a key pair from a 32-byte seed. Throws for any other length. */
export function validatorKey(seed: Uint8Array): ValidatorKey {
  if (seed.length !== 32) throw new Error(`a validator seed must have 32 bytes, got ${seed.length}`);
  const der = Buffer.from(concat(PKCS8_PREFIX, seed));
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = new Uint8Array(
    createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32),
  );
  return { publicKey, address: addressOf(publicKey), sign: (message) => sign(null, message, key) };
}

/** Returns a validator's PUBLIC test seed, which all local chains with the same id share. Never use it on a real network. */
export function testValidatorSeed(chainId: string, index: number): Uint8Array {
  return sha256(utf8(`relaywatch test validator ${chainId} ${index}`));
}
