import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTask, setLogger } from "node-cron";
import { z } from "zod";
import { DAY_MS, HOUR_MS, isoTime, MINUTE_MS } from "../../platform/base/time.ts";
import { pause, untilAborted, withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { monthOf, monthsBefore, monthStartMs } from "../../platform/base/month.ts";
import { createPrivateDirectory } from "../../platform/process/private-file.ts";
import type { Service } from "../../platform/base/service.ts";
import { backoffMs } from "../../platform/base/waits.ts";
import type { Report } from "../../platform/report/document.ts";
import { FILE_ENDINGS, renderReport } from "../../platform/report/render/render-report.ts";
import { type ChannelConfig, createChannel } from "../notify/channels/channel-kinds.ts";
import type { Channel, ChannelDeps } from "../notify/channels/channel.ts";
import { safeText } from "../notify/channels/transport.ts";
import type { ReportsConfig } from "./reports-config.ts";
import { handoverReport } from "./handover.ts";
import { monthCloseReport, monthReport } from "./month-report.ts";
import type { ValidatorData } from "./validator-data.ts";

export interface ReportServiceDeps extends ChannelDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly validators: () => readonly ValidatorData[];
}

/** The retry delays for reports that could not be completed. */
const RETRY = { minMs: 30_000, baseMs: 60_000, maxMs: 1_800_000 };

/** Maximum number of attempts to complete a report, which take about two days in total. */
const MAX_TRIES = 100;

/**
 * Creates the service that writes and sends the scheduled reports. Failed deliveries are repeated with backoff. Successful
 * deliveries are recorded next to the files, so that a restart does not repeat them. If a report was due while the watchdog was not
 * running, the report is created at the next start. If the process or its machine was suspended, the report is created as soon as
 * the process resumes.
 */
export function createReportService(
  config: ReportsConfig,
  channels: readonly ChannelConfig[],
  deps: ReportServiceDeps,
): Service {
  const { logger } = deps;
  const run = async (signal: AbortSignal): Promise<void> => {
    // Silence the cron library, which writes messages to the console by default.
    setLogger({
      info: () => {},
      debug: () => {},
      warn: () => {},
      error: (text) => logger.error("schedule", { reason: errorText(text) }),
    });
    const publish = createPublisher(config, channels, deps);
    const running = new Set<Promise<void>>();
    const start = (kind: ScheduleKind, dueAtMs: number): void => {
      const work = publishUntilDone(() => publish(kind, dueAtMs, signal), deps, signal);
      running.add(work);
      void work.finally(() => running.delete(work));
    };
    const tasks = schedulesOf(config).map(([kind, expression]) => {
      const task = createTask(expression, () => start(kind, deps.clock.nowMs()), { timezone: "UTC" });
      // If several scheduled times were missed, create only one report, for the latest time.
      let missed: Date | undefined;
      task.on("execution:missed", async ({ date }) => {
        missed = date;
        await Promise.resolve();
        if (missed !== date) return;
        logger.warn("missed report is made up", { kind, due: isoTime(date.getTime()) });
        start(kind, date.getTime());
      });
      return { kind, task };
    });
    for (const { kind, task } of tasks) {
      await task.start();
      const dueAtMs = missedBefore(kind, task, config.directory, deps.clock.nowMs());
      if (dueAtMs !== undefined) start(kind, dueAtMs);
    }
    await untilAborted(signal);
    for (const { task } of tasks) await task.destroy();
    await Promise.all(running);
  };
  return { name: "oracle-watchdog reports", run };
}

/**
 * Returns the scheduled time of a report that may have been missed while the watchdog was not running. The delivery log prevents a
 * second delivery. Returns undefined if no folder is configured, because past deliveries are then unknown. Also returns undefined
 * for daily reports before the first delivery.
 */
function missedBefore(
  kind: ScheduleKind,
  schedule: { readonly match: (date: Date) => boolean },
  directory: string | undefined,
  nowMs: number,
): number | undefined {
  if (directory === undefined) return undefined;
  if (kind === "monthly") return nowMs;
  if (!existsSync(join(directory, FILE))) return undefined;
  const minuteMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  for (let atMs = minuteMs; atMs > nowMs - DAY_MS; atMs -= MINUTE_MS)
    if (schedule.match(new Date(atMs))) return atMs;
  return undefined;
}

function schedulesOf({ dailyAt, monthlyAt }: ReportsConfig): readonly (readonly [ScheduleKind, string])[] {
  return [
    ...(dailyAt === undefined ? [] : [["daily", dailyAt] as const]),
    ...(monthlyAt === undefined ? [] : [["monthly", monthlyAt] as const]),
  ];
}

/** Calls `publish` until all reports have been sent, but at most {@link MAX_TRIES} times. Never rejects. */
async function publishUntilDone(
  publish: () => Promise<boolean>,
  { clock, random, logger }: ReportServiceDeps,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 1; !signal.aborted; tries++) {
    try {
      if (await publish()) return;
    } catch (error) {
      if (signal.aborted) return;
      logger.error("report failed", { reason: errorText(error) });
    }
    if (tries === MAX_TRIES) {
      logger.error("report given up", { tries });
      return;
    }
    await pause(backoffMs(tries, RETRY, random), clock, signal);
  }
}

