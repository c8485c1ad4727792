import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { PROBLEM_CODES } from "../../../src/relayer/health/problems.ts";
import { runCommand } from "../../support/cli-chain.ts";
import { leasePorts, type PortLease } from "../../support/port-lease.ts";

const stop = new AbortController();
let lease: PortLease;
let home: string;
let relayer: Server;
let watchdog: Server | undefined;

const QUERY = {
  id: "7",
  type: "kv",
  connection_id: "connection-0",
  owner: "neutron1owner",
  late_blocks: 31,
  late_seconds: 31.5,
  overdue: true,
  failures: 0,
  error: null,
};
const OVERDUE = {
  code: "queries-overdue",
  connection_id: "connection-0",
  text: "connection-0: 1 query is overdue; query 7 by 31 blocks",
  since: "2026-11-21T12:05:00.000Z",
};
let status: Record<string, unknown>;

const HEALTHY = { problems: [], dead_letters: 0, queries: [{ ...QUERY, overdue: false, late_blocks: 0 }] };
const NOTHING_FIRES = {
  "/api/alerts": { alerts: [] },
  "/api/report-data": { now: 0, polled_at: null, from: 0, to: 0, validators: [] },
};

const serve = (port: number, replies: () => Readonly<Record<string, unknown>>): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      const body = replies()[(request.url ?? "").split("?")[0] ?? ""];
      response.statusCode = body === undefined ? 404 : 200;
      response.end(JSON.stringify(body ?? {}));
    }).listen(port, "127.0.0.1", () => resolve(server));
  });

beforeAll(async () => {
  lease = await leasePorts();
  home = mkdtempSync(join(tmpdir(), "relaywatch-why-"));
  relayer = await serve(portsAt(lease.offset).relayer, () => ({ "/api/status": status }));
});
beforeEach(() => {
  status = { problems: [OVERDUE], dead_letters: 2, queries: [QUERY] };
});
afterAll(() => {
  relayer.close();
  watchdog?.close();
  stop.abort();
  lease.release();
  rmSync(home, { recursive: true, force: true });
});

const url = (): string => `http://127.0.0.1:${portsAt(lease.offset).relayer}`;
const why = (...words: readonly string[]) => runCommand(["why", ...words], stop.signal);

describe("why of a relayer", () => {
  it("says what is late, since when, why, and what to do", async () => {
    const { exitCode, out } = await why("--url", url());
    expect(exitCode).toBe(1);
    for (const line of [
      "connection-0: Query results are overdue (critical)",
      "Since 2026-11-21 12:05 UTC: connection-0: 1 query is overdue; query 7 by 31 blocks.",
      "- Impact: Contracts use older values than they requested.",
      "- Action: Look for another problem that explains the late queries",
      "- Runbook: alerts/runbooks/relayer-queries-overdue.md",
      "- query 7 (kv, connection-0) is 31 blocks (31 s) late",
      "2 transactions were not delivered",
    ])
      expect(out).toContain(line);
    expect(out).not.toContain("Asked:");
  });

  it("exits with 0 when nothing is wrong, 3 before the first readings, 1 for a problem that it does not know", async () => {
    status = HEALTHY;
    expect(await why("--url", url())).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/nothing is wrong[^]*None of 1 query is overdue/),
    });
    status = { ...HEALTHY, problems: [{ code: "starting", connection_id: null, text: "not yet" }] };
    expect((await why("--url", url())).exitCode).toBe(3);
    status = { ...HEALTHY, problems: [{ code: "new-problem", connection_id: null, text: "something" }] };
    expect(await why("--url", url())).toMatchObject({
      exitCode: 1,
      out: expect.stringContaining("relayer: new-problem (warning)"),
    });
  });

  it("has an action for each problem, also as JSON and CSV", async () => {
    status = {
      ...HEALTHY,
      problems: PROBLEM_CODES.map((code) => ({ code, connection_id: null, text: "x", since: null })),
    };
    const { problems } = JSON.parse((await why("--url", url(), "--json")).out).relayer;
    expect(problems.map(({ action }: { readonly action: string }) => action.length > 10)).toEqual(
      PROBLEM_CODES.map(() => true),
    );
    expect((await why("--url", url(), "-o", "csv")).out.split("\r\n")[0]).toBe(
      "alert,validator,severity,state,reason",
    );
  });

  it("is that of a configuration", async () => {
    const file = join(home, "relayer.yaml");
    const { relayer: port } = portsAt(lease.offset);
    writeFileSync(
      file,
      `chain: { id: local-1, rpc: ["http://127.0.0.1:1"] }
signer: { mnemonic: { env: NO_SUCH_MNEMONIC } }
http: { listen: "127.0.0.1:${port}" }
connections: [{ id: connection-0, chain_id: remote-1, rpc: ["http://127.0.0.1:1"] }]
`,
    );
    const { out, message } = await why("--config", file);
    expect([message, out]).toEqual([undefined, expect.stringContaining("query 7 (kv, connection-0)")]);
    expect((await why("--config", file, "--url", url())).exitCode).toBe(2);
  });
});

describe("why without a place", () => {
  const here = (...words: readonly string[]) => why(...words, "--port-offset", String(lease.offset));

  it("asks both on this machine, says which, and needs one that responds", async () => {
    const place = `127.0.0.1:${portsAt(lease.offset).watchdog}`;
    const alone = await here();
    expect(alone).toMatchObject({ exitCode: 1, out: expect.stringContaining("Late queries") });
    expect(alone.out.replaceAll(/\s+/g, " ")).toMatch(
      `Asked: the oracle watchdog at ${place}, with no result: the oracle watchdog does not respond`,
    );
    expect(alone.out).toContain(`the relayer at 127.0.0.1:${portsAt(lease.offset).relayer}`);
    expect(JSON.parse((await here("--json")).out)).toMatchObject({
      relayer: { dead_letters: 2 },
      asked: [
        { daemon: "watchdog", error: expect.stringContaining("does not respond") },
        { daemon: "relayer", error: null },
      ],
    });
    status = HEALTHY;
    expect((await here()).exitCode).toBe(0);
    // A validator is the watchdog's, which does not respond.
    expect((await here("--validator", "x")).exitCode).toBe(3);
    watchdog = await serve(portsAt(lease.offset).watchdog, () => NOTHING_FIRES);
    // It knows no validator yet.
    expect((await here()).out.replaceAll(/\s+/g, " ")).toContain("has not read a node yet");
  });
});
