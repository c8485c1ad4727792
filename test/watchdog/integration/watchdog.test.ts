import { reportsSchema } from "../../../src/watchdog/report/reports-config.ts";
import { parsePrometheusText } from "../../support/watchdog/prometheus-page.ts";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { afterEach, describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { type HttpReply, type HttpRoute, textReply } from "../../../src/platform/http/http-route.ts";
import { openRouteServer } from "../../../src/platform/http/route-server.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { createSidecar } from "../../../src/localnet/sidecar/sidecar.ts";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { notifySchema } from "../../../src/watchdog/notify/notify-config.ts";
import type { WatchdogConfig } from "../../../src/watchdog/config/config.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import type { NodeTarget } from "../../../src/watchdog/sources/targets.ts";
import { createWatchdog, type Watchdog } from "../../../src/watchdog/watchdog.ts";

/** Patience on a busy machine. */
const SOON = { timeout: 60_000 };

/** Real time, moved to the afternoon of the recordings: their node began to count in that month. */
const clock: Clock = {
  ...systemClock,
  nowMs: () => Date.UTC(2026, 10, 21, 15) + Math.floor(systemClock.monotonicMs()),
};

const ANY = { host: "127.0.0.1", port: 0 };
const stop: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const one of stop.splice(0).toReversed()) await one();
});

const recorded = (name: string): string =>
  readFileSync(new URL(`../../fixtures/metrics/${name}`, import.meta.url), "utf8");

/** Starts a server; its reply can be replaced. */
async function serve(first: HttpReply, method: HttpRoute["method"] = "GET") {
  const served = { reply: first, bodies: new Array<string>(), url: "" };
  const server = await openRouteServer(
    {
      name: "test",
      listen: ANY,
      portOption: "none",
      limits: { closeGraceMs: 0 },
      routes: [
        {
          method,
          path: "*",
          handle: ({ body }) => {
            served.bodies.push(new TextDecoder().decode(body));
            // The other machines have the time of the test, too, whatever month it really is.
            const headers = { ...served.reply.headers, date: new Date(clock.nowMs()).toUTCString() };
            return { ...served.reply, headers };
          },
        },
      ],
    },
    { logger: silentLogger },
  );
  stop.push(server.close);
  served.url = `http://127.0.0.1:${server.address.port}/metrics`;
  return served;
}

async function startSidecar() {
  const end = new AbortController();
  const sidecar = createSidecar(
    {
      chainId: "test-1",
      seed: 3,
      listen: { prices: ANY, oracleMetrics: ANY, sidecarMetrics: ANY },
      updateIntervalMs: 10,
    },
    { clock: systemClock, logger: silentLogger },
  );
  const run = sidecar.run(end.signal);
  stop.push(() => {
    end.abort();
    return run;
  });
  const { prices, oracleMetrics, sidecarMetrics } = await sidecar.ready;
  const url = ({ port }: { port: number }) => `http://127.0.0.1:${port}/`;
  return {
    sidecar,
    urls: { prices: url(prices), oracleMetrics: url(oracleMetrics), sidecarMetrics: url(sidecarMetrics) },
  };
}

/** One validator with one node. */
function oneValidator(node: Partial<NodeTarget>): WatchdogConfig["validators"] {
  const nodes = [{ name: "node", node: "http://127.0.0.1:1/", prices: "http://127.0.0.1:1/", ...node }];
  return [
    {
      target: { name: "default", nodes, egress: [] },
      policy: { policy: SPECIFIED_POLICY, fromChain: false },
    },
  ];
}

async function startWatchdog(
  { deadlineMs = 5000, ...node }: Partial<NodeTarget> & { readonly deadlineMs?: number },
  extra: Partial<WatchdogConfig> = {},
) {
  const end = new AbortController();
  const registry = new Registry();
  const watchdog = createWatchdog(
    {
      listen: ANY,
      intervalMs: 20,
      limits: { deadlineMs, maxPageBytes: 200_000 },
      validators: oneValidator(node),
      ...quickAlerts(),
      ...extra,
    },
    { clock, logger: silentLogger, registry, random: Math.random },
  );
  const run = watchdog.run(end.signal);
  run.catch(() => {});
  stop.push(() => {
    end.abort();
    return run.catch(() => {});
  });
  const { port } = await watchdog.ready;
  await expect.poll(() => watchdog.status().polledAtMs, SOON).toBeDefined();
  return { watchdog, registry, url: `http://127.0.0.1:${port}`, end, run };
}

