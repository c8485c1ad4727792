import type { ManualClock } from "../manual-clock.ts";
import type { Page, PageReader } from "../../../src/watchdog/sources/page-reader.ts";
import { CONNECTION_REFUSED, bodyOf } from "../simulated-response.ts";

/** A simulated node and sidecar: one block per second, each with one oracle call. */
export interface World {
  readonly read: PageReader;
  readonly restartNode: () => void;
  /** Switches a fault on or off, from now on. */
  readonly set: (fault: WorldFault, on: boolean) => void;
  readonly has: (fault: WorldFault) => boolean;
  /** The actual counts at the time of the last scrape of the node. */
  readonly actualAtScrape: () => ActualCounts;
}

/** Blocks by result of their oracle call, and the height. */
interface ActualCounts {
  readonly good: bigint;
  readonly bad: bigint;
  readonly height: bigint;
}

/**
 * Simulated faults. `no-prices`: an empty response. `sidecar-down`: connections are refused, and the node's calls fail.
 * `blind-*`: only the watchdog cannot connect. `halted`: no blocks.
 */
export type WorldFault =
  | "no-prices"
  | "sidecar-down"
  | "node-down"
  | "blind-node"
  | "blind-prices"
  | "html-node"
  | "halted";

/** Creates a world that starts at the clock's time. */
export function createWorld(clock: ManualClock, chainId = "test-1"): World {
  const faults = new Set<WorldFault>();
  const actual = { good: 0n, bad: 0n, height: 0n };
  let node = { good: 0n, bad: 0n, startMs: clock.nowMs() };
  let atScrape: ActualCounts = actual;
  let lastMs = clock.nowMs();
  const catchUp = (): void => {
    const blocks = BigInt(Math.floor((clock.nowMs() - lastMs) / 1000));
    lastMs += Number(blocks) * 1000;
    if (faults.has("node-down") || faults.has("halted")) return;
    const field = faults.has("sidecar-down") ? "bad" : "good";
    actual[field] += blocks;
    node[field] += blocks;
    actual.height += blocks;
  };
  const nodePage = (): string =>
    [
      "# TYPE app_oracle_responses gauge",
      node.good === 0n
        ? ""
        : `app_oracle_responses{chain_id="${chainId}",status="Success"} ${Number(node.good)}`,
      node.bad === 0n
        ? ""
        : `app_oracle_responses{chain_id="${chainId}",status="Failure"} ${Number(node.bad)}`,
      `cometbft_consensus_latest_block_height{chain_id="${chainId}"} ${actual.height}`,
      `process_start_time_seconds ${node.startMs / 1000}`,
      "",
    ].join("\n");
  const read: PageReader = async (url) => {
    catchUp();
    const { port } = new URL(url);
    if (port === "26660") {
      if (faults.has("node-down") || faults.has("blind-node")) throw CONNECTION_REFUSED;
      atScrape = { ...actual };
      return faults.has("html-node") ? page("<!doctype html><title>proxy</title>") : page(nodePage());
    }
    if (port === "8001" || faults.has("sidecar-down")) throw CONNECTION_REFUSED;
    if (port === "8002") return page("side_car_health_check_system_updates_total 5\n");
    if (faults.has("blind-prices")) throw CONNECTION_REFUSED;
    const prices = faults.has("no-prices") ? {} : { "BTC/USD": "9712345000", "ETH/USD": "3345670000" };
    return page(JSON.stringify({ prices, timestamp: new Date(clock.nowMs()).toISOString(), version: "" }));
  };
  return {
    read,
    set: (fault, on) => {
      catchUp();
      if (on) faults.add(fault);
      else faults.delete(fault);
    },
    has: (fault) => faults.has(fault),
    restartNode: () => {
      catchUp();
      node = { good: 0n, bad: 0n, startMs: clock.nowMs() };
    },
    actualAtScrape: () => atScrape,
  };
}

/** A response with this text. */
function page(text: string, status = 200): Page {
  return { status, body: bodyOf(text) };
}
