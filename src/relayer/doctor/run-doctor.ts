import { HOUR_MS, NS_PER_MS } from "../../platform/base/time.ts";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import { MAX_LAG } from "../../cosmos/client/chain-client.ts";
import type { EndpointCheck } from "../../cosmos/client/endpoint-pool.ts";
import { ClientError } from "../../cosmos/client-error.ts";
import { errorText } from "../../platform/base/errors.ts";
import { type Preview, type PreviewConnection, servedQueries } from "../preview/open-preview.ts";
import { previewKv } from "../preview/preview-results.ts";
import { checkAccount, checkMarket } from "./check-account.ts";
import {
  type EndpointRow,
  type Finding,
  good,
  matrixFindings,
  problem,
  readEndpointMatrix,
  unseen,
} from "./endpoint-matrix.ts";

export interface Diagnosis {
  readonly findings: readonly Finding[];
  readonly matrix: readonly EndpointRow[];
}

/** Checks all of a relayer's dependencies: chains, account, light clients, queries, proofs. Sends nothing, and rejects only on abort. */
export async function runDoctor(preview: Preview, signal: AbortSignal): Promise<Diagnosis> {
  const { config, localClient, connections, context } = preview;
  const { nowMs } = context.clock;
  const local = { chainId: config.chain.id, client: localClient, role: "local", nowMs } as const;
  const reading = readEndpointMatrix(config, context, signal);
  const groups = await Promise.all([
    checkChain(local, signal),
    reading.then((rows) => matrixFindings(rows, config.chain.id)),
    checkAccount(preview, signal),
    checkMarket(preview, signal),
    ...connections.flatMap((connection) => [
      checkChain({ chainId: connection.chainId, client: connection.remote, role: "remote", nowMs }, signal),
      checkConnection(preview, connection, signal),
    ]),
  ]);
  const { nameSettings = (text: string) => text } = context;
  const findings = groups.flat().map((finding) => ({
    ...finding,
    text: nameSettings(finding.text),
    advice: finding.advice === undefined ? undefined : nameSettings(finding.advice),
  }));
  return { findings, matrix: await reading };
}

interface CheckedChain {
  readonly chainId: string;
  readonly client: PooledChainClient;
  readonly role: "local" | "remote";
  readonly nowMs: () => number;
}

/** Maximum age of the newest block. An older block means that the chain has halted, the node is behind, or this machine's clock is fast. */
const MAX_AGE_MS = 60_000;
/** Maximum time by which a node's newest block may be ahead of this machine's clock, which allows for normal clock differences. */
const MAX_AHEAD_MS = 10_000;

/** Checks a chain's endpoints and its newest block, and rejects only on abort. */
async function checkChain(chain: CheckedChain, signal: AbortSignal): Promise<readonly Finding[]> {
  const checks = await chain.client.pool.check(signal);
  signal.throwIfAborted();
  const heights = checks.flatMap((check) => (check.ok ? [check.status.latestHeight] : []));
  const best = heights.reduce((most, height) => (height > most ? height : most), 0n);
  return checks.map((check) => checkEndpoint(chain, check, best));
}

function checkEndpoint({ chainId, nowMs }: CheckedChain, check: EndpointCheck, best: bigint): Finding {
  const subject = `${chainId}: endpoint ${check.name}`;
  if (!check.ok) {
    const text = errorText(check.error);
    const isWrong = check.error instanceof ClientError && check.error.facts.code === "wrong-chain";
    return isWrong
      ? problem(subject, text, "correct the endpoint or the chain id in the configuration")
      : unseen(subject, text, "start the node, or replace the endpoint");
  }
  const { latestHeight, latestTimeNs, earliestHeight, catchingUp } = check.status;
  if (catchingUp) return problem(subject, `catching up, at height ${latestHeight}`, "wait, or replace it");
  if (latestHeight + MAX_LAG < best)
    return problem(subject, `${best - latestHeight} blocks behind another endpoint`, "replace it");
  const ageMs = nowMs() - Number(latestTimeNs / NS_PER_MS);
  if (ageMs > MAX_AGE_MS)
    return problem(
      subject,
      `newest block (${latestHeight}) is ${Math.round(ageMs / 1_000)} s old`,
      "the chain has stopped, the node is not following it, or this machine's clock is ahead",
    );
  if (ageMs < -MAX_AHEAD_MS)
    return problem(
      subject,
      `newest block is ${Math.round(-ageMs / 1_000)} s in the future`,
      "correct this machine's clock; client updates fail while it is behind",
    );
  return good(subject, `height ${latestHeight}, blocks from ${earliestHeight}`);
}

