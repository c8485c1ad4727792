import { parsePrometheusText } from "../../../support/watchdog/prometheus-page.ts";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { raceAbort } from "../../../../src/platform/base/abort.ts";
import { type Clock, systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import type { OpenHttpServer } from "../../../../src/platform/http/http-server.ts";
import { openRouteServer } from "../../../../src/platform/http/route-server.ts";
import { Secret } from "../../../../src/platform/base/secret.ts";
import { sidecarFaultControl, createFaultRoutes } from "../../../../src/localnet/control/fault-control.ts";
import { createSidecar, type Sidecar } from "../../../../src/localnet/sidecar/sidecar.ts";

/** Patience on a busy machine. */
const SOON = { timeout: 60_000 };

const ANY = { host: "127.0.0.1", port: 0 };
const stop: (() => Promise<unknown>)[] = [];

async function start(
  slowMs = 200,
  clock: Clock = systemClock,
): Promise<{ sidecar: Sidecar; url: (listener: "prices" | "oracleMetrics" | "sidecarMetrics") => string }> {
  const end = new AbortController();
  const sidecar = createSidecar(
    {
      chainId: "local-1",
      seed: 1,
      listen: { prices: ANY, oracleMetrics: ANY, sidecarMetrics: ANY },
      updateIntervalMs: 10,
      drainMs: 500,
      slowMs,
    },
    { clock, logger: silentLogger },
  );
  const run = sidecar.run(end.signal);
  stop.push(() => {
    end.abort();
    return run;
  });
  const addresses = await sidecar.ready;
  return { sidecar, url: (listener) => `http://127.0.0.1:${addresses[listener].port}` };
}

afterEach(async () => {
  for (const one of stop.splice(0).toReversed()) await one();
});

function rawGet(
  url: string,
): Promise<{ status: number | undefined; rawHeaders: readonly string[]; body: string }> {
  return new Promise((resolve, reject) => {
    get(url, (message: IncomingMessage) => {
      const chunks: Uint8Array[] = [];
      message.on("data", (chunk: Uint8Array) => chunks.push(chunk));
      message.on("end", () =>
        resolve({
          status: message.statusCode,
          rawHeaders: message.rawHeaders,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    }).on("error", reject);
  });
}

const FaultsBody = z.object({ faults: z.array(z.object({ name: z.string(), on: z.boolean() })) });

const PricesBody = z.strictObject({
  prices: z.record(z.string(), z.string()),
  timestamp: z.iso.datetime(),
  version: z.string(),
});

const prices = async (url: string): Promise<z.output<typeof PricesBody>> =>
  PricesBody.parse(await (await fetch(url)).json());

/** Status line and headers of a recorded response. */
function recordedHead(path: string): readonly string[] {
  const text = readFileSync(new URL(`../../../fixtures/${path}`, import.meta.url), "utf8");
  return (text.split(/\r?\n\r?\n/)[0] ?? "").split(/\r?\n/);
}

describe("prices", () => {
  it.each(["/connect/oracle/v2/prices", "/slinky/oracle/v1/prices"])(
    "%s responds as recorded",
    async (path) => {
      const { url } = await start();
      const reply = await rawGet(`${url("prices")}${path}`);
      const head = [`HTTP/1.1 ${reply.status} OK`];
      for (let at = 0; at < reply.rawHeaders.length; at += 2)
        head.push(`${reply.rawHeaders[at]}: ${reply.rawHeaders[at + 1]}`);
      const wanted = recordedHead("metrics/prices-v1.http").filter(
        (line) => !/^(Date|Content-Length):/.test(line),
      );
      expect(wanted).toHaveLength(6);
      for (const line of wanted) expect(head).toContain(line);
      expect(reply.body).toMatch(
        /^\{"prices":\{("[A-Z]+\/USD":"\d+",?){8}\},"timestamp":"[^"]+","version":""\}$/,
      );
    },
  );

  it("returns the gateway's 404 for other paths, a market map and a version", async () => {
    const { url } = await start();
    const none = await fetch(`${url("prices")}/connect/oracle/v3/prices`);
    expect([none.status, none.headers.get("content-type"), await none.text()]).toEqual([
      404,
      "text/plain; charset=utf-8",
      "Not Found\n",
    ]);
    expect(await (await fetch(`${url("prices")}/slinky/oracle/v1/version`)).json()).toEqual({ version: "" });
    const map = await (await fetch(`${url("prices")}/connect/oracle/v2/marketmap`)).json();
    expect(map).toMatchObject({
      market_map: { markets: { "BTC/USD": { ticker: { decimals: "5", enabled: true } } } },
    });
  });
});

describe("metrics", () => {
  it("counts ticks and responses", async () => {
    const { url } = await start();
    await prices(`${url("prices")}/connect/oracle/v2/prices`);
    const read = async (
      listener: "oracleMetrics" | "sidecarMetrics",
      name: string,
    ): Promise<number | undefined> => {
      const reply = await fetch(`${url(listener)}/metrics`);
      expect(reply.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
      const page = parsePrometheusText(new Uint8Array(await reply.arrayBuffer()));
      return page.samples.find((sample) => sample.name === name)?.value;
    };
    expect(await read("oracleMetrics", "app_oracle_responses")).toBe(1);
    const before = (await read("sidecarMetrics", "connect_health_check_system_updates_total")) ?? 0;
    await expect
      .poll(() => read("sidecarMetrics", "connect_health_check_system_updates_total"), SOON)
      .toBeGreaterThan(before);
  });
});

describe("faults", () => {
  it("sidecar-killed refuses on all ports, then returns on the same ports with new counters", async () => {
    const { sidecar, url } = await start();
    await expect
      .poll(async () => (await fetch(`${url("sidecarMetrics")}/`)).text(), SOON)
      .toMatch(/system_updates_total \d{2,}/);
    await sidecar.setFault("sidecar-killed", true);
    for (const listener of ["prices", "oracleMetrics", "sidecarMetrics"] as const)
      await expect(fetch(url(listener))).rejects.toThrow();
    await sidecar.setFault("sidecar-killed", false);
    const page = await (await fetch(url("oracleMetrics"))).text();
    expect(page).not.toContain("app_oracle_responses");
    await expect
      .poll(async () => Object.keys((await prices(`${url("prices")}/connect/oracle/v2/prices`)).prices), SOON)
      .toHaveLength(8);
  });

  it("sidecar-down drains with responses without a content type before it refuses", async () => {
    const { sidecar, url } = await start();
    await sidecar.setFault("sidecar-down", true);
    const draining = await fetch(`${url("prices")}/connect/oracle/v2/prices`);
    expect([draining.status, draining.headers.get("content-type"), await draining.text()]).toEqual([
      503,
      null,
      "",
    ]);
    await expect
      .poll(
        () =>
          fetch(url("prices")).then(
            () => "answered",
            () => "refused",
          ),
        SOON,
      )
      .toBe("refused");
    await sidecar.setFault("sidecar-down", false);
    await expect
      .poll(async () => Object.keys((await prices(`${url("prices")}/connect/oracle/v2/prices`)).prices), SOON)
      .toHaveLength(8);
  });

  it.each([
    ["v1-only", "/connect/oracle/v2/prices", "/slinky/oracle/v1/prices"],
    ["v2-only", "/slinky/oracle/v1/prices", "/connect/oracle/v2/prices"],
  ] as const)("%s hides %s and serves %s", async (fault, hidden, served) => {
    const { sidecar, url } = await start();
    await sidecar.setFault(fault, true);
    expect([
      (await fetch(url("prices") + hidden)).status,
      (await fetch(url("prices") + served)).status,
    ]).toEqual([404, 200]);
  });

  it("startup has the timestamp of year 1, as recorded; malformed-price has a price that is not a number", async () => {
    const { sidecar, url } = await start();
    await sidecar.setFault("startup", true);
    const recorded = readFileSync(
      new URL("../../../fixtures/samples/prices-startup.json", import.meta.url),
      "utf8",
    );
    const path = `${url("prices")}/connect/oracle/v2/prices`;
    const { version: _version, ...started } = PricesBody.parse(JSON.parse(recorded));
    expect(await prices(path)).toMatchObject(started);
    await sidecar.setFault("startup", false);
    await sidecar.setFault("malformed-price", true);
    await expect.poll(async () => (await prices(path)).prices["BTC/USD"], SOON).toBe("not-a-number");
  });

  it("http-500 and slow change the response", async () => {
    const slowMs = 60_000;
    const delayed: (() => void)[] = [];
    const { sidecar, url } = await start(slowMs, {
      ...systemClock,
      sleep: (ms, signal) =>
        ms === slowMs
          ? raceAbort(new Promise((resolve) => delayed.push(resolve)), signal)
          : systemClock.sleep(ms, signal),
    });
    const path = `${url("prices")}/slinky/oracle/v1/prices`;
    await sidecar.setFault("http-500", true);
    const broken = await fetch(path);
    const recorded = readFileSync(
      new URL("../../../fixtures/samples/prices-error-500.json", import.meta.url),
      "utf8",
    );
    expect([broken.status, await broken.text()]).toEqual([500, recorded.trim()]);
    await sidecar.setFault("http-500", false);
    await sidecar.setFault("slow", true);
    const client = new AbortController();
    const cancelled = fetch(path, { signal: client.signal });
    await expect.poll(() => delayed.length, SOON).toBe(1);
    client.abort();
    await expect(cancelled).rejects.toThrow();
    const patient = fetch(path);
    await expect.poll(() => delayed.length, SOON).toBe(2);
    delayed[1]?.();
    expect((await patient).status).toBe(200);
    await expect
      .poll(async () => (await fetch(url("oracleMetrics"))).text(), SOON)
      .toContain('app_oracle_responses{chain_id="local-1",status="Failure"} 2');
  });

  it("are listed and switched over HTTP, with the token", async () => {
    const { sidecar, url } = await start();
    const control: OpenHttpServer = await openRouteServer(
      {
        name: "control",
        listen: ANY,
        portOption: "--control",
        routes: createFaultRoutes(sidecarFaultControl(sidecar)),
        token: new Secret("t"),
      },
      { logger: silentLogger },
    );
    stop.push(control.close);
    const base = `http://127.0.0.1:${control.address.port}/faults`;
    const headers = { authorization: "Bearer t" };
    const post = (name: string, body: string) => fetch(`${base}/${name}`, { method: "POST", headers, body });
    expect((await fetch(`${base}/slow`, { method: "POST", body: '{"on":true}' })).status).toBe(401);
    for (const body of ["{}", '{"on":true,"for":"soon"}', '{"on":false,"for":"2m"}', "[]", "on"])
      expect((await post("slow", body)).status).toBe(400);
    const unknown = await post("volcano", '{"on":true}');
    expect([unknown.status, await unknown.text()]).toEqual([
      404,
      expect.stringContaining('unknown fault \\"volcano\\"'),
    ]);
    expect((await post("all-prices-missing", '{"on":true}')).status).toBe(200);
    const { faults } = FaultsBody.parse(await (await fetch(base)).json());
    expect(faults).toHaveLength(sidecar.faults().length);
    expect(faults.filter(({ on }) => on).map(({ name }) => name)).toEqual(["all-prices-missing"]);
    await expect
      .poll(async () => (await prices(`${url("prices")}/connect/oracle/v2/prices`)).prices, SOON)
      .toEqual({});
    const timed = await post("all-prices-missing", '{"on":true,"for":"300ms"}');
    expect(await timed.json()).toMatchObject({
      faults: expect.arrayContaining([
        {
          name: "all-prices-missing",
          on: true,
          until: expect.stringMatching(/Z$/),
          effect: expect.any(String),
        },
      ]),
    });
    await expect
      .poll(async () => Object.keys((await prices(`${url("prices")}/connect/oracle/v2/prices`)).prices), SOON)
      .toHaveLength(8);
  });
});
