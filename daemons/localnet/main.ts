import { profileNamed } from "../../src/localnet/chain/deviations/profile-named.ts";
import type { IbcRelayer } from "../../src/localnet/ibc-relayer/ibc-relayer.ts";
import { registerIbcRelayerMetrics } from "../../src/localnet/ibc-relayer/metrics.ts";
import {
  type ChainPart,
  type ChainProfile,
  CHAINS,
  DEFAULT_ROLES,
  localnetAccounts,
} from "../../src/localnet/accounts/chains.ts";
import { type ContractPage, createContractPage } from "../../src/workbench/contract-page.ts";
import { type ContractWatchOptions, createContractWatch } from "../../src/workbench/contract-watch.ts";
import {
  createLocalnet,
  type Localnet,
  type LocalnetOptions,
  type RunningLocalnet,
} from "../../src/localnet/network/create-localnet.ts";
import { type ChainClock, createChainClock } from "../../src/localnet/control/chain-clock.ts";
import { LOCALNET_METRICS_ROUTE } from "../../src/localnet/control/control-api.ts";
import { type OverviewDeps, overviewRoutes } from "../../src/localnet/network/overview-page.ts";
import { makeProvable } from "../../src/localnet/network/first-blocks.ts";
import {
  createFaultRoutes,
  joinFaultControls,
  remoteSidecarFaultControl,
  sidecarFaultControl,
  localFaultControl,
} from "../../src/localnet/control/fault-control.ts";
import {
  createLocalnetIbcRelayer,
  ibcRelayerRoutes,
} from "../../src/localnet/network/localnet-ibc-relayer.ts";
import {
  chainOptions,
  LOCALNET_HOST,
  localnetAddress,
  type LocalnetDaemonOptions,
  localnetEndpoints,
} from "../../src/localnet/network/localnet-options.ts";
import {
  createTraffic,
  registerTrafficMetrics,
  type Traffic,
  TRAFFIC_ACCOUNT,
  TRAFFIC_FAULTS,
  type TrafficFaultName,
} from "../../src/localnet/traffic/traffic.ts";
import type { ServerFactory } from "../../src/localnet/node/grpc/call-router.ts";
import { createGrpcEndpoint } from "../../src/localnet/node/grpc/grpc-endpoint.ts";
import { ORACLE_FAULTS, type OracleFaultName } from "../../src/localnet/node/oracle/oracle-client.ts";
import { createRestServer } from "../../src/localnet/node/rest/rest-server.ts";
import { createSidecar, type Sidecar } from "../../src/localnet/sidecar/sidecar.ts";
import { raceAbort, untilAborted } from "../../src/platform/base/abort.ts";
import { createFaultSwitches, type FaultSwitches } from "../../src/platform/base/fault-switches.ts";
import type { Secret } from "../../src/platform/base/secret.ts";
import { unreachable } from "../../src/platform/base/errors.ts";
import { type Service, supervise, throwFirst } from "../../src/platform/base/service.ts";
import { type ApiRoute, serveRoute } from "../../src/platform/http/route-about.ts";
import { createHttpService } from "../../src/platform/http/route-server.ts";
import type { DaemonContext, DaemonEndpoint } from "../../src/platform/process/daemon-context.ts";
import { createMetricsRegistry } from "../../src/platform/process/metrics.ts";
import { type ServiceState, withServiceManager } from "../../src/platform/process/service-manager.ts";
import { createDeferred } from "../../src/platform/process/deferred.ts";
import { WORKBENCH_MODULES } from "../../src/workbench/modules/workbench-modules.ts";
import { createGasProfiles, type GasProfiles } from "../../src/workbench/profile/profile-tx.ts";

/** A localnet whose servers are all listening, with its clock and its running parts. */
export interface LocalnetReady {
  readonly clock: ChainClock;
  readonly chains: RunningLocalnet["chains"];
  /** Undefined if the IBC relayer does not run in this process. */
  readonly ibcRelayer: IbcRelayer | undefined;
  readonly endpoints: readonly DaemonEndpoint[];
}

