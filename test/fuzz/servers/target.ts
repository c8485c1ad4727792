import { errorText } from "../../../src/platform/base/errors.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import { type Logger, silentLogger } from "../../../src/platform/base/logger.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import type { RunningNode } from "../../../src/localnet/node/create-node.ts";
import { createGrpcEndpoint } from "../../../src/localnet/node/grpc/grpc-endpoint.ts";
import { createLocalnet } from "../../../src/localnet/network/create-localnet.ts";
import { createRestServer } from "../../../src/localnet/node/rest/rest-server.ts";
import { type CampaignRun, cpuMs, inputNumbers, usedHeap } from "../campaign.ts";
import { createRandom, type Random } from "../random.ts";

/** Both chains of a localnet in this process, with all their servers. */
export interface FuzzTarget {
  readonly node: RunningNode;
  readonly url: (server: "rpc" | "rest") => string;
  readonly grpcPort: number;
  readonly controlUrl: string;
}

/** Sends the inputs of a campaign to one server. */
export interface FuzzClient {
  /** Sends one input and waits for its end. Returns what was wrong with the answer. */
  readonly send: (random: Random) => Promise<string | undefined>;
  readonly close: () => void | Promise<void>;
}

export const FUZZ_CONTROL_TOKEN = "token";

/** CPU time for one input. */
const MAX_MS = 1_000;
/** The control API makes up to 1,000 blocks for one command. */
const MAX_MS_PER_BLOCK = 15;
const MAX_HEAP_GROWTH = 48 * 1024 * 1024;
/** The first inputs load code and fill caches. */
const WARM_UP_INPUTS = 400;
const NEXT_BLOCK_MS = 20_000;

/**
 * Returns a campaign against a server. Each input must have an answer within a second, without an internal error. The chain
 * must go on, and the memory must be free afterwards.
 */
export function serverCampaign(open: (target: FuzzTarget) => FuzzClient | Promise<FuzzClient>): CampaignRun {
  return async (seed, budget) => {
    const failures: string[] = [];
    const report = (failure: string): void => void failures.push(failure);
    const uncaught = (error: unknown): void => report(`uncaught: ${errorText(error)}`);
    process.on("uncaughtExceptionMonitor", uncaught);
    const { target, stop } = await startTarget(report);
    const client = await open(target);
    const firstHeight = target.node.view.status().latestHeight;
    let inputs = 0;
    let heap = 0;
    for (const input of inputNumbers(budget, failures)) {
      if (input === WARM_UP_INPUTS) heap = usedHeap();
      inputs = input + 1;
      const before = cpuMs();
      const heightBefore = target.node.view.status().latestHeight;
      const failure = await client.send(createRandom(seed * 1_000_003 + input));
      if (failure !== undefined) report(`input ${input}: ${failure}`);
      const tookMs = cpuMs() - before;
      const blocks = Number(target.node.view.status().latestHeight - heightBefore);
      if (tookMs > MAX_MS + blocks * MAX_MS_PER_BLOCK)
        report(`input ${input}: took ${Math.round(tookMs)} ms`);
    }
    await client.close();
    if (heap > 0 && usedHeap() - heap > MAX_HEAP_GROWTH)
      report(`the heap grew by ${usedHeap() - heap} bytes`);
    if (!(await makesBlocks(target, firstHeight))) report("the chain makes no blocks");
    await stop();
    process.off("uncaughtExceptionMonitor", uncaught);
    return { inputs, failures };
  };
}

async function makesBlocks({ node }: FuzzTarget, firstHeight: bigint): Promise<boolean> {
  const endMs = performance.now() + NEXT_BLOCK_MS;
  const { latestHeight } = node.view.status();
  while (performance.now() < endMs) {
    const height = node.view.status().latestHeight;
    if (height > latestHeight && height > firstHeight) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

const free = { host: "127.0.0.1", port: 0, portOption: "--port" };

async function startTarget(
  report: (failure: string) => void,
): Promise<{ readonly target: FuzzTarget; readonly stop: () => Promise<void> }> {
  const end = new AbortController();
  const logger = reportingLogger(report);
  const localnet = createLocalnet(
    {
      chains: {
        local: { rpc: free, metrics: free, validatorPowers: [10n, 3n] },
        remote: { rpc: free, validatorPowers: [10n] },
      },
      blockTimeMs: 200,
      keepBlocks: 50,
      remoteRpcUrl: "http://127.0.0.1:1",
      control: { address: free, token: new Secret(FUZZ_CONTROL_TOKEN) },
    },
    {
      clock: systemClock,
      logger,
      servers: ({ chainName }) => [
        createRestServer({ ...free, chainName }, { clock: systemClock, logger }),
        createGrpcEndpoint({ ...free, chainName }, { logger }),
      ],
    },
  );
  const done = localnet.run(end.signal);
  done.catch((error: unknown) => report(`the localnet ended: ${errorText(error)}`));
  const { chains, controlPort } = await localnet.ready;
  if (chains.local === undefined) throw new Error("no local chain");
  const node = chains.local;
  const target: FuzzTarget = {
    node,
    url: (server) => `http://127.0.0.1:${node.ports.get(server)}`,
    grpcPort: node.ports.get("grpc") ?? 0,
    controlUrl: `http://127.0.0.1:${controlPort}`,
  };
  const stop = async (): Promise<void> => {
    end.abort(new Error("the campaign is over"));
    await done.catch(() => {});
  };
  return { target, stop };
}

/** Reports every error that the program logs: an internal error is a bug. */
function reportingLogger(report: (failure: string) => void): Logger {
  const logger: Logger = {
    ...silentLogger,
    error: (message, facts) => report(`log: ${message} ${errorText(facts?.["error"] ?? "")}`),
    child: () => logger,
  };
  return logger;
}
