import { equalBytes, toHex } from "../../platform/base/bytes.ts";
import type { Misbehavior } from "../chain/runtime/context.ts";
import { NodeError } from "./base/errors.ts";
import type { ChainState } from "./consensus/chain-state.ts";
import type { Engine } from "./consensus/engine.ts";
import type { Production } from "./consensus/production.ts";
import type { Validators } from "./consensus/validators.ts";
import type { BlockStore } from "./storage/block-store.ts";
import type { StoredSnapshot } from "./storage/snapshots.ts";

/** Commands for a running local chain. A real network has no such commands. */
export type NodeControl = ReturnType<typeof createNodeControl>;

export function createNodeControl(deps: {
  readonly production: Production;
  readonly engine: Engine;
  readonly validators: Validators;
  readonly store: BlockStore;
  readonly goBack: () => void;
}) {
  const { production, engine, validators, store, goBack } = deps;
  return {
    halt: production.halt,
    resume: production.resume,
    /** Requests the prices for the votes on the next block, as is done before each timed block. Rejects only on abort. */
    vote: production.vote,
    isHalted: production.isHalted,
    /** Makes `count` blocks immediately, even on a halted chain. Returns the last height. Throws `NodeError` `no-quorum`. */
    produce: (count: number): bigint => {
      for (let made = 0; made < count; made++) production.produceNow();
      return engine.state().height;
    },
    /** Snapshots ordered by id. A snapshot ends when its block is pruned. */
    snapshots: store.snapshots,
    /** Takes a snapshot of the last block. Throws `NodeError` `bad-snapshot` before the first block. */
    takeSnapshot: (snapshot: Pick<StoredSnapshot, "id" | "aheadMs">) => {
      const { height, initialHeight } = engine.state();
      if (height < initialHeight)
        throw new NodeError(
          { code: "bad-snapshot" },
          "there is no block yet; try again after the first block",
        );
      store.saveSnapshot({ ...snapshot, height });
    },
    removeSnapshots: store.removeSnapshots,
    /** Goes back to a snapshot's block. Any error is final: the node stops. */
    revert: (height: bigint): void =>
      production.between(() => {
        store.truncate(height);
        goBack();
      }),
    /** Replaces the list of absent validators (20-byte addresses). From now on, they do not sign; all others do. */
    setAbsent: validators.setAbsent,
    /** Addresses of the absent validators, in lower-case hex. */
    absent: validators.absent,
    /**
     * Adds to the next block the evidence that a validator (20-byte address) signed the last block twice. Throws `NodeError`
     * `bad-evidence` if the address is not in that block's set or belongs to the only validator that is not accused.
     */
    reportDoubleSign: (address: Uint8Array): void =>
      validators.accuse(evidenceAgainst(engine.state(), address, validators.isAccused)),
    /**
     * Sets the power of the validator with this 32-byte seed in the next block; 0 removes the validator. Returns the 20-byte
     * address. Throws `NodeError` `bad-validator-update`.
     */
    setValidator: (seed: Uint8Array, power: bigint): Uint8Array =>
      validators.schedule(seed, power, engine.state().nextValidators).address,
  };
}

function evidenceAgainst(
  { height, lastTimeNs, lastValidators, nextValidators }: ChainState,
  address: Uint8Array,
  isAccused: (address: Uint8Array) => boolean,
): Misbehavior {
  const found = lastValidators.validators.find((one) => equalBytes(one.address, address));
  if (found === undefined) {
    const text = `${toHex(address)} is not in the validator set of height ${height}`;
    throw new NodeError({ code: "bad-evidence", height }, text);
  }
  if (nextValidators.validators.every((one) => equalBytes(one.address, address) || isAccused(one.address))) {
    const text = `${toHex(address)} is the only validator that has not been accused; without it, the chain could make no block`;
    throw new NodeError({ code: "bad-evidence", height }, text);
  }
  return { address: found.address, height, timeNs: lastTimeNs, power: found.power };
}
