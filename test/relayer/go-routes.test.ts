import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { Secret } from "../../src/platform/base/secret.ts";
import { openRouteServer } from "../../src/platform/http/route-server.ts";
import { goRelayerRoutes } from "../../src/relayer/api/routes.ts";
import type { DeadLetter } from "../../src/relayer/state/journal.ts";
import { createResubmissions, type ResubmissionOutcome } from "../../src/relayer/state/resubmissions.ts";
import { createManualClock } from "../support/manual-clock.ts";

const letter: DeadLetter = { queryId: 6n, hash: "ab", remoteHeight: 9n, reason: "no", atMs: 0 };

interface Scene {
  readonly outcomes?: Readonly<Record<string, ResubmissionOutcome>>;
  readonly openResubmit?: boolean;
  readonly token?: string;
}

/** Serves the routes and sends one request. `asked` has the hashes that were sent again. */
async function request(
  path: string,
  init: RequestInit,
  { outcomes = {}, openResubmit = true, token }: Scene = {},
) {
  const asked: string[] = [];
  const acknowledged: string[] = [];
  const resubmit = async (queryId: bigint, hash: string): Promise<ResubmissionOutcome> => {
    asked.push(`${queryId}/${hash}`);
    return outcomes[hash] ?? { kind: "unknown" };
  };
  const routes = goRelayerRoutes({
    journal: {
      deadLetters: () => [letter],
      acknowledgeDeadLetter: (queryId, hash) => {
        acknowledged.push(`${queryId}/${hash}`);
        return queryId === letter.queryId && hash === letter.hash;
      },
    },
    resubmissions: { resubmit },
    openResubmit,
  });
  const listen = { host: "127.0.0.1", port: 0, portOption: "--port" };
  const options = token === undefined ? { routes } : { routes, token: new Secret(token) };
  const server = await openRouteServer(
    { ...listen, name: "test", listen, ...options },
    { logger: silentLogger },
  );
  try {
    const { host, port } = server.address;
    const response = await fetch(`http://${host}:${port}${path}`, init);
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      asked,
      acknowledged,
    };
  } finally {
    await server.close();
  }
}

const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: typeof body === "string" ? body : JSON.stringify(body),
});

describe("GET /unsuccessful-txs", () => {
  it("lists the dead letters with the fields, types and indentation of the Go relayer", async () => {
    for (const method of ["GET", "POST"]) {
      const { status, text } = await request("/unsuccessful-txs", { method });
      expect(status).toBe(200);
      expect(text).toBe(`[
  {
    "query_id": 6,
    "submitted_tx_hash": "ab",
    "neutron_hash": "",
    "error_time": "1970-01-01T00:00:00.000Z",
    "status": "ErrorOnSubmit",
    "message": "no"
  }
]
`);
    }
  });
});

