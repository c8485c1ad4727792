import { lackText, readAnswer } from "../../cosmos/client/answers.ts";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import type { Endpoint } from "../../platform/http/remote.ts";
import { parseEndpoints } from "../../cosmos/client/endpoint.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import { createEventSocketOpener } from "../../cosmos/client/events/event-session.ts";
import { silentObserver } from "../../cosmos/client/rpc-caller.ts";
import { errorText } from "../../platform/base/errors.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import { column, formatTable } from "../../platform/cli/table.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { openClient } from "../chain-access.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";

export interface Finding {
  /** Subject of the check, e.g. "connection-0: light client". */
  readonly subject: string;
  /** "unseen": the check could not read its data. "advice": the relayer works, but a change would improve it. */
  readonly outcome: "good" | "advice" | "problem" | "unseen";
  readonly text: string;
  /** Advice for the operator; undefined if the outcome is "good". */
  readonly advice: string | undefined;
}

export function good(subject: string, text: string): Finding {
  return { subject, outcome: "good", text, advice: undefined };
}

export function advise(subject: string, text: string, advice: string): Finding {
  return { subject, outcome: "advice", text, advice };
}

export function problem(subject: string, text: string, advice: string): Finding {
  return { subject, outcome: "problem", text, advice };
}

export function unseen(subject: string, text: string, advice: string): Finding {
  return { subject, outcome: "unseen", text, advice };
}

const CAPABILITIES = [
  "chain id",
  "version",
  "height",
  "clock",
  "oldest block",
  "block results",
  "index",
  "proofs",
  "calls in a batch",
  "response limit",
  "WebSocket",
  "simulation",
] as const;

type Capability = (typeof CAPABILITIES)[number];

interface Cell {
  readonly text: string;
  /** Reason why the endpoint lacks the capability, with a remedy; undefined if the endpoint has the capability. */
  readonly gap?: string;
}

export interface EndpointRow {
  readonly chainId: string;
  readonly endpoint: string;
  readonly cells: Readonly<Record<Capability, Cell>>;
}

/** Maps each capability to the chains whose endpoints need it. A capability without an entry is optional. */
const NEEDED: { readonly [capability in Capability]?: "local" | "remote" | "both" } = {
  "block results": "remote",
  proofs: "remote",
  simulation: "local",
};

const ANY_KEY = new Uint8Array([0]);
/** SHA-256 of the empty string (base64), a hash that no transaction has. */
const NO_HASH = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
const SIMULATE_PATH = "/cosmos.tx.v1beta1.Service/Simulate";
const MAX_AHEAD_MS = 10_000;
const SOCKET_LIMITS = { connectTimeoutMs: 3_000, maxFrameBytes: 1_000_000 };

const UNKNOWN: Cell = { text: "?" };
const BLANK: EndpointRow["cells"] = {
  "chain id": UNKNOWN,
  version: UNKNOWN,
  height: UNKNOWN,
  clock: UNKNOWN,
  "oldest block": UNKNOWN,
  "block results": UNKNOWN,
  index: UNKNOWN,
  proofs: UNKNOWN,
  "calls in a batch": UNKNOWN,
  "response limit": UNKNOWN,
  WebSocket: UNKNOWN,
  simulation: UNKNOWN,
};

type MatrixConfig = Pick<RelayerConfig, "chain" | "connections" | "deadlines" | "rpc" | "tls">;

