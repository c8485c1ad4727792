import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createWatchdogReports } from "../../src/watchdog/report/report-source.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { Secret } from "../../src/platform/base/secret.ts";
import { EMPTY_LEDGER, type Ledger } from "../../src/watchdog/ledger/ledger.ts";
import { silenceView } from "../../src/watchdog/alerts/silence.ts";
import { openLedgerFile, openSqliteState, STATE_FILE } from "../../src/watchdog/state/sqlite-state.ts";
import { createStateKeeper, type StateKeeper } from "../../src/watchdog/state/state-keeper.ts";
import { EMPTY_STATE, type WatchdogState } from "../../src/watchdog/state/state-store.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { createFaultyDisk, type FaultyDisk } from "../support/watchdog/faulty-disk.ts";
import { createReceiver, rigConfig, startRig } from "../support/watchdog/rig.ts";
import { createWorld } from "../support/watchdog/world.ts";

const NOON = Date.UTC(2026, 10, 21, 12);

let folder: string;
let disk: FaultyDisk;
let clock: ManualClock;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-faults-"));
  disk = createFaultyDisk();
  clock = createManualClock(NOON);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A state that differs from every other in a ledger and in its events. A greater number needs more space. */
function stateOf(number: number): WatchdogState {
  const event = {
    kind: "gap",
    fromMs: number,
    toMs: number,
    text: `${number} ${"x".repeat(20_000)}`,
  } as const;
  const ledger: Ledger = {
    ...EMPTY_LEDGER,
    chainId: `c-${number}`,
    events: { recent: [{ id: number, ...event }], nextId: number + 1 },
  };
  return { ...EMPTY_STATE, ledgers: new Map([["one", ledger]]) };
}

function openKeeper(): StateKeeper {
  const keeper = createStateKeeper({ clock, logger: silentLogger, random: () => 0.5 });
  keeper.open(openSqliteState(folder, disk.open));
  return keeper;
}

/** What a process that is killed now would leave. */
function storedChain(): string | undefined {
  const file = openLedgerFile(folder);
  const chain = file.view("one")?.chainId;
  file.close();
  return chain;
}

const RETRY_MS = 30_000;

