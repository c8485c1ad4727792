import { join } from "node:path";
import { createTask, setLogger } from "node-cron";
import { pause, untilAborted, withDeadline } from "../../../platform/base/abort.ts";
import { backoffMs } from "../../../platform/base/waits.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { errorText } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import type { Service } from "../../../platform/base/service.ts";
import type { Channel, ChannelDeps } from "../../notify/channels/channel.ts";
import { type ChannelConfig, createChannel } from "../../notify/channels/channel-kinds.ts";
import { safeText } from "../../notify/channels/transport.ts";
import type { ReportsConfig } from "../../reports-config.ts";
import type { ValidatorData } from "../validator-data.ts";
import { FILE_ENDINGS, renderReport } from "../../../platform/report/render/render-report.ts";
import { openDeliveredLog, writeDurably } from "./delivered-log.ts";
import { type DueReport, dueReports, type ScheduleKind } from "./scheduled-reports.ts";

export interface ReportServiceDeps extends ChannelDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly validators: () => readonly ValidatorData[];
}

/** Time until a report that is not complete is tried again. */
const RETRY = { minMs: 30_000, baseMs: 60_000, maxMs: 1_800_000 };

/** Tries until a report is given up: about two days. */
const MAX_TRIES = 100;

/**
 * Creates the service that writes and sends the scheduled reports. A delivery that fails is repeated with backoff. What was
 * delivered is noted beside the files, so that a restart repeats nothing; a monthly report that was missed because the
 * watchdog did not run is made up for at its start.
 */
export function createReportService(
  config: ReportsConfig,
  channels: readonly ChannelConfig[],
  deps: ReportServiceDeps,
): Service {
  const { logger } = deps;
  const run = async (signal: AbortSignal): Promise<void> => {
    // Its own messages would go to the console.
    setLogger({
      info: () => {},
      debug: () => {},
      warn: () => {},
      error: (text) => logger.error("schedule", { reason: errorText(text) }),
    });
    const publish = createPublisher(config, channels, deps);
    const running = new Set<Promise<void>>();
    const start = (kind: ScheduleKind): void => {
      const dueAtMs = deps.clock.nowMs();
      const work = publishUntilDone(() => publish(kind, dueAtMs, signal), deps, signal);
      running.add(work);
      void work.finally(() => running.delete(work));
    };
    const tasks = schedulesOf(config).map(([kind, expression]) =>
      createTask(expression, () => start(kind), { timezone: "UTC", suppressMissedWarning: true }),
    );
    for (const task of tasks) await task.start();
    // Without a folder nobody knows what was delivered before.
    if (config.monthlyAt !== undefined && config.directory !== undefined) start("monthly");
    await untilAborted(signal);
    for (const task of tasks) await task.destroy();
    await Promise.all(running);
  };
  return { name: "oracle-watchdog reports", run };
}

function schedulesOf({ dailyAt, monthlyAt }: ReportsConfig): readonly (readonly [ScheduleKind, string])[] {
  return [
    ...(dailyAt === undefined ? [] : [["daily", dailyAt] as const]),
    ...(monthlyAt === undefined ? [] : [["monthly", monthlyAt] as const]),
  ];
}

/** Calls `publish` until everything went out. Never rejects. */
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

/** Returns a function that creates the due reports and delivers what is not delivered yet. It returns whether all is. */
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
