import { Registry } from "prom-client";
import { onAbort } from "../../src/platform/base/abort.ts";
import { httpUrl } from "../../src/platform/config/config-fields.ts";
import type { ConfigReloads } from "../../src/platform/config/config-reloads.ts";
import { createLastingServer } from "../../src/platform/http/lasting-server.ts";
import type { DaemonContext, DaemonEndpoint } from "../../src/platform/process/daemon-context.ts";
import { createLastingMetrics } from "../../src/platform/process/lasting-metrics.ts";
import { createMetricsRegistry } from "../../src/platform/process/metrics.ts";
import { type ServiceState, withServiceManager } from "../../src/platform/process/service-manager.ts";
import { serviceStateOf } from "../../src/relayer/api/routes.ts";
import { type Generation, type Reloader, runReloadable } from "../../src/platform/process/reloadable.ts";
import type { RelayerConfig } from "../../src/relayer/config/relayer-config.ts";
import { createRelayer, type Relayer } from "../../src/relayer/create-relayer.ts";
import { openStore, type RelayerStore } from "../../src/relayer/state/store.ts";

/** Called once the HTTP server is listening, and again after each reload that restarts the services. */
export type RelayerReady = (relayer: Relayer, endpoints: readonly DaemonEndpoint[]) => void;

/**
 * Runs the relayer until the signal aborts. Rejects with the error of the first service that fails. If `reloads` is missing, the
 * configuration is fixed.
 */
export async function runIcqRelayer(
  config: RelayerConfig,
  context: DaemonContext,
  onReady: RelayerReady,
  reloads?: ConfigReloads<RelayerConfig>,
): Promise<void> {
  const { build, signal } = context;
  // Process metrics have their own registry, because their observers are never removed and would retain stopped services'
  // metrics.
  const ofProcess = createMetricsRegistry({ build, program: "icq-relayer", processMetrics: true });
  const server = createLastingServer(context);
  const lasting = createLastingMetrics();
  // Close the server while the services are stopping, because both can take a long time.
  const unwatch = onAbort(signal, () => void server.close());
  const store = createLastingStore();
  let current: Relayer | undefined;
  const state = (): ServiceState =>
    current === undefined
      ? { isStarted: false, isAlive: false, text: "opens its state" }
      : serviceStateOf(current.status());
  const create = async (next: RelayerConfig, reloader: Reloader | undefined): Promise<Generation> => {
    const registry = Registry.merge([ofProcess]);
    const parts = { serve: server.serve, openStore: store.open, reloader, metrics: lasting };
    const relayer = await createRelayer(next, registry, context, parts);
    current = relayer;
    const { ready } = relayer.http;
    ready.then(
      (address) => onReady(relayer, [{ name: "icq-relayer", url: httpUrl(address) }]),
      // Ignore the error here: if the server cannot listen, its service fails, and the code below throws that error.
      () => {},
    );
    const worked = ready.then(() => firstWork(relayer, context));
    return { services: relayer.services, ready: worked, close: relayer.close };
  };
  try {
    await withServiceManager(context.serviceManager, state, context, () =>
      runReloadable({ config, reloads, create }, context),
    );
  } finally {
    unwatch();
    await server.close();
    await store.close();
  }
}

/**
 * Maximum wait for the first chain reads, which never finish if no endpoint responds. After this time, the relayer is treated as
 * started and keeps running.
 */
const FIRST_WORK_MS = 20_000;

/** Resolves once the relayer has read its chains for the first time, or after {@link FIRST_WORK_MS}. */
async function firstWork(
  relayer: Pick<Relayer, "status">,
  { clock, signal }: Pick<DaemonContext, "clock" | "signal">,
): Promise<void> {
  const untilMs = clock.monotonicMs() + FIRST_WORK_MS;
  while (!serviceStateOf(relayer.status()).isStarted && clock.monotonicMs() < untilMs)
    await clock.sleep(100, signal);
}

/** Maximum wait for pending writes to in-memory state when the services stop. */
const FLUSH_MS = 5_000;

/** Creates a store whose in-memory state survives a reload, as state on disk does. */
function createLastingStore(): { readonly open: typeof openStore; readonly close: () => Promise<void> } {
  let memory: RelayerStore | undefined;
  return {
    open: async (place, options, deps) => {
      if (place.kind !== "memory") return openStore(place, options, deps);
      const { queue, ...rest } = (memory ??= await openStore(place, options, deps));
      return { ...rest, queue, close: () => queue.flushed(AbortSignal.timeout(FLUSH_MS)) };
    },
    close: async () => memory?.close(),
  };
}