export interface LocalnetRunOptions extends LocalnetDaemonOptions {
  /** Contract files to watch for the local chain, which must run in this process. */
  readonly watch?: ContractWatchOptions | undefined;
}

/**
 * How long a vote waits for the sidecar. A real node's default `client_timeout` is 2 s, but its vote extension handler waits at
 * most 1 s. With one validator, a timeout of 2 s would double the block time to 2 s while the sidecar is down.
 */
const ORACLE_TIMEOUT_MS = 1_000;

/** Runs the chosen parts until the context's signal aborts. Rejects with the error of the first part that fails. */
export async function runLocalnet(
  options: LocalnetRunOptions,
  daemon: DaemonContext,
  onReady: (ready: LocalnetReady) => void,
): Promise<void> {
  const { parts, ports, chains = CHAINS, roles = DEFAULT_ROLES } = options;
  const context = { ...daemon, clock: createChainClock(daemon.clock) };
  const { clock } = context;
  const sidecar = parts.includes("sidecar") ? openSidecar(options, context) : undefined;
  const chainsUp = createDeferred<RunningLocalnet | undefined>();
  const ibcRelayer = parts.includes("ibc-relayer")
    ? createLocalnetIbcRelayer(ports, context, chainsUp.promise, { chains, roles })
    : undefined;
  const faults = createFaultSwitches(ORACLE_FAULTS, context.clock);
  const trafficFaults = createFaultSwitches(TRAFFIC_FAULTS, context.clock);
  const traffic = openTraffic(options, context, { up: chainsUp.promise, faults: trafficFaults });
  const profiles = { local: createGasProfiles(), remote: createGasProfiles() };
  const bench = { up: chainsUp.promise, makeProfile: profiles.local.make };
  const watch = openWatch(options, context, bench);
  const page = openPage(options, context, bench);
  let nodes: RunningLocalnet["chains"] = {};
  chainsUp.promise.then(
    (running) => (nodes = running?.chains ?? {}),
    () => {},
  );
  const runningChains = () => [nodes.local, nodes.remote].filter((node) => node !== undefined);
  const targets = { page, runningChains, sidecar, faults, trafficFaults, ibcRelayer, traffic, profiles };
  const localnet = openChains(options, context, targets);
  // If the chains fail to start, their service's `run` rejects with the error.
  (localnet?.ready ?? Promise.resolve(undefined)).then(chainsUp.resolve, () => {});
  const sidecarControl = openSidecarControl(options, context, sidecar);
  const services = [sidecar, localnet, sidecarControl, ibcRelayer, traffic, watch, page].filter(
    (one) => one !== undefined,
  );
  const up = Promise.all([localnet?.ready, sidecar?.ready]).catch(() => undefined);
  let isStarted = false;
  const state = (): ServiceState => ({
    isStarted,
    // A chain may be halted on purpose, so liveness only means that this process still handles events.
    isAlive: true,
    text: isStarted ? `runs ${parts.join(", ")}` : `starts ${parts.join(", ")}`,
  });
  const announcement = createAnnouncement(up, (running) => {
    isStarted = true;
    const present = running?.chains ?? {};
    if (present.remote !== undefined) makeProvable(present.remote);
    onReady({ clock, chains: present, ibcRelayer, endpoints: localnetEndpoints(options) });
  });
  await withServiceManager(context.serviceManager, state, context, async () =>
    throwFirst(await supervise([...services, announcement], context.signal, context.logger)),
  );
}

function openTraffic(
  { parts, trafficGas, chains = CHAINS }: LocalnetDaemonOptions,
  { clock, logger }: DaemonContext,
  {
    up,
    faults,
  }: {
    readonly up: Promise<RunningLocalnet | undefined>;
    readonly faults: FaultSwitches<TrafficFaultName>;
  },
): Traffic | undefined {
  if (!parts.includes("local"))
    return trafficGas === undefined ? undefined : unreachable("traffic without the local chain");
  const node = up.then(
    (running) => running?.chains.local ?? unreachable("a localnet without its local chain"),
  );
  const hasAccount = chains.local.keys.some(({ name }) => name === TRAFFIC_ACCOUNT);
  if (!hasAccount && trafficGas === undefined) return undefined;
  return createTraffic(
    { gasPerBlock: trafficGas ?? 0n, faults, chain: chains.local },
    { node, clock, logger },
  );
}

