import { fromBase64, toBase64 } from "../../../src/platform/base/bytes.ts";
import {
  type Context,
  type ExecutionMode,
  createContext,
  type MessageHandler,
} from "../../../src/localnet/chain/runtime/context.ts";
import { createGasMeter } from "../../../src/localnet/chain/runtime/gas.ts";
import { requireRoutable, runMessages } from "../../../src/localnet/chain/runtime/tx-runner.ts";
import { ModuleError } from "../../../src/localnet/chain/runtime/errors.ts";
import { type DecodedTx, decodeTx } from "../../../src/localnet/chain/runtime/tx.ts";
import { createMultiStore } from "../../../src/localnet/chain/store/multi-store.ts";
import type { LightBlock } from "../comet/light-block.ts";
import { createSigners, signBlock } from "../comet/signed-chain.ts";
import { encodeMerkleProof } from "./merkle-proof.ts";
import { readRecordedClient } from "./recorded-client.ts";
import {
  createRecordedModules,
  RECORDED_GENESIS,
  type RecordedTx,
  type ReplayedTx,
} from "./recorded-packets.ts";

/** Height and time of a block. */
interface Place {
  readonly height: bigint;
  readonly timeNs: bigint;
}

/** Changes the messages of a decoded transaction. */
type Rebuild = (tx: DecodedTx) => DecodedTx;

/** A recorded chain that runs here: with its heights and times, and with trees, headers and signatures of its own. */
export interface ProvingChain {
  /** The block that is open. */
  readonly place: () => Place;
  /** Commits the open block and the empty ones after it, until this block is open. */
  readonly advance: (height: bigint) => void;
  /** Signs the header of a height up to the open block. */
  readonly header: (height: bigint) => LightBlock;
  /** Proves an entry of the store `ibc`, or its absence, by the header of a height. */
  readonly prove: (key: Uint8Array, height: bigint) => Uint8Array;
  /** Runs a transaction at a place: a recorded one of a block keeps its writes, the others only run their checks. */
  readonly run: (recorded: RecordedTx, place: Place, rebuild: Rebuild) => ReplayedTx;
}

/** Starts a recorded chain at a height. `timeOf` returns the time of each block. */
export function startProvingChain(
  chainId: string,
  start: bigint,
  timeOf: (height: bigint) => bigint,
): ProvingChain {
  const { modules, ibc } = createRecordedModules();
  const handlers: ReadonlyMap<string, MessageHandler> = new Map(
    modules.flatMap(({ messages }) => messages.map((one) => [one.typeUrl, one])),
  );
  const stores = createMultiStore({
    stores: modules.flatMap((one) => one.stores),
    keepRecent: 100_000,
    initialHeight: start,
  });
  const signers = createSigners(chainId, [1n]);
  let height = start;
  let branch = stores.branch();
  const contextOn = (source: typeof branch, place: Place, mode: ExecutionMode = "deliver"): Context =>
    createContext(
      { chainId, ...place },
      { mode, gas: createGasMeter(), branch: source, emit: () => undefined },
    );
  const place = (): Place => ({ height, timeNs: timeOf(height) });
  const deliver = (tx: DecodedTx, at: Place): Pick<ReplayedTx, "events" | "data"> => {
    const inner = branch.branch();
    const { events, data } = runMessages(contextOn(inner, at), tx);
    inner.write();
    return { events, data: toBase64(data) };
  };
  const check = (tx: DecodedTx, at: Place): void => {
    const environment = { proposerAddress: new Uint8Array(20), maxBlockGas: 0n };
    ibc.relayCheck(contextOn(branch.branch(), at, "check"), tx, environment);
  };
  for (const module of modules) module.initGenesis(contextOn(branch, place()), RECORDED_GENESIS[module.name]);
  // A client that is older than the recording.
  if (chainId === "test-1") readRecordedClient().install(contextOn(branch, place()));
  return {
    place,
    advance: (target) => {
      if (target < height) throw new Error(`${chainId}: block ${target} is committed`);
      while (height < target) {
        branch.write();
        stores.commit();
        height += 1n;
        branch = stores.branch();
        ibc.beginBlock?.(contextOn(branch, place()), { lastCommit: [] });
      }
    },
    header: (at) => {
      const appHash = stores.view(at - 1n)?.appHash;
      if (appHash === undefined) throw new Error(`${chainId}: no state before block ${at}`);
      return signBlock(signers, { chainId, height: at, timeNs: timeOf(at), appHash });
    },
    prove: (key, at) => {
      const operators = stores.view(at - 1n)?.prove("ibc", key);
      if (operators === undefined) throw new Error(`${chainId}: no state before block ${at}`);
      return fromBase64(encodeMerkleProof(operators.map(({ data }) => data)));
    },
    run: ({ phase, tx_base64 }, at, rebuild) => {
      const done = { code: 0, codespace: "", log: "", data: "", events: [] };
      try {
        const tx = rebuild(decodeTx(fromBase64(tx_base64), { chainName: "neutron", handlers }));
        requireRoutable(tx);
        if (phase === "block") return { ...done, ...deliver(tx, at) };
        check(tx, at);
        return done;
      } catch (error) {
        if (!(error instanceof ModuleError)) throw error;
        const { code, codespace, message: log } = error;
        return { ...done, code, codespace, log };
      }
    },
  };
}
