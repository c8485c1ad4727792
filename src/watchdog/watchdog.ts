import type { Registry } from "prom-client";
import { withDeadline } from "../platform/base/abort.ts";
import type { Clock } from "../platform/base/clock.ts";
import { unreachable } from "../platform/base/errors.ts";
import type { Logger, LogLevelControl } from "../platform/base/logger.ts";
import { type Service, supervise } from "../platform/base/service.ts";
import type { ListenAddress } from "../platform/config/config-fields.ts";
import { withOpenApi } from "../platform/http/openapi.ts";
import type { ApiRoute } from "../platform/http/route-about.ts";
import { controlRoutes } from "../platform/http/daemon-control-routes.ts";
import type { LastingServer } from "../platform/http/lasting-server.ts";
import { createHttpService, type HttpService } from "../platform/http/route-server.ts";
import type { LastingMetrics } from "../platform/process/lasting-metrics.ts";
import type { ServiceState } from "../platform/process/service-manager.ts";
import { controlTokenOf } from "../platform/process/private-file.ts";
import { registerReloadMetrics, type Reloader, type ReloadStatus } from "../platform/process/reloadable.ts";
import { type BuildInfo, readBuildInfo } from "../platform/process/build-info.ts";
import { LISTEN_KEY } from "../platform/process/daemon-context.ts";
import { createDeferred, type Deferred } from "../platform/process/deferred.ts";
import { currentAlerts, type PastAlert } from "./alerts/alert-state.ts";
import { createAlertRoutes, createWatchdogRoutes, serviceStateOf } from "./api-routes.ts";
import type { WatchdogConfig } from "./config/config.ts";
import type { LedgerView } from "./ledger/ledger-view.ts";
import { memoryView } from "./ledger/ledger.ts";
import { createWatchdogMetrics, type WatchdogMetrics } from "./polling/metrics.ts";
import type { PostJson } from "./notify/channels/transport.ts";
import type { SendMail } from "./notify/channels/mail.ts";
import { RUNBOOK_ROUTE } from "./monitoring/watchdog-alerts.ts";
import { createNotifier, type Notifier } from "./notify/notifier.ts";
import { createWatchdogPage } from "./page/create-page.ts";
import { longestPollMs } from "./polling/freshness.ts";
import type { WatchdogStatus } from "./polling/watchdog-status.ts";
import { createBelievedClock } from "./polling/believed-clock.ts";
import { countingOptions, createPollLoop, type PollLoop } from "./polling/poll-loop.ts";
import { createPoller } from "./polling/poller.ts";
import type { ValidatorConfig } from "./policy/policy-config.ts";
import type { SidecarPrices } from "./policy/price-comparison.ts";
import { createSampleReader, type ReadSamples } from "./prometheus-api/api-client.ts";
import { createBackfiller } from "./prometheus-api/backfill.ts";
import { createFleet, createStoredHistory } from "./prometheus-api/stored-readings.ts";
import { createHttpPageReader, type HttpPageReader, type Reach, reachTcp } from "./sources/page-reader.ts";
import { createStatusPage, type StatusPage } from "./status-page/status-page.ts";
import type { StatusPageConfig } from "./status-page/status-page-config.ts";
import { openSqliteState } from "./state/sqlite-state.ts";
import { createStateKeeper, type StateKeeper } from "./state/state-keeper.ts";
import { createMemoryState, type StateStore } from "./state/state-store.ts";
import { createPaymentReader } from "./payment/payment-reader.ts";

