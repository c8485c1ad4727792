import type { Registry } from "prom-client";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { type Service, supervise } from "../base/service.ts";
import type { ListenAddress } from "../ops/config-fields.ts";
import { createDeferred, type Deferred } from "../ops/deferred.ts";
import { createHttpService } from "../ops/http-service.ts";
import type { WatchdogConfig } from "./config.ts";
import { createWatchdogRoutes } from "./api/routes.ts";
import { createWatchdogMetrics, type WatchdogMetrics } from "./metrics.ts";
import { runDelivery } from "./notify/delivery.ts";
import { createWebhook, type PostJson } from "./notify/webhook.ts";
import { createObserver } from "./sources/poller.ts";
import { createHttpPageReader, type HttpPageReader } from "./sources/page-reader.ts";
import { openSqliteState } from "./state/sqlite-state.ts";
import { createMemoryState } from "./state/state-store.ts";
import { createStateKeeper, type StateKeeper } from "./state/state-keeper.ts";
import type { WatchdogStatus } from "./status.ts";
import { createWatch, type Watch } from "./poll-loop.ts";

/** What the watchdog needs from its surroundings. */
export interface WatchdogDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Default: HTTP. */
  readonly reader?: HttpPageReader;
  /** Default: HTTP. */
  readonly post?: PostJson;
}

/** The oracle watchdog. */
export interface Watchdog extends Service {
  /** The bound address of its face; rejects when it cannot be had. */
  readonly ready: Promise<ListenAddress>;
  readonly status: () => WatchdogStatus;
}

/**
 * Creates the watchdog. While it runs it looks at the sources at most every interval, keeps the month's count, raises
 * the one alert and serves its face. `run` throws `WatchdogError` or a listening error when it cannot do its work.
 */
export function createWatchdog(config: WatchdogConfig, deps: WatchdogDeps): Watchdog {
  const ready = createDeferred<ListenAddress>();
  const keeper = createStateKeeper(deps.logger);
  const metrics = createWatchdogMetrics(deps.registry);
  const reader = deps.reader ?? createHttpPageReader();
  const observe = createObserver(config.sources, { clock: deps.clock, read: reader.read });
  const watch = createWatch(config, { ...deps, observe, keeper, metrics });
  const parts = { config, deps, keeper, metrics, watch };
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      keeper.open(config.stateDir === undefined ? createMemoryState() : openSqliteState(config.stateDir));
      const [first] = await supervise(services(parts, ready), signal, deps.logger);
      if (first !== undefined) throw first.error;
    } catch (error) {
      ready.reject(error);
      throw error;
    } finally {
      keeper.close();
      await reader.close();
    }
  };
  return { name: "oracle-watchdog", run, ready: ready.promise, status: watch.status };
}

interface Parts {
  readonly config: WatchdogConfig;
  readonly deps: WatchdogDeps;
  readonly keeper: StateKeeper;
  readonly metrics: WatchdogMetrics;
  readonly watch: Watch;
}

function services(parts: Parts, ready: Deferred<ListenAddress>): readonly Service[] {
  const { config, deps, keeper, metrics, watch } = parts;
  const face = createHttpService(
    {
      name: "oracle-watchdog HTTP",
      listen: config.listen,
      portOption: "http.listen in the configuration, or --port-offset",
      routes: createWatchdogRoutes({ status: watch.status, isAlive: watch.isAlive, registry: deps.registry }),
    },
    deps,
  );
  face.ready.then(ready.resolve, ready.reject);
  const looking: Service = { name: "oracle-watchdog looks", run: watch.run };
  if (config.webhook === undefined) return [face, looking];
  const send = createWebhook(config.webhook, deps.post);
  const delivery = { ...deps, outbox: keeper.outbox, send, count: metrics.delivered };
  return [face, looking, { name: "oracle-watchdog notices", run: (signal) => runDelivery(delivery, signal) }];
}