describe("POST /resubmit-txs", () => {
  const ab = { query_id: 6, hash: "ab" };

  it("responds 200 with an empty body when all were sent, also when a contract rejects one again", async () => {
    const outcomes = { ab: { kind: "included" }, cd: { kind: "failed", reason: "no" } } as const;
    const sent = await request("/resubmit-txs", post({ txs: [ab, { query_id: 6, hash: "cd" }] }), {
      outcomes,
    });
    expect(sent).toMatchObject({ status: 200, text: "", asked: ["6/ab", "6/cd"] });
    expect(await request("/resubmit-txs", post({ txs: [] }))).toMatchObject({ status: 200, text: "" });
    expect(await request("/resubmit-txs", post({}))).toMatchObject({ status: 200, text: "" });
  });

  it("responds 400 with the text of the Go relayer for an unknown hash, and sends none after it", async () => {
    const txs = [{ query_id: 6, hash: "xyz" }, ab];
    const refused = await request("/resubmit-txs", post({ txs }));
    expect(refused).toMatchObject({
      status: 400,
      text: "no tx found with queryID=6 and hash=xyz\n",
      asked: ["6/xyz"],
    });
    expect(refused.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  it("responds 405 to GET", async () => {
    expect(await request("/resubmit-txs", {})).toMatchObject({ status: 405, asked: [] });
  });

  it.each([
    "",
    "{",
    "[]",
    '{"txs":1}',
    '{"txs":[{"query_id":"6"}]}',
    '{"txs":[{"query_id":-1}]}',
    '{"txs":[{"hash":5}]}',
  ])("responds 500 to the body %j", async (body) => {
    const failed = await request("/resubmit-txs", post(body));
    expect(failed).toMatchObject({ status: 500, asked: [] });
    expect(failed.text).toMatch(/^Error processing request: \S/);
  });

  it("responds 500 when a transaction was not included in time", async () => {
    const outcomes = { ab: { kind: "timeout" } } as const;
    const late = await request("/resubmit-txs", post({ txs: [ab] }), { outcomes });
    expect(late.status).toBe(500);
    expect(late.text).toContain("ab was not included in time");
  });

  it("needs the token unless it is open", async () => {
    const outcomes = { ab: { kind: "included" } } as const;
    const body = post({ txs: [ab] });
    const closed = { outcomes, openResubmit: false };
    expect(await request("/resubmit-txs", body, closed)).toMatchObject({ status: 403, asked: [] });
    const withToken = { ...closed, token: "sesame" };
    expect(await request("/resubmit-txs", body, withToken)).toMatchObject({ status: 401, asked: [] });
    const authorized = { ...body, headers: { Authorization: "Bearer sesame" } };
    expect(await request("/resubmit-txs", authorized, withToken)).toMatchObject({
      status: 200,
      asked: ["6/ab"],
    });
  });

  it("refuses pages of other origins, which send no token either", async () => {
    const body = post({ txs: [ab] });
    const fromPage = { ...body, headers: { "Content-Type": "text/plain", Origin: "https://evil.example" } };
    expect(await request("/resubmit-txs", fromPage)).toMatchObject({ status: 403, asked: [] });
  });
});

describe("POST /api/dead-letters/acknowledge", () => {
  const path = "/api/dead-letters/acknowledge";

  const deps = { token: "secret" };
  const withToken = (body: unknown): RequestInit => {
    const { headers, ...rest } = post(body);
    return {
      ...rest,
      headers: { ...Object.fromEntries(new Headers(headers)), Authorization: "Bearer secret" },
    };
  };

  it("ends the dead letters that it names, and says which there are not", async () => {
    const named = withToken({ txs: [{ query_id: 6, hash: "ab" }] });
    const { status, acknowledged } = await request(path, named, deps);
    expect([status, acknowledged]).toEqual([200, ["6/ab"]]);
    const unknown = await request(path, withToken({ txs: [{ query_id: 6, hash: "zz" }] }), deps);
    expect([unknown.status, unknown.text]).toEqual([400, "no tx found with queryID=6 and hash=zz\n"]);
    expect((await request(path, withToken("no JSON"), deps)).status).toBe(500);
  });

  it("needs the token, even where sending them again needs none", async () => {
    const named = post({ txs: [{ query_id: 6, hash: "ab" }] });
    for (const given of [{ openResubmit: true, token: "secret" }, { openResubmit: true }])
      expect(await request(path, named, given)).toMatchObject({ acknowledged: [] });
    expect((await request(path, named, { openResubmit: true, token: "secret" })).status).toBe(401);
  });
});

describe("resubmissions", () => {
  function scene() {
    let letters: readonly DeadLetter[] = [letter];
    const requested: bigint[] = [];
    const calls = { wakes: 0, leads: true };
    const clock = createManualClock(0);
    const resubmissions = createResubmissions(
      {
        journal: { deadLetters: () => letters },
        registry: { request: (ids) => void requested.push(...ids) },
        wake: () => void (calls.wakes += 1),
        leads: () => calls.leads,
        clock,
        random: () => 0.5,
      },
      1_000,
    );
    const set = (after: readonly DeadLetter[]): void => void (letters = after);
    return { resubmissions, requested, calls, clock, set };
  }
  const signal = new AbortController().signal;

  it("hand a letter to the worker once, and resolve when it is gone", async () => {
    const { resubmissions, requested, calls, clock, set } = scene();
    const outcome = resubmissions.resubmit(6n, "ab", signal);
    expect([requested, calls.wakes]).toEqual([[6n], 1]);
    expect(resubmissions.take(7n)).toEqual([]);
    expect(resubmissions.take(6n)).toEqual([letter]);
    expect(resubmissions.take(6n)).toEqual([]);
    set([]);
    await clock.advance(100);
    expect(await outcome).toEqual({ kind: "included" });
  });

  it("resolve with the new reason when it failed again", async () => {
    const { resubmissions, clock, set } = scene();
    const outcome = resubmissions.resubmit(6n, "ab", signal);
    set([{ ...letter, reason: "still no" }]);
    await clock.advance(100);
    expect(await outcome).toEqual({ kind: "failed", reason: "still no" });
  });

  it("end at their deadline, after which the worker does not see the letter any more", async () => {
    const { resubmissions, clock } = scene();
    const outcome = resubmissions.resubmit(6n, "ab", signal);
    await clock.advance(1_100);
    expect(await outcome).toEqual({ kind: "timeout" });
    expect(resubmissions.take(6n)).toEqual([]);
  });

  it("send what no endpoint had again by themselves, later each time, and never what the chain refused", async () => {
    const { resubmissions, requested, calls, clock, set } = scene();
    const lacking = { ...letter, reason: "no endpoint has this transaction" };
    const refused = { ...letter, hash: "cd", reason: "wasm/5: the contract does not want it" };
    const large = {
      ...letter,
      hash: "ef",
      reason: "the result has 900000 bytes, above the limit of 400000 per transaction",
    };
    set([refused, large, lacking]);
    const stop = new AbortController();
    const running = resubmissions.service.run(stop.signal);
    await clock.advance(29_000);
    expect(requested).toEqual([]);
    await clock.advance(41_000);
    expect([requested, calls.wakes]).toEqual([[6n], 1]);
    expect(resubmissions.take(6n)).toEqual([lacking]);
    // It failed again: the pause doubles.
    set([refused, large, { ...lacking, atMs: 1 }]);
    await clock.advance(59_000);
    expect(requested).toEqual([6n]);
    calls.leads = false;
    await clock.advance(600_000);
    expect(requested).toEqual([6n]);
    stop.abort(new Error("over"));
    await running.catch(() => undefined);
  });

  it("send more letters than have a place at the same time in the next turns, and lengthen no pause for that", async () => {
    const { resubmissions, clock, set } = scene();
    const lacking = { ...letter, reason: "no endpoint has this transaction" };
    const many = Array.from({ length: 25 }, (_, index) => ({ ...lacking, hash: `${index}` }));
    set(many);
    const stop = new AbortController();
    const running = resubmissions.service.run(stop.signal);
    const sent: number[] = [];
    for (let turn = 0; turn < 10; turn++) {
      await clock.advance(10_000);
      sent.push(resubmissions.take(6n).length);
    }
    expect(sent.filter((count) => count > 0)).toEqual([10, 10, 5]);
    stop.abort(new Error("over"));
    await running.catch(() => undefined);
  });

  it("know no other letters", async () => {
    const { resubmissions } = scene();
    expect(await resubmissions.resubmit(6n, "cd", signal)).toEqual({ kind: "unknown" });
    expect(await resubmissions.resubmit(5n, "ab", signal)).toEqual({ kind: "unknown" });
  });
});
