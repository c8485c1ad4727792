import type { Registry as MetricsRegistry } from "prom-client";
import { formatDuration } from "../../platform/base/duration-text.ts";
import {
  errorReply,
  type HttpReply,
  type HttpRoute,
  jsonReply,
  type RouteRequest,
  textReply,
} from "../../platform/http/http-route.ts";
import type { Registry } from "../registry/registry.ts";
import type { AttemptLog } from "../state/attempt.ts";
import { attemptsReply } from "./attempts.ts";
import { costsReply } from "./costs.ts";
import { type GoRouteDeps, goRelayerRoutes } from "./go-routes.ts";
import type { RelayerStatus } from "./status.ts";
import { connectionsJson, queryJson, statusJson } from "./status-json.ts";

export interface ApiDeps extends GoRouteDeps {
  readonly status: () => RelayerStatus;
  readonly registry: Pick<Registry, "states">;
  readonly attempts: Pick<AttemptLog, "find" | "costs">;
  readonly metrics: MetricsRegistry;
}

/** The routes of the HTTP API. */
export function relayerRoutes(deps: ApiDeps): readonly HttpRoute[] {
  const { status } = deps;
  return [
    get("/livez", () => liveness(status())),
    get("/readyz", () => readiness(status())),
    get("/metrics", async () => ({
      status: 200,
      headers: { "content-type": deps.metrics.contentType },
      body: await deps.metrics.metrics(),
    })),
    get("/api/status", () => jsonReply(200, statusJson(status()))),
    get("/api/connections", () => jsonReply(200, connectionsJson(status()))),
    get("/api/queries", () => jsonReply(200, status().queries.map(queryJson))),
    get("/api/queries/:id", ({ params }) => oneQuery(deps, params["id"] ?? "")),
    get("/api/attempts", ({ query }) => attemptsReply(deps.attempts, query)),
    get("/api/costs", ({ query }) => costsReply(deps.attempts, query)),
    ...goRelayerRoutes(deps),
  ];
}

function get(path: string, handle: (request: RouteRequest) => HttpReply | Promise<HttpReply>): HttpRoute {
  return { method: "GET", path, handle };
}

/** Every read of a chain ends at its deadline, successful or not. So a chain without any try means that a loop hangs. */
const HANGING_MS = 300_000;

function liveness({ local, connections }: RelayerStatus): HttpReply {
  const heads = [
    { name: "local chain", head: local },
    ...connections.map(({ id, remote }) => ({ name: id, head: remote })),
  ];
  const hanging = heads.filter(({ head }) => head.sinceTryMs > HANGING_MS);
  if (hanging.length === 0) return textReply(200, "ok\n");
  const lines = hanging.map(
    ({ name, head }) =>
      `${name}: the loop that reads it has made no progress for ${formatDuration(head.sinceTryMs)}\n`,
  );
  return textReply(503, lines.join(""));
}

function readiness({ problems }: RelayerStatus): HttpReply {
  if (problems.length === 0) return textReply(200, "ok\n");
  return textReply(503, problems.map(({ code, text }) => `${code}: ${text}\n`).join(""));
}

/** One query as in `/api/queries`, and what it asks. */
function oneQuery(deps: ApiDeps, id: string): HttpReply {
  if (!/^\d{1,20}$/.test(id))
    return errorReply(400, "bad-id", "the id of a query is a whole number, as in /api/queries/1");
  const view = deps.status().queries.find((query) => query.id === BigInt(id));
  const state = deps.registry.states().find(({ query }) => query.id === BigInt(id));
  if (view === undefined || state === undefined)
    return errorReply(404, "no-such-query", `this relayer does not serve a query ${id}; see /api/queries`);
  const { keys, transactionsFilter, registeredAtHeight } = state.query;
  return jsonReply(200, {
    ...queryJson(view),
    overdue_limit_blocks: Number(view.lateness.limit),
    registered_at_height: `${registeredAtHeight}`,
    keys: keys.map(({ path, key }) => ({ path, key: Buffer.from(key).toString("base64") })),
    transactions_filter: transactionsFilter,
  });
}
