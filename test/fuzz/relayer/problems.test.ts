import { describe, expect, it } from "vitest";
import { type ApiDeps, relayerRoutes } from "../../../src/relayer/api/routes.ts";
import {
  CONNECTION_PROBLEM_CODES,
  PROBLEM_CODES,
  type ProblemCode,
} from "../../../src/relayer/health/problems.ts";
import { createActivity } from "../../../src/relayer/page/activity.ts";
import { relayerPages } from "../../../src/relayer/page/relayer-page.ts";
import { navigablePages } from "../../support/pages/page-contents.ts";
import { sampleCosts } from "../../relayer/costs/cost-samples.ts";
import { type SimWorld, startWorld } from "./sim-world.ts";

/** A state that must be visible, and how the world gets into it. */
interface Case {
  readonly code: ProblemCode;
  readonly set: (world: SimWorld, isOn: boolean) => void;
  /** Seconds until it is seen. */
  readonly within: number;
  /** In the reason that people read. */
  readonly text: RegExp;
  /** The lines of the log at its beginning and its end; absent: those of a problem. */
  readonly lines?: readonly [string, string];
}

const PROBLEM_LINES = ["problem", "problem is over"] as const;

const CASES: readonly Case[] = [
  {
    code: "local-not-followed",
    set: ({ local }, isOn) => local.set("down", isOn),
    within: 10,
    text: /the local chain is not followed: no response for \d+ s \(sim is unreachable\)/,
  },
  {
    code: "local-not-followed",
    set: ({ local }, isOn) => local.set("catching-up", isOn),
    within: 65,
    text: /the local chain is not followed: its node is catching up, at height \d+; check SIM_CHAIN_RPC/,
  },
  {
    code: "local-not-followed",
    set: ({ local }, isOn) => local.set("no-lists", isOn),
    within: 80,
    text: /its query list could not be read for \d+ s \(unknown query path\); check SIM_CHAIN_RPC/,
  },
  {
    code: "local-no-new-block",
    set: ({ local }, isOn) => local.set("halts", isOn),
    within: 25,
    text: /the local chain has had no new block for [12]\d s/,
  },
  {
    code: "remote-unreachable",
    set: ({ remotes }, isOn) => remotes[0]?.set("down", isOn),
    within: 10,
    text: /the remote chain remote-1 cannot be reached: no response for \d+ s/,
  },
  {
    code: "remote-unreachable",
    set: ({ remotes }, isOn) => remotes[0]?.set("hangs", isOn),
    within: 30,
    text: /the remote chain remote-1 cannot be reached: no response for \d+ s/,
  },
  {
    code: "remote-no-new-block",
    set: ({ remotes }, isOn) => remotes[0]?.set("halts", isOn),
    within: 25,
    text: /the remote chain remote-1 has had no new block for [12]\d s/,
  },
  {
    code: "queries-overdue",
    set: ({ remotes }, isOn) => remotes[0]?.set("halts", isOn),
    within: 25,
    text: /\d+ quer(?:y is|ies are) overdue; query \d+ by \d+ blocks, \d+ s/,
  },
  {
    code: "client-expired",
    set: ({ local }, isOn) => local.set("client-expired", isOn),
    within: 20,
    text: /client client-0 is expired, expired at 20\d\d-.*MsgRecoverClient/,
  },
  {
    code: "client-frozen",
    set: ({ local }, isOn) => local.set("client-frozen", isOn),
    within: 20,
    text: /client client-0 is frozen .*MsgRecoverClient/,
  },
  {
    code: "account-cannot-pay",
    set: ({ local }, isOn) => local.set("empty-account", isOn),
    within: 35,
    text: /account neutron1relayer has 0 untrn, but a transaction costs about 0; send it untrn/,
  },
  {
    code: "remote-catching-up",
    set: ({ remotes }, isOn) => remotes[0]?.set("catching up", isOn),
    within: 10,
    text: /the node of remote-1 is catching up, at height \d+/,
  },
  {
    code: "client-expires-soon",
    set: ({ local }, isOn) => local.set("client-old", isOn),
    within: 20,
    text: /client client-0 expires at 20\d\d-\S+, in \d+ s, unless it is updated before/,
  },
  {
    code: "client-unknown",
    set: ({ local }, isOn) => local.set("no-client-queries", isOn),
    within: 200,
    text: /the light client is unknown: no response for \d+ /,
  },
  {
    code: "account-unknown",
    set: ({ local }, isOn) => local.set("no-balances", isOn),
    within: 215,
    text: /the balance of neutron1relayer is unknown: no response for/,
  },
  {
    code: "store-not-writable",
    set: ({ setGate }, isOn) => setGate({ storeError: isOn ? "disk is full" : undefined }),
    within: 2,
    text: /nothing is sent while the store cannot write: disk is full; free its disk/,
  },
  {
    code: "lease-unknown",
    set: ({ setGate }, isOn) => setGate({ leaseError: isOn ? "connection refused" : undefined }),
    within: 2,
    text: /it is unknown whether another one does: connection refused; repair the database/,
  },
  {
    code: "not-sending",
    set: ({ setGate }, isOn) => setGate({ refusal: isOn ? "the balance is below the reserve" : undefined }),
    within: 2,
    text: /nothing is sent: the balance is below the reserve/,
  },
  {
    code: "cycle-failed",
    set: ({ remotes }, isOn) => remotes[0]?.set("down", isOn),
    within: 10,
    text: /sim is unreachable/,
    lines: ["cycle failed", "connection has recovered"],
  },
  {
    code: "queries-overdue",
    set: ({ remotes }, isOn) => remotes[0]?.set("down", isOn),
    within: 45,
    text: /\d+ quer(?:y is|ies are) overdue; query \d+ by \d+ blocks, \d+ s/,
  },
  {
    code: "queries-failing",
    set: ({ remotes }, isOn) => remotes[0]?.set("searches hang", isOn),
    within: 45,
    text: /1 overdue query fails at each try; query 20, late by \d+ blocks, \d+ s, \d+ times: read-failed: no response/,
  },
];

