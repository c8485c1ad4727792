import type { Registry as MetricsRegistry } from "prom-client";
import type { JsonObject } from "../../base/json.ts";
import { jsonReply, textReply } from "../../ops/http-reply.ts";
import type { HttpRoute } from "../../ops/http-route.ts";
import type { DeadLetter, Journal } from "../state/journal.ts";
import { queryJson, type RelayerStatus, relayerStatus, type StatusDeps, statusJson } from "./status.ts";
import { statusPage } from "./status-page.ts";

export interface ApiDeps extends StatusDeps {
  readonly journal: Pick<Journal, "deadLetters">;
  readonly metrics: MetricsRegistry;
}

/** The routes of the HTTP API. All are read-only. */
export function relayerRoutes(deps: ApiDeps): readonly HttpRoute[] {
  return [
    get("/", () => statusPage(relayerStatus(deps))),
    get("/livez", () => textReply(200, "ok\n")),
    get("/readyz", () => readiness(relayerStatus(deps))),
    get("/metrics", async () => ({
      status: 200,
      headers: { "content-type": deps.metrics.contentType },
      body: await deps.metrics.metrics(),
    })),
    get("/api/status", () => jsonReply(200, statusJson(relayerStatus(deps)))),
    get("/api/queries", () => jsonReply(200, relayerStatus(deps).queries.map(queryJson))),
    get("/unsuccessful-txs", () => jsonReply(200, deps.journal.deadLetters().map(toGoJson))),
  ];
}

function get(path: string, handle: HttpRoute["handle"]): HttpRoute {
  return { method: "GET", path, handle };
}

function readiness({ loaded, connections }: RelayerStatus): ReturnType<typeof textReply> {
  const failed = connections.filter(({ error }) => error !== undefined);
  if (!loaded) return textReply(503, "the list of queries was not read yet\n");
  if (failed.length > 0)
    return textReply(503, `${failed.map(({ id, error }) => `${id}: ${error}`).join("\n")}\n`);
  return textReply(200, "ok\n");
}

/** Path, field names and number formats of the Go relayer, so that scripts written for it work unchanged. */
function toGoJson(tx: DeadLetter): JsonObject {
  return {
    query_id: Number(tx.queryId),
    submitted_tx_hash: tx.hash,
    neutron_hash: "",
    error_time: new Date(tx.atMs).toISOString(),
    status: "ErrorOnSubmit",
    message: tx.reason,
  };
}
