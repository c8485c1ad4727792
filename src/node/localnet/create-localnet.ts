import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { type Service, supervise } from "../../base/service.ts";
import { createApp } from "../../chain/app.ts";
import type { StateStorage } from "../../chain/store/state-storage.ts";
import { createDeferred } from "../../ops/deferred.ts";
import type { HttpRoute } from "../../ops/http-route.ts";
import { createHttpService, type HttpService } from "../../ops/http-service.ts";
import type { Secret } from "../../base/secret.ts";
import { controlRoutes } from "../control/control-routes.ts";
import { createNode, type Node, type RunningNode } from "../create-node.ts";
import type { GenesisDoc } from "../genesis-doc.ts";
import type { ServerAddress } from "../node-options.ts";
import type { ServerFactory } from "../node-view.ts";
import type { OracleOptions } from "../oracle/oracle-client.ts";
import { type ChainProfile, CHAINS, type LocalnetPart } from "./chains.ts";
import { localGenesis, localnetSeeds, remoteGenesis } from "./genesis.ts";
import { fetchRemoteHeader } from "./remote-header.ts";

/** How one chain of the localnet runs. */
export interface LocalnetChainOptions {
  readonly rpc: ServerAddress;
  readonly metrics?: ServerAddress;
  /** Voting powers of its validators, at least one. */
  readonly validatorPowers: readonly bigint[];
  /** Starts a new chain from this document (an export, say) instead of the localnet's own. */
  readonly genesis?: GenesisDoc;
}

/** How a localnet runs. */
export interface LocalnetOptions {
  /** The chains to run here; the other one may run in another process. */
  readonly chains: Readonly<Partial<Record<LocalnetPart, LocalnetChainOptions>>>;
  /** Directory for the chains' homes (`<home>/local-1`, `<home>/remote-1`); without it they live in memory. */
  readonly home?: string;
  readonly blockTimeMs: number;
  /** RPC of the remote chain when it does not run here; the local chain's first start asks it for a header. */
  readonly remoteRpcUrl: string;
  /** The price sidecar that the local validator asks. */
  readonly oracle?: OracleOptions;
  readonly control?: {
    readonly address: ServerAddress;
    readonly token: Secret;
    /** Routes of other parts, such as the sidecar's errors. */
    readonly routes?: readonly HttpRoute[];
  };
}

/** What a localnet is made of. */
export interface LocalnetDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** REST, gRPC and whatever else shows a chain. */
  readonly faces?: (chain: ChainProfile) => readonly ServerFactory[];
}

/** A localnet that is up. */
export interface RunningLocalnet {
  readonly chains: Readonly<Partial<Record<LocalnetPart, RunningNode>>>;
  readonly controlPort: number | undefined;
}

/** The chains of a localnet in one process. */
export interface Localnet extends Service {
  readonly ready: Promise<RunningLocalnet>;
}

const REMOTE_WAIT_MS = 60_000;

/** Creates a localnet: one or both chains, and the control face. The first error stops all of it and comes out of `run`. */
export function createLocalnet(options: LocalnetOptions, deps: LocalnetDeps): Localnet {
  const remote = options.chains.remote && createRemote(options, options.chains.remote, deps);
  const local = options.chains.local && createLocal(options, options.chains.local, deps, remote);
  const control = createControl(options, deps, { local, remote });
  const services = [remote, local, control].filter((one) => one !== undefined);
  const ready = createDeferred<RunningLocalnet>();
  const settle = async (): Promise<RunningLocalnet> => {
    const [runningLocal, runningRemote, address] = await Promise.all([
      local?.ready,
      remote?.ready,
      control?.ready,
    ]);
    return {
      chains: {
        ...(runningLocal === undefined ? {} : { local: runningLocal }),
        ...(runningRemote === undefined ? {} : { remote: runningRemote }),
      },
      controlPort: address?.port,
    };
  };
  const run = async (signal: AbortSignal): Promise<void> => {
    settle().then(ready.resolve, ready.reject);
    const [first] = await supervise(services, signal, deps.logger);
    if (first !== undefined) throw first.error;
  };
  return { name: "localnet", run, ready: ready.promise };
}

function createRemote(options: LocalnetOptions, chain: LocalnetChainOptions, deps: LocalnetDeps): Node {
  return createNode(nodeOptions(options, CHAINS.remote, chain), {
    ...nodeDeps(CHAINS.remote, deps),
    genesis: (stored) =>
      stored ??
      chain.genesis ??
      remoteGenesis({ timeNs: nowNs(deps), validatorPowers: chain.validatorPowers }),
  });
}

/** The local chain's first start needs a header of the remote one; later ones continue from the home. */
function createLocal(
  options: LocalnetOptions,
  chain: LocalnetChainOptions,
  deps: LocalnetDeps,
  remote: Node | undefined,
): Node {
  const oracle = options.oracle === undefined ? {} : { oracle: options.oracle };
  return createNode(
    { ...nodeOptions(options, CHAINS.local, chain), ...oracle },
    {
      ...nodeDeps(CHAINS.local, deps),
      genesis: async (stored, signal) => {
        const given = stored ?? chain.genesis;
        if (given !== undefined) return given;
        const port = (await remote?.ready)?.ports.get("rpc");
        const rpcUrl = port === undefined ? options.remoteRpcUrl : `http://127.0.0.1:${port}`;
        const source = { rpcUrl, chainId: CHAINS.remote.chainId, timeoutMs: REMOTE_WAIT_MS };
        const header = await fetchRemoteHeader(source, deps.clock, signal);
        return localGenesis({ timeNs: nowNs(deps), validatorPowers: chain.validatorPowers }, header);
      },
    },
  );
}

function nodeOptions(options: LocalnetOptions, profile: ChainProfile, chain: LocalnetChainOptions) {
  return {
    moniker: profile.chainId,
    blockTimeMs: options.blockTimeMs,
    validatorSeeds: localnetSeeds(profile, chain.validatorPowers.length),
    consensusPrefix: `${profile.bech32Prefix}valcons`,
    rpc: chain.rpc,
    ...(chain.metrics === undefined ? {} : { metrics: chain.metrics }),
    ...(options.home === undefined ? {} : { home: join(options.home, profile.chainId) }),
  };
}

function nodeDeps(profile: ChainProfile, deps: LocalnetDeps) {
  return {
    clock: deps.clock,
    logger: deps.logger.child({ chain: profile.chainId }),
    createApp: (storage: StateStorage) => createApp({ ...profile, kind: profile.part }, { storage }),
    faces: deps.faces?.(profile) ?? [],
  };
}

function nowNs({ clock }: LocalnetDeps): bigint {
  return BigInt(Math.trunc(clock.nowMs())) * 1_000_000n;
}

function createControl(
  { control }: LocalnetOptions,
  { logger }: LocalnetDeps,
  nodes: { readonly local: Node | undefined; readonly remote: Node | undefined },
): HttpService | undefined {
  if (control === undefined) return undefined;
  const chains = [
    ...(nodes.local === undefined ? [] : [{ profile: CHAINS.local, ready: nodes.local.ready }]),
    ...(nodes.remote === undefined ? [] : [{ profile: CHAINS.remote, ready: nodes.remote.ready }]),
  ];
  return createHttpService(
    {
      name: "localnet control",
      listen: { host: control.address.host, port: control.address.port },
      portOption: control.address.portOption,
      routes: [...controlRoutes(chains), ...(control.routes ?? [])],
      token: control.token,
    },
    { logger },
  );
}
