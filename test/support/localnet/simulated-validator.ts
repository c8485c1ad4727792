import { Gauge, Registry } from "prom-client";
import {
  createOracleClient,
  ORACLE_FAULTS,
  type OracleFaultName,
  type SidecarResponse,
  type SidecarTransport,
} from "../../../src/localnet/node/oracle/oracle-client.ts";
import { createOracleMetrics } from "../../../src/localnet/node/oracle/oracle-metrics.ts";
import { writeExposition, pageFamilies } from "../../../src/localnet/sidecar/sidecar-families.ts";
import type { FaultName } from "../../../src/localnet/sidecar/faults.ts";
import { DEFAULT_MARKETS } from "../../../src/localnet/sidecar/markets.ts";
import { createPriceRoutes, NOT_FOUND } from "../../../src/localnet/sidecar/sidecar-listeners.ts";
import { createSidecarProcess } from "../../../src/localnet/sidecar/sidecar.ts";
import { createFaultSwitches } from "../../../src/platform/base/fault-switches.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import type { HttpReply } from "../../../src/platform/http/http-route.ts";
import { matchRoute } from "../../../src/platform/http/route-server.ts";
import type { Page, PageReader } from "../../../src/watchdog/sources/page-reader.ts";
import type { ManualClock } from "../manual-clock.ts";
import { CONNECTION_REFUSED, bodyOf } from "../simulated-response.ts";

/**
 * A node and its sidecar on a manual clock and without sockets: the local node's client and metrics, and the simulated
 * sidecar. One block a second when the vote is quick.
 */
export interface SimulatedValidator {
  readonly setFault: (name: FaultName | OracleFaultName, on: boolean) => void;
  /** A new process of the node: its counters are gone. */
  readonly restartNode: () => void;
  /** Blocks so far, over all processes of the node. */
  readonly height: () => number;
  /** Text of a page; undefined when the port refuses. */
  readonly page: (
    port: 8080 | 8002 | 26660,
    path?: string,
  ) => Promise<{ status: number; text: string } | undefined>;
  /** Reads the pages for a watchdog, by port. */
  readonly read: PageReader;
}

const CHAIN_ID = "local-1";
const BLOCK_TIME_MS = 1000;
const TICK_MS = 250;

export function createSimulatedValidator(
  clock: ManualClock,
  signal: AbortSignal,
  tickMs = TICK_MS,
): SimulatedValidator {
  const sidecar = createSidecarProcess(
    {
      chainId: CHAIN_ID,
      seed: 1,
      markets: DEFAULT_MARKETS,
      maxPriceAgeMs: 120_000,
      missingPairs: ["TIA/USD"],
      metricNames: "side_car",
      version: "v1.3.1",
      drainMs: 7_750,
    },
    { clock, logger: silentLogger },
  );
  const get = createSidecarReader(sidecar, clock);
  const faults = createFaultSwitches(ORACLE_FAULTS, clock);
  const client = createOracleClient(
    { address: "http://sidecar:8080", timeoutMs: 1000 },
    { clock, logger: silentLogger, transport: toTransport(get, sidecar) },
  );
  let height = 100;
  let node = createNodeProcess(clock.nowMs(), height);
  const makeBlocks = async (): Promise<void> => {
    for (;;) {
      if (faults.has("pre-block-error")) node.metrics.observePreBlockError();
      else node.metrics.observe(await client.vote(signal), !faults.has("vote-extensions-missing"));
      height += 1;
      node.height.set({ chain_id: CHAIN_ID }, height);
      await clock.sleep(BLOCK_TIME_MS, signal);
    }
  };
  const tick = async (): Promise<void> => {
    for (;;) {
      sidecar.tick();
      await clock.sleep(tickMs, signal);
    }
  };
  for (const loop of [tick(), makeBlocks()]) loop.catch(() => {});
  const page: SimulatedValidator["page"] = async (port, path = "/metrics") => {
    if (port === 26660) return { status: 200, text: await node.registry.metrics() };
    const reply = await get(port, path, signal).catch(() => undefined);
    return reply && { status: reply.status, text: textOf(reply) };
  };
  return {
    setFault: (name, on) => {
      if (isOracleFault(name)) faults.set(name, on);
      else sidecar.setFault(name, on);
    },
    restartNode: () => {
      node = createNodeProcess(clock.nowMs(), height);
    },
    height: () => height,
    page,
    read: async (url): Promise<Page> => {
      const { port, pathname } = new URL(url);
      const found = port === "8001" ? undefined : await page(toPort(port), pathname);
      if (found === undefined) throw CONNECTION_REFUSED;
      return { status: found.status, body: bodyOf(found.text) };
    },
  };
}

function isOracleFault(name: FaultName | OracleFaultName): name is OracleFaultName {
  return Object.hasOwn(ORACLE_FAULTS, name);
}

function createNodeProcess(startMs: number, height: number) {
  const registry = new Registry();
  const gauge = (name: string, labelNames: readonly string[]) =>
    new Gauge({ name, help: name, labelNames, registers: [registry] });
  gauge("process_start_time_seconds", []).set(startMs / 1000);
  const blocks = gauge("cometbft_consensus_latest_block_height", ["chain_id"]);
  blocks.set({ chain_id: CHAIN_ID }, height);
  const metrics = createOracleMetrics(registry, { chainId: CHAIN_ID, validator: "neutronvalcons1test" });
  return { registry, height: blocks, metrics };
}

type SidecarProcess = ReturnType<typeof createSidecarProcess>;

type SidecarReader = (port: 8080 | 8002, path: string, signal: AbortSignal) => Promise<HttpReply>;

function createSidecarReader(sidecar: SidecarProcess, clock: ManualClock): SidecarReader {
  const routes = createPriceRoutes({
    snapshot: () => sidecar.state().loop.snapshot(),
    oracle: () => sidecar.state().oracle,
    faults: sidecar.faults,
    isDraining: sidecar.isDraining,
    markets: DEFAULT_MARKETS,
    clock,
    chainId: CHAIN_ID,
    version: "v1.3.1",
    slowMs: 3000,
  });
  return async (port, path, signal) => {
    if (!sidecar.isUp()) throw CONNECTION_REFUSED;
    if (port === 8002) {
      const body = writeExposition(pageFamilies(sidecar.state().sidecar, "side_car"));
      return { status: 200, headers: { "content-type": "text/plain" }, body };
    }
    const match = matchRoute(routes, "GET", path);
    if (match.kind !== "route") return NOT_FOUND;
    const request = { method: "GET", path, params: {}, query: new URLSearchParams(), headers: {}, signal };
    return match.route.handle({ ...request, body: new Uint8Array() });
  };
}

function toTransport(get: SidecarReader, sidecar: SidecarProcess): SidecarTransport {
  return {
    get: async (url, signal): Promise<SidecarResponse> => {
      const reply = await get(8080, url.pathname, signal);
      const type = Object.entries(reply.headers ?? {}).find(
        ([name]) => name.toLowerCase() === "content-type",
      );
      return {
        status: reply.status,
        contentType: type === undefined ? undefined : String(type[1]),
        text: textOf(reply),
      };
    },
    connects: async () => sidecar.isUp(),
  };
}

function textOf({ body }: HttpReply): string {
  return typeof body === "string" ? body : new TextDecoder().decode(body);
}

function toPort(port: string): 8080 | 8002 | 26660 {
  if (port === "26660") return 26660;
  return port === "8002" ? 8002 : 8080;
}
