import { existsSync } from "node:fs";
import { join } from "node:path";
import { Registry } from "prom-client";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import { alertsSchema } from "../../../../src/watchdog/conditions/alerts-config.ts";
import { notifySchema } from "../../../../src/watchdog/notify/notify-config.ts";
import { reportsSchema } from "../../../../src/watchdog/report/reports-config.ts";
import { openLedgerFile, STATE_FILE } from "../../../../src/watchdog/state/sqlite-state.ts";
import { createWatchdog } from "../../../../src/watchdog/watchdog.ts";
import { createManualClock, type ManualClock } from "../../manual-clock.ts";
import type { MonthPlan } from "./plan.ts";
import { createReceiver, RECEIVER } from "./receiver.ts";
import { createMonthWorld, monthValidators } from "./world.ts";

/** A part of the month, played to a watchdog. */
export interface ReplayOptions {
  readonly plan: MonthPlan;
  readonly folder: string;
  readonly intervalMs: number;
}

/** A watchdog at work on the month. */
interface Session {
  readonly clock: ManualClock;
  /** Stops the watchdog as a signal does. */
  readonly stop: () => Promise<void>;
}

/** Starts the watchdog of the daemon at a time of the month. Its first poll has ended when this returns. */
async function startSession({ plan, folder, intervalMs }: ReplayOptions, atMs: number): Promise<Session> {
  const clock = createManualClock(atMs);
  const end = new AbortController();
  const watchdog = createWatchdog(
    {
      listen: { host: "127.0.0.1", port: 0 },
      stateDir: folder,
      intervalMs,
      limits: { deadlineMs: 60_000, maxPageBytes: 1_000_000 },
      validators: monthValidators(plan),
      alerts: alertsSchema.parse({}),
      notify: { ...notifySchema.parse({}), channels: [RECEIVER] },
      maintenance: [],
      reports: reportsSchema.parse({}),
    },
    {
      clock,
      registry: new Registry(),
      logger: silentLogger,
      random: () => 0.5,
      post: createReceiver(folder),
      reader: { read: createMonthWorld(plan, clock), close: async () => {} },
    },
  );
  const run = watchdog.run(end.signal);
  // A watchdog that ends early shows in `stop`; until then nobody waits for it.
  run.catch(() => {});
  await watchdog.ready;
  await clock.advance(0);
  return {
    clock,
    stop: async () => {
      end.abort(new Error("the session is over"));
      await run;
    },
  };
}

/** Time in which the notifications of the last poll are delivered. */
const DELIVERY_MS = 15_000;

/** Plays the month from a time to its end, with the restart of the watchdog that the plan has. */
export async function playMonth(options: ReplayOptions, fromMs: number): Promise<void> {
  const { plan } = options;
  const { fromMs: downMs, toMs: upMs } = plan.watchdogDown;
  if (fromMs < downMs) await (await playUntil(options, fromMs, downMs)).stop();
  const session = await playUntil(options, Math.max(fromMs, upMs), plan.endMs);
  await session.clock.advance(DELIVERY_MS);
  await session.stop();
}

/**
 * Time at which a killed replay continues: its last poll, since not every validator may have been saved in it. In the time
 * in which the plan stops the watchdog, its end.
 */
export function resumeMs({ plan, folder, intervalMs }: ReplayOptions): number {
  if (!existsSync(join(folder, STATE_FILE))) return plan.startMs;
  const file = openLedgerFile(folder);
  const times = file.validators().map((name) => file.checkpointMs(name) ?? 0);
  file.close();
  const lastMs = Math.max(plan.startMs, ...times);
  const { fromMs, toMs } = plan.watchdogDown;
  return lastMs < toMs && lastMs + intervalMs >= fromMs ? toMs : lastMs;
}

/** Plays the month from `fromMs` to `toMs`, or to the planned stop of the watchdog, and leaves the watchdog running. */
export async function playUntil(options: ReplayOptions, fromMs: number, toMs: number): Promise<Session> {
  const session = await startSession(options, fromMs);
  const { fromMs: stopMs } = options.plan.watchdogDown;
  await session.clock.runUntil(fromMs < stopMs ? Math.min(toMs, stopMs - 1) : toMs);
  return session;
}
