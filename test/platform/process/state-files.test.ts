import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NewerSchemaError } from "../../../src/platform/storage/sql-database.ts";
import { migrateSchema } from "../../../src/platform/storage/sqlite-database.ts";
import { RelayError } from "../../../src/relayer/chain/relay-error.ts";
import { createCostLedger, SPANS } from "../../../src/relayer/costs/cost-ledger.ts";
import { createProblemTimeline } from "../../../src/relayer/health/problem-timeline.ts";
import { LOCAL_CHAIN } from "../../../src/relayer/state/journal.ts";
import {
  MIGRATIONS as RELAYER_MIGRATIONS,
  STORE_FILE as RELAYER_FILE,
} from "../../../src/relayer/state/store.ts";
import { MIGRATIONS as WATCHDOG_MIGRATIONS } from "../../../src/watchdog/state/schema.ts";
import { openSqliteState, STATE_FILE } from "../../../src/watchdog/state/sqlite-state.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { openTestStore } from "../../support/relayer-store.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-state-files-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** All versions from 0 to the present one. A new migration needs a file of the version before it, and of its own. */
const versionsOf = (migrations: readonly string[]): readonly number[] =>
  Array.from({ length: migrations.length + 1 }, (_, version) => version);

function userVersion(file: string): unknown {
  const database = new Database(file);
  const version: unknown = database.pragma("user_version");
  database.close();
  return version;
}

const COSTS = {
  queryId: 3n,
  owner: "neutron1owner",
  results: 0,
  gas: 300_000n,
  fee: 12_345_678_901_234_567_890_123n,
  updateFee: 5_996_472_609_171_075_832_345n,
  failedFee: 12_345_678_901_234_567_890_123n,
};
const RUN = { fromMs: 1_795_262_970_310, untilMs: 1_795_262_972_310 };
const PROBLEM = {
  ...RUN,
  code: "remote-unreachable",
  connectionId: "connection-0",
  reason: "connection-0: no response",
};

