import { toHex } from "../../base/bytes.ts";
import type { ValidatorPower } from "../../chain/abci.ts";
import type { ValidatorSet } from "../../comet/block-types.ts";
import { CometError } from "../../comet/comet-error.ts";
import { updateValidatorSet } from "../../comet/proposer-rotation.ts";
import { NodeError } from "../errors.ts";
import { keyRing, type ValidatorKey, validatorKey } from "./validator-keys.ts";

/** The keys that this node signs with, who is absent, and changes of the set that were ordered. */
export interface Validators {
  /** The key of an address that may sign now; undefined when it is absent or its key is not here. */
  readonly signingKey: (address: Uint8Array) => ValidatorKey | undefined;
  /** From now on these addresses do not sign; all others do. */
  readonly setAbsent: (addresses: readonly Uint8Array[]) => void;
  readonly absent: () => readonly string[];
  /**
   * Orders a change of power (0 removes) for the validator of a 32-byte seed; it goes into the next block and signs two
   * heights later. Throws `NodeError` `bad-validator-update` when the set would not take it.
   */
  readonly order: (seed: Uint8Array, power: bigint, upcoming: ValidatorSet) => ValidatorKey;
  /** Hands out the ordered changes, once. */
  readonly takeUpdates: () => readonly ValidatorPower[];
}

/** Creates the keys of a node; `saveKey` makes an ordered validator's key durable. */
export function createValidators(
  seeds: readonly Uint8Array[],
  saveKey: (address: Uint8Array, seed: Uint8Array) => void,
): Validators {
  const keys = keyRing(seeds);
  let absent: ReadonlySet<string> = new Set();
  let ordered: readonly ValidatorPower[] = [];
  const order = (seed: Uint8Array, power: bigint, upcoming: ValidatorSet): ValidatorKey => {
    const key = validatorKey(seed);
    const updates = [
      ...ordered.filter((one) => toHex(one.publicKey) !== toHex(key.publicKey)),
      { publicKey: key.publicKey, power },
    ];
    refuseBadUpdates(upcoming, updates);
    saveKey(key.address, seed);
    keys.set(toHex(key.address), key);
    ordered = updates;
    return key;
  };
  return {
    order,
    signingKey: (address) => (absent.has(toHex(address)) ? undefined : keys.get(toHex(address))),
    setAbsent: (addresses) => {
      absent = new Set(addresses.map(toHex));
    },
    absent: () => [...absent],
    takeUpdates: () => {
      const taken = ordered;
      ordered = [];
      return taken;
    },
  };
}

function refuseBadUpdates(upcoming: ValidatorSet, updates: readonly ValidatorPower[]): void {
  try {
    updateValidatorSet(upcoming, updates);
  } catch (error) {
    if (!(error instanceof CometError)) throw error;
    throw new NodeError({ code: "bad-validator-update", reason: error.message }, error.message);
  }
}
