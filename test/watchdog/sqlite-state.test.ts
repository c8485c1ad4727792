import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AlertEvent } from "../../src/watchdog/alerts/alert-event.ts";
import { MIGRATIONS } from "../../src/watchdog/state/schema.ts";
import { openSqliteState, STATE_FILE } from "../../src/watchdog/state/sqlite-state.ts";
import type { Payment } from "../../src/watchdog/sources/payment-result.ts";
import { EMPTY_STATE, type WatchdogState } from "../../src/watchdog/state/state-store.ts";
import { EMPTY_HISTORY } from "../../src/watchdog/conditions/poll-history.ts";
import { FULL_HISTORY as HISTORY, FULL_LEDGER as LEDGER } from "../support/watchdog/full-state.ts";
import { fileModes } from "../support/file-modes.ts";

const FIRING: AlertEvent = {
  id: "c-1/default/all-prices-missing/1/firing",
  key: "c-1/default/all-prices-missing",
  alert: "all-prices-missing",
  kind: "firing",
  severity: "critical",
  validator: "default",
  chainId: "c-1",
  title: "All prices missing",
  sinceMs: 1,
  atMs: 400_001,
  reason: 'a "quoted" detail',
  description: "d",
  action: "a",
  impact: "i",
  runbook: "r",
  cost: { blocks: 9_007_199_254_740_993n, allowed: 2_651n, payCents: 100n, currency: "USD" },
};

const MISSING: Payment = { month: "2026-09", outcome: "missing", searchedMs: 1, height: 2n, timeMs: 3 };

/** A payment with every field. */
const PAID: Payment = {
  month: "2026-10",
  outcome: "paid",
  searchedMs: 1,
  height: 9_007_199_254_740_993n,
  timeMs: 2,
  txHash: "AB",
  amount: { amount: 10n ** 30n, denom: "untrn" },
  display: { name: "NTRN", exponent: 6 },
  expected: 10n ** 30n + 1n,
  byChain: 3n,
  counts: { blocks: 4n, votes: 5n, inActiveSet: 6n, totalBlocks: 7n },
  note: "a note",
};

