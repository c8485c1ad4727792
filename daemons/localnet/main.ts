import { raceAbort, untilAborted } from "../../src/platform/base/abort.ts";
import { createFaultSwitches, type FaultSwitches } from "../../src/platform/base/fault-switches.ts";
import type { Secret } from "../../src/platform/base/secret.ts";
import { type Service, supervise } from "../../src/platform/base/service.ts";
import type { RunningNode } from "../../src/localnet/node/create-node.ts";
import type { Courier } from "../../src/localnet/ibc-relayer/courier.ts";
import { createGrpcEndpoint } from "../../src/localnet/node/grpc/grpc-endpoint.ts";
import { type ChainProfile, CHAINS } from "../../src/localnet/network/chains.ts";
import {
  createLocalnet,
  type Localnet,
  type LocalnetChainOptions,
  type LocalnetOptions,
  type RunningLocalnet,
} from "../../src/localnet/network/create-localnet.ts";
import type { LocalnetScenario } from "../../src/localnet/network/genesis.ts";
import type { ServerAddress } from "../../src/localnet/node/node-options.ts";
import type { ServerFactory } from "../../src/localnet/node/node-server.ts";
import { ORACLE_FAULTS, type OracleFaultName } from "../../src/localnet/node/oracle/oracle-faults.ts";
import { createRestServer } from "../../src/localnet/node/rest/rest-server.ts";
import type { DaemonContext, DaemonEndpoint } from "../../src/platform/process/daemon-context.ts";
import type { HttpAccess } from "../../src/platform/http/http-access.ts";
import { createDeferred } from "../../src/platform/process/deferred.ts";
import { createHttpService } from "../../src/platform/http/route-server.ts";
import { createSidecar, type Sidecar } from "../../src/localnet/sidecar/sidecar.ts";
import {
  type FaultControl,
  joinFaultControls,
  remoteSidecarFaultControl,
  sidecarFaultControl,
  switchesFaultControl,
} from "../../src/localnet/control/fault-control.ts";
import { courierRoutes, createLocalnetCourier } from "./ibc-relayer.ts";
import { createFaultRoutes } from "../../src/localnet/control/fault-routes.ts";
import type { Ports } from "../../src/platform/base/localnet-defaults.ts";

/** The parts of a localnet that may run in separate processes. */
export const LOCALNET_PARTS = ["local", "remote", "sidecar", "courier"] as const;

export type LocalnetPart = (typeof LOCALNET_PARTS)[number];

export interface LocalnetDaemonOptions {
  /** Parts to run in this process. */
  readonly parts: readonly LocalnetPart[];
  readonly ports: Ports;
  /** Parent directory of the homes of the chains. Without it, the chains are in memory. */
  readonly home: string | undefined;
  /** Number of recent blocks that a chain keeps; 0 keeps all. Undefined: the default of the node. */
  readonly keepBlocks: number | undefined;
  /** Time between the starts of two blocks. */
  readonly blockTimeMs: number;
  /** Voting powers of the validators in the genesis documents. */
  readonly validators: Readonly<Record<"local" | "remote", readonly bigint[]>>;
  /** More state in the genesis of a new local chain. */
  readonly scenario?: LocalnetScenario | undefined;
  /** Who may use the HTTP servers of the chains. `origins` count for RPC and REST only. */
  readonly access: Required<HttpAccess>;
  /** Token of the control API. Without it, none is served. */
  readonly controlToken: Secret | undefined;
}

/** A localnet whose servers all listen. */
export interface LocalnetReady {
  readonly chains: RunningLocalnet["chains"];
  /** Undefined when it does not run in this process. */
  readonly courier: Courier | undefined;
  readonly endpoints: readonly DaemonEndpoint[];
}

const HOST = "127.0.0.1";
/**
 * A real node has a `client_timeout` of 2 s by default, and its vote extension handler waits for at most 1 s. A chain with
 * one validator was measured to make a block every two seconds instead of every second while its sidecar was down.
 */
const ORACLE_TIMEOUT_MS = 1_000;

