import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { encodeSpending, spendingView } from "../../../src/relayer/costs/spending-view.ts";
import { sampleCosts } from "../../relayer/costs/cost-samples.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { controlToken } from "../../../src/platform/cli/state-home.ts";
import { errorReply, type HttpRoute, jsonReply } from "../../../src/platform/http/http-route.ts";
import type { OpenHttpServer } from "../../../src/platform/http/http-server.ts";
import { openRouteServer } from "../../../src/platform/http/route-server.ts";
import { createReportRoutes } from "../../../src/watchdog/report/report-data.ts";
import type { ValidatorData } from "../../../src/watchdog/report/validator-data.ts";
import { runCommand } from "../../support/cli-chain.ts";
import { leasePorts, type PortLease } from "../../support/port-lease.ts";
import { sampleValidators } from "../../support/report/sample-months.ts";

/** A month in which the second validator lost 20 hours. */
const NOW = Date.UTC(2026, 9, 20);
const stop = new AbortController();
let lease: PortLease;
/** Nothing listens there. */
let silent: PortLease;
let home: string;
let server: OpenHttpServer;

/** What the watchdog of this test says. */
const world = {
  polledAtMs: undefined as number | undefined,
  storeProblem: undefined as string | undefined,
  validators: [] as readonly ValidatorData[],
  alerts: [] as readonly object[],
  silences: [] as object[],
  letters: [] as object[],
  channelError: null as string | null,
};

const routes: readonly HttpRoute[] = [
  ...createReportRoutes({
    polledAtMs: () => world.polledAtMs,
    storeProblem: () => world.storeProblem,
    nowMs: () => NOW,
    validators: () => world.validators,
  }),
  {
    method: "GET",
    path: "/api/alerts",
    handle: () =>
      jsonReply(200, { alerts: world.alerts, silences: world.silences, dead_letters: world.letters }),
  },
  {
    method: "POST",
    path: "/api/alerts/test",
    guarded: true,
    handle: () =>
      jsonReply(world.channelError === null ? 200 : 502, {
        channels: [{ channel: "team", kind: "slack", error: world.channelError }],
      }),
  },
  {
    method: "POST",
    path: "/api/alerts/:change",
    guarded: true,
    handle: ({ body, params }) => {
      const { alerts, validators, author, note } = JSON.parse(new TextDecoder().decode(body));
      const by = params["change"] === "ack" ? { author, note, at: "2026-10-20T04:00:00.000Z" } : null;
      return alerts.includes("nothing")
        ? errorReply(400, "not-acknowledged", 'no alert "nothing" fires')
        : jsonReply(200, {
            alerts: [{ validator: validators[0] ?? "all", name: "sidecar-down", acknowledged: by }],
          });
    },
  },
  {
    method: "POST",
    path: "/api/silences",
    guarded: true,
    handle: ({ body }) => {
      const silence = { id: "s-1", ...JSON.parse(new TextDecoder().decode(body)) };
      world.silences.push(silence);
      return jsonReply(201, silence);
    },
  },
  {
    method: "DELETE",
    path: "/api/silences/:id",
    guarded: true,
    handle: ({ params }) => {
      if (params["id"] !== "s-1")
        return errorReply(404, "no-such-silence", "there is no silence with this id");
      world.silences.length = 0;
      return jsonReply(200, { deleted: "s-1" });
    },
  },
];

beforeAll(async () => {
  lease = await leasePorts();
  silent = await leasePorts();
  home = mkdtempSync(join(tmpdir(), "relaywatch-oracle-"));
  vi.stubEnv("XDG_STATE_HOME", home);
  server = await openRouteServer(
    {
      name: "test",
      listen: { host: "127.0.0.1", port: portsAt(lease.offset).watchdog },
      portOption: "none",
      routes,
      token: controlToken(lease.offset),
    },
    { logger: silentLogger },
  );
});

afterAll(async () => {
  await server.close();
  stop.abort();
  vi.unstubAllEnvs();
  lease.release();
  silent.release();
  rmSync(home, { recursive: true, force: true });
});

const cli = (...args: readonly string[]) =>
  runCommand([...args, "--port-offset", String(lease.offset)], stop.signal);

/** A month with one healthy validator and one below 98 %, read just now. */
function seeMonth(): void {
  world.polledAtMs = NOW;
  world.validators = sampleValidators(2, 1, NOW);
  world.alerts = [];
  world.storeProblem = undefined;
}

