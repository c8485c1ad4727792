import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { Registry as MetricsRegistry } from "prom-client";
import { supervise } from "../../../src/base/service.ts";
import type { LogFields, Logger } from "../../../src/base/logger.ts";
import { createEngine, type Engine } from "../../../src/relayer/engine.ts";
import { createHeightSignal } from "../../../src/relayer/registry/height-signal.ts";
import { type Journal, openJournal } from "../../../src/relayer/state/journal.ts";
import { createRelayerMetrics } from "../../../src/relayer/api/metrics.ts";
import { createRegistry, type Registry } from "../../../src/relayer/registry/registry.ts";
import { bankKey, createSimRemote, type SimRemote } from "./sim-remote.ts";
import { createRandom, type Random } from "./random.ts";
import { createSimLocal, type SimLocal } from "./sim-local.ts";

/** A line of the relayer's log. */
interface SimLogLine {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly fields: LogFields;
}

/** Two remote chains, a local one, and a relayer between them, in simulated time. */
export interface SimWorld {
  readonly random: Random;
  readonly clock: ManualClock;
  readonly local: SimLocal;
  readonly remotes: readonly SimRemote[];
  readonly engine: Engine;
  readonly registry: Registry;
  readonly journal: Journal;
  readonly log: readonly SimLogLine[];
  /** Hashes of transactions that no client can prove. */
  readonly beyondProof: ReadonlySet<string>;
  /** Lets seconds pass: each chain makes a block in each. `each` runs before each second. */
  readonly run: (seconds: number, each?: (second: number) => void) => Promise<void>;
  /** Whether the remote chains' users send transactions. */
  readonly setTraffic: (isOn: boolean) => void;
  /** Stops the relayer; gives the faults of its services. */
  readonly stop: () => Promise<readonly unknown[]>;
}

/**
 * Starts a world with that many remote chains. Each connection has KV queries of several periods and a TX query for the
 * transfers to "bob".
 */
export async function startWorld(seed: number, connections = 2): Promise<SimWorld> {
  const random = createRandom(seed);
  const clock = createManualClock(1_700_000_000_000);
  const remotes = Array.from({ length: connections }, (_, index) =>
    createSimRemote(`remote-${index + 1}`, clock),
  );
  // Transactions before the client's first consensus state: nothing can prove them.
  for (const remote of remotes) {
    for (const txs of [1, 1, 1, 0, 0]) remote.tick(txs === 0 ? [] : [["bob", 0]]);
  }
  const beyondProof = new Set(remotes.flatMap((remote) => remote.succeeded("bob")));
  const local = createSimLocal(remotes, clock, random);
  for (const index of remotes.keys()) registerQueries(local, `connection-${index}`);
  const log: SimLogLine[] = [];
  const { engine, registry, journal, stop } = startRelayer({ local, remotes, clock, random, log });
  let hasTraffic = true;
  const traffic = (): readonly (readonly [string, number])[] => {
    if (!hasTraffic || !random.chance(0.4)) return [];
    return Array.from({ length: 1 + random.int(3) }, () => [
      random.chance(0.5) ? "bob" : "alice",
      random.chance(0.2) ? 5 : 0,
    ]);
  };
  let second = 0;
  const startMs = clock.nowMs();
  const run: SimWorld["run"] = async (seconds, each) => {
    for (const end = second + seconds; second < end; second++) {
      each?.(second);
      const atMs = startMs + second * 1_000;
      await clock.runUntil(atMs + 300);
      for (const remote of remotes) remote.tick(traffic());
      await clock.runUntil(atMs + 700 + random.int(300));
      local.tick();
    }
    await clock.runUntil(startMs + second * 1_000);
  };
  return {
    random,
    clock,
    local,
    remotes,
    engine,
    registry,
    journal,
    beyondProof,
    log,
    run,
    setTraffic: (isOn) => {
      hasTraffic = isOn;
    },
    stop,
  };
}

function registerQueries(local: SimLocal, connectionId: string): void {
  for (const updatePeriod of [1n, 2n, 5n, 9n]) {
    for (let index = 0; index < 4; index++) {
      const keys = [index, index + 3].map((key) => ({ path: "bank", key: bankKey(key) }));
      local.register({ type: "kv", connectionId, updatePeriod, keys });
    }
  }
  local.register({
    type: "kv",
    connectionId,
    updatePeriod: 1n,
    keys: [{ path: "nosuch", key: bankKey(0) }],
  });
  // The node refuses the search of the first one, and the second is no filter; the third has to live beside them.
  for (const field of ["unknown.tag", "", "transfer.recipient"]) {
    const transactionsFilter = JSON.stringify([{ field, op: "Eq", value: "bob" }]);
    local.register({ type: "tx", connectionId, updatePeriod: 2n, transactionsFilter });
  }
}

interface RelayerParts {
  readonly local: SimLocal;
  readonly remotes: readonly SimRemote[];
  readonly clock: ManualClock;
  readonly random: Random;
  readonly log: SimLogLine[];
}

function startRelayer(parts: RelayerParts): Pick<SimWorld, "engine" | "registry" | "journal" | "stop"> {
  const { local, remotes, clock, random } = parts;
  const connectionIds = remotes.map((_remote, index) => `connection-${index}`);
  const metrics = createRelayerMetrics(new MetricsRegistry(), connectionIds);
  const journal = openJournal(undefined, "local-1");
  const height = createHeightSignal(clock, () => {});
  const filter = { connectionIds, owners: [], queryIds: [], types: ["kv", "tx"] as const };
  const registry = createRegistry(filter, {
    local: local.queries,
    localHeight: height.now,
    onGone: journal.forget,
  });
  const surroundings = { clock, random: random.next, logger: collectingLogger(parts.log), metrics };
  const engine = createEngine({
    ...surroundings,
    chainName: "neutron",
    local,
    subscription: local.subscription,
    registry,
    height,
    tx: { journal, lookbackBlocks: 100n },
    workers: remotes.map((remote, index) => ({
      ...surroundings,
      connectionId: `connection-${index}`,
      remote: remote.client,
      local: local.queries,
      sender: local.sender,
      registry,
      settings: {
        allowKvCallbacks: false,
        limits: { gas: 15_000_000n, bytes: 400_000, results: 100 },
        backoff: { minMs: 500, baseMs: 1_000, maxMs: 4_000 },
        submission: { submitTypeUrl: "/x.MsgSubmitQueryResult", gasAdjustmentPermille: 1_300n, mostGas: 0n },
      },
    })),
  });
  const stop = new AbortController();
  const done = supervise(engine.services, stop.signal, surroundings.logger);
  return {
    engine,
    registry,
    journal,
    stop: async () => {
      stop.abort(new Error("the simulation is over"));
      await clock.runUntil(clock.nowMs());
      const failures = await done;
      for (const remote of remotes) remote.client.close();
      await clock.runUntil(clock.nowMs());
      journal.close();
      return failures.map(({ error }) => error);
    },
  };
}

function collectingLogger(lines: SimLogLine[]): Logger {
  const write =
    (level: SimLogLine["level"]) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push({ level, message, fields });
  const logger: Logger = {
    debug: () => {},
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: () => logger,
  };
  return logger;
}