interface Bench {
  readonly up: Promise<RunningLocalnet | undefined>;
  readonly makeProfile: GasProfiles["make"];
}

/** Creates the contract page, which the control API serves. */
function openPage(
  { parts, controlToken }: LocalnetDaemonOptions,
  { clock }: DaemonContext,
  { up, makeProfile }: Bench,
): ContractPage | undefined {
  if (controlToken === undefined || !parts.includes("local")) return undefined;
  const node = up.then((running) => running?.chains.local ?? unreachable("a page without the local chain"));
  return createContractPage({ node, clock, makeProfile });
}

function openWatch(
  { watch, chains = CHAINS }: LocalnetRunOptions,
  { clock }: DaemonContext,
  { up, makeProfile }: Bench,
): Service | undefined {
  if (watch === undefined) return undefined;
  const node = up.then((running) => running?.chains.local ?? unreachable("a watch without the local chain"));
  return createContractWatch({ ...watch, chain: chains.local }, { node, clock, makeProfile });
}

/** Creates a service that calls `announce` once all parts are ready. If a part fails to start, that part's own `run` rejects. */
function createAnnouncement(
  up: Promise<readonly [RunningLocalnet | undefined, unknown] | undefined>,
  announce: (running: RunningLocalnet | undefined) => void,
): Service {
  return {
    name: "localnet announcement",
    run: async (signal) => {
      const ready = await raceAbort(up, signal);
      if (ready !== undefined) announce(ready[0]);
      await untilAborted(signal);
    },
  };
}

function openSidecar(
  { ports, profile, chains = CHAINS }: LocalnetDaemonOptions,
  { clock, logger }: DaemonContext,
): Sidecar {
  const listen = {
    prices: { host: LOCALNET_HOST, port: ports.prices },
    oracleMetrics: { host: LOCALNET_HOST, port: ports.oracleMetrics },
    sidecarMetrics: { host: LOCALNET_HOST, port: ports.sidecarMetrics },
  };
  const metricNames = profileNamed(profile).deployed("sidecarMetricNames") ? "side_car" : "connect";
  return createSidecar(
    { chainId: chains.local.chainId, seed: 1, listen, metricNames },
    { clock, logger: logger.child({ part: "sidecar" }) },
  );
}

/**
 * Creates a server that injects the sidecar's faults, for a process that does not run the local chain. The local chain's control
 * API forwards fault requests to this server.
 */
function openSidecarControl(
  { parts, ports, access, controlToken }: LocalnetDaemonOptions,
  context: DaemonContext,
  sidecar: Sidecar | undefined,
): Service | undefined {
  if (sidecar === undefined || controlToken === undefined || parts.includes("local")) return undefined;
  return createHttpService(
    {
      name: "sidecar control",
      listen: { host: LOCALNET_HOST, port: ports.sidecarControl },
      portOption: "--port-offset",
      access: { hosts: access.hosts },
      routes: createFaultRoutes(sidecarFaultControl(sidecar)),
      token: controlToken,
    },
    context,
  );
}

/** Parts that the control API shows or controls, other than the chains. */
interface ControlTargets {
  /** Undefined without a control API or a local chain in this process. */
  readonly page: ContractPage | undefined;
  readonly runningChains: OverviewDeps["chains"];
  /** Undefined if the sidecar runs in another process. */
  readonly sidecar: Sidecar | undefined;
  /** Faults that can be injected into the local chain's votes. */
  readonly faults: FaultSwitches<OracleFaultName>;
  readonly trafficFaults: FaultSwitches<TrafficFaultName>;
  /** Undefined if the IBC relayer does not run in this process. */
  readonly ibcRelayer: IbcRelayer | undefined;
  /** Undefined if the local chain does not run in this process. */
  readonly traffic: Traffic | undefined;
  readonly profiles: Readonly<Record<ChainPart, GasProfiles>>;
}

