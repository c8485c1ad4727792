import { type ServiceFault, supervise } from "../../src/base/service.ts";
import { httpUrl } from "../../src/ops/config-fields.ts";
import type { DaemonContext, DaemonFace } from "../../src/ops/daemon-context.ts";
import { createMetricsRegistry } from "../../src/ops/metrics.ts";
import type { RelayerConfig } from "../../src/relayer/config.ts";
import { createRelayer, type Relayer } from "../../src/relayer/create-relayer.ts";

/** Hears when the relayer listens; gets it to ask for its status. */
export type RelayerReady = (relayer: Relayer, faces: readonly DaemonFace[]) => void;

/** Runs the relayer until the context's signal fires. Throws the first fault of a part. */
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
    () => {},
  );
  try {
    throwFirst(await supervise(relayer.services, context.signal, context.logger));
  } finally {
    relayer.close();
  }
}

function throwFirst(faults: readonly ServiceFault[]): void {
  const [first] = faults;
  if (first !== undefined) throw first.fault;
}
