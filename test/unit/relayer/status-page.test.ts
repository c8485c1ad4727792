import { Registry as MetricsRegistry } from "prom-client";
import { describe, expect, it } from "vitest";
import { type ApiDeps, relayerRoutes, relayerStatus } from "../../../src/relayer/api/routes.ts";
import { openJournal } from "../../../src/relayer/state/journal.ts";
import type { QueryState } from "../../../src/relayer/registry/query-state.ts";
import { statusPage } from "../../../src/relayer/api/status-page.ts";
import { sampleState } from "./samples.ts";

const EVIL = `<script>alert("x")</script>&'`;

function deps(states: readonly QueryState[], errors: Readonly<Record<string, string>> = {}): ApiDeps {
  return {
    engine: {
      services: [],
      localHeight: () => 12n,
      isLoaded: () => true,
      workerErrors: () => new Map([["connection-0", undefined], ...Object.entries(errors)]),
    },
    registry: { states: () => states, reload: async () => {}, apply: async () => true, replace: () => {} },
    journal: openJournal(undefined, "local-1"),
    metrics: new MetricsRegistry(),
    isConnected: () => false,
    address: "neutron1relayer",
    nowMs: () => 1_000,
  };
}

const held: QueryState = {
  ...sampleState({ id: 2n, owner: EVIL, connectionId: "connection-0" }),
  error: { code: "rejected", reason: EVIL },
  failures: 3,
  notBeforeMs: 5_400,
};

async function get(from: ApiDeps, path: string) {
  const route = relayerRoutes(from).find((one) => one.path === path);
  if (route === undefined) throw new Error(`no route ${path}`);
  return route.handle({
    method: "GET",
    path,
    params: {},
    query: new URLSearchParams(),
    headers: {},
    body: new Uint8Array(),
    signal: new AbortController().signal,
  });
}

describe("the page", () => {
  it("shows what came from chains as text, never as markup, and runs no script", () => {
    const { body, headers } = statusPage(relayerStatus(deps([held], { "connection-1": EVIL })));
    expect(body).not.toContain("<script");
    expect(body).toContain("&lt;script&gt;");
    expect(headers?.["content-security-policy"]).toContain("default-src 'none'");
  });

  it("says what is held, why, and when it is tried again", () => {
    const { body } = statusPage(relayerStatus(deps([held])));
    expect(body).toContain("tried 3 times, again in 5 s");
    expect(body).toContain("not connected");
  });

  it("says when there is nothing", () => {
    expect(statusPage(relayerStatus(deps([]))).body).toContain("No query is registered");
  });
});

describe("the routes", () => {
  it("are ready while no connection is in trouble, and say which one is", async () => {
    expect(await get(deps([]), "/readyz")).toMatchObject({ status: 200 });
    const answer = await get(deps([], { "connection-1": "it is down" }), "/readyz");
    expect(answer).toMatchObject({ status: 503, body: "connection-1: it is down\n" });
  });

  it("list unsuccessful transactions in the Go relayer's form", async () => {
    const one = deps([]);
    one.journal.noteUnsuccessful({ queryId: 6n, hash: "ab", remoteHeight: 9n, reason: "no", atMs: 0 });
    const answer = await get(one, "/unsuccessful-txs");
    expect(JSON.parse(typeof answer.body === "string" ? answer.body : "")).toEqual([
      {
        query_id: 6,
        submitted_tx_hash: "ab",
        neutron_hash: "",
        error_time: "1970-01-01T00:00:00.000Z",
        status: "ErrorOnSubmit",
        message: "no",
      },
    ]);
  });
});