const SIDECAR_DOWN = {
  name: "sidecar-down",
  validator: "validator-02",
  severity: "critical",
  title: "Sidecar down",
  state: "firing",
  since: "2026-10-20T03:00:00.000Z",
  reason: "port 8080 refuses connections",
  quiet: null,
  description: "The sidecar does not answer.",
  impact: "Each block is a miss.",
  action: "Restart it.",
  runbook: "sidecar-down.md",
  inhibits: ["all-prices-missing"],
};
const NO_PRICES = {
  ...SIDECAR_DOWN,
  name: "all-prices-missing",
  title: "All prices missing",
  quiet: "muted by sidecar-down",
  inhibits: [],
};

describe("without a watchdog", () => {
  it.each([
    ["status"],
    ["why"],
    ["forecast"],
    ["what-if", "--outage", "4h"],
    ["alerts", "list"],
    ["alerts", "test"],
    ["alerts", "silence", "--for", "1h", "--reason", "x"],
    ["report", "oracle"],
    ["report", "handover"],
    ["report", "month-close"],
  ])("%s %s cannot see: exit code 3", async (...words) => {
    const { exitCode, message } = await runCommand(
      [...words, "--port-offset", String(silent.offset)],
      stop.signal,
    );
    const place = `127.0.0.1:${portsAt(silent.offset).watchdog}`;
    expect([exitCode, message]).toEqual([
      3,
      expect.stringMatching(`does not respond at ${place}.*--port-offset`),
    ]);
  });

  it.each([["queries"], ["dead-letters", "list"], ["dead-letters", "resubmit", "--all"], ["inspect", "1"]])(
    "relayer %s %s asks the relayer at the port offset",
    async (...words) => {
      const offset = String(silent.offset);
      const { out, message } = await runCommand(["relayer", ...words, "--port-offset", offset], stop.signal);
      expect(`${out}${message}`).toContain(
        `icq-relayer does not respond at 127.0.0.1:${portsAt(silent.offset).relayer}; start it, or select another relayer with --url or --port-offset`,
      );
    },
  );

  it("says that nothing was read yet", async () => {
    world.validators = [];
    world.polledAtMs = undefined;
    const { exitCode, message } = await cli("status");
    expect([exitCode, message]).toEqual([3, expect.stringContaining("has not read a node yet")]);
  });
});

