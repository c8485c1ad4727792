import { readFileSync } from "node:fs";
import { monthOf, monthStartMs } from "../../../src/platform/base/month.ts";
import { FAULT_MS, sinceFault, type Target } from "./target.ts";

const FIXTURES = new URL("../../fixtures/metrics/", import.meta.url);
const BLOCK_MS = 2_000;
/** Blocks before the begin of the month. */
const HEIGHT = 31_000_000;

/** What goes wrong with a node or its sidecar. */
export interface NodeFault {
  /** Share of failed oracle calls. */
  readonly bad?: number;
  readonly nodeDown?: true;
  readonly sidecarDown?: true;
  /** No price is new any more. */
  readonly frozen?: true;
}

/** A validator's node and sidecar. */
export interface WallNode {
  readonly validator: string;
  readonly host: string;
  readonly fault?: NodeFault;
}

/** Returns the targets of a node and of its sidecar: recorded pages, whose counters go on. */
export function nodeTargets(endMs: number, { validator, host, fault }: WallNode): readonly Target[] {
  const labels = { validator, chain_id: "neutron-1" };
  const node = readFileSync(new URL("node-26660-healthy.prom", FIXTURES), "utf8").replaceAll(
    /chain_id="[^"]*",?/g,
    "",
  );
  const sidecar = readFileSync(new URL("sidecar-8002.prom", FIXTURES), "utf8");
  const activeAt = (atMs: number): NodeFault => (sinceFault(atMs, endMs) === undefined ? {} : (fault ?? {}));
  return [
    {
      job: "oracle-node",
      instance: `${host}:26660`,
      labels,
      page: async (atMs) =>
        activeAt(atMs).nodeDown ? undefined : started(nodePage(node, blocksAt(atMs, endMs, fault)), endMs),
    },
    {
      job: "oracle-sidecar",
      instance: `${host}:8002`,
      labels,
      page: async (atMs) =>
        activeAt(atMs).sidecarDown
          ? undefined
          : started(sidecarPage(sidecar, atMs, fault?.frozen ? sinceFault(atMs, endMs) : undefined), endMs),
    },
  ];
}

/** The recordings are of processes that began later. */
function started(page: string, endMs: number): string {
  return page.replace(
    /^process_start_time_seconds .*$/m,
    `process_start_time_seconds ${endMs / 1000 - 12 * 86_400}`,
  );
}

/** Blocks of the month so far, by the result of their oracle call. */
export interface Blocks {
  readonly all: number;
  readonly bad: number;
}

/** Returns the blocks that a node has seen in the month of a time. */
export function blocksAt(atMs: number, endMs: number, fault: NodeFault = {}): Blocks {
  const all = Math.floor((atMs - monthStartMs(monthOf(atMs))) / BLOCK_MS);
  const inFault = Math.floor(Math.max(0, atMs - (endMs - FAULT_MS)) / BLOCK_MS);
  const usual = Math.floor((all - inFault) * 0.002);
  return { all, bad: usual + Math.floor(inFault * (fault.bad ?? 0.002)) };
}

function nodePage(recorded: string, { all, bad }: Blocks): string {
  return recorded
    .split("\n")
    .flatMap((line) => {
      const [, series = "", name = "", labels = "", value = ""] =
        /^((\w+)(?:\{(.*)\})?) (\S+)$/.exec(line) ?? [];
      if (name === "app_oracle_responses")
        return [
          `app_oracle_responses{status="Success"} ${all - bad}`,
          `app_oracle_responses{status="Failure"} ${bad}`,
        ];
      if (/latest_block_height$|last_signed_height$/.test(name)) return [`${series} ${HEIGHT + all}`];
      if (name === "app_abci_requests") return [`${series} ${labels.includes("Success") ? all : value}`];
      // The recording has a histogram of as many calls as blocks.
      if (name.startsWith("app_oracle_response_latency"))
        return [`${series} ${Math.round((Number(value) / 1091) * all)}`];
      return [line];
    })
    .join("\n");
}

function sidecarPage(recorded: string, atMs: number, frozenMs: number | undefined): string {
  const seconds = atMs / 1000 - 1_700_000_000;
  const steady = seconds - (frozenMs ?? 0) / 1000;
  return recorded
    .split("\n")
    .map((line) => {
      const [, series = "", name = "", value = ""] = /^((\w+)(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      if (name.endsWith("system_updates_total")) return `${series} ${Math.round(seconds * 4)}`;
      if (/updates_total$|status_responses|web_socket_connection_status$/.test(name))
        return `${series} ${Math.round(Number(value) + steady * 1.5)}`;
      if (name.endsWith("last_updated_id")) return `${series} ${steady + 1_700_000_000}`;
      return line;
    })
    .join("\n");
}
