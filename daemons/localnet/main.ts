import { raceAbort, untilAborted } from "../../src/base/abort.ts";
import { type Service, supervise } from "../../src/base/service.ts";
import { type ChainProfile, CHAINS } from "../../src/node/localnet/chains.ts";
import {
  createLocalnet,
  type Localnet,
  type LocalnetChainOptions,
  type LocalnetOptions,
  type RunningLocalnet,
} from "../../src/node/localnet/create-localnet.ts";
import { createGrpcEndpoint } from "../../src/node/grpc/grpc-endpoint.ts";
import type { RunningNode } from "../../src/node/create-node.ts";
import type { ServerAddress } from "../../src/node/node-options.ts";
import type { ServerFactory } from "../../src/node/node-view.ts";
import { createRestServer } from "../../src/node/rest/rest-server.ts";
import type { DaemonContext, DaemonEndpoint } from "../../src/ops/daemon-context.ts";
import type { Secret } from "../../src/base/secret.ts";
import { createFaultRoutes } from "../../src/sidecar/fault-routes.ts";
import { createSidecar, type Sidecar } from "../../src/sidecar/sidecar.ts";
import type { Ports } from "./ports.ts";

/** What a localnet is made of. */
export const LOCALNET_PARTS = ["local", "remote", "sidecar"] as const;

/** One of {@link LOCALNET_PARTS}. */
export type LocalnetPart = (typeof LOCALNET_PARTS)[number];

/** How a localnet runs. */
export interface LocalnetDaemonOptions {
  /** Parts to run in this process; the others may run in their own. */
  readonly parts: readonly LocalnetPart[];
  readonly ports: Ports;
  /** Directory that keeps the chains' state; without it they live in memory. */
  readonly home: string | undefined;
  readonly blockTimeMs: number;
  /** Voting powers of the validators. */
  readonly validators: Readonly<Record<"local" | "remote", readonly bigint[]>>;
  /** Opens the control face; without it there is none. */
  readonly controlToken: Secret | undefined;
}

/** A localnet that is up. */
export interface LocalnetReady {
  readonly chains: RunningLocalnet["chains"];
  readonly endpoints: readonly DaemonEndpoint[];
}

const HOST = "127.0.0.1";
/** As a real node's `client_timeout`. */
const ORACLE_TIMEOUT_MS = 2_000;

/** Runs the chosen parts until the context's signal fires. Throws the first error of a part. */
export async function runLocalnet(
  options: LocalnetDaemonOptions,
  context: DaemonContext,
  onReady: (ready: LocalnetReady) => void,
): Promise<void> {
  const sidecar = options.parts.includes("sidecar") ? openSidecar(options, context) : undefined;
  const localnet = openChains(options, context, sidecar);
  const parts: readonly Service[] = [sidecar, localnet].filter((one) => one !== undefined);
  const services = [...parts, createAnnouncement(options, { localnet, sidecar }, onReady)];
  const [first] = await supervise(services, context.signal, context.logger);
  if (first !== undefined) throw first.error;
}

/** Tells once that everything is up; what does not come up says so itself. */
function createAnnouncement(
  options: LocalnetDaemonOptions,
  parts: { readonly localnet: Localnet | undefined; readonly sidecar: Sidecar | undefined },
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
        onReady({ chains, endpoints: endpointsOf(options) });
      }
      await untilAborted(signal);
    },
  };
}

/** A chain answers proofs from height 2 on, which block 3 proves: its first blocks are made at once. */
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

function openChains(
  options: LocalnetDaemonOptions,
  context: DaemonContext,
  sidecar: Sidecar | undefined,
): Localnet | undefined {
  const { parts, ports, home, blockTimeMs, validators, controlToken } = options;
  const local: LocalnetChainOptions = {
    rpc: faceAt(ports.localRpc),
    metrics: faceAt(ports.localMetrics),
    validatorPowers: validators.local,
  };
  const remote: LocalnetChainOptions = { rpc: faceAt(ports.remoteRpc), validatorPowers: validators.remote };
  const chains = {
    ...(parts.includes("local") ? { local } : {}),
    ...(parts.includes("remote") ? { remote } : {}),
  };
  if (Object.keys(chains).length === 0) return undefined;
  const localnetOptions: LocalnetOptions = {
    chains,
    blockTimeMs,
    remoteRpcUrl: `http://${HOST}:${ports.remoteRpc}`,
    oracle: { address: `http://${HOST}:${ports.prices}`, timeoutMs: ORACLE_TIMEOUT_MS },
    ...(home === undefined ? {} : { home }),
    ...(controlToken === undefined || !parts.includes("local")
      ? {}
      : { control: controlFace(options, controlToken, sidecar) }),
  };
  return createLocalnet(localnetOptions, {
    clock: context.clock,
    logger: context.logger,
    faces: (chain) => chainFaces(chain, ports, context),
  });
}

function controlFace(
  { ports }: LocalnetDaemonOptions,
  token: Secret,
  sidecar: Sidecar | undefined,
): NonNullable<LocalnetOptions["control"]> {
  return {
    address: faceAt(ports.control),
    token,
    routes: sidecar === undefined ? [] : createFaultRoutes(sidecar),
  };
}

/** REST for both chains; gRPC for the local one. */
function chainFaces(chain: ChainProfile, ports: Ports, context: DaemonContext): readonly ServerFactory[] {
  const isLocal = chain.part === "local";
  const rpcAddress = `tcp://${HOST}:${isLocal ? ports.localRpc : ports.remoteRpc}`;
  const service = {
    chainName: chain.chainName,
    consensusPrefix: `${chain.bech32Prefix}valcons`,
    rpcAddress: () => rpcAddress,
  };
  const rest = createRestServer(
    { ...faceAt(isLocal ? ports.localRest : ports.remoteRest), ...service },
    context,
  );
  return isLocal ? [rest, createGrpcEndpoint({ ...faceAt(ports.localGrpc), ...service }, context)] : [rest];
}

function faceAt(port: number): ServerAddress {
  return { host: HOST, port, portOption: "--port-offset" };
}

function endpointsOf({ parts, ports, controlToken }: LocalnetDaemonOptions): readonly DaemonEndpoint[] {
  const face = (name: string, port: number, path = ""): DaemonEndpoint => ({
    name,
    url: `http://${HOST}:${port}${path}`,
  });
  const control = controlToken === undefined ? [] : [face("localnet control", ports.control)];
  const byPart: Readonly<Record<LocalnetPart, readonly DaemonEndpoint[]>> = {
    remote: [face("remote-1 RPC, WebSocket", ports.remoteRpc), face("remote-1 REST", ports.remoteRest)],
    local: [
      face("local-1 RPC, WebSocket", ports.localRpc),
      face("local-1 REST", ports.localRest),
      { name: "local-1 gRPC", url: `${HOST}:${ports.localGrpc}` },
      face("local-1 metrics", ports.localMetrics, "/metrics"),
      ...control,
    ],
    sidecar: [
      face("sidecar prices", ports.prices, "/connect/oracle/v2/prices"),
      face("sidecar oracle metrics", ports.oracleMetrics, "/metrics"),
      face("sidecar metrics", ports.sidecarMetrics, "/metrics"),
    ],
  };
  return LOCALNET_PARTS.filter((part) => parts.includes(part)).flatMap((part) => byPart[part]);
}
