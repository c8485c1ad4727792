import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AlertEvent } from "../../../src/watchdog/notify/alert-event.ts";
import { MIGRATIONS } from "../../../src/watchdog/state/schema.ts";
import { openSqliteState, STATE_FILE } from "../../../src/watchdog/state/sqlite-state.ts";
import { EMPTY_STATE, type WatchdogState } from "../../../src/watchdog/state/state-store.ts";
import { fileModes } from "../../support/file-modes.ts";

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
  cost: { blocks: 9_007_199_254_740_993n, pay: "1.00 USD" },
};

const FULL: WatchdogState = {
  ledger: {
    baseline: {
      chainId: "c-1",
      success: 9_007_199_254_740_991n,
      failure: 2n,
      height: 9_007_199_254_740_993n,
      processStartMs: 1_795_262_370_310,
      atMs: 1_795_262_970_310,
    },
    months: new Map([
      ["2026-10", { good: 1n, bad: 2n, unknown: 3n }],
      ["2026-11", { good: 4n, bad: 5n, unknown: 6n }],
    ]),
  },
  alerting: {
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
        badBlocksBefore: 9_007_199_254_740_993n,
        quietAtMs: 4,
        quietReason: "muted by sidecar-down",
        notified: { reminders: 2, badness: 0.25, event: FIRING },
      },
      {
        validator: "another",
        alert: "another-alert",
        phase: "resolved",
        sinceMs: 3,
        lastActiveMs: 4,
        resolvedAtMs: 5,
        reason: "",
        badBlocksBefore: 0n,
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
    second.save({ ...EMPTY_STATE, ledger: { months: FULL.ledger.months } });
    expect(second.load()).toEqual({ ...EMPTY_STATE, ledger: { months: FULL.ledger.months } });
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

  it("rejects the file of a later version, and unlocks the folder", () => {
    openSqliteState(folder).close();
    const database = new Database(join(folder, STATE_FILE));
    database.pragma(`user_version = ${MIGRATIONS.length + 1}`);
    database.close();
    const attempt = () => openSqliteState(folder);
    const text = `a newer relaywatch wrote it (it has format ${MIGRATIONS.length + 1}, but this program supports at most format ${MIGRATIONS.length})`;
    expect(attempt).toThrow(`${text}; check state_dir`);
    expect(attempt).toThrow(text);
  });

  it("reports a folder that cannot be created", () => {
    expect(() => openSqliteState("/dev/null/state")).toThrow(
      /^the state in \/dev\/null\/state cannot be used: .*check state_dir$/,
    );
  });
});