/** Checks each configured endpoint's capabilities without sending a transaction. The promise rejects only on abort. */
export async function readEndpointMatrix(
  config: MatrixConfig,
  context: Pick<DaemonContext, "clock" | "random" | "logger">,
  signal: AbortSignal,
): Promise<readonly EndpointRow[]> {
  const chains = [
    { id: config.chain.id, rpc: config.chain.rpc, role: "local" as const },
    ...config.connections.map(({ chain_id: id, rpc }) => ({ id, rpc, role: "remote" as const })),
  ];
  // Check each chain's endpoints only once, because several connections may share a chain.
  const distinct = [
    ...new Map(chains.map((chain) => [JSON.stringify([chain.id, chain.rpc]), chain])).values(),
  ];
  const rows = await Promise.all(
    distinct.map(async ({ id, rpc, role }) => {
      const names = parseEndpoints(rpc).map(({ name }) => name);
      const probes = rpc.map((endpoint, index) => ({ ...endpoint, name: names[index] ?? "" }));
      return Promise.all(
        probes.map((endpoint) => probe({ id, role, endpoint }, { config, context }, signal)),
      );
    }),
  );
  signal.throwIfAborted();
  return rows.flatMap((ofChain) => {
    const best = ofChain.map(({ height }) => height).reduce(maxInt, 0n);
    return ofChain.map(({ height, row }) => withLag(row, best - height));
  });
}

function withLag(row: EndpointRow, lag: bigint): EndpointRow {
  const { height } = row.cells;
  if (height === UNKNOWN || height.gap !== undefined || lag === 0n) return row;
  return { ...row, cells: { ...row.cells, height: { ...height, text: `${height.text} (${lag} behind)` } } };
}

interface Probed {
  readonly id: string;
  readonly role: "local" | "remote";
  readonly endpoint: Endpoint & { readonly name: string };
}

async function probe(
  { id, role, endpoint }: Probed,
  {
    config,
    context,
  }: { readonly config: MatrixConfig; readonly context: Parameters<typeof readEndpointMatrix>[1] },
  signal: AbortSignal,
): Promise<{ readonly height: bigint; readonly row: EndpointRow }> {
  const client = openClient({ id, rpc: [endpoint] }, config, { context, observer: silentObserver });
  const rowOf = (cells: EndpointRow["cells"]): EndpointRow => ({
    chainId: id,
    endpoint: endpoint.name,
    cells,
  });
  try {
    const status = await client.status(signal);
    const height = status.latestHeight;
    const ahead = Number(status.latestTimeNs / NS_PER_MS) - context.clock.nowMs();
    const [results, index, proofs, simulation, socket, batch] = await Promise.all([
      cell(signal, "kept", () => client.comet.blockResults(Number(height - 1n))),
      indexCell(client, role, height, signal),
      cell(signal, "yes", () =>
        client.readStore({ store: "bank", key: ANY_KEY, height: height - 1n }, signal),
      ),
      role === "remote" ? { text: "–" } : simulationCell(client, signal),
      role === "remote" ? { text: "–" } : socketCell(endpoint, config, signal),
      batchCell(client, config.rpc.batch, signal),
    ]);
    const cells: EndpointRow["cells"] = {
      "chain id": { text: status.chainId },
      version: { text: status.version ?? "?" },
      height: status.catchingUp
        ? { text: `${height}`, gap: "wait until the node has caught up, or replace it" }
        : { text: `${height}` },
      clock:
        ahead > MAX_AHEAD_MS
          ? { text: `${Math.round(ahead / 1_000)} s ahead`, gap: "correct this machine's clock" }
          : { text: `${Math.max(0, Math.round(-ahead / 1_000))} s ago` },
      "oldest block": { text: `${status.earliestHeight}` },
      "block results": results,
      index,
      proofs,
      "calls in a batch": batch,
      "response limit": { text: `${config.rpc.max_response_bytes} bytes` },
      WebSocket: socket,
      simulation,
    };
    return { height, row: rowOf(cells) };
  } catch (error) {
    signal.throwIfAborted();
    return { height: 0n, row: rowOf({ ...BLANK, "chain id": { text: "no", gap: errorText(error) } }) };
  } finally {
    client.close();
  }
}

async function cell(signal: AbortSignal, text: string, read: () => Promise<unknown>): Promise<Cell> {
  try {
    await read();
    return { text };
  } catch (error) {
    signal.throwIfAborted();
    return { text: "no", gap: lackText(error) };
  }
}

