import type { Registry as MetricsRegistry } from "prom-client";
import type { JsonObject } from "../../base/json.ts";
import { type HttpRoute, jsonReply, textReply } from "../../ops/http-route.ts";
import type { Engine } from "../engine.ts";
import type { Journal, UnsuccessfulTx } from "../state/journal.ts";
import type { QueryState } from "../registry/query-state.ts";
import type { Registry } from "../registry/registry.ts";
import { statusPage } from "./status-page.ts";

/** What the HTTP face shows. */
export interface ApiDeps {
  readonly engine: Engine;
  readonly registry: Registry;
  readonly journal: Journal;
  readonly metrics: MetricsRegistry;
  readonly isConnected: () => boolean;
  readonly address: string;
  readonly nowMs: () => number;
}

/** Where the relayer stands, for people and programs. */
export interface RelayerStatus {
  readonly address: string;
  readonly localHeight: bigint;
  /** Whether the local chain is followed at this moment. */
  readonly connected: boolean;
  /** Whether the list of queries was read. */
  readonly loaded: boolean;
  readonly connections: readonly { readonly id: string; readonly error: string | undefined }[];
  readonly queries: readonly QueryView[];
}

/** One query in a status. */
export interface QueryView {
  readonly id: bigint;
  readonly type: string;
  readonly connectionId: string;
  readonly owner: string;
  readonly updatePeriod: bigint;
  readonly lastLocalHeight: bigint;
  readonly lastRemoteHeight: bigint | undefined;
  /** Results relayed since the relayer started. */
  readonly results: number;
  readonly failures: number;
  readonly error: QueryState["error"];
  /** Until the next try of a query that is held back, ms. */
  readonly retryInMs: number;
}

/** The routes of the relayer's HTTP face; nothing in it changes state. */
export function relayerRoutes(deps: ApiDeps): readonly HttpRoute[] {
  return [
    get("/", () => statusPage(relayerStatus(deps))),
    get("/livez", () => textReply(200, "ok\n")),
    get("/readyz", () => readiness(deps)),
    get("/metrics", async () => ({
      status: 200,
      headers: { "content-type": deps.metrics.contentType },
      body: await deps.metrics.metrics(),
    })),
    get("/api/status", () => jsonReply(200, relayerStatus(deps))),
    get("/api/queries", () => jsonReply(200, relayerStatus(deps).queries)),
    get("/unsuccessful-txs", () => jsonReply(200, deps.journal.unsuccessful().map(toGoForm))),
  ];
}

/** The state of everything at this moment. Linear in the number of queries. */
export function relayerStatus(deps: ApiDeps): RelayerStatus {
  return {
    address: deps.address,
    localHeight: deps.engine.localHeight(),
    connected: deps.isConnected(),
    loaded: deps.engine.isLoaded(),
    connections: [...deps.engine.workerErrors()].map(([id, error]) => ({ id, error })),
    queries: deps.registry
      .states()
      .map((state) => toView(state, deps.nowMs()))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

function get(path: string, handle: HttpRoute["handle"]): HttpRoute {
  return { method: "GET", path, handle };
}

function readiness(deps: ApiDeps): ReturnType<typeof textReply> {
  const errors = [...deps.engine.workerErrors()].filter(([, error]) => error !== undefined);
  if (!deps.engine.isLoaded()) return textReply(503, "the list of queries was not read yet\n");
  if (errors.length > 0)
    return textReply(503, `${errors.map(([id, error]) => `${id}: ${error}`).join("\n")}\n`);
  return textReply(200, "ok\n");
}

function toView(state: QueryState, nowMs: number): QueryView {
  const { query } = state;
  return {
    id: query.id,
    type: query.type,
    connectionId: query.connectionId,
    owner: query.owner,
    updatePeriod: query.updatePeriod,
    lastLocalHeight: query.lastLocalHeight,
    lastRemoteHeight: query.lastRemoteHeight?.height,
    results: state.results,
    failures: state.failures,
    error: state.error,
    retryInMs: Math.max(0, state.notBeforeMs - nowMs),
  };
}

/** The form in which the Go relayer lists them, so that its users' tools go on working. */
function toGoForm(tx: UnsuccessfulTx): JsonObject {
  return {
    query_id: Number(tx.queryId),
    submitted_tx_hash: tx.hash,
    neutron_hash: "",
    error_time: new Date(tx.atMs).toISOString(),
    status: "ErrorOnSubmit",
    message: tx.reason,
  };
}