describe("status", () => {
  it("is fine with full pay and nothing that fires", async () => {
    seeMonth();
    const { exitCode, out } = await cli("status", "--validator", "validator-01");
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^validator-01 +100\.0000 % {2}full +3,000\.00 /m);
    expect(out).not.toContain("validator-02");
  });

  it("is a problem when a validator is not paid in full, or an alert fires", async () => {
    seeMonth();
    expect((await cli("status")).exitCode).toBe(1);
    world.alerts = [{ ...SIDECAR_DOWN, validator: "validator-01" }];
    const { exitCode, out } = await cli("status", "--validator", "validator-01");
    expect(exitCode).toBe(1);
    expect(out).toMatch(
      /^Sidecar down {2}validator-01 {2}critical {2}firing {2}2026-10-20 03:00 {2}port 8080/m,
    );
  });

  it("has muted alerts below their cause, and no row for them", async () => {
    seeMonth();
    world.alerts = [SIDECAR_DOWN, NO_PRICES];
    const { out } = await cli("status", "--validator", "validator-02");
    expect(out).toContain("- validator-02, Sidecar down; also: All prices missing (muted).");
    expect(out).not.toMatch(/^All prices missing/m);
    // As data, all are there.
    const json = JSON.parse((await cli("status", "--json", "--validator", "validator-02")).out);
    expect(json.alerts).toHaveLength(2);
  });

  it("and other reports have the currency that the policy names, beside every amount", async () => {
    seeMonth();
    const named = world.validators.map((data) => {
      const policy = { ...data.policy, currency: "USD" };
      return { ...data, policy, assessment: { ...data.assessment, policy } };
    });
    const reports = [
      ["status"],
      ["why"],
      ["forecast"],
      ["what-if", "--outage", "4h"],
      ["report", "handover", "--since", "720h"],
      ["report", "month-close", "--month", "2026-10"],
      ["report", "oracle", "--month", "2026-10"],
    ] as const;
    for (const command of reports) {
      world.validators = named;
      const { out } = await cli(...command);
      // Burn rates are near zero or one; amounts are not.
      const numbers = out.match(/(?<![\d.])\d[\d,]*\.\d\d(?!\d|,| %)[^\n]{0,4}/g) ?? [];
      const amounts = numbers.filter((number) => !/^[01]\./.test(number));
      expect([command, amounts.filter((amount) => !amount.includes(" USD"))]).toEqual([command, []]);
      expect([command, out.includes(" USD")]).toEqual([command, true]);
      seeMonth();
      expect([command, (await cli(...command)).out.includes("USD")]).toEqual([command, false]);
    }
  });

  it("has a public page as files", async () => {
    seeMonth();
    const folder = mkdtempSync(join(tmpdir(), "relaywatch-page-"));
    const out = join(folder, "public");
    const { exitCode, out: printed } = await cli("report", "status-page", "--out", out);
    expect([exitCode, printed]).toEqual([0, `${join(out, "index.html")}\n${join(out, "status.json")}`]);
    const status = JSON.parse(readFileSync(join(out, "status.json"), "utf8"));
    expect(status.validators.map(({ name }: { readonly name: string }) => name)).toEqual([
      "validator-01",
      "validator-02",
    ]);
    expect(readFileSync(join(out, "index.html"), "utf8")).toContain("<h2>validator-01");
    const refused = await cli("report", "status-page", "--out", join(out, "status.json"));
    expect([refused.exitCode, refused.message]).toEqual([
      1,
      expect.stringMatching(/^cannot write .*index\.html/),
    ]);
    rmSync(folder, { recursive: true });
  });

  it("cannot see when the last poll is old", async () => {
    seeMonth();
    world.polledAtMs = NOW - 600_000;
    const { exitCode, out } = await cli("status", "--validator", "validator-01");
    expect(exitCode).toBe(3);
    expect(out).toContain("too old");
  });

  it("is a problem while the watchdog does not store its state, and says so, as why does", async () => {
    seeMonth();
    world.storeProblem =
      "the state has not been stored since 2026-10-19T23:00:00.000Z: database or disk is full";
    for (const command of ["status", "why"]) {
      const { exitCode, out } = await cli(command, "--validator", "validator-01");
      expect([command, exitCode, out]).toEqual([
        command,
        1,
        expect.stringMatching(
          /^Watchdog: the state has not been stored since .*: database or disk is full\./m,
        ),
      ]);
    }
    const parsed: unknown = JSON.parse((await cli("status", "--json")).out);
    expect(parsed).toMatchObject({ store_error: world.storeProblem });
    seeMonth();
    expect((await cli("status", "--validator", "validator-01")).out).not.toContain("Watchdog:");
  });

  it("has the same as JSON", async () => {
    seeMonth();
    const parsed: unknown = JSON.parse((await cli("status", "--json")).out);
    expect(parsed).toMatchObject({
      verdict: "problem",
      validators: [
        { validator: "validator-01", tier: "full", pay_cents: "300000" },
        { tier: "proportional" },
      ],
      alerts: [],
    });
  });

  it("knows the validators", async () => {
    seeMonth();
    const { exitCode, message } = await cli("status", "--validator", "nobody");
    expect([exitCode, message]).toEqual([2, expect.stringContaining("it has validator-01, validator-02")]);
  });
});

describe("why", () => {
  it("names the cause, what it explains, and what to do", async () => {
    seeMonth();
    world.alerts = [NO_PRICES, SIDECAR_DOWN, { ...NO_PRICES, state: "pending", validator: "validator-01" }];
    const { exitCode, out } = await cli("why");
    expect(exitCode).toBe(1);
    expect(out).toContain("validator-02: Sidecar down (critical)");
    expect(out).toContain("- It also explains: All prices missing (muted).");
    expect(out).toContain("- Action: Restart it.");
    expect(out).not.toContain("validator-02: All prices missing");
    expect(out).toContain("validator-01: All prices missing is pending (since 2026-10-20 03:00");
  });

  it("says when nothing fires, and where the misses of this month came from", async () => {
    seeMonth();
    const { out } = await cli("why");
    expect(out).toContain("Nothing fires.");
    expect(out).toContain(
      "- validator-02: 95.6140 %, missed 72,000 blocks, 134 % of what full pay allows this month (53,568)",
    );
  });
});