/** A client that expires within this many hours and has less than a third of its trusting period left is a problem. */
const MIN_HOURS = 24;

/** Checks a connection's light client and queries, and one proof end to end. The promise rejects only on abort. */
async function checkConnection(
  preview: Preview,
  connection: PreviewConnection,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  return [
    await orUnseen(`${connection.id}: light client`, signal, () => checkClient(preview, connection, signal)),
    ...(await checkQueries(preview, connection, signal)),
  ];
}

async function orUnseen(
  subject: string,
  signal: AbortSignal,
  check: () => Promise<Finding>,
): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    signal.throwIfAborted();
    return unseen(subject, errorText(error), "see the endpoints above");
  }
}

async function checkClient(
  { local, localTimeMs }: Preview,
  { id, chainId }: PreviewConnection,
  signal: AbortSignal,
): Promise<Finding> {
  const subject = `${id}: light client`;
  const clientId = await local.clientOfConnection(id, signal);
  const [client, status] = await Promise.all([
    local.clientState(clientId, signal),
    local.clientStatus(clientId, signal),
  ]);
  if (client.chainId !== chainId)
    return problem(
      subject,
      `${clientId} tracks ${client.chainId}, but the configuration expects ${chainId}`,
      "correct the connection id or the remote chain in the configuration",
    );
  if (status !== "Active")
    return problem(subject, `${clientId} is ${status}`, "nothing can be proven until governance recovers it");
  const { timeNs } = await local.consensusState(clientId, client.latestHeight, signal);
  const leftMs = Number((timeNs + client.trustingPeriodNs) / NS_PER_MS) - (await localTimeMs(signal));
  const hours = leftMs / HOUR_MS;
  const text = `${clientId} is active at height ${client.latestHeight.height}, and expires in ${formatHours(hours)} without an update`;
  const isShort = leftMs < Number(client.trustingPeriodNs / NS_PER_MS) / 3;
  return hours < MIN_HOURS && isShort
    ? problem(subject, text, "run a relayer on this connection before that")
    : good(subject, text);
}

function formatHours(hours: number): string {
  return hours >= 48 ? `${Math.floor(hours / 24)} days` : `${hours.toFixed(1)} hours`;
}

async function checkQueries(
  preview: Preview,
  connection: PreviewConnection,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const subject = `${connection.id}: queries`;
  const { owners, ids } = preview.config.queries;
  try {
    const served = await servedQueries(preview, connection.id, [], signal);
    const all = await preview.local.registeredQueries(connection.id, signal);
    const text = `${served.length} of ${all.length} served`;
    if (served.length === 0)
      return [
        problem(
          subject,
          text,
          owners.length + ids.length > 0
            ? "compare queries.owners and queries.ids with the registered queries"
            : "register a query over this connection, or correct the connection id",
        ),
      ];
    const [kv] = served.filter(({ type }) => type === "kv");
    const proof =
      kv === undefined
        ? good(`${connection.id}: proof`, "no KV query to prove")
        : await checkProof(preview, connection, kv, signal);
    return [good(subject, text), proof];
  } catch (error) {
    signal.throwIfAborted();
    return [unseen(subject, errorText(error), "see the endpoints above")];
  }
}

function checkProof(
  preview: Preview,
  connection: PreviewConnection,
  query: Parameters<typeof previewKv>[2][number],
  signal: AbortSignal,
): Promise<Finding> {
  const subject = `${connection.id}: proof`;
  return orUnseen(subject, signal, async () => {
    const [one] = await previewKv(preview, connection, [query], signal);
    if (one === undefined) return unseen(subject, "nothing was proven", "try again");
    const { outcome, at } = one;
    if (outcome.kind === "accepted")
      return good(
        subject,
        `query ${query.id} at remote height ${at.height}: the chain accepts it for ${outcome.gas} gas`,
      );
    if (outcome.kind === "answered")
      return good(
        subject,
        `query ${query.id} at remote height ${at.height}: proven; another relayer has just answered it`,
      );
    const advice = `see "relaywatch relayer inspect ${query.id}"`;
    return problem(subject, `query ${query.id}: ${outcome.kind}: ${outcome.reason}`, advice);
  });
}