export interface WatchdogDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly random: () => number;
  /** Name of the option that sets the HTTP port, for the error if the port is in use; by default `http.listen`. */
  readonly portOption?: string;
  /** Reads the sources' pages; by default over HTTP. */
  readonly reader?: HttpPageReader;
  /** Queries samples from Prometheus; by default over HTTP. */
  readonly readSamples?: ReadSamples;
  /** Checks whether a host and port accept connections; by default over TCP. */
  readonly reach?: Reach;
  /** Sends POST requests to receivers of notifications; by default over HTTP. */
  readonly post?: PostJson;
  /** Sends the mails of e-mail channels; by default over SMTP. */
  readonly mail?: SendMail;
  /** Opens the state store; by default the state file in the folder. */
  readonly openState?: (folder: string) => StateStore;
  /** Version and commit to report; by default this program's version and commit. */
  readonly build?: BuildInfo;
  /** Returns the status page's counts with older counts from disk; may throw. By default, the page shows only counts in memory. */
  readonly storedLedger?: (validator: string) => LedgerView | undefined;
  /** Routes that the HTTP server serves in addition to the watchdog's API. */
  readonly routes?: readonly ApiRoute[];
  /** Serves HTTP requests; by default the watchdog's own server. */
  readonly serve?: LastingServer["serve"];
  /** The state store to use if no folder is configured; by default an empty store in memory. */
  readonly memory?: StateStore;
  readonly reloader?: Reloader | undefined;
  /** Metrics counters that continue across configuration reloads; by default new counters. */
  readonly lastingMetrics?: LastingMetrics;
  readonly logLevel?: LogLevelControl;
}

export interface Watchdog extends Service {
  /** Resolves with the address on which the HTTP server listens, or rejects if the server cannot listen. */
  readonly ready: Promise<ListenAddress>;
  /**
   * Resolves with the public status page's address, or with undefined if there is no page. Rejects if the page's server cannot
   * listen.
   */
  readonly publicReady: Promise<ListenAddress | undefined>;
  /** Resolves once every validator has been polled. */
  readonly polled: Promise<void>;
  /** Returns one status per validator, in configuration order. */
  readonly statuses: () => readonly WatchdogStatus[];
  /** Returns the status of the first validator. */
  readonly status: () => WatchdogStatus;
  /** Returns a validator's counts from memory; undefined before the validator's first reading. */
  readonly ledger: (validator: string) => LedgerView | undefined;
  readonly serviceState: () => ServiceState;
  /** Returns all validators' past and firing alerts, oldest first. */
  readonly alertHistory: () => readonly PastAlert[];
}

/**
 * Creates the watchdog. A running watchdog polls the sources, counts blocks, raises alerts and serves its HTTP API. `run` throws
 * `WatchdogError`, or the listening error if the server cannot listen.
 */
