import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { alertsSchema } from "../../src/watchdog/conditions/alerts-config.ts";
import type { WatchdogConfig } from "../../src/watchdog/config/config.ts";
import { notifySchema } from "../../src/watchdog/notify/notify-config.ts";
import { SPECIFIED_POLICY } from "../../src/watchdog/policy/assessment.ts";
import { reportsSchema } from "../../src/watchdog/report/reports-config.ts";
import type { Page, PageReader } from "../../src/watchdog/sources/page-reader.ts";
import { createWatchdog } from "../../src/watchdog/watchdog.ts";
import { createManualClock } from "../support/manual-clock.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { processorMs } from "./measure.ts";

const NODES = 200;
const INTERVAL_MS = 15_000;
const START_MS = Date.UTC(2026, 10, 21, 13);

/** Polls 200 nodes with 4 sources each every 15 s: pages as recorded, without sockets, with a state file. */
export async function benchWatchdog({ quick }: BenchSettings): Promise<readonly BenchRow[]> {
  const polls = quick ? 4 : 16;
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-bench-"));
  const clock = createManualClock(START_MS);
  const end = new AbortController();
  const watchdog = createWatchdog(configOf(folder), {
    clock,
    registry: new Registry(),
    logger: silentLogger,
    random: () => 0.5,
    reader: { read: createReader(clock.nowMs), close: async () => {} },
  });
  const run = watchdog.run(end.signal);
  const { port } = await watchdog.ready;
  // The first polls compile the code and fill the state.
  await clock.advance(2 * INTERVAL_MS);
  const startMs = processorMs();
  await clock.advance(polls * INTERVAL_MS);
  const usedMs = processorMs() - startMs;
  const memory = process.memoryUsage().rss;
  const cold = await benchFirstRequest(`http://127.0.0.1:${port}`);
  const replies = await benchReplies(
    `http://127.0.0.1:${port}`,
    () => clock.advance(INTERVAL_MS),
    quick ? 2 : 5,
  );
  end.abort(new Error("the bench is over"));
  await run;
  rmSync(folder, { recursive: true });
  const note = `${NODES} nodes, 4 sources each, every 15 s; ${polls} polls, processor time, without sockets`;
  return [
    { name: "watchdog of 200 nodes", value: usedMs / (polls * INTERVAL_MS), unit: "cores", note },
    { name: "one poll of one node", value: usedMs / polls / NODES, unit: "ms", note },
    {
      name: `first GET / of ${NODES} validators`,
      value: cold,
      unit: "ms",
      note: "processor time, the first request since the start",
    },
    ...replies,
    { name: "memory of the watchdog", value: memory / 1_000_000, unit: "MB", note: "rss at the end" },
  ];
}

/** Processor time of the first request of the page. */
async function benchFirstRequest(url: string): Promise<number> {
  const startMs = processorMs();
  await requestBytes(`${url}/`);
  return processorMs() - startMs;
}

const PATHS = ["/", "/metrics", "/api/status", "/api/alerts"] as const;

/** The longest of the first requests of each path after a poll of all validators, over a socket: processor time of server and client. */
async function benchReplies(
  url: string,
  poll: () => Promise<void>,
  repetitions: number,
): Promise<readonly BenchRow[]> {
  const longest = new Map<string, number>();
  const bytes = new Map<string, number>();
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    await poll();
    for (const path of PATHS) {
      const startMs = processorMs();
      const size = await requestBytes(`${url}${path}`);
      longest.set(path, Math.max(longest.get(path) ?? 0, processorMs() - startMs));
      bytes.set(path, size);
    }
  }
  return PATHS.map((path) => ({
    name: `GET ${path} of ${NODES} validators`,
    value: longest.get(path) ?? 0,
    unit: "ms",
    note: `processor time, longest of the first requests after ${repetitions} polls; ${Math.round((bytes.get(path) ?? 0) / 1000)} kB`,
  }));
}

/** Requests a URL and counts the bytes of the body, without decoding them. */
function requestBytes(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Uint8Array) => {
        bytes += chunk.length;
      });
      response.on("end", () => resolve(bytes)).on("error", reject);
    }).on("error", reject);
  });
}

function configOf(folder: string): WatchdogConfig {
  return {
    listen: { host: "127.0.0.1", port: 0 },
    stateDir: folder,
    intervalMs: INTERVAL_MS,
    limits: { deadlineMs: 60_000, maxPageBytes: 10_000_000 },
    validators: Array.from({ length: NODES }, (_, index) => ({
      target: {
        name: `validator-${index}`,
        consensusAddress: "neutronvalcons16jsxy6n6x6xxkkdx2whumthegrfklpw7y5klld",
        nodes: [
          {
            name: "node",
            node: `http://n${index}:26660/metrics`,
            prices: `http://n${index}:8080/`,
            oracleMetrics: `http://n${index}:8001/metrics`,
            sidecarMetrics: `http://n${index}:8002/metrics`,
          },
        ],
        egress: [],
      },
      policy: { policy: SPECIFIED_POLICY, fromChain: false },
    })),
    alerts: alertsSchema.parse({}),
    notify: notifySchema.parse({}),
    maintenance: [],
    reports: reportsSchema.parse({}),
  };
}

/** Serves the recorded pages. The node's success count and height grow by a block a second. */
function createReader(nowMs: () => number): PageReader {
  const node = recorded("node-26660-healthy.prom");
  const sidecar = new TextEncoder().encode(recorded("sidecar-8002.prom"));
  const prices = new TextEncoder().encode(recorded("prices-v1.http").split(/\r?\n\r?\n/)[1] ?? "");
  let made = { atMs: 0, page: new Uint8Array() };
  return async (url) => {
    const { port } = new URL(url);
    if (port === "8080") return page(prices);
    if (port !== "26660") return page(sidecar);
    if (made.atMs !== nowMs()) {
      const blocks = Math.floor((nowMs() - START_MS) / 1000);
      const text = node
        .replace(/(app_oracle_responses\{[^}]*Success"\}) 1091/, `$1 ${1091 + blocks}`)
        .replace(/(latest_block_height\{[^}]*\}) 1092/, `$1 ${1092 + blocks}`);
      made = { atMs: nowMs(), page: new TextEncoder().encode(text) };
    }
    return page(made.page);
  };
}

function recorded(name: string): string {
  return readFileSync(join("test/fixtures/metrics", name), "utf8");
}

function page(bytes: Uint8Array): Page {
  return { status: 200, body: bodyOf(bytes) };
}

async function* bodyOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
