import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toNotice } from "../../../src/watchdog/notify/notification.ts";
import { openSqliteState, STATE_FILE } from "../../../src/watchdog/state/sqlite-state.ts";
import { EMPTY_STATE, type WatchdogState } from "../../../src/watchdog/state/state-store.ts";

const NOTICE = toNotice({
  status: "firing",
  chainId: "c-1",
  sinceMs: 1,
  atMs: 400_001,
  detail: 'a "quoted" detail',
});

const FULL: WatchdogState = {
  ledger: {
    mark: {
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
  alert: { phase: "firing", sinceMs: 1, seenMs: 2, reason: "nothing there" },
  notices: [NOTICE, { ...NOTICE, id: "second", status: "resolved" }],
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-state-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("openSqliteState", () => {
  it("begins empty", () => {
    const store = openSqliteState(join(folder, "new", "folder"));
    expect(store.load()).toEqual(EMPTY_STATE);
    store.close();
  });

  it("gives back what was saved last, in a new process too", () => {
    const first = openSqliteState(folder);
    first.save(FULL);
    expect(first.load()).toEqual(FULL);
    first.save({ ...FULL, notices: FULL.notices.slice(1) });
    first.close();
    const second = openSqliteState(folder);
    expect(second.load()).toEqual({ ...FULL, notices: FULL.notices.slice(1) });
    second.save({ ledger: { months: FULL.ledger.months }, alert: { phase: "inactive" }, notices: [] });
    expect(second.load()).toEqual({ ...EMPTY_STATE, ledger: { months: FULL.ledger.months } });
    second.close();
  });

  it("has everything on disk as soon as save has returned: what a killed process leaves is enough", () => {
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

  it("refuses the file of a later version, and lets go of the folder then", () => {
    openSqliteState(folder).close();
    const database = new Database(join(folder, STATE_FILE));
    database.pragma("user_version = 2");
    database.close();
    const attempt = () => openSqliteState(folder);
    expect(attempt).toThrow("it is of format 2, and this program knows format 1; check state_dir");
    expect(attempt).toThrow("format 2");
  });

  it("names a folder that cannot be made", () => {
    expect(() => openSqliteState("/dev/null/state")).toThrow(
      /^the state in \/dev\/null\/state cannot be used: .*check state_dir$/,
    );
  });
});