export function createWatchdog(config: WatchdogConfig, given: WatchdogDeps): Watchdog {
  const deps = { ...given, clock: createBelievedClock(given.clock) };
  const ready = createDeferred<ListenAddress>();
  const polled = createDeferred<void>();
  const keeper = createStateKeeper(deps);
  const metrics = createWatchdogMetrics(
    deps.registry,
    config.notify.channels.map(({ name }) => name),
    deps.lastingMetrics,
  );
  if (deps.reloader !== undefined)
    registerReloadMetrics(deps.registry, "oracle_watchdog", deps.reloader.status);
  const reader = deps.reader ?? createHttpPageReader(config.network);
  const reach = deps.reach ?? reachTcp;
  const prometheus = createPrometheusReaders(config, deps);
  const ledger: Watchdog["ledger"] = (validator) => {
    const counts = keeper.current().ledgers.get(validator);
    return counts === undefined ? undefined : memoryView(validator, counts);
  };
  const statuses = (): readonly WatchdogStatus[] => loops.map((loop) => loop.status());
  const page = createWatchdogPage(config, {
    clock: deps.clock,
    version: versionOf(deps),
    statuses,
    ledger,
    storedLedger: deps.storedLedger ?? ledger,
    alerting: () => keeper.current().alerting,
    channels: () => notifier.channels(),
    reloadStatus: () => deps.reloader?.status(),
  });
  const publicPage =
    config.statusPage &&
    createStatusPage(config.statusPage, {
      clock: deps.clock,
      logger: deps.logger,
      ledger,
      storedLedger: deps.storedLedger ?? ledger,
      alertHistory: () => keeper.current().alerting.history,
      pollMs: longestPollMs(config),
      intervalMs: config.intervalMs,
    });
  const publicServer =
    config.statusPage && publicPage && createPublicServer(config.statusPage, deps, publicPage);
  const peersOf = (validator: string, chainId: string | undefined): readonly SidecarPrices[] =>
    loops
      .map((loop) => loop.sidecars())
      .filter((other) => chainId !== undefined && other.chainId === chainId)
      .flatMap(({ sidecars }) => sidecars.filter((one) => one.validator !== validator));
  const unpolled = new Set(config.validators.map(({ target }) => target.name));
  const loops: readonly PollLoop[] = config.validators.map((validator) => {
    const poll = createPoller(validator.target, config.limits, {
      clock: deps.clock,
      read: reader.read,
      reach,
      paymentReaderOf: createPaymentReader,
      ...(prometheus.stored === undefined ? {} : { stored: prometheus.stored }),
    });
    const backfill = prometheus.backfillerOf(validator);
    return createPollLoop(config, validator, {
      ...deps,
      poll,
      keeper,
      metrics,
      peersOf,
      onPoll: (status) => {
        unpolled.delete(status.validator);
        if (unpolled.size === 0) polled.resolve();
        publicPage?.update(status);
      },
      ...(backfill === undefined ? {} : { backfill }),
    });
  });
  const notifier = createNotifier(config.notify, {
    ...deps,
    ...keeper,
    alerts: () => currentAlerts(keeper.current().alerting.alerts),
    work: () => ({
      problem: [keeper, ...loops].map((part) => part.problem()).find((text) => text !== undefined),
    }),
    metrics,
  });
  const isAlive = (): boolean => loops.every((loop) => loop.isAlive());
  const parts = { config, deps, keeper, notifier, loops, isAlive, statuses, page, publicServer, metrics };
  const run = async (signal: AbortSignal): Promise<void> => {
    try {
      keeper.open(
        config.stateDir === undefined
          ? (deps.memory ?? createMemoryState())
          : (deps.openState ?? openSqliteState)(config.stateDir),
      );
      const [first] = await supervise(createServices(parts, ready), signal, deps.logger);
      if (first !== undefined) throw first.error;
    } catch (error) {
      ready.reject(error);
      throw error;
    } finally {
      keeper.close();
      prometheus.close();
      await reader.close();
    }
  };
  return {
    name: "oracle-watchdog",
    run,
    ready: ready.promise,
    polled: polled.promise,
    publicReady: publicServer?.ready ?? Promise.resolve(undefined),
    statuses,
    status: () => statuses()[0] ?? unreachable("a configuration has at least one validator"),
    ledger,
    serviceState: () => serviceStateOf(statuses(), isAlive),
    alertHistory: () => keeper.current().alerting.history,
  };
}

interface Parts {
  readonly config: WatchdogConfig;
  readonly deps: WatchdogDeps;
  readonly keeper: StateKeeper;
  readonly notifier: Notifier;
  readonly loops: readonly PollLoop[];
  readonly isAlive: () => boolean;
  readonly statuses: () => readonly WatchdogStatus[];
  readonly page: readonly ApiRoute[];
  /** The status page's server; undefined if there is no page. */
  readonly publicServer: HttpService | undefined;
  readonly metrics: WatchdogMetrics;
}

