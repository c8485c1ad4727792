import { httpUrl } from "../../src/ops/config-fields.ts";
import type { DaemonContext, DaemonEndpoint } from "../../src/ops/daemon-context.ts";
import { createMetricsRegistry } from "../../src/ops/metrics.ts";
import type { WatchdogConfig } from "../../src/watchdog/config.ts";
import { createWatchdog, type Watchdog } from "../../src/watchdog/watchdog.ts";

/** Called once, when the watchdog listens. */
export type WatchdogReady = (watchdog: Watchdog, endpoints: readonly DaemonEndpoint[]) => void;

/** Runs the watchdog until the context's signal fires. Throws `WatchdogError`, or the error of a port in use. */
export async function runOracleWatchdog(
  config: WatchdogConfig,
  context: DaemonContext,
  onReady: WatchdogReady,
): Promise<void> {
  const { build, ...deps } = context;
  const registry = createMetricsRegistry({ build, program: "oracle-watchdog", processMetrics: true });
  const watchdog = createWatchdog(config, { ...deps, registry });
  watchdog.ready.then(
    (address) => onReady(watchdog, [{ name: "oracle-watchdog", url: httpUrl(address) }]),
    () => {},
  );
  await watchdog.run(context.signal);
}
