import { afterEach, describe, expect, it } from "vitest";
import { DAY_MS, HOUR_MS } from "../../../src/platform/base/time.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import type { HttpReply } from "../../../src/platform/http/http-route.ts";
import { createStatusPage } from "../../../src/watchdog/status-page/status-page.ts";
import type { StatusPageConfig } from "../../../src/watchdog/status-page/status-page-config.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { EVENTFUL, EVENTFUL_ALERTS, ledgerScene } from "../../support/pages/status-page-scenes.ts";
import { buildValidator, HEALTHY, SCENE_MS, TROUBLED } from "../../support/pages/watchdog-scenes.ts";
import { createReceiver, type Rig, rigConfig, startRig } from "../../support/watchdog/rig.ts";
import { createWorld } from "../../support/watchdog/world.ts";

const CONFIG: StatusPageConfig = {
  listen: { host: "127.0.0.1", port: 0 },
  title: "Example & Sons",
  validators: [{ name: "default", title: "Example <one>", components: ["prices"] }],
  hasAmounts: false,
};

/** A page over counts that the test chooses. */
function pageOver(stored = () => ledgerScene(EVENTFUL), config = CONFIG) {
  const clock = createManualClock(SCENE_MS);
  const reads = { stored: 0, memory: 0 };
  const world: { error?: Error } = {};
  const page = createStatusPage(config, {
    clock,
    logger: silentLogger,
    ledger: () => {
      reads.memory += 1;
      return ledgerScene(EVENTFUL);
    },
    storedLedger: () => {
      reads.stored += 1;
      return stored();
    },
    alertHistory: () => {
      if (world.error !== undefined) throw world.error;
      return EVENTFUL_ALERTS;
    },
    pollMs: 18_000,
    intervalMs: 5_000,
  });
  const get = async (path: string): Promise<HttpReply> => {
    const route = page.routes.find((one) => one.path === path);
    const rest = { headers: {}, query: new URLSearchParams(), body: new Uint8Array(), params: {} };
    const signal = new AbortController().signal;
    return (
      (await route?.handle({ method: "GET", path, signal, ...rest })) ?? { status: 0, headers: {}, body: "" }
    );
  };
  const json = async () => JSON.parse(String((await get("/status.json")).body));
  return { clock, page, reads, get, json, world };
}

const healthy = () => buildValidator(HEALTHY).status;