/**
 * Returns a function that creates the due reports and delivers them. The function resolves with true if reports were due and all
 * were delivered.
 */
export function createPublisher(
  config: ReportsConfig,
  channels: readonly ChannelConfig[],
  deps: ReportServiceDeps,
): (kind: ScheduleKind, dueAtMs: number, signal: AbortSignal) => Promise<boolean> {
  const log = openDeliveredLog(config.directory);
  const own = channels
    .filter(({ name }) => config.channels.includes(name))
    .map((channel) => createChannel(channel, deps));
  const writeFiles = ({ id, report }: DueReport): void => {
    const { directory } = config;
    if (directory === undefined || log.has(id, "file")) return;
    for (const format of config.formats)
      writeDurably(join(directory, `${id}.${FILE_ENDINGS[format]}`), renderReport(report, format));
    log.note(id, "file", deps.clock.nowMs());
    deps.logger.info("report written", { report: id });
  };
  const send = async (due: DueReport, channel: Channel, signal: AbortSignal): Promise<boolean> => {
    const { id, report } = due;
    if (log.has(id, channel.name)) return true;
    const message = { id, subject: report.title, text: renderReport(report, "text") };
    try {
      await withDeadline(`channel ${channel.name}`, channel.deadlineMs, signal, async (inner) =>
        channel.sendReport?.(message, inner),
      );
    } catch (error) {
      signal.throwIfAborted();
      deps.logger.warn("report not delivered", {
        report: id,
        channel: channel.name,
        reason: safeText(error),
      });
      return false;
    }
    log.note(id, channel.name, deps.clock.nowMs());
    deps.logger.info("report delivered", { report: id, channel: channel.name });
    return true;
  };
  return async (kind, dueAtMs, signal) => {
    const reports = dueReports(kind, dueAtMs, deps.validators(), deps.clock.nowMs());
    let isDone = reports.length > 0;
    for (const due of reports) {
      writeFiles(due);
      for (const channel of own) isDone = (await send(due, channel, signal)) && isDone;
    }
    return isDone;
  };
}

type ScheduleKind = "daily" | "monthly";

/** A report that is due, and the id that names its files. */
interface DueReport {
  /** The kind of report and its day or month, such as "handover-2026-11-02" or "month-close-2026-10". */
  readonly id: string;
  readonly report: Report;
}

/** Maximum time to wait for a month to be finalized. After this time, the month's reports state that the month is still open. */
const FINALIZE_WAIT_MS = 6 * HOUR_MS;

/**
 * Returns a schedule's reports that were due at a given time. Monthly reports wait up to six hours for the month to be finalized.
 */
export function dueReports(
  kind: ScheduleKind,
  dueAtMs: number,
  validators: readonly ValidatorData[],
  nowMs: number,
): readonly DueReport[] {
  if (validators.length === 0) return [];
  if (kind === "daily") {
    const report = handoverReport(validators, { fromMs: dueAtMs - DAY_MS, toMs: dueAtMs });
    return [{ id: `handover-${isoTime(dueAtMs).slice(0, 10)}`, report }];
  }
  const [month = ""] = monthsBefore(monthOf(dueAtMs), 1);
  const records = validators.flatMap(({ ledger }) => ledger.months().filter((one) => one.month === month));
  if (records.length === 0) return [];
  const isOpen = records.some(({ finalized }) => finalized === undefined);
  if (isOpen && nowMs - monthStartMs(monthOf(dueAtMs)) < FINALIZE_WAIT_MS) return [];
  return [
    { id: `oracle-${month}`, report: monthReport(validators, month) },
    { id: `month-close-${month}`, report: monthCloseReport(validators, month) },
  ];
}

const stored = z.record(z.string(), z.number());

/** Maximum number of entries in the delivery log. The oldest entries are dropped. */
const MAX_ENTRIES = 1000;

const FILE = "delivered.json";

/**
 * Opens the delivery log, which prevents restarts from repeating or losing reports. `place` is "file" or a channel name. Without a
 * folder, the log is only in memory. If the file is unreadable, the log is initially empty, and reports are sent again.
 */
function openDeliveredLog(directory: string | undefined) {
  const path = directory === undefined ? undefined : join(directory, FILE);
  let entries = path === undefined ? {} : readEntries(path);
  return {
    has: (report: string, place: string): boolean => Object.hasOwn(entries, `${report} ${place}`),
    /** Records a delivery, and writes the log to disk before returning. */
    note: (report: string, place: string, atMs: number): void => {
      const all = Object.entries({ ...entries, [`${report} ${place}`]: atMs });
      entries = Object.fromEntries(all.toSorted(([, a], [, b]) => a - b).slice(-MAX_ENTRIES));
      if (path !== undefined) writeDurably(path, JSON.stringify(entries, null, 2));
    },
  };
}

function readEntries(path: string): Readonly<Record<string, number>> {
  try {
    return stored.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return {};
  }
}

/** Writes a file atomically, so that the file contains either the old or the new content after a crash. Creates a missing folder. */
function writeDurably(path: string, text: string): void {
  createPrivateDirectory(dirname(path));
  const temporary = `${path}.tmp`;
  const file = openSync(temporary, "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}
