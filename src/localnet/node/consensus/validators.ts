import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import type { ValidatorSet } from "../../../cosmos/comet/block-types.ts";
import { CometError } from "../../../cosmos/comet/comet-error.ts";
import { addressOf } from "../../../cosmos/comet/validator-key.ts";
import { updateValidatorSet } from "../../../cosmos/comet/validator-set.ts";
import { concat, fromHex, sha256, toHex, utf8 } from "../../../platform/base/bytes.ts";
import type { ValidatorPower } from "../../chain/runtime/abci.ts";
import type { Misbehavior } from "../../chain/runtime/context.ts";
import { NodeError } from "../base/errors.ts";

/** Manages the node's validator keys, absent validators, and scheduled changes to the validator set. */
export type Validators = ReturnType<typeof createValidators>;

/** Manages the keys and scheduled changes of a node's validators. `saveKey` durably stores a scheduled validator's seed. */
export function createValidators(
  seeds: readonly Uint8Array[],
  saveKey: (address: Uint8Array, seed: Uint8Array) => void,
) {
  // Validator keys, keyed by address in lower-case hex.
  const keys = new Map(seeds.map(validatorKey).map((key) => [toHex(key.address), key]));
  let absent: ReadonlySet<string> = new Set();
  let scheduled: readonly ValidatorPower[] = [];
  // Scheduled evidence, keyed by the validator's address. New evidence against a validator replaces older evidence.
  const accused = new Map<string, Misbehavior>();
  const schedule = (seed: Uint8Array, power: bigint, upcoming: ValidatorSet): ValidatorKey => {
    const key = validatorKey(seed);
    // Replace an older update for the same key, because CometBFT rejects a block with two updates for a key.
    const updates = [
      ...scheduled.filter((one) => toHex(one.publicKey) !== toHex(key.publicKey)),
      { publicKey: key.publicKey, power },
    ];
    checkUpdates(upcoming, updates);
    // Save the key before the block that adds the validator, so that the validator can sign after a restart.
    saveKey(key.address, seed);
    keys.set(toHex(key.address), key);
    scheduled = updates;
    return key;
  };
  return {
    /**
     * Schedules a new power for the validator with this 32-byte seed. A power of 0 removes the validator. The next block contains
     * the change, and the validator starts signing two heights later. `upcoming` is the set two heights above the last block.
     * Throws `NodeError` `bad-validator-update` if CometBFT would reject the change.
     */
    schedule,
    /** Returns the key for an address, or undefined if the validator is absent or its key is not on this node. */
    signingKey: (address: Uint8Array): ValidatorKey | undefined =>
      absent.has(toHex(address)) ? undefined : keys.get(toHex(address)),
    /** Replaces the set of absent validators, so that all validators except `addresses` sign. */
    setAbsent: (addresses: readonly Uint8Array[]) => {
      absent = new Set(addresses.map(toHex));
    },
    /** Returns the addresses of absent validators, in lower-case hex. */
    absent: (): readonly string[] => [...absent],
    /** Schedules evidence for the next block. The evidence is lost if the node restarts before that block. */
    accuse: (evidence: Misbehavior) => void accused.set(toHex(evidence.address), evidence),
    /** Returns true if evidence against this address is scheduled. */
    isAccused: (address: Uint8Array): boolean => accused.has(toHex(address)),
    /** Returns the evidence scheduled for the next block, and clears the schedule. */
    takeEvidence: (): readonly Misbehavior[] => {
      const taken = [...accused.values()];
      accused.clear();
      return taken;
    },
    /** Returns the validator updates scheduled for the next block, and clears the schedule. */
    takeUpdates: (): readonly ValidatorPower[] => {
      const taken = scheduled;
      scheduled = [];
      return taken;
    },
  };
}

/** Throws if the updates cannot be applied to the set `upcoming`, because a block with invalid updates would stop the node. */
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
  /** 20-byte address. */
  readonly address: Uint8Array;
  readonly sign: (message: Uint8Array) => Uint8Array;
}

/** DER prefix that precedes the 32-byte seed in a PKCS #8 document with an ed25519 private key (RFC 8410). */
const PKCS8_PREFIX = fromHex("302e020100300506032b657004220420");

/** Derives a key pair from a 32-byte seed. Throws if the seed's length is not 32. */
export function validatorKey(seed: Uint8Array): ValidatorKey {
  if (seed.length !== 32) throw new Error(`a validator seed must have 32 bytes, got ${seed.length}`);
  const der = Buffer.from(concat(PKCS8_PREFIX, seed));
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = new Uint8Array(
    createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32),
  );
  return { publicKey, address: addressOf(publicKey), sign: (message) => sign(null, message, key) };
}

/** Returns a validator's PUBLIC test seed, shared by all local chains with the same id. Never use this seed on a real network. */
export function testValidatorSeed(chainId: string, index: number): Uint8Array {
  return sha256(utf8(`relaywatch test validator ${chainId} ${index}`));
}