const FULL: WatchdogState = {
  moves: new Map([["telegram", { from: "-1", to: "-2" }]]),
  payments: new Map([
    ["one", [MISSING, PAID]],
    ["two", [PAID]],
  ]),
  ledgers: new Map([
    ["one", LEDGER],
    ["two", { ...LEDGER, chainId: "c-2" }],
  ]),
  pollHistories: new Map([
    ["one", HISTORY],
    ["two", EMPTY_HISTORY],
  ]),
  alerting: {
    history: [
      {
        validator: "default",
        alert: "sidecar-down",
        severity: "critical",
        title: "Sidecar down",
        sinceMs: 1,
        firedAtMs: 2,
        resolvedAtMs: 3,
        reason: "refused",
      },
      {
        validator: "default",
        alert: "sidecar-down",
        severity: "critical",
        title: "Sidecar down",
        sinceMs: 4,
        firedAtMs: 5,
        reason: "refused again",
        acknowledged: { author: "kim", note: "on it", atMs: 6 },
        quietReason: "silenced by me: test",
      },
    ],
    alerts: [
      {
        validator: "default",
        alert: "all-prices-missing",
        phase: "firing",
        sinceMs: 1,
        lastActiveMs: 2,
        clearSinceMs: 3,
        reason: "nothing there",
        badness: 0.5,
        quietReason: "muted by sidecar-down",
        notified: { reminders: 2, firstAtMs: 1, badness: 0.25, event: FIRING },
        acknowledged: { author: "kim", note: 'a "note"', atMs: 4 },
        escalation: { steps: 1, atMs: 5 },
      },
      {
        validator: "another",
        alert: "another-alert",
        phase: "resolved",
        sinceMs: 3,
        lastActiveMs: 4,
        resolvedAtMs: 5,
        reason: "",
      },
    ],
    silences: [
      {
        id: "s",
        alerts: ["sidecar-down"],
        validators: [],
        author: "me",
        reason: 'a "test"',
        startsAtMs: 1,
        endsAtMs: 2,
      },
    ],
    outbox: [
      { channel: "a", event: FIRING },
      { channel: "b", event: { ...FIRING, kind: "resolved", cost: { blocks: 1n } } },
    ],
  },
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-state-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("openSqliteState", () => {
  it("creates an empty state", () => {
    const store = openSqliteState(join(folder, "new", "folder"));
    expect(store.load()).toEqual(EMPTY_STATE);
    store.close();
  });

  it("creates a folder that only its user can read", () => {
    const own = join(folder, "new");
    const store = openSqliteState(own);
    store.save(FULL);
    const { ".": directory, ...files } = fileModes(own);
    expect(directory).toBe("700");
    expect(Object.keys(files)).toContain(STATE_FILE);
    expect(new Set(Object.values(files))).toEqual(new Set(["600"]));
    store.close();
  });

  it("loads the state that was saved last, also in a new process", () => {
    const first = openSqliteState(folder);
    first.save(FULL);
    expect(first.load()).toEqual(FULL);
    first.save({ ...FULL, alerting: { ...FULL.alerting, outbox: FULL.alerting.outbox.slice(1) } });
    first.close();
    const second = openSqliteState(folder);
    expect(second.load()).toEqual({
      ...FULL,
      alerting: { ...FULL.alerting, outbox: FULL.alerting.outbox.slice(1) },
    });
    // Ledgers, histories, payments and moves are never deleted.
    const { ledgers, pollHistories, payments = new Map(), moves = new Map() } = FULL;
    second.save({ ...EMPTY_STATE, ledgers, pollHistories, payments });
    expect(second.load()).toEqual({ ...EMPTY_STATE, ledgers, pollHistories, payments, moves });
    const again = new Map([["telegram", { from: "-1", to: "-3" }]]);
    second.save({ ...EMPTY_STATE, ledgers, pollHistories, payments, moves: again });
    expect(second.load().moves).toEqual(again);
    const found = { ...PAID, month: "2026-09", note: "found later" };
    const later = new Map([...payments, ["one", [found, PAID]] as const]);
    second.save({ ...EMPTY_STATE, ledgers, pollHistories, payments: later });
    expect(second.load().payments).toEqual(later);
    second.close();
  });

  it("has the complete state on disk when save returns, even when the process is killed then", () => {
    const store = openSqliteState(folder);
    store.save(FULL);
    const copy = mkdtempSync(join(tmpdir(), "relaywatch-left-"));
    for (const name of readdirSync(folder).filter(
      (one) => one.startsWith(STATE_FILE) && !one.endsWith("-shm"),
    ))
      copyFileSync(join(folder, name), join(copy, name));
    const after = openSqliteState(copy);
    expect(after.load()).toEqual(FULL);
    after.close();
    store.close();
    rmSync(copy, { recursive: true });
  });

  it("reads the alerts of a program that stored when a cause muted them", () => {
    const store = openSqliteState(folder);
    store.load();
    store.save(FULL);
    store.close();
    const database = new Database(join(folder, STATE_FILE));
    database.exec("UPDATE alert_states SET body = json_set(body, '$.mutedAtMs', 4)");
    database.close();
    const again = openSqliteState(folder);
    expect(again.load()).toEqual(FULL);
    again.close();
  });

  it("deletes what a later state does not have", () => {
    const store = openSqliteState(folder);
    store.load();
    const { alerting } = FULL;
    store.save(FULL);
    const history = alerting.history.slice(1);
    store.save({ ...FULL, alerting: { ...alerting, history, silences: [] } });
    expect(store.load().alerting).toEqual({ ...alerting, history, silences: [] });
    store.close();
  });

  it("survives a power failure, and a save that failed leaves no transaction open", () => {
    let database: Database.Database | undefined;
    const store = openSqliteState(folder, (file, options) => (database = new Database(file, options)));
    expect(database?.pragma("synchronous", { simple: true })).toMatchObject({ synchronous: 2 });
    const broken = Object.defineProperty({ ...EMPTY_HISTORY }, "nodes", {
      get: () => {
        throw new Error("broken");
      },
    });
    expect(() => store.save({ ...FULL, pollHistories: new Map([["one", broken]]) })).toThrow("broken");
    expect(database?.inTransaction).toBe(false);
    store.save(FULL);
    expect(store.load()).toEqual(FULL);
    store.close();
  });

  it("rejects the file of a later version, and unlocks the folder", () => {
    openSqliteState(folder).close();
    const database = new Database(join(folder, STATE_FILE));
    database.pragma(`user_version = ${MIGRATIONS.length + 1}`);
    database.close();
    const attempt = () => openSqliteState(folder);
    const text = `it was written by a newer relaywatch (format ${MIGRATIONS.length + 1}, but this version supports at most format ${MIGRATIONS.length})`;
    expect(attempt).toThrow(`${text}; check state_dir`);
    expect(attempt).toThrow(text);
  });

  it("reports a folder that cannot be created", () => {
    expect(() => openSqliteState("/dev/null/state")).toThrow(
      /^the state in \/dev\/null\/state cannot be used: .*check state_dir$/,
    );
  });
});