/** Checks the transaction index. A local node's index must find transactions by hash, and a remote node's index must be searchable. */
async function indexCell(
  client: PooledChainClient,
  role: Probed["role"],
  height: bigint,
  signal: AbortSignal,
): Promise<Cell> {
  const search = (): Promise<unknown> => client.comet.txSearch({ query: `tx.height=${height}`, per_page: 1 });
  const find = (): Promise<unknown> =>
    client.pool.call("tx", { hash: NO_HASH, prove: false }, signal).catch((error: unknown) => {
      if (readAnswer(error).lack !== "transaction") throw error;
    });
  return cell(signal, "on", role === "local" ? find : search);
}

/** Simulates an empty transaction, because even an error from the application shows that the endpoint supports simulation. */
function simulationCell(client: PooledChainClient, signal: AbortSignal): Promise<Cell> {
  return cell(signal, "yes", () =>
    client.grpcQuery(SIMULATE_PATH, new Uint8Array(0), signal).catch((error: unknown) => {
      if (!(error instanceof ClientError) || error.facts.code !== "abci") throw error;
    }),
  );
}

async function batchCell(client: PooledChainClient, calls: number, signal: AbortSignal): Promise<Cell> {
  const all = Array.from({ length: calls }, () =>
    client.pool.call("health", {}, signal).catch(() => undefined),
  );
  await Promise.all(all);
  const [own] = client.pool.health();
  return { text: `${own?.batchSize ?? 1}` };
}

async function socketCell(endpoint: Endpoint, config: MatrixConfig, signal: AbortSignal): Promise<Cell> {
  const [parsed] = parseEndpoints([endpoint], { ca: config.tls?.ca_file });
  if (parsed === undefined) return { text: "?" };
  const open = createEventSocketOpener(parsed, SOCKET_LIMITS);
  const listener = { onText: () => {}, onHeartbeat: () => {}, onClosed: () => {} };
  return cell(signal, "yes", async () => (await open(listener, signal)).terminate());
}

/**
 * Returns findings about the capabilities that endpoints lack. A missing capability is a problem only if the relayer needs it and
 * no other endpoint of the chain has it.
 */
export function matrixFindings(rows: readonly EndpointRow[], localId: string): readonly Finding[] {
  return [...new Set(rows.map(({ chainId }) => chainId))].flatMap((chainId) => {
    const own = rows.filter((row) => row.chainId === chainId);
    const role = chainId === localId ? "local" : "remote";
    // Skip unresponsive endpoints, which already have their own finding.
    return CAPABILITIES.slice(1).flatMap((name) => {
      const gaps = own.flatMap(({ endpoint, cells }) =>
        cells[name].gap === undefined ? [] : [`${endpoint}: ${cells[name].gap}`],
      );
      if (gaps.length === 0) return [];
      const subject = `${chainId}: ${name}`;
      const [first = ""] = gaps;
      if (gaps.length < own.length)
        return [good(subject, `another endpoint is used instead of ${gaps.join("; ")}`)];
      if (name === "index")
        return [good(subject, `off: blocks are read instead, one call per block (${first})`)];
      if (name === "WebSocket") return [good(subject, `no: the chain is polled instead (${first})`)];
      const isNeeded = NEEDED[name] === role || NEEDED[name] === "both";
      return isNeeded ? [problem(subject, first, "repair the node, or add an endpoint that can")] : [];
    });
  });
}

/** Formats the matrix with one row per capability and one column per endpoint. For an unresponsive endpoint, adds the reason. */
export function matrixText(rows: readonly EndpointRow[]): string {
  const columns = [
    column("", "name"),
    ...rows.map(({ chainId, endpoint }, index) => column(`${chainId} ${endpoint}`, `c${index}`)),
  ];
  const table = formatTable(
    columns,
    CAPABILITIES.map((name) => ({
      name,
      ...Object.fromEntries(rows.map(({ cells }, index) => [`c${index}`, cells[name].text])),
    })),
  );
  const silent = rows.flatMap(({ endpoint, cells }) => {
    const { gap } = cells["chain id"];
    return gap === undefined ? [] : [`${endpoint}: ${gap}`];
  });
  return [table, ...silent].join("\n");
}