/** Runs the chosen parts until the context's signal aborts. Rejects with the first error of a part. */
export async function runLocalnet(
  options: LocalnetDaemonOptions,
  context: DaemonContext,
  onReady: (ready: LocalnetReady) => void,
): Promise<void> {
  const sidecar = options.parts.includes("sidecar") ? openSidecar(options, context) : undefined;
  const chainsUp = createDeferred<unknown>();
  const courier = options.parts.includes("courier")
    ? createLocalnetCourier(options.ports, context, chainsUp.promise)
    : undefined;
  const faults = createFaultSwitches(ORACLE_FAULTS, context.clock);
  const localnet = openChains(options, context, { sidecar, faults, courier });
  // A chain that does not start rejects its own `run`.
  (localnet?.ready ?? Promise.resolve()).then(chainsUp.resolve, () => {});
  const control = openSidecarControl(options, context, sidecar);
  const parts: readonly Service[] = [sidecar, localnet, control, courier].filter((one) => one !== undefined);
  const services = [...parts, createAnnouncement(options, { localnet, sidecar, courier }, onReady)];
  const [first] = await supervise(services, context.signal, context.logger);
  if (first !== undefined) throw first.error;
}

/** Calls `onReady` once when all parts are ready. A part that does not start rejects its own `run`. */
function createAnnouncement(
  options: LocalnetDaemonOptions,
  parts: {
    readonly localnet: Localnet | undefined;
    readonly sidecar: Sidecar | undefined;
    readonly courier: Courier | undefined;
  },
  onReady: (ready: LocalnetReady) => void,
): Service {
  const up = Promise.all([parts.localnet?.ready, parts.sidecar?.ready]).catch(() => undefined);
  return {
    name: "localnet announcement",
    run: async (signal) => {
      const running = await raceAbort(up, signal);
      if (running !== undefined) {
        const chains = running[0]?.chains ?? {};
        if (chains.remote !== undefined) makeProvable(chains.remote);
        onReady({ chains, courier: parts.courier, endpoints: endpointsOf(options) });
      }
      await untilAborted(signal);
    },
  };
}

/**
 * A node serves proofs from height 2 on, and the header of block 3 contains the root of height 2. The first blocks of the
 * remote chain are made without a pause, so that the relayer need not wait for them.
 */
const FIRST_PROVING_BLOCK = 3n;

function makeProvable({ view, control }: RunningNode): void {
  const missing = FIRST_PROVING_BLOCK - view.status().latestHeight;
  if (missing > 0n && !control.isHalted()) control.produce(Number(missing));
}

function openSidecar({ ports }: LocalnetDaemonOptions, { clock, logger }: DaemonContext): Sidecar {
  const listen = {
    prices: { host: HOST, port: ports.prices },
    oracleMetrics: { host: HOST, port: ports.oracleMetrics },
    sidecarMetrics: { host: HOST, port: ports.sidecarMetrics },
  };
  return createSidecar(
    { chainId: CHAINS.local.chainId, seed: 1, listen },
    { clock, logger: logger.child({ part: "sidecar" }) },
  );
}

/**
 * Serves the faults of a sidecar that runs apart from the local chain. The control API of the local chain forwards to this
 * one.
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
      listen: { host: HOST, port: ports.sidecarControl },
      portOption: "--port-offset",
      access: { hosts: access.hosts },
      routes: createFaultRoutes(sidecarFaultControl(sidecar)),
      token: controlToken,
    },
    context,
  );
}

/** What the control API reaches besides the chains. */
interface ControlTargets {
  /** The sidecar, when it runs in this process. */
  readonly sidecar: Sidecar | undefined;
  /** The faults of the votes of the local chain. */
  readonly faults: FaultSwitches<OracleFaultName>;
  /** The courier, when it runs in this process. */
  readonly courier: Courier | undefined;
}

