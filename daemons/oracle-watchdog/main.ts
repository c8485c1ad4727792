import { httpUrl } from "../../src/platform/config/config-fields.ts";
import type { DaemonContext, DaemonEndpoint } from "../../src/platform/process/daemon-context.ts";
import { supervise, throwFirst } from "../../src/platform/base/service.ts";
import { createMetricsRegistry } from "../../src/platform/process/metrics.ts";
import { createReportRoutes } from "../../src/watchdog/report/report-data.ts";
import { createReportService } from "../../src/watchdog/report/report-service.ts";
import type { WatchdogConfig } from "../../src/watchdog/config/config.ts";
import { postJson, sendSmtp } from "../../src/watchdog/notify/channels/transport.ts";
import { createWatchdog, type Watchdog } from "../../src/watchdog/watchdog.ts";
import { createWatchdogReports } from "../../src/watchdog/report/report-source.ts";

/** Called once, when the watchdog listens. */
export type WatchdogReady = (watchdog: Watchdog, endpoints: readonly DaemonEndpoint[]) => void;

/** Runs the watchdog until the context's signal fires. Throws `WatchdogError`, or the error of a port in use. */
export async function runOracleWatchdog(
  config: WatchdogConfig,
  context: DaemonContext,
  onReady: WatchdogReady,
): Promise<void> {
  const { build } = context;
  const registry = createMetricsRegistry({ build, program: "oracle-watchdog", processMetrics: true });
  const reports = createWatchdogReports(() => watchdog, config.stateDir, context.clock.nowMs);
  const watchdog: Watchdog = createWatchdog(config, {
    ...context,
    registry,
    storedLedger: reports.ledger,
    routes: createReportRoutes(reports),
  });
  watchdog.ready.then(
    (address) => onReady(watchdog, [{ name: "oracle-watchdog", url: httpUrl(address) }]),
    () => {},
  );
  const senders = { post: postJson, mail: sendSmtp };
  const schedule = createReportService(config.reports, config.notify.channels, {
    ...context,
    ...senders,
    validators: reports.validators,
  });
  try {
    throwFirst(await supervise([watchdog, schedule], context.signal, context.logger));
  } finally {
    reports.close();
  }
}
