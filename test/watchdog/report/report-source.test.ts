import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWatchdogReports } from "../../../src/watchdog/report/report-source.ts";
import type { PastAlert } from "../../../src/watchdog/alerts/alert-state.ts";
import { type LedgerFile, openLedgerFile } from "../../../src/watchdog/state/sqlite-state.ts";
import type { WatchdogStatus } from "../../../src/watchdog/polling/watchdog-status.ts";
import { alertState, buildValidator, SCENE_MS } from "../../support/pages/watchdog-scenes.ts";
import { sampleValidators } from "../../support/report/sample-months.ts";
import { writeSampleStore } from "../../support/report/sample-store.ts";
import { pendingAlert } from "../../../src/watchdog/report/validator-data.ts";

const HOUR = 3_600_000;
const [DATA = expect.unreachable("no validator")] = sampleValidators(1, 2, SCENE_MS);
const NAME = DATA.ledger.validator;

let folder: string;
/** The disk of the state file fails. */
let isBroken: boolean;
let opened: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-source-"));
  writeSampleStore(folder, [DATA]);
  [isBroken, opened] = [false, 0];
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Opens the file. A connection that was open while the disk failed never works again. */
function open(directory: string): LedgerFile {
  const file = openLedgerFile(directory);
  opened += 1;
  let wasBroken = false;
  const view: LedgerFile["view"] = (validator) => {
    wasBroken ||= isBroken;
    if (wasBroken) throw new Error("disk I/O error");
    return file.view(validator);
  };
  return { ...file, view };
}

/** A watchdog that has three hours in memory, and older ones in its state file. */
function reportsOf(status: Partial<WatchdogStatus> = {}, history: readonly PastAlert[] = []) {
  const recent = (fromMs: number, toMs: number) =>
    DATA.ledger.hours(Math.max(fromMs, SCENE_MS - 3 * HOUR), toMs);
  const built = buildValidator({ name: NAME, status }).status;
  const watchdog = {
    status: () => built,
    statuses: () => [built],
    ledger: () => ({ ...DATA.ledger, hours: recent }),
    alertHistory: () => history,
  };
  const reports = createWatchdogReports(
    () => watchdog,
    folder,
    () => SCENE_MS,
    open,
  );
  const count = (hours: number) => reports.ledger(NAME)?.hours(SCENE_MS - hours * HOUR, SCENE_MS).length;
  return { reports, count };
}

describe("the counts of reports", () => {
  it("are those in memory, and older ones of the state file", () => {
    const { reports, count } = reportsOf();
    expect([count(2), opened]).toEqual([2, 0]);
    expect([count(10), opened]).toEqual([10, 1]);
    reports.close();
  });

  it("need the file for what is older, until it can be read by a new connection", () => {
    const { reports, count } = reportsOf();
    expect(count(10)).toBe(10);
    isBroken = true;
    expect(() => count(10)).toThrow("disk I/O error");
    expect(count(2)).toBe(2);
    isBroken = false;
    expect([count(10), opened]).toEqual([10, 2]);
    reports.close();
  });

  it("are those in memory while the watchdog says that its disk fails", () => {
    const { reports, count } = reportsOf({ storeProblem: "the state is not stored" });
    isBroken = true;
    expect(count(10)).toBe(3);
    expect(reports.storeProblem()).toBe("the state is not stored");
    isBroken = false;
    expect(count(10)).toBe(10);
    reports.close();
  });
});

it("the last poll's reason, and why an alert does not notify now, are of one that fires", () => {
  const past: PastAlert = {
    validator: NAME,
    alert: "sidecar-down",
    severity: "critical",
    title: "Sidecar down",
    sinceMs: SCENE_MS - HOUR,
    firedAtMs: SCENE_MS - HOUR,
    reason: "because",
  };
  const { alerts } = buildValidator({
    alerts: [alertState("sidecar-down", "firing", { quietReason: "silenced by kim: x", reason: "two now" })],
  }).status;
  const episodeOf = (one: PastAlert) => reportsOf({ alerts }, [one]).reports.validators()[0]?.alerts[0];
  expect(episodeOf(past)).toMatchObject({
    alert: "sidecar-down",
    reason: "because",
    reasonNow: "two now",
    quietNow: "silenced by kim: x",
  });
  const over = episodeOf({ ...past, resolvedAtMs: SCENE_MS - 1 });
  expect(over).toMatchObject({ reason: "because" });
  for (const name of ["reasonNow", "quietNow"]) expect(over).not.toHaveProperty(name);
});

it("a pending alert is read with all that a report says of it, and without `inhibits` from an older watchdog", () => {
  const alert = { alert: "a", title: "A", severity: "critical", sinceMs: 1, reason: "r" };
  expect(pendingAlert.parse({ ...alert, inhibits: ["b"] })).toEqual({ ...alert, inhibits: ["b"] });
  expect(pendingAlert.parse(alert)).toEqual({ ...alert, inhibits: [] });
});