/** One alert that fires after 200 ms, and a webhook. */
function quickAlerts(url?: string): Pick<WatchdogConfig, "alerts" | "notify" | "maintenance" | "reports"> {
  const alerts = alertsSchema.parse({ all_prices_missing: { for: "200ms", resolve_for: "0s" } });
  const notify = notifySchema.parse({ group_wait: "0s" });
  const webhook = {
    kind: "webhook",
    name: "webhook",
    minSeverity: "critical",
    sendReminders: true,
    sendResolved: true,
    deadlineMs: 1000,
  } as const;
  return {
    alerts: {
      ...alerts,
      rules: alerts.rules.filter(({ condition }) => condition.name === "all-prices-missing"),
    },
    notify: url === undefined ? notify : { ...notify, channels: [{ ...webhook, url: new Secret(url) }] },
    maintenance: [],
    reports: reportsSchema.parse({}),
  };
}

const errorOf = (watchdog: Watchdog, name: string): string | undefined =>
  watchdog.status().sources.find((source) => source.name === name)?.error;

describe("over HTTP", () => {
  it("scrapes all sources and serves rate, tier, page and metrics", async () => {
    const node = await serve(textReply(200, recorded("node-26660-after-restart-of-sidecar.prom")));
    const { urls } = await startSidecar();
    const { url, watchdog, registry } = await startWatchdog({ node: node.url, ...urls });
    await expect
      .poll(() => watchdog.status().sources.map(({ up }) => up), SOON)
      .toEqual([true, true, true, true]);
    await expect.poll(() => watchdog.status().pairs.length, SOON).toBe(8);
    const status: unknown = await (await fetch(`${url}/api/status`)).json();
    expect(status).toMatchObject({
      chain_id: "test-1",
      prices: { state: "present", pairs: expect.arrayContaining(["BTC/USD", "NTRN/USD"]) },
      alerts: expect.arrayContaining([
        expect.objectContaining({ name: "all-prices-missing", state: "inactive" }),
      ]),
      months: [
        { success_rate_percent: "98.0582", tier: "full", blocks: { good: 1111, bad: 22, unknown: 0 } },
      ],
      sources: ["node", "prices", "oracle-metrics", "sidecar-metrics"].map((name) => ({
        name,
        node: "node",
        up: true,
        error: null,
      })),
    });
    const metrics = await fetch(`${url}/metrics`);
    expect(metrics.headers.get("content-type")).toContain("text/plain");
    const page = parsePrometheusText(new Uint8Array(await metrics.arrayBuffer()));
    expect([...page.types.keys()]).toEqual((await registry.getMetricsAsJSON()).map(({ name }) => name));
    for (const path of ["/livez", "/readyz"]) expect((await fetch(url + path)).status).toBe(200);
    const html = await fetch(`${url}/`);
    expect(html.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await html.text()).toMatch(/<h1>Oracle watchdog<\/h1>.*<h2>Alerts<\/h2>/s);
  });

  it("finds the path of a version 1 sidecar", async () => {
    const [, body = ""] = recorded("prices-v1.http").split(/\r?\n\r?\n/);
    const server = await openRouteServer(
      {
        name: "v1",
        listen: ANY,
        portOption: "none",
        routes: [{ method: "GET", path: "/slinky/oracle/v1/prices", handle: () => textReply(200, body) }],
      },
      { logger: silentLogger },
    );
    stop.push(server.close);
    const { watchdog } = await startWatchdog({ prices: `http://127.0.0.1:${server.address.port}/` });
    await expect.poll(() => watchdog.status().pairs.length, SOON).toBe(8);
  });

  it.each([
    ["HTML", textReply(200, "<!doctype html><h1>Welcome</h1>"), /the page is HTML, not metrics/],
    ["a broken line", textReply(200, "up 1\napp_oracle_responses one\n"), /^line 2: "one" is not a number$/],
    [
      "an error",
      textReply(503, "Limit of concurrent requests reached (3), try again later.\n"),
      /answered HTTP 503/,
    ],
    [
      "a redirect to another host",
      { status: 302, headers: { location: "http://user:pass@login.example/at?next=/" }, body: "" },
      /^the source redirects to http:\/\/login\.example\/at \(HTTP 302\); configure that URL if it is correct$/,
    ],
    ["an empty page", textReply(200, ""), /no node metrics/],
    ["a page that is too large", textReply(200, "# x\n".repeat(60_000)), /exceeds 200000 bytes/],
    ["a page that is not text", { status: 200, body: new Uint8Array([0x75, 0xff, 0x0a]) }, /no node metrics/],
    [
      "a page that is cut off",
      textReply(200, 'app_oracle_responses{status="Succ'),
      /^the page is incomplete/,
    ],
  ] as const)("reports a node page that is %s", async (_case, reply, problem) => {
    const node = await serve(reply);
    const { watchdog } = await startWatchdog({ node: node.url });
    await expect.poll(() => errorOf(watchdog, "node"), SOON).toMatch(problem);
    expect(watchdog.status().current.tier).toBeUndefined();
  });

  it("ends the scrape of a silent source at the deadline", async () => {
    const { sidecar, urls } = await startSidecar();
    await sidecar.setFault("slow", true);
    const { watchdog } = await startWatchdog({ prices: urls.prices, deadlineMs: 300 });
    await expect.poll(() => errorOf(watchdog, "prices"), SOON).toBe("no complete response within 300 ms");
    await expect.poll(() => errorOf(watchdog, "node"), SOON).toContain("connection refused");
  });

  it("notifies once of the alert and once of its end, over a real webhook", async () => {
    const node = await serve(textReply(200, recorded("node-26660-healthy.prom")));
    const hook = await serve(textReply(204, ""), "POST");
    const { sidecar, urls } = await startSidecar();
    const { watchdog } = await startWatchdog({ node: node.url, prices: urls.prices }, quickAlerts(hook.url));
    await expect.poll(() => watchdog.status().pairs.length, SOON).toBe(8);
    await sidecar.setFault("all-prices-missing", true);
    await expect.poll(() => hook.bodies.length, SOON).toBe(1);
    await sidecar.setFault("all-prices-missing", false);
    await expect.poll(() => hook.bodies.length, SOON).toBe(2);
    await expect.poll(() => watchdog.status().pending.get("webhook"), SOON).toBe(0);
    const requests = hook.bodies.map((body): unknown => JSON.parse(body));
    expect(requests).toMatchObject([
      { alerts: [{ alert: "all-prices-missing", kind: "firing", chain_id: "test-1" }] },
      { alerts: [{ alert: "all-prices-missing", kind: "resolved", chain_id: "test-1" }] },
    ]);
  });

  it("continues the count of the state folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relaywatch-watchdog-"));
    stop.push(async () => rmSync(folder, { recursive: true }));
    const node = await serve(textReply(200, recorded("node-26660-healthy.prom")));
    const first = await startWatchdog({ node: node.url }, { stateDir: folder });
    first.end.abort();
    await first.run;
    node.reply = textReply(200, recorded("node-26660-after-restart-of-sidecar.prom"));
    const second = await startWatchdog({ node: node.url }, { stateDir: folder });
    const counted = second.watchdog
      .status()
      .months.reduce((sum, { counts }) => sum + counts.good * 1000n + counts.bad, 0n);
    expect(counted).toBe(1111n * 1000n + 22n);
  });
});