describe("state files of earlier versions", () => {
  it.each(versionsOf(WATCHDOG_MIGRATIONS))("the watchdog opens version %i with its content", (version) => {
    const file = join(folder, STATE_FILE);
    copyFileSync(fixtureFile(`state/oracle-watchdog-${version}.sqlite`), file);
    expect(userVersion(file)).toEqual([{ user_version: version }]);
    for (const time of ["first", "second"]) {
      const store = openSqliteState(folder);
      const { ledgers, pollHistories, alerting, payments, moves } = store.load();
      const calls = ledgers.get("default")?.sources.calls;
      expect([time, calls?.counterStates.get("node")?.baseline]).toEqual([
        time,
        {
          chainId: "c-1",
          success: 9_007_199_254_740_991n,
          failure: 2n,
          height: 9_007_199_254_740_993n,
          processStartMs: 1_795_262_370_310,
          atMs: 1_795_262_970_310,
        },
      ]);
      expect(calls?.checkpoint).toMatchObject({ atMs: 1_795_262_970_310, node: "node" });
      expect([...(calls?.rollups.months.values() ?? [])].map(({ month, counts }) => [month, counts])).toEqual(
        [
          ["2026-10", { good: 1n, bad: 2n, unknown: 3n }],
          ["2026-11", { good: 4n, bad: 5n, unknown: 6n }],
        ],
      );
      expect(alerting.alerts).toMatchObject([
        {
          validator: "default",
          alert: "all-prices-missing",
          phase: "firing",
          sinceMs: 1,
          lastActiveMs: 2,
          reason: "nothing there",
          notified: { reminders: 0, event: { kind: "firing", severity: "critical", chainId: "c-1" } },
        },
      ]);
      expect(alerting.outbox).toMatchObject([
        {
          channel: "webhook",
          event: { id: "all-prices-missing/c-1/1/firing", severity: "critical", reason: 'c-1: "x"' },
        },
      ]);
      expect(alerting.silences).toEqual([]);
      expect(payments?.get("default") ?? []).toMatchObject(
        version < 9 ? [] : [{ month: "2026-10", height: 9_007_199_254_740_993n, expected: 2_500_000_000n }],
      );
      expect(moves?.get("telegram")).toEqual(
        version < 10 ? undefined : { from: "-4001", to: "-1009000000001" },
      );
      expect(pollHistories.get("default")?.chain).toEqual(
        version < 6 ? undefined : { height: 9_007_199_254_740_993n, advancedAtMs: 1_795_262_970_310 },
      );
      store.save(store.load());
      store.close();
    }
    expect(userVersion(file)).toEqual([{ user_version: WATCHDOG_MIGRATIONS.length }]);
  });

  it.each(versionsOf(RELAYER_MIGRATIONS))(
    "the relayer opens version %i with its content",
    async (version) => {
      const file = join(folder, RELAYER_FILE);
      copyFileSync(fixtureFile(`state/relayer-${version}.sqlite`), file);
      expect(userVersion(file)).toEqual([{ user_version: version }]);
      for (const time of ["first", "second"]) {
        const store = await openTestStore(folder);
        const { journal } = store;
        expect([time, journal.searchedTo(3n)]).toEqual([time, 9_007_199_254_740_993n]);
        expect(journal.isHandled(3n, "aa")).toBe(true);
        expect(journal.deadLetters()).toEqual([
          { queryId: 3n, hash: "bb", remoteHeight: 9n, reason: "no", atMs: 5 },
        ]);
        // Versions 0 to 2 kept the height of the local chain only.
        expect(journal.knownBlock(LOCAL_CHAIN)).toEqual({
          height: 9_007_199_254_740_999n,
          hash: version < 3 ? "" : "AB",
        });
        expect(journal.sending()).toEqual(
          version < 3
            ? []
            : [{ queryId: 3n, hash: "cd", remoteHeight: 9_007_199_254_740_994n, localHeight: 8n }],
        );
        expect(await store.attempts.find({ limit: 9 })).toHaveLength(version < 2 ? 0 : 1);
        expect(await store.attempts.costs({ from: 0, to: 9 })).toEqual(
          version < 2
            ? []
            : [
                {
                  day: 0,
                  owner: "neutron1owner",
                  attempts: 1,
                  included: 0,
                  gas: 90_000n,
                  fee: 12_345_678_901_234_567_890_123n,
                },
              ],
        );
        const ledger = createCostLedger({
          chainId: "local-1",
          payer: "neutron1payer",
          store,
          sharing: () => [],
          nowMs: () => 0,
        });
        // Costs by query and the time line of problems begin with version 5.
        expect([await ledger.sinceMs(), await ledger.byQuery(SPANS.day, 0)]).toEqual(
          version < 5 ? [undefined, []] : [1_795_262_970_310, [COSTS]],
        );
        expect(await ledger.sinceHeight()).toBe(version < 6 ? undefined : 9_007_199_254_740_990n);
        expect(await ledger.newestHeight()).toBe(version < 5 ? undefined : 9_007_199_254_740_999n);
        const timeline = createProblemTimeline({
          chainId: "local-1",
          account: "neutron1signer",
          store,
          nowMs: () => 0,
        });
        await timeline.load();
        expect([timeline.runs(), timeline.problems()]).toEqual(version < 5 ? [[], []] : [[RUN], [PROBLEM]]);
        await store.close();
      }
      expect(userVersion(file)).toEqual([{ user_version: RELAYER_MIGRATIONS.length }]);
    },
  );

  it("attempts that version 3 called lost were not broadcast", async () => {
    const file = join(folder, RELAYER_FILE);
    copyFileSync(fixtureFile("state/relayer-3.sqlite"), file);
    const database = new Database(file);
    database.exec("INSERT INTO attempts SELECT * FROM attempts");
    database.exec("UPDATE attempts SET outcome = 'lost' WHERE rowid = 1");
    database.close();
    const store = await openTestStore(folder);
    const found = await store.attempts.find({ limit: 9 });
    expect(found.map(({ outcome }) => outcome).toSorted()).toEqual(["not-broadcast", "rejected"]);
    expect(await store.attempts.find({ limit: 9, outcome: "not-broadcast" })).toHaveLength(1);
    await store.close();
  });
});

describe("a store of a newer program", () => {
  it("is refused with both versions, and stays as it is", async () => {
    await (await openTestStore(folder)).close();
    const newer = RELAYER_MIGRATIONS.length + 1;
    const database = new Database(join(folder, RELAYER_FILE));
    database.exec(`CREATE TABLE of_tomorrow (id INTEGER); PRAGMA user_version = ${newer};`);
    database.close();
    const before = readFileSync(join(folder, RELAYER_FILE));
    await expect(openTestStore(folder)).rejects.toThrow(RelayError);
    await expect(openTestStore(folder)).rejects.toThrow(
      `it was written by a newer relaywatch (format ${newer}, but this version supports at most format ${newer - 1}); use that relaywatch, or another state_dir`,
    );
    expect(readFileSync(join(folder, RELAYER_FILE))).toEqual(before);
  });
});

describe("migrateSchema", () => {
  it("changes nothing when a migration fails", () => {
    const database = new Database(":memory:");
    migrateSchema(database, ["CREATE TABLE a (id INTEGER);"]);
    const broken = [
      "CREATE TABLE a (id INTEGER);",
      "CREATE TABLE b (id INTEGER); CREATE TABLE b (id INTEGER);",
    ];
    expect(() => migrateSchema(database, broken)).toThrow(/already exists/);
    expect(database.pragma("user_version")).toEqual([{ user_version: 1 }]);
    migrateSchema(database, ["", "CREATE TABLE b (id INTEGER);"]);
    expect(database.pragma("user_version")).toEqual([{ user_version: 2 }]);
    expect(() => migrateSchema(database, [""])).toThrow(NewerSchemaError);
    database.close();
  });
});