describe("forecast and what-if", () => {
  it("forecast has the band, the headroom and rotation", async () => {
    seeMonth();
    const { exitCode, out } = await cli("forecast");
    expect(exitCode).toBe(1);
    expect(out).toContain("Rotation: no risk");
    expect(out).toMatch(/^any pay +\d+ (?:d|h)/m);
  });

  it("what-if says what an outage costs, and that it crosses a boundary", async () => {
    seeMonth();
    const short = await cli("what-if", "--outage", "4h", "--validator", "validator-01");
    expect(short.exitCode).toBe(0);
    expect(short.out).toMatch(/^validator-01 +14,400 +100\.0000 % +99\.4623 % +full +full +0\.00$/m);
    const long = await cli("what-if", "--outage", "30h", "--validator", "validator-01", "--json");
    expect(long.exitCode).toBe(1);
    expect(JSON.parse(long.out)).toMatchObject({
      validators: [{ misses: "108000", with: { tier: "proportional" }, crosses: ["full"] }],
    });
  });

  it("what-if knows what a restart of the sidecar costs", async () => {
    seeMonth();
    expect((await cli("what-if", "--sidecar-restart", "25s")).out).toMatch(/^validator-01 {6}22 /m);
    expect((await cli("what-if")).exitCode).toBe(2);
    expect((await cli("what-if", "--outage", "4h", "--sidecar-restart", "25s")).exitCode).toBe(2);
    expect((await cli("what-if", "--outage", "soon")).exitCode).toBe(2);
  });
});

describe("alerts", () => {
  it("are listed, and a firing one is a problem", async () => {
    seeMonth();
    const inactive = { ...SIDECAR_DOWN, state: "inactive", since: null, reason: null };
    world.alerts = [inactive];
    expect(await cli("alerts", "list")).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining("no alert is pending"),
    });
    expect((await cli("alerts", "list", "--all")).out).toBe("validator-02  sidecar-down  critical  inactive");
    world.alerts = [SIDECAR_DOWN, NO_PRICES];
    const { exitCode, out } = await cli("alerts", "list");
    expect(exitCode).toBe(1);
    expect(out).toBe(
      [
        "validator-02  sidecar-down  critical  firing since 2026-10-20 03:00 UTC: port 8080 refuses connections",
        "  also: all-prices-missing (muted)",
      ].join("\n"),
    );
    // Without its cause, as with another watchdog's rules, a muted alert has its own line.
    world.alerts = [NO_PRICES];
    expect((await cli("alerts", "list")).out).toContain(
      "all-prices-missing  critical  firing since 2026-10-20 03:00 UTC: port 8080 refuses connections (muted by",
    );
    expect((await cli("alerts", "list", "--validator", "validator-01")).exitCode).toBe(0);
    const ended = { ...SIDECAR_DOWN, state: "resolved", resolved_at: "2026-10-20T04:05:06.000Z" };
    world.alerts = [ended];
    expect((await cli("alerts", "list", "--all")).out).toContain("resolved at 2026-10-20 04:05 UTC");
    const at = "2026-10-20T03:00:05.000Z";
    world.letters = [
      {
        channel: "team",
        alert: "sidecar-down",
        validator: "validator-02",
        kind: "firing",
        at,
        error: "HTTP 422",
      },
    ];
    const listed = await cli("alerts", "list", "--validator", "validator-02");
    expect(listed.out).toContain(
      "never delivered to team: validator-02  sidecar-down  firing at 2026-10-20 03:00 UTC: HTTP 422",
    );
    expect((await cli("alerts", "list", "--validator", "validator-01")).out).not.toContain("delivered");
    world.letters = [];
  });

  it("are acknowledged with a note, which the list shows, and the acknowledgement is withdrawn", async () => {
    seeMonth();
    const acked = await cli("alerts", "ack", "sidecar-down", "--note", "new disk", "--author", "ann");
    expect(acked).toMatchObject({ exitCode: 0, out: "all  sidecar-down  acknowledged by ann: new disk" });
    expect((await cli("alerts", "unack", "--validator", "v")).out).toBe(
      "v  sidecar-down  no longer acknowledged",
    );
    expect(await cli("alerts", "ack", "nothing", "--note", "x")).toMatchObject({
      exitCode: 2,
      message: 'unknown alert "nothing"; list the names with relaywatch alerts list --all',
    });
    expect((await cli("alerts", "ack")).exitCode).toBe(2);
    const by = { author: "ann", note: "new disk", at: "2026-10-20T04:00:00.000Z" };
    const open = { acknowledged: null, escalated_at: "2026-10-20T03:15:00.000Z", escalates_at: null };
    world.alerts = [
      { ...SIDECAR_DOWN, acknowledged: by },
      { ...NO_PRICES, ...open, quiet: null },
    ];
    const { out } = await cli("alerts", "list");
    expect(out).toContain("; acknowledged at 2026-10-20 04:00 UTC by ann: new disk");
    expect(out).toContain("; escalated at 2026-10-20 03:15 UTC");
  });

  it("are silenced and unsilenced with the token, by somebody, for a reason", async () => {
    seeMonth();
    const made = await cli(
      "alerts",
      "silence",
      "sidecar-down",
      "--for",
      "2h",
      "--reason",
      "planned",
      "--author",
      "ann",
      "--validator",
      "validator-01",
    );
    expect(made).toMatchObject({ exitCode: 0, message: undefined });
    expect(world.silences).toEqual([
      {
        id: "s-1",
        alerts: ["sidecar-down"],
        validators: ["validator-01"],
        author: "ann",
        reason: "planned",
        ends_at: expect.stringMatching(/^20.*Z$/),
      },
    ]);
    expect((await cli("alerts", "list")).out).toMatch(
      /silence s-1: sidecar-down of validator-01 until .* by ann: planned/,
    );
    expect((await cli("alerts", "unsilence", "s-2")).exitCode).toBe(1);
    expect((await cli("alerts", "unsilence", "s-1")).out).toBe("silence s-1 ended");
    expect((await cli("alerts", "silence", "--reason", "x")).exitCode).toBe(2);
    expect((await cli("alerts", "silence", "--for", "2h")).exitCode).toBe(2);
  });

  it("are judged on a month of the past", async () => {
    world.validators = sampleValidators(2, 2, Date.UTC(2026, 10, 2));
    const { exitCode, out } = await cli("alerts", "backtest", "--month", "2026-10");
    expect(exitCode).toBe(0);
    expect(out).toMatch(
      /^2026-10-12 18:11 +to the end +validator-02 +full-reward-lost +warning +54,000 +–$/m,
    );
    expect(out).toContain("- no prices: all-prices-missing, major-pairs-missing,");
    expect((await cli("alerts", "backtest", "--month", "2026-08")).exitCode).toBe(3);
  });

  it("are tested on every channel", async () => {
    world.channelError = null;
    expect(await cli("alerts", "test")).toMatchObject({ exitCode: 0, out: "team (slack): accepted" });
    world.channelError = "answered HTTP 404";
    expect(await cli("alerts", "test")).toMatchObject({
      exitCode: 1,
      out: "team (slack): failed: answered HTTP 404",
    });
  });
});

