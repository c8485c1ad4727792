import { Gauge, type Registry } from "prom-client";
import { onAbort } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import { type Service, type ServiceError, supervise, throwFirst } from "../base/service.ts";
import type { ConfigReloads, ReloadPlan } from "../config/config-reloads.ts";
import type { DaemonContext } from "./daemon-context.ts";
import { createDeferred, type Deferred } from "./deferred.ts";
import type { MetricDefinition } from "./metrics.ts";

export interface ReloadStatus {
  /** Time of startup or of the last successful reload. */
  readonly successAtMs: number;
  /** Error of the last reload; undefined after a success. */
  readonly error: string | undefined;
  readonly failedAtMs: number | undefined;
  /** Keys that have changed in the file, but take effect only after the process restarts. */
  readonly needRestart: readonly string[];
}

/** Result of a reload, with keys as paths such as "gas.max_price". */
type ReloadResult =
  | ({ readonly ok: true } & Pick<ReloadPlan<unknown>, "services" | "live" | "needRestart">)
  | { readonly ok: false; readonly error: string };

export interface Reloader {
  readonly status: () => ReloadStatus;
  /**
   * Reloads the configuration. Resolves once the services have completed their first work with the new settings, or have failed and
   * will restart with the old settings. `by` names the requester in the log. With `isForced`, the file may lack settings in use.
   */
  readonly reload: (by: string, isForced?: boolean) => Promise<ReloadResult>;
}

/** A daemon's services, running with one configuration. */
export interface Generation {
  readonly services: readonly Service[];
  /** Resolves once all services have completed their first work. A reload is refused if a service fails before that. */
  readonly ready: Promise<unknown>;
  /** Releases the services' resources, such as the store, after the services have ended. */
  readonly close: () => Promise<void> | void;
}

/** Options for a daemon whose configuration can change. */
export interface ReloadableOptions<Config> {
  readonly config: Config;
  /** Plans reloads of the configuration; absent if the configuration is fixed. */
  readonly reloads?: ConfigReloads<Config> | undefined;
  /** Creates the services, without a `reloader` if the configuration is fixed. */
  readonly create: (config: Config, reloader: Reloader | undefined) => Promise<Generation> | Generation;
}

/** Time after a reload during which a service's error makes the daemon return to the old settings. */
const PROBATION_MS = 60_000;

/** Settings, and a promise that resolves once the services run with these settings. */
interface Settings<Config> {
  readonly config: Config;
  readonly applied: Deferred<void>;
  isApplied: boolean;
}

function toSettings<Config>(config: Config): Settings<Config> {
  return { config, applied: createDeferred(), isApplied: false };
}

/**
 * Runs a daemon's services until the context's signal aborts, and throws their first error. A reload stops the services as if the
 * process ended, and starts them with the new settings. If the services do not start or fail within a minute, they restart with the
 * previous settings, so a reload never ends the daemon.
 */
export async function runReloadable<Config>(
  options: ReloadableOptions<Config>,
  context: DaemonContext,
): Promise<void> {
  const { clock, logger, signal } = context;
  let running: Settings<Config> = toSettings(options.config);
  let stop = new AbortController();
  let next: Settings<Config> | undefined;
  let undo: { readonly config: Config; readonly untilMs: number } | undefined;
  const restart = (config: Config): Promise<void> => {
    next = toSettings(config);
    stop.abort(new Error("the services restart with other settings"));
    return next.applied.promise;
  };
  const reloader = options.reloads && createReloader(options.reloads, restart, context);
  const unhang = reloader && context.onHangup?.(() => void reloader.reload("SIGHUP"));
  try {
    for (;;) {
      const unlink = onAbort(signal, (reason) => stop.abort(reason));
      const failed = await runGeneration(
        () => options.create(running.config, reloader),
        running,
        stop.signal,
        context,
      );
      unlink();
      if (signal.aborted) return throwFirst(failed === undefined ? [] : [failed]);
      stop = new AbortController();
      if (failed === undefined && next !== undefined) {
        undo = { config: running.config, untilMs: clock.monotonicMs() + PROBATION_MS };
        running = next;
        next = undefined;
        continue;
      }
      if (undo === undefined || clock.monotonicMs() >= undo.untilMs) throw failed?.error;
      logger.error("the services failed with the new settings; the previous ones apply again", { ...failed });
      // Don't log the error here: the caller that waits for the reload reports it.
      if (running.isApplied) reloader?.undone(failed?.error);
      else running.applied.reject(failed?.error);
      // If another reload was requested at the same time, start with that reload's settings, so that the request is not lost.
      running = next ?? toSettings(undo.config);
      next = undefined;
      if (running.config === undo.config) undo = undefined;
    }
  } finally {
    unhang?.();
    const ended = new Error("the daemon is stopping");
    running.applied.reject(ended);
    next?.applied.reject(ended);
  }
}

