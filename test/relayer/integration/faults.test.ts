import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { isRecord } from "../../../src/platform/base/json.ts";
import type { ProxyFault } from "../../support/fault-proxy.ts";
import { type ProxiedCall, withWrongAppHash, withWrongProof } from "../../support/json-rpc-bodies.ts";
import { type FaultyLocalnet, startFaultyLocalnet, WAIT } from "../../support/faulty-localnet.ts";

/** A failure of an endpoint, and how the relayer shows that it meets it. */
interface Row {
  readonly name: string;
  readonly fault: (net: FaultyLocalnet) => ProxyFault;
  /** Throws until the fault has had its effect. */
  readonly felt: (net: FaultyLocalnet) => void;
}

const someProblem = ({ problems }: FaultyLocalnet): void => expect(problems()).not.toEqual([]);
const problem =
  (code: string) =>
  ({ problems }: FaultyLocalnet): void =>
    expect(problems()).toContain(code);
const calls =
  (chain: "local" | "remote", count: number) =>
  ({ proxies }: FaultyLocalnet): void =>
    expect(proxies[chain].calls()).toBeGreaterThanOrEqual(count);
const failureOf =
  (code: string) =>
  ({ net }: FaultyLocalnet): void =>
    expect(net.relayer.status().queries.map(({ error }) => error?.code)).toContain(code);
const plain = (
  kind: "reset" | "close" | "hang" | "truncate" | "stale" | "no-websocket" | "lose-broadcast",
) => ({
  fault: (): ProxyFault => ({ kind }),
});
const isCall =
  (method: string, path?: string) =>
  (call: ProxiedCall): boolean =>
    call.method === method && (path === undefined || call.params["path"] === path);

/** The response of a node behind a load balancer that has not reached the height, or has pruned it. */
function withoutState(call: ProxiedCall, result: unknown): unknown {
  if (call.method !== "abci_query" || call.params["prove"] !== true) return result;
  const log = "failed to load state at height 7; version does not exist";
  return { response: { code: 18, codespace: "sdk", log, value: null, height: "0", proofOps: null } };
}

function withoutResults({ method }: ProxiedCall, result: unknown): unknown {
  return method === "block_results" && isRecord(result) ? { ...result, txs_results: [] } : result;
}

function catchingUp({ method }: ProxiedCall, result: unknown): unknown {
  if (method !== "status" || !isRecord(result) || !isRecord(result["sync_info"])) return result;
  return { ...result, sync_info: { ...result["sync_info"], catching_up: true } };
}

const REMOTE_ROWS: readonly Row[] = [
  // First: after a fault that leaves the index without some transactions, blocks are scanned for ten minutes.
  {
    name: "cannot search transactions",
    fault: () => ({ kind: "status", status: 500, only: isCall("tx_search") }),
    felt: failureOf("read-failed"),
  },
  { name: "resets every connection", ...plain("reset"), felt: problem("remote-unreachable") },
  { name: "accepts requests and never responds", ...plain("hang"), felt: someProblem },
  { name: "is slow", fault: () => ({ kind: "delay", ms: 300 }), felt: calls("remote", 20) },
  { name: "responds with 429", fault: () => ({ kind: "status", status: 429 }), felt: someProblem },
  { name: "has no new block", ...plain("stale"), felt: problem("remote-no-new-block") },
  {
    name: "is a node of another chain",
    fault: ({ net }) => ({ kind: "other-node", url: net.urls.local }),
    felt: someProblem,
  },
  {
    name: "is catching up",
    fault: () => ({ kind: "rewrite", result: catchingUp }),
    felt: problem("remote-catching-up"),
  },
  {
    name: "returns wrong proofs",
    fault: () => ({ kind: "rewrite", result: withWrongProof }),
    felt: failureOf("invalid-proof"),
  },
  {
    name: "returns wrong headers",
    fault: () => ({ kind: "rewrite", result: withWrongAppHash }),
    felt: someProblem,
  },
  {
    name: "does not have the state that is read",
    fault: () => ({ kind: "rewrite", result: withoutState }),
    felt: failureOf("read-failed"),
  },
  {
    name: "never responds to the read of a header",
    fault: () => ({ kind: "hang", only: isCall("commit") }),
    felt: someProblem,
  },
  {
    name: "returns fewer results than the block has transactions",
    fault: () => ({ kind: "rewrite", result: withoutResults }),
    felt: failureOf("read-failed"),
  },
  {
    name: "has no headers",
    fault: () => ({ kind: "status", status: 500, only: isCall("commit") }),
    felt: someProblem,
  },
  {
    name: "has no results of blocks",
    fault: () => ({ kind: "status", status: 500, only: isCall("block_results") }),
    felt: failureOf("read-failed"),
  },
];