describe("a state file whose disk fails", () => {
  it("gets what a full disk kept out, when there is space again; the error says that the disk is full", async () => {
    const keeper = openKeeper();
    keeper.replace(stateOf(1));
    expect([keeper.problem(), storedChain()]).toEqual([undefined, "c-1"]);
    disk.set("full");
    keeper.replace(stateOf(2));
    expect(keeper.problem()).toBe(
      "the state has not been stored since 2026-11-21T12:00:00.000Z: database or disk is full",
    );
    expect([storedChain(), keeper.current()]).toEqual(["c-1", stateOf(2)]);
    disk.set("works");
    await clock.advance(RETRY_MS);
    keeper.replace(stateOf(3));
    expect([keeper.problem(), storedChain()]).toEqual([undefined, "c-3"]);
    keeper.close();
  });

  it("is opened again after a disk error: the old connection never works again", async () => {
    const keeper = openKeeper();
    keeper.replace(stateOf(1));
    disk.set("error");
    keeper.replace(stateOf(2));
    expect(keeper.problem()).toContain("disk I/O error");
    await clock.advance(RETRY_MS);
    keeper.replace(stateOf(3));
    expect(keeper.problem()).toContain(
      `the state has not been stored since 2026-11-21T12:00:00.000Z: the state in ${folder} cannot be used: disk I/O error`,
    );
    disk.set("works");
    await clock.advance(RETRY_MS);
    keeper.replace(stateOf(4));
    expect([keeper.problem(), storedChain(), disk.opened(), disk.connected()]).toEqual([
      undefined,
      "c-4",
      2,
      1,
    ]);
    keeper.close();
  });

  it.each(["stored", "lost"] as const)("is right when a commit failed and was %s", async (outcome) => {
    const keeper = openKeeper();
    // The next save writes only what differs from what the file is known to have.
    const first = stateOf(1);
    keeper.replace(first);
    disk.failCommit(outcome);
    keeper.replace(stateOf(2));
    expect(keeper.problem()).toContain("disk I/O error");
    expect(storedChain()).toBe(outcome === "stored" ? "c-2" : "c-1");
    await clock.advance(RETRY_MS);
    keeper.replace(first);
    expect([keeper.problem(), storedChain()]).toEqual([undefined, "c-1"]);
    keeper.close();
  });

  it("has what must be stored, or the state is as before", async () => {
    const keeper = openKeeper();
    expect([keeper.replaceStored(stateOf(1)), storedChain()]).toEqual([undefined, "c-1"]);
    disk.set("full");
    const problem = "the state has not been stored since 2026-11-21T12:00:00.000Z: database or disk is full";
    expect([keeper.replaceStored(stateOf(2)), keeper.current()]).toEqual([problem, stateOf(1)]);
    expect([keeper.replaceStored(stateOf(3)), keeper.current()]).toEqual([problem, stateOf(1)]);
    // Somebody asks again: the next attempt is not waited for.
    disk.set("works");
    const changed = keeper.changed(new AbortController().signal);
    expect([keeper.replaceStored(stateOf(4)), storedChain(), keeper.problem()]).toEqual([
      undefined,
      "c-4",
      undefined,
    ]);
    await changed;
    keeper.close();
  });

  it("is not opened again at every poll", async () => {
    const keeper = openKeeper();
    disk.set("full");
    for (let second = 0; second < 600; second++) {
      keeper.replace(stateOf(second));
      await clock.advance(1000);
    }
    // After the first attempts, one in 15 s on average.
    expect(disk.opened()).toBeGreaterThan(20);
    expect(disk.opened()).toBeLessThan(60);
    keeper.close();
  });

  it("gets the last state when the watchdog ends before the next attempt", () => {
    const keeper = openKeeper();
    disk.set("full");
    keeper.replace(stateOf(1));
    disk.set("works");
    keeper.replace(stateOf(2));
    expect(storedChain()).toBeUndefined();
    keeper.close();
    expect(storedChain()).toBe("c-2");
  });

  it("is not replaced by a new file when its disk is not there", async () => {
    const keeper = openKeeper();
    keeper.replace(stateOf(1));
    disk.failCommit("lost");
    keeper.replace(stateOf(2));
    const files = readdirSync(folder).filter((name) => name.startsWith(STATE_FILE));
    for (const name of files) renameSync(join(folder, name), join(folder, `away-${name}`));
    await clock.advance(RETRY_MS);
    keeper.replace(stateOf(3));
    expect(keeper.problem()).toContain("cannot be used");
    expect(existsSync(join(folder, STATE_FILE))).toBe(false);
    for (const name of files) renameSync(join(folder, `away-${name}`), join(folder, name));
    await clock.advance(RETRY_MS);
    keeper.replace(stateOf(4));
    expect([keeper.problem(), storedChain()]).toEqual([undefined, "c-4"]);
    keeper.close();
  });

  it("has what was acknowledged at every instant, and everything in the end, for any faults", async () => {
    const step = fc.oneof(
      fc.record({ disk: fc.constantFrom("works", "full", "error") }),
      fc.record({ commit: fc.constantFrom("stored", "lost") }),
      fc.record({ waitMs: fc.constantFrom(0, 1000, RETRY_MS) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        rmSync(folder, { recursive: true });
        disk = createFaultyDisk();
        clock = createManualClock(NOON);
        const keeper = openKeeper();
        let possible: readonly (string | undefined)[] = [undefined];
        for (const [number, one] of steps.entries()) {
          if ("disk" in one) disk.set(one.disk);
          if ("commit" in one) disk.failCommit(one.commit);
          if ("waitMs" in one) await clock.advance(one.waitMs);
          keeper.replace(stateOf(number));
          const chain = `c-${number}`;
          possible = keeper.problem() === undefined ? [chain] : [...possible, chain];
          expect(possible).toContain(storedChain());
        }
        disk.set("works");
        for (let attempt = 0; attempt < 3; attempt++) {
          await clock.advance(RETRY_MS);
          keeper.replace(stateOf(100 + attempt));
        }
        expect(keeper.problem()).toBeUndefined();
        keeper.close();
        const store = openSqliteState(folder);
        expect(store.load().ledgers.get("one")?.events.recent.at(-1)).toEqual(
          stateOf(102).ledgers.get("one")?.events.recent[0],
        );
        store.close();
      }),
      { numRuns: 40 },
    );
    // Many durable writes, on a disk that other programs may use too.
  }, 120_000);
});

describe("/api/status", () => {
  it("has the last poll, whenever it is read", async () => {
    const rig = await startRig(rigConfig(), clock, createWorld(clock), createReceiver());
    const text = async () => await (await fetch(`${rig.url}/api/status`)).text();
    await clock.advance(10_000);
    const first = await text();
    // Between two polls nothing is new.
    await clock.advance(4_000);
    expect(await text()).toBe(first);
    await clock.advance(6_000);
    const second = await text();
    expect(second).not.toBe(first);
    await clock.advance(4_000);
    expect(await text()).toBe(second);
    await rig.stop();
  });
});