/** Runs one generation of services, and returns the first error of any service, if there is one. */
async function runGeneration<Config>(
  create: () => Promise<Generation> | Generation,
  settings: Settings<Config>,
  signal: AbortSignal,
  { logger }: DaemonContext,
): Promise<ServiceError | undefined> {
  try {
    const generation = await create();
    generation.ready.then(
      () => {
        settings.isApplied = true;
        return settings.applied.resolve();
      },
      // Ignore the error here, because the service ends with the same error.
      () => {},
    );
    try {
      const [first] = await supervise(generation.services, signal, logger);
      return first;
    } finally {
      await generation.close();
    }
  } catch (error) {
    return { service: "start", error };
  }
}

interface InnerReloader extends Reloader {
  /** Reports that the services failed with the settings of the last reload. */
  readonly undone: (error: unknown) => void;
}

/** Creates a reloader, whose `restart` starts the services with different settings, and rejects if the services do not start. */
function createReloader<Config>(
  reloads: ConfigReloads<Config>,
  restart: (config: Config) => Promise<void>,
  { clock, logger, logLevel }: DaemonContext,
): InnerReloader {
  let status: ReloadStatus = {
    successAtMs: clock.nowMs(),
    error: undefined,
    failedAtMs: undefined,
    needRestart: [],
  };
  let forget: (() => void) | undefined;
  const fail = (error: unknown): ReloadResult => {
    const text = errorText(error);
    status = { ...status, error: text, failedAtMs: clock.nowMs() };
    logger.error("the configuration is not loaded; the settings are unchanged", { reason: text });
    return { ok: false, error: text };
  };
  const reloadOnce = async (by: string, isForced: boolean): Promise<ReloadResult> => {
    try {
      const plan = await reloads.plan(isForced);
      const { services, live, needRestart } = plan;
      if (services.length > 0) await restart(plan.config);
      logLevel?.set(reloads.levelOf(plan.config));
      forget = plan.accept();
      status = { successAtMs: clock.nowMs(), error: undefined, failedAtMs: undefined, needRestart };
      logger.info("configuration loaded", { by, services, live, needRestart });
      if (needRestart.length > 0) logger.warn("changed keys need a restart of the process", { needRestart });
      return { ok: true, services, live, needRestart };
    } catch (error) {
      return fail(error);
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<ReloadResult> | undefined;
  let isWaitingForced = false;
  return {
    status: () => status,
    // At most one reload waits, and reads the file only after all earlier reloads have ended.
    reload: (by, isForced = false) => {
      isWaitingForced ||= isForced;
      waiting ??= last.then(() => {
        const forced = isWaitingForced;
        waiting = undefined;
        isWaitingForced = false;
        return reloadOnce(by, forced);
      });
      last = waiting;
      return waiting;
    },
    undone: (error) => {
      forget?.();
      forget = undefined;
      fail(error);
    },
  };
}

/** Registers gauges for configuration reloads, with the same name endings as Prometheus's own reload metrics. */
export function registerReloadMetrics(registry: Registry, prefix: string, status: () => ReloadStatus): void {
  for (const { value, ...definition } of reloadGauges(prefix)) {
    const gauge = new Gauge({ ...definition, registers: [registry], collect: () => collect() });
    const collect = (): void => gauge.set(value(status()));
  }
}

function reloadGauges(
  prefix: string,
): readonly (MetricDefinition & { readonly value: (status: ReloadStatus) => number })[] {
  return [
    {
      question: "Is it active?",
      name: `${prefix}_config_last_reload_successful`,
      help: "1 if the last configuration reload succeeded or there was no reload, 0 if the reload failed and the previous settings still apply.",
      value: ({ error }) => (error === undefined ? 1 : 0),
    },
    {
      question: "Is it active?",
      name: `${prefix}_config_last_reload_success_timestamp_seconds`,
      help: "Time of the last successful configuration reload, or of the process's start if there was no reload.",
      value: ({ successAtMs }) => successAtMs / 1000,
    },
  ];
}
