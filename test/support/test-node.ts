import { systemClock } from "../../src/platform/base/clock.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { testValidatorSeed, validatorKey } from "../../src/localnet/node/consensus/validators.ts";
import {
  createNode,
  type NodeDeps,
  type NodeOptions,
  type RunningNode,
} from "../../src/localnet/node/create-node.ts";
import { DEFAULT_CONSENSUS_PARAMS, type GenesisDoc } from "../../src/localnet/node/base/genesis-doc.ts";
import { createKvApplication } from "./kv-application.ts";

/** A running node of a test. */
export interface TestNode extends RunningNode {
  readonly rpcUrl: string;
  /** Stops the node. Rejects with the error of `run`, if any. */
  readonly stop: () => Promise<void>;
}

export interface TestNodeOptions extends Partial<NodeOptions> {
  readonly chainId?: string;
  /** Voting powers of the validators. Default: one validator. */
  readonly powers?: readonly bigint[];
}

/** Returns the seeds of a test chain's validators. */
function testSeeds(chainId: string, count: number): readonly Uint8Array[] {
  return Array.from({ length: count }, (_, index) => testValidatorSeed(chainId, index));
}

/** Creates a genesis document with a fixed time. */
export function testGenesis(chainId: string, powers: readonly bigint[]): GenesisDoc {
  return {
    chainId,
    genesisTimeNs: 1_700_000_000_000_000_000n,
    initialHeight: 1n,
    consensusParams: DEFAULT_CONSENSUS_PARAMS,
    validators: powers.map((power, index) => ({
      publicKey: validatorKey(testValidatorSeed(chainId, index)).publicKey,
      power,
    })),
    appState: {},
  };
}

/** Starts a halted node over the key-value application on a free port. The test makes the blocks. */
export async function startTestNode(
  options: TestNodeOptions = {},
  deps: Partial<NodeDeps> = {},
): Promise<TestNode> {
  const { chainId = "kv-1", powers = [10n], ...rest } = options;
  const genesis = testGenesis(chainId, powers);
  const node = createNode(
    {
      moniker: "test",
      chainName: "neutron",
      startHalted: true,
      blockTimeMs: 20,
      validatorSeeds: testSeeds(chainId, powers.length),
      consensusPrefix: "kvvalcons",
      rpc: { host: "127.0.0.1", port: 0, portOption: "--rpc-port" },
      ...rest,
    },
    {
      clock: systemClock,
      logger: silentLogger,
      createApp: createKvApplication,
      genesis: (stored) => stored ?? genesis,
      ...deps,
    },
  );
  const stop = new AbortController();
  const done = node.run(stop.signal);
  // A node that does not start also rejects `ready`.
  done.catch(() => {});
  const running = await node.ready;
  return {
    ...running,
    rpcUrl: `http://127.0.0.1:${running.ports.get("rpc")}`,
    stop: async () => {
      stop.abort(new Error("test over"));
      await done;
    },
  };
}