/** Everything that people and machines see of the relayer. */
async function seen(world: SimWorld) {
  const deps: ApiDeps = {
    status: world.status,
    registry: world.registry,
    journal: world.journal,
    resubmissions: { resubmit: async () => ({ kind: "unknown" }) },
    openResubmit: false,
    attempts: {
      find: async () => [],
      costs: async () => [],
      summary: async () => ({ outcomes: [], lateness: [] }),
    },
    costs: () => sampleCosts(0),
    metrics: world.metrics,
  };
  const get = async (path: string) => {
    const route = relayerRoutes(deps).find((one) => one.path === path);
    const reply = await route?.handle({
      method: "GET",
      path,
      params: {},
      query: new URLSearchParams(),
      headers: {},
      body: new Uint8Array(),
      signal: new AbortController().signal,
    });
    return { status: reply?.status, body: String(reply?.body) };
  };
  return {
    readyz: await get("/readyz"),
    livez: await get("/livez"),
    page: await pageOf(world),
    metrics: (await get("/metrics")).body,
  };
}

async function pageOf({ status, journal, registry }: SimWorld): Promise<string> {
  const activity = createActivity(() => 0);
  const input = {
    status: status(),
    activity,
    costs: () => sampleCosts(0),
    timeline: { problems: () => [], runs: () => [] },
    deadLetters: journal.deadLetters,
    attempts: { find: () => Promise.resolve([]) },
    registry,
    resubmit: "nobody",
  } as const;
  return (await navigablePages(relayerPages(() => input))).all;
}

/** A world without the query whose search the node refuses. A result of that one is possible and overdue. */
async function startSoundWorld(seed: number): Promise<SimWorld> {
  const world = await startWorld(seed, 1);
  const refused = world.local.registered().find((query) => query.transactionsFilter.includes("unknown.tag"));
  world.local.remove(refused?.id ?? 0n);
  return world;
}

function connectionOf(code: ProblemCode): string {
  return CONNECTION_PROBLEM_CODES.some((one) => one === code) ? "connection-0" : "";
}

/** Number of lines of the KV worker, or about the problem. */
function logged(world: SimWorld, message: string, code: ProblemCode): number {
  return world.log.filter(
    ({ message: text, fields }) => text === message && (fields["code"] === code || fields["type"] === "kv"),
  ).length;
}

