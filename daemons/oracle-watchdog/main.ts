import { Registry } from "prom-client";
import { onAbort } from "../../src/platform/base/abort.ts";
import { httpUrl } from "../../src/platform/config/config-fields.ts";
import type { ConfigReloads } from "../../src/platform/config/config-reloads.ts";
import { createLastingServer } from "../../src/platform/http/lasting-server.ts";
import type { DaemonContext, DaemonEndpoint } from "../../src/platform/process/daemon-context.ts";
import { createLastingMetrics } from "../../src/platform/process/lasting-metrics.ts";
import { createMetricsRegistry } from "../../src/platform/process/metrics.ts";
import { type ServiceState, withServiceManager } from "../../src/platform/process/service-manager.ts";
import { type Generation, type Reloader, runReloadable } from "../../src/platform/process/reloadable.ts";
import { createReportRoutes } from "../../src/watchdog/report/report-data.ts";
import { createWatchdogReports } from "../../src/watchdog/report/report-source.ts";
import { createReportService } from "../../src/watchdog/report/report-service.ts";
import type { WatchdogConfig } from "../../src/watchdog/config/config.ts";
import { createPostJson } from "../../src/watchdog/notify/channels/transport.ts";
import { createSendMail } from "../../src/watchdog/notify/channels/mail.ts";
import { createMemoryState } from "../../src/watchdog/state/state-store.ts";
import { createWatchdog, type Watchdog } from "../../src/watchdog/watchdog.ts";

/** Called once the watchdog is listening, and again after each reload that restarts the services. */
export type WatchdogReady = (watchdog: Watchdog, endpoints: readonly DaemonEndpoint[]) => void;

/**
 * Runs the watchdog until the context's signal aborts. Rejects with a `WatchdogError`, or with another error if a port is in use.
 * If `reloads` is missing, the configuration is fixed.
 */
export async function runOracleWatchdog<Config extends WatchdogConfig>(
  config: Config,
  context: DaemonContext,
  onReady: WatchdogReady,
  reloads?: ConfigReloads<Config>,
): Promise<void> {
  const { build, signal } = context;
  // Process metrics have their own registry, because their observers are never removed and would retain stopped services'
  // metrics.
  const ofProcess = createMetricsRegistry({ build, program: "oracle-watchdog", processMetrics: true });
  const server = createLastingServer(context);
  const lasting = createLastingMetrics();
  const unwatch = onAbort(signal, () => void server.close());
  // In-memory state must survive a reload, as state on disk does.
  const memory = createMemoryState();
  let current: Watchdog | undefined;
  const state = (): ServiceState =>
    current?.serviceState() ?? { isStarted: false, isAlive: false, text: "opens its state" };
  let isFirst = true;
  const create = (next: Config, reloader: Reloader | undefined): Generation => {
    const registry = Registry.merge([ofProcess]);
    const reports = createWatchdogReports(() => watchdog, next.stateDir, context.clock.nowMs);
    const watchdog: Watchdog = createWatchdog(isFirst ? next : withoutTest(next), {
      ...context,
      registry,
      storedLedger: reports.ledger,
      routes: createReportRoutes(reports),
      serve: server.serve,
      memory,
      reloader,
      lastingMetrics: lasting,
    });
    isFirst = false;
    current = watchdog;
    const { ready, publicReady } = watchdog;
    Promise.all([ready, publicReady]).then(
      ([own, open]) =>
        onReady(watchdog, [
          { name: "oracle-watchdog", url: httpUrl(own) },
          ...(open === undefined ? [] : [{ name: "status page", url: httpUrl(open) }]),
        ]),
      () => {},
    );
    const schedule = createReportService(next.reports, next.notify.channels, {
      ...context,
      post: createPostJson(next.network),
      mail: createSendMail(next.network),
      validators: reports.validators,
    });
    const worked = Promise.all([ready, publicReady, watchdog.polled]);
    return { services: [watchdog, schedule], ready: worked, close: reports.close };
  };
  try {
    await withServiceManager(context.serviceManager, state, context, () =>
      runReloadable({ config, reloads, create }, context),
    );
  } finally {
    unwatch();
    await server.close();
  }
}

/** Disables the startup test of notification channels, which is not repeated after a reload. */
function withoutTest(config: WatchdogConfig): WatchdogConfig {
  return { ...config, notify: { ...config.notify, testsAtStart: false } };
}