describe("startup and shutdown", () => {
  it("reports a port in use and the key that changes it", async () => {
    const { url } = await startWatchdog({});
    const listen = { host: "127.0.0.1", port: Number(new URL(url).port) };
    const error = await startWatchdog({}, { listen }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ facts: { code: "port-in-use" } });
    expect(String(error)).toContain("choose another port with http.listen");
  });

  it("stops while a source neither answers nor reacts to its signal", async () => {
    const never = { read: () => new Promise<never>(() => {}), close: async () => {} };
    const end = new AbortController();
    const watchdog = createWatchdog(
      {
        listen: ANY,
        intervalMs: 1000,
        limits: { deadlineMs: 3_600_000, maxPageBytes: 1024 },
        validators: oneValidator({ node: "http://n/", prices: "http://p/" }),
        ...quickAlerts(),
      },
      {
        clock: systemClock,
        logger: silentLogger,
        registry: new Registry(),
        random: Math.random,
        reader: never,
      },
    );
    const run = watchdog.run(end.signal);
    const { port } = await watchdog.ready;
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
    end.abort();
    await expect(run).resolves.toBeUndefined();
  });
});

describe("the page", () => {
  it("escapes the texts of other hosts", async () => {
    const node = await serve(
      textReply(200, 'cometbft_consensus_height{chain_id="<script>alert(1)</script>"} 1\n'),
    );
    const { url } = await startWatchdog({ node: node.url });
    const html = await (await fetch(`${url}/validators/default/sources`)).text();
    expect(html).toContain("&lt;script&gt;");
    expect(html).not.toContain("<script>alert");
  });
});