describe("a state that makes results late", () => {
  it("does not exist in a healthy world", async () => {
    const world = await startSoundWorld(21);
    await world.run(45);
    const { readyz, page, metrics, livez } = await seen(world);
    expect(readyz).toEqual({
      status: 200,
      body: expect.stringMatching(/^(?:ok|degraded\ndead-letters: \d+ transactions? w.*)\n$/),
    });
    expect(livez.status).toBe(200);
    // Some of its queries can never be answered.
    expect(page).toContain("not delivered: see the dead letters");
    expect(metrics).toMatch(/^relaywatch_relayer_ready 1$/m);
    expect(world.log.filter(({ message }) => message === "problem")).toEqual([]);
    await world.stop();
  });

  it.each(CASES.map((one, index) => [index, one.code, one] as const))(
    "is on /readyz, page, metrics and log (%i: %s)",
    async (_index, code, { set, within, text, lines: [begins, ends] = PROBLEM_LINES }) => {
      const world = await startSoundWorld(22);
      await world.run(20);
      expect((await seen(world)).readyz.status).toBe(200);
      set(world, true);
      await world.run(within);
      const during = await seen(world);
      expect(during.readyz.status).toBe(503);
      expect(during.readyz.body).toMatch(new RegExp(`^${code}: .*${text.source}`, "m"));
      expect(during.livez.status).toBe(200);
      expect(during.page).toMatch(new RegExp(`<strong>${code}</strong>: .*${text.source}`));
      expect(during.page).not.toMatch(/In order|Current, except/);
      expect(during.metrics).toMatch(
        new RegExp(
          `^relaywatch_relayer_problems\\{code="${code}",connection_id="${connectionOf(code)}"\\} 1$`,
          "m",
        ),
      );
      expect(during.metrics).toMatch(/^relaywatch_relayer_ready 0$/m);
      await world.run(30);
      expect(logged(world, begins, code)).toBe(1);
      expect(logged(world, ends, code)).toBe(0);
      set(world, false);
      for (let seconds = 0; seconds < 100 && logged(world, ends, code) === 0; seconds++) await world.run(1);
      // It does not come back.
      await world.run(15);
      expect((await seen(world)).readyz.status).toBe(200);
      expect(logged(world, begins, code)).toBe(1);
      expect(logged(world, ends, code)).toBe(1);
      await world.stop();
    },
  );

  it("is on /readyz, page and metrics during the start, which is no problem for the log", async () => {
    const world = await startWorld(26, 1);
    const { readyz, page, metrics } = await seen(world);
    expect(readyz.status).toBe(503);
    expect(readyz.body).toMatch(/^starting: the list of queries has not been read yet$/m);
    expect(page).toContain("<strong>starting</strong>: the list of queries has not been read yet");
    expect(metrics).toMatch(/^relaywatch_relayer_problems\{code="starting",connection_id=""\} [1-9]$/m);
    await world.run(20);
    expect(logged(world, "problem", "starting")).toBe(0);
    await world.stop();
  });

  it("has a case above", () => {
    // A simulated chain has no endpoints that refuse single methods.
    const others = ["starting", "endpoints-refuse"];
    expect(new Set([...CASES.map(({ code }) => code), ...others])).toEqual(new Set(PROBLEM_CODES));
  });

  it("shows how late each query is, and for how long, while the remote chain makes no block", async () => {
    const world = await startSoundWorld(23);
    await world.run(30);
    world.remotes[0]?.set("halts", true);
    await world.run(200);
    const late = world.status().queries.filter(({ type, error }) => type === "kv" && error === undefined);
    expect(late.length).toBeGreaterThan(10);
    for (const { lateness, updatePeriod } of late) {
      expect(Number(lateness.blocks)).toBeGreaterThan(185 - Number(updatePeriod));
      expect((lateness.ms ?? 0) / 1_000).toBeGreaterThan(185 - Number(updatePeriod));
      expect(lateness.unanswerable).toBe("no-newer-remote-block");
    }
    const { metrics } = await seen(world);
    const blocks = /^relaywatch_relayer_most_late_blocks\{connection_id="connection-0"\} (\d+)$/m.exec(
      metrics,
    );
    expect(Number(blocks?.[1])).toBeGreaterThan(190);
    await world.stop();
  });

  it.each(["local", "remote"] as const)(
    "is over within five seconds after the node of the %s chain is back, however long it was away",
    async (chain) => {
      const world = await startSoundWorld(25);
      await world.run(20);
      const setDown = (isDown: boolean): void => {
        if (chain === "local") world.local.set("down", isDown);
        else world.remotes[0]?.set("down", isDown);
      };
      setDown(true);
      await world.run(300);
      expect(world.status().problems).not.toEqual([]);
      const before = world.local.height();
      setDown(false);
      await world.run(5);
      const periodOne = world
        .status()
        .queries.filter(
          ({ type, updatePeriod, error }) => type === "kv" && updatePeriod === 1n && error === undefined,
        );
      expect(periodOne.length).toBeGreaterThan(0);
      for (const { lastLocalHeight } of periodOne) expect(lastLocalHeight).toBeGreaterThan(before);
      await world.stop();
    },
  );

  it("leaves one summary a minute in the log, and no line for a transaction", async () => {
    const world = await startSoundWorld(24);
    await world.run(125);
    const summaries = world.log.filter(({ message }) => message === "summary");
    expect(summaries).toHaveLength(2);
    expect(summaries[1]?.fields).toMatchObject({ results: expect.any(Number), overdue: 0, problems: [] });
    expect(summaries[1]?.fields["results"]).toBeGreaterThan(50);
    expect(world.log.filter(({ message }) => message === "results included")).toEqual([]);
    await world.stop();
  });
});