// Connections that end and responses that break off are read alike for both chains.
const LOCAL_ROWS: readonly Row[] = [
  { name: "resets every connection", ...plain("reset"), felt: problem("local-not-followed") },
  { name: "closes every connection", ...plain("close"), felt: someProblem },
  { name: "accepts requests and never responds", ...plain("hang"), felt: someProblem },
  { name: "is slow", fault: () => ({ kind: "delay", ms: 300 }), felt: calls("local", 20) },
  { name: "responds with 502", fault: () => ({ kind: "status", status: 502 }), felt: someProblem },
  { name: "breaks off each response", ...plain("truncate"), felt: someProblem },
  { name: "has no new block", ...plain("stale"), felt: problem("local-no-new-block") },
  {
    name: "is a node of another chain",
    fault: ({ net }) => ({ kind: "other-node", url: net.urls.remote }),
    felt: someProblem,
  },
  { name: "has no WebSocket", ...plain("no-websocket"), felt: calls("local", 20) },
  { name: "loses the response to a broadcast", ...plain("lose-broadcast"), felt: calls("local", 20) },
  {
    name: "cannot simulate",
    fault: () => ({
      kind: "status",
      status: 500,
      only: isCall("abci_query", "/cosmos.tx.v1beta1.Service/Simulate"),
    }),
    felt: someProblem,
  },
  {
    name: "cannot say its height",
    fault: () => ({ kind: "status", status: 500, only: isCall("status") }),
    felt: calls("local", 20),
  },
  {
    name: "has no transaction index",
    fault: () => ({ kind: "error", data: "transaction indexing is disabled", only: isCall("tx") }),
    // Results are confirmed from the blocks.
    felt: (net) => {
      calls("local", 20)(net);
      expect(net.problems()).toEqual([]);
    },
  },
  {
    name: "cannot list the queries",
    fault: () => ({
      kind: "status",
      status: 500,
      only: isCall("abci_query", "/neutron.interchainqueries.Query/RegisteredQueries"),
    }),
    felt: calls("local", 20),
  },
  {
    name: "cannot read the query that an event announces",
    fault: () => ({
      kind: "status",
      status: 500,
      only: isCall("abci_query", "/neutron.interchainqueries.Query/RegisteredQuery"),
    }),
    felt: calls("local", 20),
  },
];

/** Runs the row: changes both chains while the fault lasts, and expects that the relayer catches up with all of it. */
async function runRow(net: FaultyLocalnet, chain: "local" | "remote", row: Row): Promise<void> {
  net.proxies[chain].set(row.fault(net));
  await Promise.all([net.transfer(), net.register()]);
  await vi.waitFor(() => {
    expect(net.proxies[chain].hits()).toBeGreaterThan(0);
    row.felt(net);
  }, WAIT);
  await net.transfer();
  net.proxies[chain].set(undefined);
  await net.expectNothingLost();
}

describe.each([
  ["remote", REMOTE_ROWS],
  ["local", LOCAL_ROWS],
] as const)("nothing is lost when the node of the %s chain", (chain, rows) => {
  let net: FaultyLocalnet;
  beforeAll(async () => {
    net = await startFaultyLocalnet();
  });
  afterAll(() => net.stop());

  it.each(rows.map((row) => [row.name, row] as const))(
    "%s",
    (_name, row) => runRow(net, chain, row),
    240_000,
  );
});