describe("report", () => {
  it("of a month and its close, in every format", async () => {
    world.polledAtMs = NOW;
    world.validators = sampleValidators(3, 2, Date.UTC(2026, 10, 2));
    for (const name of ["oracle", "month-close"]) {
      const text = await cli("report", name, "--month", "2026-10");
      expect(text.exitCode).toBe(1);
      expect(text.out).toContain("validator-03");
      expect((await cli("report", name, "--month", "2026-10", "--format", "csv")).out).toMatch(
        /^validator,month,/,
      );
      expect((await cli("report", name, "--month", "2026-10", "--format", "markdown")).out).toMatch(/^# /);
      expect((await cli("report", name, "--month", "2026-10")).out).toBe(text.out);
    }
    expect((await cli("report", "oracle", "--month", "2026-09")).exitCode).toBe(3);
    expect((await cli("report", "oracle", "--month", "2026-13")).exitCode).toBe(2);
    expect((await cli("report", "oracle", "--format", "pdf")).exitCode).toBe(2);
  });

  it("of a shift", async () => {
    world.validators = sampleValidators(1, 1, NOW);
    expect((await cli("report", "handover", "--since", "12h")).out).toMatch(/^Handover, /);
  });
});

describe("GET /api/report-data", () => {
  it.each([
    "from=a",
    "from=5&to=4",
    "to=99999999999999999999",
    "from=0&to=99999999999999",
    "since=x",
    "since=999999999999",
  ])("refuses %s", async (query) => {
    const url = `http://127.0.0.1:${portsAt(lease.offset).watchdog}/api/report-data?${query}`;
    expect((await fetch(url)).status).toBe(400);
  });

  it("has at most 400 days", async () => {
    const longest = 400 * 86_400_000;
    const url = `http://127.0.0.1:${portsAt(lease.offset).watchdog}/api/report-data`;
    const statuses = [longest, longest + 1].map(async (to) => (await fetch(`${url}?from=0&to=${to}`)).status);
    expect(await Promise.all(statuses)).toEqual([200, 400]);
  });
});

describe("report relayer", () => {
  it("asks the relayer for attempts, costs and dead letters", async () => {
    const asked: string[] = [];
    // What happens in the millisecond of the report is in the next one.
    const happenedAt = new Date(Date.now() - 60_000).toISOString();
    const attempt = {
      query_id: "1",
      connection_id: "connection-0",
      owner: "neutron1owner",
      type: "kv",
      started_at: happenedAt,
      due_height: "10",
      remote_height: null,
      tx_hash: null,
      outcome: "included",
      reason: null,
      local_height: "12",
      gas: "30000",
      fee: "75",
      simulations: 1,
    };
    const letter = {
      query_id: 2,
      submitted_tx_hash: "ab",
      error_time: happenedAt,
      message: "rejected",
    };
    const serve = (path: string, body: unknown): HttpRoute => ({
      method: "GET",
      path,
      handle: ({ query }) => {
        asked.push(`${path}?${query.toString()}`);
        return jsonReply(200, body);
      },
    });
    const relayer = await openRouteServer(
      {
        name: "test",
        listen: { host: "127.0.0.1", port: portsAt(lease.offset).relayer },
        portOption: "none",
        routes: [
          serve("/api/attempts", [attempt]),
          serve("/api/attempts/summary", {
            outcomes: [{ outcome: attempt.outcome, part: 0, attempts: 1 }],
            lateness: [],
          }),
          serve("/api/costs", []),
          serve("/api/queries", []),
          serve("/unsuccessful-txs", [letter]),
        ],
      },
      { logger: silentLogger },
    );
    try {
      const { exitCode, out } = await cli("report", "relayer", "--since", "24h");
      expect(exitCode).toBe(1);
      expect(out).toContain("1 attempt, 1 result, 1 dead letter.");
      expect(out).toMatch(/^neutron1owner +1 +1 +30,000 +75 +30,000 +0 +75$/m);
      expect(asked.join("\n")).toMatch(/attempts\?since=20\d\d-.*T.*&until=20.*&limit=1000/);
      expect((await cli("report", "relayer", "--format", "csv")).out).toContain(
        "neutron1owner,1,1,30000,0,75",
      );
    } finally {
      await relayer.close();
    }
    expect((await cli("report", "relayer")).exitCode).toBe(3);
  });

  it("asks the relayer what each owner or query costs, and prints amounts in its display unit", async () => {
    const costs = sampleCosts(1_800_000_000_000, { budget: 100_000_000n });
    const relayer = await openRouteServer(
      {
        name: "test",
        listen: { host: "127.0.0.1", port: portsAt(lease.offset).relayer },
        portOption: "none",
        routes: [
          {
            method: "GET",
            path: "/api/spending",
            handle: ({ query }) =>
              jsonReply(
                200,
                encodeSpending(spendingView(costs, query.get("by") === "query" ? "query" : "owner")),
              ),
          },
        ],
      },
      { logger: silentLogger },
    );
    try {
      const { exitCode, out } = await cli("report", "relayer", "--by", "owner");
      expect(exitCode).toBe(1);
      expect(out).toContain("Over budget by forecast: the month will cost more than 100 NTRN");
      expect(out).toMatch(/^neutron1other +0\.500001 /m);
      const csv = await cli("report", "relayer", "--by", "query", "--format", "csv");
      expect(csv.out).toContain("3,,500001,500001,500001,500001,500001");
      const json: unknown = JSON.parse(
        (await cli("report", "relayer", "--by", "owner", "--format", "json")).out,
      );
      expect(JSON.stringify(json)).toContain('"over_budget":"forecast"');
    } finally {
      await relayer.close();
    }
    expect((await cli("report", "relayer", "--by", "owner")).exitCode).toBe(3);
    expect((await cli("report", "relayer", "--by", "payer")).exitCode).toBe(2);
  });
});
