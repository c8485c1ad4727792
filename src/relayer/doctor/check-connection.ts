import { errorText } from "../../platform/base/errors.ts";
import { type Preview, type PreviewConnection, servedQueries } from "../preview/open-preview.ts";
import { previewKv } from "../preview/preview-kv.ts";
import { type Finding, good, problem, unseen } from "./finding.ts";

/** Hours before the expiry of a client from which on it is a problem. */
const MIN_HOURS = 24;

/** Checks the light client, the queries, and one proof end to end, over one connection. Throws only on abort. */
export async function checkConnection(
  preview: Preview,
  connection: PreviewConnection,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  return [
    await attempt(`${connection.id}: light client`, signal, () => checkClient(preview, connection, signal)),
    ...(await checkQueries(preview, connection, signal)),
  ];
}

async function attempt(
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
  { local, context }: Preview,
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
      `${clientId} follows ${client.chainId}, and the configuration says ${chainId}`,
      "correct the connection id or the remote chain in the configuration",
    );
  if (status !== "Active")
    return problem(subject, `${clientId} is ${status}`, "nothing can be proven until governance recovers it");
  const timeNs = await local.consensusTimeNs(clientId, client.latestHeight, signal);
  const leftMs = Number((timeNs + client.trustingPeriodNs) / 1_000_000n) - context.clock.nowMs();
  const hours = leftMs / 3_600_000;
  const text = `${clientId} is active at height ${client.latestHeight.height}, and expires in ${formatHours(hours)} without an update`;
  const isShort = leftMs < Number(client.trustingPeriodNs / 1_000_000n) / 3;
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
    const text = `${served.length} of ${all.length} are served`;
    if (served.length === 0)
      return [
        problem(
          subject,
          text,
          owners.length + ids.length > 0
            ? "compare queries.owners and queries.ids with the registered queries"
            : "register a query over this connection, or correct its id",
        ),
      ];
    const [kv] = served.filter(({ type }) => type === "kv");
    const proof =
      kv === undefined
        ? good(`${connection.id}: proof`, "there is no KV query to prove")
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
  return attempt(subject, signal, async () => {
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