describe("a watchdog whose disk fails for ten minutes", () => {
  it("goes on, says so, and loses nothing over the restart that follows", async () => {
    const world = createWorld(clock);
    const receiver = createReceiver();
    const { notify } = rigConfig();
    const deadMan = { url: new Secret("http://monitor.example/"), intervalMs: 60_000, deadlineMs: 1000 };
    const config = rigConfig({
      stateDir: folder,
      token: new Secret("token"),
      notify: { ...notify, deadMan },
    });
    const openState = (directory: string) => openSqliteState(directory, disk.open);
    const rig = await startRig(config, clock, { read: world.read, openState }, receiver);
    await clock.advance(60_000);
    disk.set("error");
    await clock.advance(600_000);
    expect(rig.watchdog.status().storeProblem).toContain("disk I/O error");
    expect(await (await fetch(`${rig.url}/metrics`)).text()).toContain("oracle_watchdog_state_stored 0");
    expect(await (await fetch(rig.url)).text()).toContain("disk I/O error");
    expect(await (await fetch(`${rig.url}/api/status`)).text()).toMatch(
      /"store_error":"the state has not been stored/,
    );
    expect(rig.watchdog.status().current.counts.good).toBe(660n);
    expect(rig.log.join("\n")).toMatch(/no dead-man request.*the state has not been stored since/);
    // Reports have the counts of now too, not those that the file had last.
    const reports = createWatchdogReports(() => rig.watchdog, folder, clock.nowMs);
    const counted = () =>
      reports
        .validators()[0]
        ?.ledger.hours(NOON, clock.nowMs())
        .map(({ counts }) => counts.good);
    expect([counted(), reports.storeProblem()]).toEqual([[660n], rig.watchdog.status().storeProblem]);
    disk.set("works");
    await clock.advance(60_000);
    expect(counted()).toEqual([720n]);
    reports.close();
    expect(await (await fetch(`${rig.url}/metrics`)).text()).toContain("oracle_watchdog_state_stored 1");
    expect(rig.log.filter((line) => line.includes("state stored again"))).toHaveLength(1);
    await rig.stop();
    const again = await startRig(config, clock, world, receiver);
    expect(again.watchdog.status().current.counts).toEqual({ good: 720n, bad: 0n, unknown: 0n });
    await again.stop();
  });

  it("refuses a silence, and the end of one, that a restart would undo", async () => {
    const openState = (directory: string) => openSqliteState(directory, disk.open);
    const config = rigConfig({ stateDir: folder, token: new Secret("token") });
    const world = { ...createWorld(clock), openState };
    const rig = await startRig(config, clock, world, createReceiver());
    const call = async (method: string, path: string, body?: object) => {
      const headers = { authorization: "Bearer token" };
      const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
      const response = await fetch(rig.url + path, init);
      return [response.status, await response.json()] as const;
    };
    const silence = { author: "me", reason: "x".repeat(500), ends_at: "2026-11-22T12:00:00Z" };
    const refusal = (what: string) => [
      503,
      {
        error: "not-stored",
        message: expect.stringMatching(
          `${what}: a restart would undo the change, because the state has not been stored since .*: .*; repair the disk`,
        ),
      },
    ];
    const [, kept] = await call("POST", "/api/silences", silence);
    disk.set("error");
    expect(await call("POST", "/api/silences", silence)).toEqual(refusal("the silence was not created"));
    const { id } = z.object({ id: z.string() }).parse(kept);
    expect(await call("DELETE", `/api/silences/${id}`)).toEqual(refusal("the silence was not deleted"));
    expect(await call("GET", "/api/silences")).toEqual([200, { silences: [kept] }]);
    disk.set("works");
    expect(await call("DELETE", `/api/silences/${id}`)).toEqual([200, { deleted: id }]);
    const [status, made] = await call("POST", "/api/silences", silence);
    // What a process that is killed now would leave.
    const left = mkdtempSync(join(tmpdir(), "relaywatch-left-"));
    for (const name of readdirSync(folder))
      if (!name.endsWith("-shm")) cpSync(join(folder, name), join(left, name));
    const store = openSqliteState(left);
    expect([status, store.load().alerting.silences.map(silenceView.json)]).toEqual([201, [made]]);
    store.close();
    rmSync(left, { recursive: true });
    await rig.stop();
  });
});
