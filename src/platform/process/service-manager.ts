import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { onAbort } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { errorMessage } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";

export interface ServiceState {
  /** True once startup is complete, even if a chain or a node goes down later. */
  readonly isStarted: boolean;
  /** True if `GET /livez` succeeds. */
  readonly isAlive: boolean;
  /** One-line status for `systemctl status`. */
  readonly text: string;
}

/** The service manager that started this process, which is systemd for a unit with `Type=notify`. */
export interface ServiceManager {
  /** Sends assignments such as "READY=1" to the service manager, and rejects if sending fails. */
  readonly send: (assignments: readonly string[], signal: AbortSignal) => Promise<void>;
  /** Time in ms after which the manager kills a process that sends no keep-alive; undefined if the manager never does. */
  readonly watchdogMs: number | undefined;
}

/** Time limit for the program `systemd-notify` to send one notification. */
const SEND_MS = 10_000;

/**
 * Returns the service manager that environment variables describe, if any (`NOTIFY_SOCKET`, `WATCHDOG_USEC`, see sd_notify(3)).
 * Notifications are sent by the program `systemd-notify`, because Node has no Unix datagram sockets, so the unit needs
 * `NotifyAccess=all`.
 */
export function serviceManagerOf(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): ServiceManager | undefined {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID, PATH } = environment;
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === "") return undefined;
  const watchdogMs = Number(WATCHDOG_USEC ?? "0") / 1_000;
  const isMeant = WATCHDOG_PID === undefined || WATCHDOG_PID === "" || WATCHDOG_PID === String(pid);
  return {
    watchdogMs: isMeant && watchdogMs > 0 ? watchdogMs : undefined,
    send: async (assignments, signal) => {
      const env = { NOTIFY_SOCKET, ...(PATH === undefined ? {} : { PATH }) };
      const options = { env, signal, timeout: SEND_MS };
      await promisify(execFile)("systemd-notify", [...assignments], options);
    },
  };
}

/** Interval between checks of the daemon's state until startup is complete. */
const STARTING_MS = 500;
/** Maximum time between two signs of life. */
const PING_MS = 30_000;
/** Minimum time between updates that change only the status text. */
const TEXT_MS = 2_000;
/** Time by which each keep-alive extends the startup timeout. */
const START_EXTENSION_MS = 120_000;

interface NotifierDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Tells the service manager when startup is complete and, until `signal` aborts, that the daemon makes progress. If progress stops,
 * so do the keep-alives, and the manager restarts the process after `WatchdogSec` or, during startup, after the startup timeout.
 */
export async function runServiceNotifier(
  manager: ServiceManager,
  state: () => ServiceState,
  { clock, logger }: NotifierDeps,
  signal: AbortSignal,
): Promise<void> {
  const pingMs = Math.min(PING_MS, (manager.watchdogMs ?? PING_MS * 4) / 4);
  let isReady = false;
  let lastPingMs = Number.NEGATIVE_INFINITY;
  let lastText = "";
  let failure: string | undefined;
  const send = async (assignments: readonly string[]): Promise<void> => {
    try {
      await manager.send(assignments, signal);
      if (failure !== undefined) logger.info("the service manager is notified again");
      failure = undefined;
    } catch (error) {
      signal.throwIfAborted();
      const reason = errorMessage(error);
      if (failure === undefined) logger.error("the service manager cannot be notified", { reason });
      failure = reason;
    }
  };
  const step = async (): Promise<void> => {
    const { isStarted, isAlive, text } = state();
    const becomesReady = isStarted && !isReady;
    const sincePingMs = clock.monotonicMs() - lastPingMs;
    const isDue = sincePingMs >= pingMs || (text !== lastText && sincePingMs >= TEXT_MS);
    if (!becomesReady && !isDue) return;
    const life = isReady || becomesReady ? "WATCHDOG=1" : `EXTEND_TIMEOUT_USEC=${START_EXTENSION_MS * 1_000}`;
    await send([
      ...(becomesReady ? ["READY=1"] : []),
      ...(isAlive ? [life] : []),
      `STATUS=${text.replaceAll("\n", "; ")}`,
    ]);
    if (failure === undefined) isReady ||= becomesReady;
    [lastPingMs, lastText] = [clock.monotonicMs(), text];
  };
  while (!signal.aborted) {
    await step();
    await clock.sleep(Math.min(STARTING_MS, pingMs), signal);
  }
}

/**
 * Runs a daemon and reports its state to the service manager, if there is one, until the daemon ends. Rejects if `work` rejects.
 * When the context's signal aborts, tells the manager that the process is stopping.
 */
export async function withServiceManager(
  manager: ServiceManager | undefined,
  state: () => ServiceState,
  context: NotifierDeps & { readonly signal: AbortSignal },
  work: () => Promise<void>,
): Promise<void> {
  if (manager === undefined) return work();
  const end = new AbortController();
  const unwatch = onAbort(context.signal, (reason) => {
    end.abort(reason);
    const { text } = state();
    const stopping = ["STOPPING=1", `STATUS=stopping; before: ${text.replaceAll("\n", "; ")}`];
    // Don't wait for this message: if the process ends first, the manager notices the exit by itself.
    manager.send(stopping, AbortSignal.timeout(SEND_MS)).catch(() => {});
  });
  const notifying = runServiceNotifier(manager, state, context, end.signal).catch(() => {});
  try {
    await work();
  } finally {
    unwatch();
    end.abort(new Error("the daemon has ended"));
    await notifying;
  }
}