describe("the status page", () => {
  it("says what it knows, and nothing is green before the first poll or after the last one", async () => {
    const { clock, page, json, get } = pageOver();
    expect(await json()).toMatchObject({ state: "unknown", as_of: null });
    expect(String((await get("/")).body)).toContain('<div class="verdict unknown">');
    page.update(healthy());
    expect(await json()).toMatchObject({ state: "operational", as_of: "2026-11-21T12:05:03.000Z" });
    expect(String((await get("/")).body)).toContain('<div class="verdict good">');
    await clock.advance(18_000);
    expect(await json()).toMatchObject({ state: "unknown", as_of: "2026-11-21T12:05:03.000Z" });
    expect(String((await get("/")).body)).toContain('<div class="verdict unknown">');
    // The rest of the day is not known.
    await clock.advance(15 * HOUR_MS);
    const [{ components }] = (await json()).validators;
    expect(components[0].days.at(-1)).toMatchObject({ day: "2026-11-22", state: "unknown" });
    expect(components[0].days.at(-2)).toMatchObject({ day: "2026-11-21", unknown_percent: "49.6" });
  });

  it("has ninety days, and incidents with begin, end and cause in public words", async () => {
    const { page, json, get } = pageOver();
    page.update(healthy());
    const [validator] = (await json()).validators;
    const states = validator.components[0].days.map(({ state }: { readonly state: string }) => state);
    expect(states).toHaveLength(90);
    expect(
      states.flatMap((state: string, day: number) => (state === "good" ? [] : [`${day} ${state}`])),
    ).toEqual([
      ...Array.from({ length: 10 }, (_, day) => `${day} unknown`),
      "20 bad",
      "40 weak",
      "50 unknown",
      "51 unknown",
      "70 weak",
      "71 weak",
    ]);
    expect(validator.components[0]).toMatchObject({ uptime_percent: "99.7452", known_days: 78 });
    expect(validator.incidents).toEqual([
      {
        from: "2026-11-02T23:00:00.000Z",
        to: "2026-11-03T01:00:00.000Z",
        cause: "Requests for prices failed",
      },
      { from: "2026-10-03T00:00:00.000Z", to: "2026-10-04T00:00:00.000Z", cause: "The cause is not known" },
      {
        from: "2026-09-13T03:00:00.000Z",
        to: "2026-09-13T05:00:00.000Z",
        cause: "The price service did not respond",
      },
    ]);
    const text = String((await get("/")).body);
    expect(text).toContain(
      "75 good, 3 reduced, 0 with an outage".replace("75 good, 3 reduced, 0", "74 good, 3 reduced, 1"),
    );
    expect(text).toContain("2026-09-13: 91.6666 %");
    expect(text).toContain("<title>2026-10-23: 100.0000 %, 33.3 % not known</title>");
    expect(text).toContain("Example &lt;one&gt;");
    expect(text).not.toContain("10.77.0.8");
  });

  it("is rendered once for each poll, and reads old days once an hour", async () => {
    const { clock, page, reads, get } = pageOver();
    page.update(healthy());
    await get("/");
    const { memory } = reads;
    for (const path of ["/", "/status.json", "/"]) await get(path);
    expect(reads).toEqual({ stored: 1, memory });
    page.update(healthy());
    await get("/");
    expect(reads).toEqual({ stored: 1, memory: memory + 1 });
    await clock.advance(HOUR_MS);
    page.update(healthy());
    expect(reads.stored).toBe(2);
  });

  it("shows what is in memory while the disk fails, and reads again at the next poll", async () => {
    let fails = true;
    const { page, json, reads } = pageOver(() => {
      if (fails) throw new Error("disk I/O error");
      return ledgerScene(EVENTFUL);
    });
    page.update(healthy());
    expect((await json()).validators[0].incidents).toHaveLength(3);
    fails = false;
    page.update(healthy());
    expect(reads.stored).toBe(2);
  });

  it("shows amounts only when it may", async () => {
    for (const hasAmounts of [false, true]) {
      const { page, json, get } = pageOver(undefined, { ...CONFIG, hasAmounts });
      page.update(healthy());
      const text = `${JSON.stringify(await json())}${String((await get("/")).body)}`;
      expect(/"cost"|"pay"|Pay of/.test(text)).toBe(hasAmounts);
    }
  });

  it("says nothing of a validator that is not listed", async () => {
    const { page, json } = pageOver();
    page.update({ ...buildValidator({ ...TROUBLED, name: "internal" }).status });
    expect(JSON.stringify(await json())).not.toContain("internal");
  });

  it("may be cached for an interval, loads nothing, and stays small with the most validators", async () => {
    const validators = Array.from({ length: 50 }, (_, index) => ({
      name: `v${index}`,
      title: `Validator ${index}`,
      components: ["prices", "votes"] as const,
    }));
    const { page, get } = pageOver(undefined, { ...CONFIG, validators });
    for (const { name } of validators) page.update(buildValidator({ ...TROUBLED, name }).status);
    const { headers = {}, body } = await get("/");
    expect(headers["cache-control"]).toBe("public, max-age=5");
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(String(body).length).toBeLessThan(2_000_000);
    expect(String((await get("/status.json")).body).length).toBeLessThan(2_000_000);
  });

  it("does not tell why it cannot be rendered", async () => {
    const { page, get, world } = pageOver();
    page.update(healthy());
    world.error = new Error("cannot open /var/lib/private/state.db");
    const { status, body } = await get("/");
    expect(status).toBe(503);
    expect(body).toContain("not-available");
    expect(body).not.toContain("private");
  });
});

const PRIVATE = "zzq";
let rig: Rig | undefined;
afterEach(() => rig?.stop());