function createServices(parts: Parts, ready: Deferred<ListenAddress>): readonly Service[] {
  const { config, deps, keeper, notifier, loops, isAlive, statuses, page, publicServer, metrics } = parts;
  const reloadStatus = (): ReloadStatus | undefined => deps.reloader?.status();
  const token = controlTokenOf(config.token, config.stateDir);
  const serve = deps.serve ?? ((options) => createHttpService(options, deps));
  const server = serve({
    name: "oracle-watchdog HTTP",
    listen: config.listen,
    access: config.hosts === undefined ? {} : { hosts: config.hosts },
    portOption: deps.portOption ?? LISTEN_KEY,
    ...(token === undefined ? {} : { token }),
    routes: withOpenApi({ title: "oracle-watchdog", version: versionOf(deps) }, [
      ...page,
      RUNBOOK_ROUTE,
      ...controlRoutes(deps),
      ...createWatchdogRoutes({
        reloadStatus,
        statuses,
        statusTexts: () => loops.map((loop) => loop.statusText()),
        metricsPage: metrics.page,
        isAlive,
        registry: deps.registry,
      }),
      ...createAlertRoutes({
        ...deps,
        alerting: () => keeper.current().alerting,
        change: (alerting) => keeper.replaceStored({ ...keeper.current(), alerting }),
        rules: config.alerts.rules,
        validators: config.validators.map(({ target }) => target.name),
        maintenance: config.maintenance,
        escalation: config.notify.escalation,
        test: notifier.test,
      }),
      ...(deps.routes ?? []),
    ]),
  });
  server.ready.then(ready.resolve, ready.reject);
  const polling = loops.map(({ run }): Service => ({ name: "oracle-watchdog polling", run }));
  return [server, ...(publicServer === undefined ? [] : [publicServer]), ...polling, ...notifier.services];
}

function versionOf({ build }: Pick<WatchdogDeps, "build">): string {
  return (build ?? readBuildInfo()).version;
}

/** Creates the public status page's own HTTP server. */
function createPublicServer(
  { listen, hosts }: StatusPageConfig,
  deps: Pick<WatchdogDeps, "logger">,
  { routes }: Pick<StatusPage, "routes">,
): HttpService {
  const server = createHttpService(
    {
      name: "oracle-watchdog status page",
      listen,
      access: hosts === undefined ? {} : { hosts },
      portOption: "status_page.listen",
      routes,
    },
    deps,
  );
  // Mark the rejection as handled, because the server's service ends with the same error.
  server.ready.catch(() => {});
  return server;
}

/** Creates the readers that query Prometheus. `stored` is undefined if all validators are scraped; `close` aborts running queries. */
function createPrometheusReaders(config: WatchdogConfig, deps: WatchdogDeps) {
  const { prometheus, backfill, intervalMs } = config;
  if (prometheus === undefined) return { stored: undefined, backfillerOf: () => undefined, close: () => {} };
  const end = new AbortController();
  const read = deps.readSamples ?? createSampleReader(prometheus.connection);
  const validators = config.validators.map(({ target }) => target);
  const fleet = { validators, intervalMs, staleMs: prometheus.staleMs };
  const stored = createFleet(fleet, { read, clock: deps.clock, signal: end.signal });
  // Query one validator at a time, because after downtime all validators fill the same gap.
  const history = createStoredHistory(oneAtATime(read, prometheus.connection.deadlineMs));
  return {
    stored: validators.some(({ isStored }) => isStored) ? stored : undefined,
    backfillerOf: (validator: ValidatorConfig) =>
      backfill &&
      createBackfiller(
        { ...backfill, target: validator.target, counting: countingOptions(config, validator) },
        { ...deps, history },
      ),
    close: () => end.abort(new Error("the watchdog is stopping")),
  };
}

/** Serializes queries: each query waits until the previous query has ended, but no longer than the deadline. */
function oneAtATime(read: ReadSamples, deadlineMs: number): ReadSamples {
  let last: Promise<unknown> = Promise.resolve();
  return (selector, range, signal) =>
    withDeadline("a backfill query", deadlineMs, signal, (inner) => {
      const result = last.then(() => {
        inner.throwIfAborted();
        return read(selector, range, inner);
      });
      last = result.catch(() => {});
      return result;
    });
}