function openChains(
  options: LocalnetDaemonOptions,
  context: DaemonContext,
  targets: ControlTargets,
): Localnet | undefined {
  const { parts, ports, home, keepBlocks, blockTimeMs, validators, access, controlToken } = options;
  const local: LocalnetChainOptions = {
    rpc: { ...addressAt(ports.localRpc), access },
    metrics: { ...addressAt(ports.localMetrics), access: { hosts: access.hosts } },
    validatorPowers: validators.local,
    scenario: options.scenario,
  };
  const remote: LocalnetChainOptions = {
    rpc: { ...addressAt(ports.remoteRpc), access },
    validatorPowers: validators.remote,
    localPowers: validators.local,
  };
  const chains = {
    ...(parts.includes("local") ? { local } : {}),
    ...(parts.includes("remote") ? { remote } : {}),
  };
  if (Object.keys(chains).length === 0) return undefined;
  const localnetOptions: LocalnetOptions = {
    chains,
    blockTimeMs,
    remoteRpcUrl: `http://${HOST}:${ports.remoteRpc}`,
    oracle: {
      address: `http://${HOST}:${ports.prices}`,
      timeoutMs: ORACLE_TIMEOUT_MS,
      faults: targets.faults,
    },
    ...(home === undefined ? {} : { home }),
    ...(keepBlocks === undefined ? {} : { keepBlocks }),
    ...(controlToken === undefined || !parts.includes("local")
      ? {}
      : { control: controlOptions(options, controlToken, targets, context) }),
  };
  return createLocalnet(localnetOptions, {
    clock: context.clock,
    logger: context.logger,
    servers: (chain) => chainServers(chain, options, context),
  });
}

function controlOptions(
  { ports, access }: LocalnetDaemonOptions,
  token: Secret,
  { sidecar, faults, courier }: ControlTargets,
  context: DaemonContext,
): NonNullable<LocalnetOptions["control"]> {
  const ofSidecar: FaultControl =
    sidecar === undefined
      ? remoteSidecarFaultControl(`http://${HOST}:${ports.sidecarControl}`, token)
      : sidecarFaultControl(sidecar);
  const ofVotes = switchesFaultControl(ORACLE_FAULTS, faults);
  return {
    address: { ...addressAt(ports.control), access: { hosts: access.hosts } },
    token,
    routes: [
      ...createFaultRoutes(joinFaultControls([ofSidecar, ofVotes])),
      ...(courier === undefined ? [] : courierRoutes(courier, context)),
    ],
  };
}

/** Both chains have REST and gRPC. */
function chainServers(
  { part, chainName }: ChainProfile,
  { ports, access }: LocalnetDaemonOptions,
  context: DaemonContext,
): readonly ServerFactory[] {
  const [rest, grpc] =
    part === "local" ? [ports.localRest, ports.localGrpc] : [ports.remoteRest, ports.remoteGrpc];
  return [
    createRestServer({ ...addressAt(rest), access, chainName }, context),
    createGrpcEndpoint({ ...addressAt(grpc), chainName }, context),
  ];
}

function addressAt(port: number): ServerAddress {
  return { host: HOST, port, portOption: "--port-offset" };
}

function endpointsOf({ parts, ports, controlToken }: LocalnetDaemonOptions): readonly DaemonEndpoint[] {
  const endpoint = (name: string, port: number, path = ""): DaemonEndpoint => ({
    name,
    url: `http://${HOST}:${port}${path}`,
  });
  const control = controlToken === undefined ? [] : [endpoint("localnet control", ports.control)];
  const byPart: Readonly<Record<LocalnetPart, readonly DaemonEndpoint[]>> = {
    remote: [
      endpoint("remote-1 RPC, WebSocket", ports.remoteRpc),
      endpoint("remote-1 REST", ports.remoteRest),
      { name: "remote-1 gRPC", url: `${HOST}:${ports.remoteGrpc}` },
    ],
    local: [
      endpoint("local-1 RPC, WebSocket", ports.localRpc),
      endpoint("local-1 REST", ports.localRest),
      { name: "local-1 gRPC", url: `${HOST}:${ports.localGrpc}` },
      endpoint("local-1 metrics", ports.localMetrics, "/metrics"),
      ...control,
    ],
    sidecar: [
      endpoint("sidecar prices", ports.prices, "/connect/oracle/v2/prices"),
      endpoint("sidecar oracle metrics", ports.oracleMetrics, "/metrics"),
      endpoint("sidecar metrics", ports.sidecarMetrics, "/metrics"),
      ...(controlToken === undefined || parts.includes("local")
        ? []
        : [endpoint("sidecar control", ports.sidecarControl)]),
    ],
    courier:
      parts.includes("local") && controlToken !== undefined
        ? [
            endpoint("courier", ports.control, "/courier"),
            endpoint("courier metrics", ports.control, "/metrics"),
          ]
        : [],
  };
  return LOCALNET_PARTS.filter((part) => parts.includes(part)).flatMap((part) => byPart[part]);
}