function openChains(
  options: LocalnetDaemonOptions,
  context: DaemonContext & { readonly clock: ChainClock },
  targets: ControlTargets,
): Localnet | undefined {
  const { parts, ports, home, keepBlocks, blockTimeMs, controlToken, chains: profiles = CHAINS } = options;
  const chains = chainOptions(options);
  if (chains === undefined) return undefined;
  const hasControl = controlToken !== undefined && parts.includes("local");
  return createLocalnet(
    {
      chains,
      profiles,
      blockTimeMs,
      remoteRpcUrl: `http://${LOCALNET_HOST}:${ports.remoteRpc}`,
      oracle: {
        address: `http://${LOCALNET_HOST}:${ports.prices}`,
        timeoutMs: ORACLE_TIMEOUT_MS,
        faults: targets.faults,
      },
      ...(home === undefined ? {} : { home }),
      ...(keepBlocks === undefined ? {} : { keepBlocks }),
      ...(hasControl ? { control: controlOptions(options, controlToken, targets, context) } : {}),
    },
    {
      clock: context.clock,
      chainClock: context.clock,
      logger: context.logger,
      servers: (chain) => chainServers(chain, options, context),
      extension: ({ part }) => ({ ...targets.profiles[part], modules: WORKBENCH_MODULES }),
    },
  );
}

function controlOptions(
  options: LocalnetDaemonOptions,
  token: Secret,
  { page, runningChains, sidecar, faults, trafficFaults, ibcRelayer, traffic }: ControlTargets,
  context: DaemonContext,
): NonNullable<LocalnetOptions["control"]> {
  const { ports, access } = options;
  const sidecarFaults =
    sidecar === undefined
      ? remoteSidecarFaultControl(`http://${LOCALNET_HOST}:${ports.sidecarControl}`, token)
      : sidecarFaultControl(sidecar);
  const voteFaults = localFaultControl(ORACLE_FAULTS, faults);
  const marketFaults = localFaultControl(TRAFFIC_FAULTS, trafficFaults);
  const allFaults = joinFaultControls([sidecarFaults, voteFaults, marketFaults]);
  const overview = {
    clock: context.clock,
    chains: runningChains,
    faults: allFaults,
    ibcRelayer: ibcRelayer?.status,
    endpoints: localnetEndpoints(options),
    accounts: localnetAccounts(options.chains),
  };
  return {
    address: { ...localnetAddress(ports.control), access: { hosts: access.hosts } },
    token,
    version: context.build.version,
    routes: [
      ...(page === undefined
        ? []
        : [...overviewRoutes(overview, page.page, options, context), ...page.routes]),
      ...createFaultRoutes(allFaults),
      ...(ibcRelayer === undefined ? [] : ibcRelayerRoutes(ibcRelayer, context.clock)),
      ...metricsRoutes({ ibcRelayer, traffic }, context),
    ],
  };
}

/**
 * Creates the control API's `GET /metrics` route, with metrics of the IBC relayer and the simulated traffic if this process runs
 * them.
 */
function metricsRoutes(
  { ibcRelayer, traffic }: Pick<ControlTargets, "ibcRelayer" | "traffic">,
  { build, clock }: DaemonContext,
): readonly ApiRoute[] {
  if (ibcRelayer === undefined && traffic === undefined) return [];
  const registry = createMetricsRegistry({ build, program: "localnet", processMetrics: true });
  if (ibcRelayer !== undefined) registerIbcRelayerMetrics(registry, ibcRelayer.status, clock);
  if (traffic !== undefined) registerTrafficMetrics(registry, traffic);
  return [
    serveRoute(LOCALNET_METRICS_ROUTE, async () => ({
      status: 200,
      headers: { "content-type": registry.contentType },
      body: await registry.metrics(),
    })),
  ];
}

function chainServers(
  { part, chainName }: ChainProfile,
  { ports, access }: LocalnetDaemonOptions,
  context: DaemonContext,
): readonly ServerFactory[] {
  return [
    createRestServer({ ...localnetAddress(ports[`${part}Rest`]), access, chainName }, context),
    createGrpcEndpoint({ ...localnetAddress(ports[`${part}Grpc`]), chainName }, context),
  ];
}
