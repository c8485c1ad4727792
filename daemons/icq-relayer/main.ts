import { supervise, throwFirst } from "../../src/platform/base/service.ts";
import { httpUrl } from "../../src/platform/config/config-fields.ts";
import type { DaemonContext, DaemonEndpoint } from "../../src/platform/process/daemon-context.ts";
import { createMetricsRegistry } from "../../src/platform/process/metrics.ts";
import type { RelayerConfig } from "../../src/relayer/config/relayer-config.ts";
import { createRelayer, type Relayer } from "../../src/relayer/create-relayer.ts";

/** Called once when the HTTP server listens. */
export type RelayerReady = (relayer: Relayer, endpoints: readonly DaemonEndpoint[]) => void;

/** Runs the relayer until the context's signal aborts. Throws the first error of a service. */
export async function runIcqRelayer(
  config: RelayerConfig,
  context: DaemonContext,
  onReady: RelayerReady,
): Promise<void> {
  const registry = createMetricsRegistry({
    build: context.build,
    program: "icq-relayer",
    processMetrics: true,
  });
  const relayer = await createRelayer(config, registry, context);
  relayer.http.ready.then(
    (address) => onReady(relayer, [{ name: "icq-relayer", url: httpUrl(address) }]),
    // A failed listener ends its service, whose error is thrown below.
    () => {},
  );
  try {
    throwFirst(await supervise(relayer.services, context.signal, context.logger));
  } finally {
    await relayer.close();
  }
}
