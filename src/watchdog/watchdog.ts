import type { Registry } from "prom-client";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { unreachable } from "../base/errors.ts";
import { type Service, supervise } from "../base/service.ts";
import type { ListenAddress } from "../ops/config-fields.ts";
import { createDeferred, type Deferred } from "../ops/deferred.ts";
import { LISTEN_KEY } from "../ops/daemon-context.ts";
import { createHttpService } from "../ops/http-service.ts";
import { createWatchdogRoutes } from "./api/routes.ts";
import type { WatchdogConfig } from "./config.ts";
import { createWatchdogMetrics, type WatchdogMetrics } from "./metrics.ts";
import { runDelivery } from "./notify/delivery.ts";
import { createWebhook, type PostJson } from "./notify/webhook.ts";
import { createPollLoop, type PollLoop } from "./poll-loop.ts";
import { createHttpPageReader, type HttpPageReader } from "./sources/page-reader.ts";
import { createPoller } from "./sources/poller.ts";
import { type Reach, reachTcp } from "./sources/reach.ts";
import { openSqliteState } from "./state/sqlite-state.ts";
import { createStateKeeper, type StateKeeper } from "./state/state-keeper.ts";
import { createMemoryState } from "./state/state-store.ts";
import type { WatchdogStatus } from "./status.ts";

export interface WatchdogDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Option that moves the port of the HTTP server. Default: the key `http.listen` of the configuration. */
  readonly portOption?: string;
  /** Default: HTTP. */
  readonly reader?: HttpPageReader;
  /** Default: TCP. */
  readonly reach?: Reach;
  /** Default: HTTP. */
  readonly post?: PostJson;
}

export interface Watchdog extends Service {
  /** The bound address of the HTTP server; rejects when the server cannot listen. */
  readonly ready: Promise<ListenAddress>;
  /** One for each validator, in the order of the configuration. */
  readonly statuses: () => readonly WatchdogStatus[];
  /** Status of the first validator. */
  readonly status: () => WatchdogStatus;
}

/**
 * Creates the watchdog. While it runs it polls the sources, counts blocks, raises alerts and serves its HTTP API. `run`
 * throws `WatchdogError`, or the listening error when the server cannot listen.
 */
export function createWatchdog(config: WatchdogConfig, deps: WatchdogDeps): Watchdog {
  const ready = createDeferred<ListenAddress>();
  const keeper = createStateKeeper(deps.logger);
  const metrics = createWatchdogMetrics(deps.registry);
  const reader = deps.reader ?? createHttpPageReader();
  const reach = deps.reach ?? reachTcp;
  const loops = config.validators.map((validator) => {
    const poll = createPoller(validator.target, config.limits, {
      clock: deps.clock,
      read: reader.read,
      reach,
    });
    return createPollLoop(config, validator, { ...deps, poll, keeper, metrics });
  });
  const statuses = (): readonly WatchdogStatus[] => loops.map((loop) => loop.status());
  const parts = { config, deps, keeper, metrics, loops, statuses };
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      keeper.open(config.stateDir === undefined ? createMemoryState() : openSqliteState(config.stateDir));
      const [first] = await supervise(createServices(parts, ready), signal, deps.logger);
      if (first !== undefined) throw first.error;
    } catch (error) {
      ready.reject(error);
      throw error;
    } finally {
      keeper.close();
      await reader.close();
    }
  };
  return { name: "oracle-watchdog", run, ready: ready.promise, statuses, status: () => firstOf(statuses()) };
}

interface Parts {
  readonly config: WatchdogConfig;
  readonly deps: WatchdogDeps;
  readonly keeper: StateKeeper;
  readonly metrics: WatchdogMetrics;
  readonly loops: readonly PollLoop[];
  readonly statuses: () => readonly WatchdogStatus[];
}

function firstOf<T>([first]: readonly T[]): T {
  return first ?? unreachable("a configuration has at least one validator");
}

function createServices(parts: Parts, ready: Deferred<ListenAddress>): readonly Service[] {
  const { config, deps, keeper, metrics, loops, statuses } = parts;
  const server = createHttpService(
    {
      name: "oracle-watchdog HTTP",
      listen: config.listen,
      access: config.hosts === undefined ? {} : { hosts: config.hosts },
      portOption: deps.portOption ?? LISTEN_KEY,
      routes: createWatchdogRoutes({
        statuses,
        isAlive: () => loops.every((loop) => loop.isAlive()),
        registry: deps.registry,
      }),
    },
    deps,
  );
  server.ready.then(ready.resolve, ready.reject);
  const polling = loops.map(({ run }): Service => ({ name: "oracle-watchdog polling", run }));
  if (config.webhook === undefined) return [server, ...polling];
  const send = createWebhook(config.webhook, deps.post);
  const delivery = { ...deps, outbox: keeper.outbox, send, count: metrics.recordDelivery };
  return [
    server,
    ...polling,
    { name: "oracle-watchdog notifications", run: (signal) => runDelivery(delivery, signal) },
  ];
}