/** Every text of a configuration that people choose, secrets too. */
function textsOf(value: unknown): readonly string[] {
  if (value instanceof Secret) return [value.reveal()];
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

it("has no address, name or secret of the configuration, whatever fails", async () => {
  const clock = createManualClock(SCENE_MS - DAY_MS);
  const world = createWorld(clock);
  const base = rigConfig({ token: new Secret("zzq-token"), intervalMs: 20_000 });
  const config = {
    ...base,
    validators: base.validators.map(({ policy }) => ({
      policy,
      target: {
        name: "zzq-validator",
        chainId: "test-1",
        consensusAddress: "neutronvalcons16jsxy6n6x6xxkkdx2whumthegrfklpw7y5klld",
        chain: { rest: "http://zzq-rest.internal:1317", module: "neutron", pairs: [] },
        nodes: [
          {
            name: "zzq-node",
            node: "http://zzq-node.internal:26660/metrics",
            prices: "http://zzq-prices.internal:8080/",
            sidecarMetrics: "http://zzq-sidecar.internal:8002/metrics",
          },
        ],
        egress: [],
      },
    })),
    maintenance: [],
    notify: {
      ...base.notify,
      runbooks: "https://zzq-runbooks.internal/",
      links: { grafana: "https://zzq-grafana.internal/" },
    },
    reports: { ...base.reports, directory: "/zzq/reports" },
    statusPage: {
      ...CONFIG,
      validators: [{ name: "zzq-validator", title: "Example", components: ["prices", "votes"] as const }],
      hasAmounts: true,
    },
  };
  rig = await startRig(config, clock, world, createReceiver());
  const address = await rig.watchdog.publicReady;
  const url = `http://127.0.0.1:${address?.port ?? 0}`;
  const texts: string[] = [];
  const look = async (): Promise<string> => {
    const found = await Promise.all(
      ["/", "/status.json"].map((path) => fetch(`${url}${path}`).then((one) => one.text())),
    );
    texts.push(...found);
    return JSON.parse(found[1] ?? "").state;
  };
  await clock.advance(10 * 60_000);
  expect(await look()).toBe("operational");
  for (const fault of ["sidecar-down", "no-prices", "html-node", "halted", "node-down"] as const) {
    world.set(fault, true);
    await clock.advance(5 * 60_000);
    expect([fault, await look()]).not.toEqual([fault, "operational"]);
    world.set(fault, false);
    await clock.advance(6 * 60_000);
    await look();
  }
  const all = texts.join("\n");
  expect(all).toContain("The price service did not respond");
  const hidden = textsOf({ ...config, statusPage: undefined, alerts: undefined }).filter((text) =>
    text.includes(PRIVATE),
  );
  expect(hidden.length).toBeGreaterThan(9);
  expect(hidden.filter((text) => all.includes(text))).toEqual([]);
  expect(all).not.toMatch(/zzq|internal|26660|8080|8002|1317|hooks\.example|valcons|http:/i);
});

it("has no other route, and changes nothing", async () => {
  const clock = createManualClock(SCENE_MS);
  rig = await startRig({ ...rigConfig(), statusPage: CONFIG }, clock, createWorld(clock), createReceiver());
  const address = await rig.watchdog.publicReady;
  const url = `http://127.0.0.1:${address?.port ?? 0}`;
  const statusOf = async (path: string, method = "GET"): Promise<number> =>
    (await fetch(`${url}${path}`, { method })).status;
  for (const path of [
    "/metrics",
    "/api/status",
    "/api/alerts",
    "/live",
    "/readyz",
    "/runbooks/sidecar-down.md",
  ])
    expect([path, await statusOf(path)]).toEqual([path, 404]);
  expect(await statusOf("/", "POST")).toBe(405);
  expect([await statusOf("/", "HEAD"), await statusOf("/")]).toEqual([200, 200]);
  // And the watchdog's own server does not have it.
  expect((await fetch(`${rig.url}/status.json`)).status).toBe(404);
});
