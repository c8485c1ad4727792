import { join } from "node:path";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Secret } from "../../platform/base/secret.ts";
import { type Service, supervise } from "../../platform/base/service.ts";
import { NS_PER_MS } from "../../platform/base/time.ts";
import { withOpenApi } from "../../platform/http/openapi.ts";
import type { ApiRoute } from "../../platform/http/route-about.ts";
import { createHttpService, type HttpService } from "../../platform/http/route-server.ts";
import { createApp } from "../chain/app.ts";
import type { Application } from "../chain/runtime/abci.ts";
import type { GasTracer } from "../chain/runtime/gas-trace.ts";
import type { StateStorage } from "../chain/store/multi-store.ts";
import { NodeError } from "../node/base/errors.ts";
import type { GenesisDoc } from "../node/base/genesis-doc.ts";
import type { ServerAddress } from "../node/base/node-server.ts";
import { createNode, type Node, type NodeDeps, type RunningNode } from "../node/create-node.ts";
import type { ServerFactory } from "../node/grpc/call-router.ts";
import type { OracleOptions } from "../node/oracle/oracle-client.ts";
import {
  chooseModules,
  type ChoosingGenesis,
  createGenesisTxs,
  type ModuleSet,
  withModules,
} from "../genesis/chain-files.ts";
import { type ChainPart, type ChainProfile, CHAINS, type LocalnetChains } from "../accounts/chains.ts";
import { type ChainClock, createChainClock } from "../control/chain-clock.ts";
import { controlRoutes } from "../control/control-routes.ts";
import { finishRevert } from "../control/snapshots.ts";
import type { PlacedContract } from "../genesis/scenario-genesis.ts";
import {
  localGenesis,
  type LocalnetGenesisOptions,
  localnetSeeds,
  remoteGenesis,
} from "../genesis/genesis.ts";
import { fetchRemoteStart } from "./first-blocks.ts";

/** Genesis options for a new chain. `scenario` and `contracts` apply only to the local chain. */
type NewChainOptions = Pick<
  LocalnetGenesisOptions,
  "validatorPowers" | "profile" | "scenario" | "contracts" | "onContract"
>;

export interface LocalnetChainOptions extends NewChainOptions {
  readonly rpc: ServerAddress;
  readonly metrics?: ServerAddress;
  /** Voting powers of the local chain's validators. If undefined, the remote chain's genesis has no client for the local chain. */
  readonly localPowers?: readonly bigint[];
  /** Genesis document with which to start a new chain, e.g. an export. By default, the chain starts with the localnet's genesis. */
  readonly genesis?: GenesisDoc;
}

export interface LocalnetOptions {
  /** Options for the chains that run in this process: both chains, or one while another process runs the other chain. */
  readonly chains: Readonly<Partial<Record<ChainPart, LocalnetChainOptions>>>;
  /** Profiles of both chains. Default: the profiles of the default localnet. */
  readonly profiles?: LocalnetChains;
  /** Parent directory of the homes `local-1` and `remote-1`. If undefined, the chains' state is in memory. */
  readonly home?: string;
  /** Number of recent blocks that a chain retains, or 0 to retain all blocks. If undefined, the node's default applies. */
  readonly keepBlocks?: number;
  /** Time between the starts of consecutive blocks. */
  readonly blockTimeMs: number;
  /** RPC URL of a remote chain in another process, from which a new local chain reads a header and the genesis time. */
  readonly remoteRpcUrl: string;
  /** Options for the local chain's price sidecar. If undefined, the chain has no sidecar. */
  readonly oracle?: OracleOptions;
  /** Address and token of the control API. If undefined, the localnet has no control API. */
  readonly control?: {
    readonly address: ServerAddress;
    readonly token: Secret;
    /** Additional routes of the control API, for example to inject the sidecar's faults. */
    readonly routes?: readonly ApiRoute[];
    /** The program's version, which `/openapi.json` reports. */
    readonly version?: string;
  };
}

export interface LocalnetDeps {
  readonly clock: Clock;
  /** The chains' clock. Default: a new clock that starts at the current time of `clock`. */
  readonly chainClock?: ChainClock;
  readonly logger: Logger;
  /** Returns a chain's servers in addition to RPC and metrics, such as REST and gRPC. */
  readonly servers?: (chain: ChainProfile) => readonly ServerFactory[];
  /** Returns a chain's optional modules, gas tracer and queries. By default, a chain has none of them. */
  readonly extension?: (chain: ChainProfile) => ChainExtension;
}

type ChainDeps = Omit<LocalnetDeps, "chainClock"> & { readonly clock: ChainClock };

/** Additions to a chain that callers of `createLocalnet` may supply. */
interface ChainExtension {
  readonly modules?: ModuleSet;
  readonly tracer?: GasTracer;
  /** Handlers for additional query paths, which the node serves through `abci_query`. */
  readonly queries?: NodeDeps["queries"];
}

/** The nodes and the control API's port of a localnet, once all its servers are listening. */
export interface RunningLocalnet {
  readonly chains: Readonly<Partial<Record<ChainPart, RunningNode>>>;
  /** Port of the control API, or undefined if the localnet has no control API. */
  readonly controlPort: number | undefined;
}

/** One or both chains of a localnet, in one process. */
export interface Localnet extends Service {
  readonly clock: ChainClock;
  /** Resolves once all of the localnet's servers are listening. Rejects if a chain or the control API fails to start. */
  readonly ready: Promise<RunningLocalnet>;
}

const REMOTE_WAIT_MS = 60_000;

/** Creates a localnet: one or both chains, and the control API. If any service fails, `run` stops all services and rejects. */
export function createLocalnet(options: LocalnetOptions, given: LocalnetDeps): Localnet {
  const { chainClock: clock = createChainClock(given.clock) } = given;
  const deps: ChainDeps = { ...given, clock };
  const remote = options.chains.remote && createRemote(options, options.chains.remote, deps);
  const local = options.chains.local && createLocal(options, options.chains.local, deps, remote);
  const control = createControl(options, deps, { local, remote });
  const services = [remote, local, control].filter((one) => one !== undefined);
  const ready = whenReady(local, remote, control);
  // Prevent an unhandled rejection if the caller ignores `ready`, because `run` rejects with the same error.
  ready.catch(() => {});
  const run = async (signal: AbortSignal): Promise<void> => {
    if (options.home !== undefined) finishRevert(options.home);
    const [first] = await supervise(services, signal, deps.logger);
    if (first !== undefined) throw first.error;
  };
  return { name: "localnet", clock, run, ready };
}

async function whenReady(
  localNode: Node | undefined,
  remoteNode: Node | undefined,
  control: HttpService | undefined,
): Promise<RunningLocalnet> {
  const [local, remote, address] = await Promise.all([localNode?.ready, remoteNode?.ready, control?.ready]);
  const nodes = [local, remote].filter((one) => one !== undefined);
  for (const node of nodes)
    node.control.rejectHeaders((hash) => nodes.some((one) => one.control.hasRemoved(hash)));
  return { chains: { ...(local && { local }), ...(remote && { remote }) }, controlPort: address?.port };
}

/** Creates a chain's application with an empty state, and with the optional modules that the genesis requires. */
function emptyApp(chain: ChainProfile, genesis: ChoosingGenesis, deps: ChainDeps): Application {
  return createApp({
    ...chain,
    kind: chain.part,
    profile: genesis.profile,
    moreModules: chooseModules(deps.extension?.(chain).modules, {
      profile: genesis.profile,
      appState: { ...genesis.appState, ...chain.settings.modules },
    }),
  });
}

function createRemote(options: LocalnetOptions, chain: LocalnetChainOptions, deps: ChainDeps): Node {
  const { profiles: chains = CHAINS } = options;
  return createNode(nodeOptions(options, chains.remote, chain), {
    ...nodeDeps(chains.remote, deps),
    genesis: async (stored) => {
      const document = existingGenesis(chains.remote, chain, stored);
      if (document !== undefined) return document;
      const { profile, localPowers: powers } = chain;
      const local = (): Application => emptyApp(chains.local, { profile, appState: {} }, deps);
      const ofLocal = powers && { powers, emptyAppHash: local().info().appHash };
      const made = remoteGenesis({
        chains,
        timeNs: BigInt(Math.trunc(deps.clock.nowMs())) * NS_PER_MS,
        profile,
        ...(await validatorsOf(chains.remote, chain)),
        ...(ofLocal === undefined ? {} : { local: ofLocal }),
      });
      return withModules(chains.remote, made, () => emptyApp(chains.remote, made, deps));
    },
  });
}

async function validatorsOf(
  profile: ChainProfile,
  { validatorPowers }: LocalnetChainOptions,
): Promise<Pick<LocalnetGenesisOptions, "validatorPowers" | "genesisTxs">> {
  const genesisTxs = await createGenesisTxs(profile, validatorPowers);
  return { validatorPowers, ...(genesisTxs === undefined ? {} : { genesisTxs }) };
}

/**
 * Returns the genesis stored in the home directory or, in a new home directory, the genesis in the options. Throws `NodeError` if
 * the genesis has a different profile.
 */
function existingGenesis(
  { chainId }: ChainProfile,
  { genesis, profile }: LocalnetChainOptions,
  stored: GenesisDoc | undefined,
): GenesisDoc | undefined {
  const document = stored ?? genesis;
  const own = document?.profile ?? "specification";
  if (document === undefined || profile === undefined || own === profile) return document;
  throw new NodeError(
    { code: "other-genesis", chainId },
    `chain ${chainId} has the profile ${own} from its genesis document, not ${profile}; omit --profile, or choose another --home`,
  );
}

/**
 * Creates the local chain's node. The node reads from the remote chain only at its first start, in order to create the genesis
 * document. Later starts use the stored document.
 */
function createLocal(
  options: LocalnetOptions,
  chain: LocalnetChainOptions,
  deps: ChainDeps,
  remote: Node | undefined,
): Node {
  const oracle = options.oracle === undefined ? {} : { oracle: options.oracle };
  const { profiles: chains = CHAINS } = options;
  return createNode(
    { ...nodeOptions(options, chains.local, chain), ...oracle },
    {
      ...nodeDeps(chains.local, deps),
      genesis: async (stored, signal) => {
        const document = existingGenesis(chains.local, chain, stored);
        if (document !== undefined) {
          if (chain.scenario !== undefined)
            deps.logger.warn("the chain already has its state; the scenario is ignored", {
              scenario: chain.scenario,
            });
          if (chain.contracts !== undefined && chain.contracts.length > 0)
            deps.logger.warn("the chain already has its state; the contracts are ignored", {
              contracts: chain.contracts.map(({ label }) => label).join(", "),
            });
          return document;
        }
        // If the RPC port option is 0, the port is only known once the remote chain is ready.
        const port = (await remote?.ready)?.ports.get("rpc");
        const rpcUrl = port === undefined ? options.remoteRpcUrl : `http://127.0.0.1:${port}`;
        const source = { rpcUrl, chainId: chains.remote.chainId, timeoutMs: REMOTE_WAIT_MS };
        const { header, genesisTimeNs } = await fetchRemoteStart(source, deps.clock, signal);
        const { profile, scenario, contracts = [] } = chain;
        const onContract = (placed: PlacedContract): void => {
          const { label, codeId, address } = placed;
          deps.logger.info("contract in the genesis", { label, code_id: codeId.toString(), address });
          chain.onContract?.(placed);
        };
        const validators = await validatorsOf(chains.local, chain);
        const timeNs = genesisTimeNs;
        const hasOracle = options.oracle !== undefined;
        const given = { chains, timeNs, ...validators, profile, hasOracle, scenario, contracts, onContract };
        const made = localGenesis(given, header);
        return withModules(chains.local, made, () => emptyApp(chains.local, made, deps));
      },
    },
  );
}

function nodeOptions(options: LocalnetOptions, profile: ChainProfile, chain: LocalnetChainOptions) {
  return {
    moniker: profile.chainId,
    chainName: profile.chainName,
    blockTimeMs: options.blockTimeMs,
    queryTimeMs: profile.queryTimeMs,
    validatorSeeds: localnetSeeds(profile, chain.validatorPowers.length),
    consensusPrefix: `${profile.bech32Prefix}valcons`,
    rpc: chain.rpc,
    ...(chain.metrics === undefined ? {} : { metrics: chain.metrics }),
    ...(options.keepBlocks === undefined ? {} : { keepBlocks: options.keepBlocks }),
    ...(options.home === undefined ? {} : { home: join(options.home, profile.chainId) }),
  };
}

function nodeDeps(profile: ChainProfile, deps: ChainDeps) {
  const { modules, tracer, queries } = deps.extension?.(profile) ?? {};
  return {
    clock: deps.clock,
    onLoad: (lastTimeNs: bigint) => deps.clock.continueFrom(Number(lastTimeNs / NS_PER_MS)),
    logger: deps.logger.child({ chain: profile.chainId }),
    createApp: (storage: StateStorage, genesis: GenesisDoc) =>
      createApp(
        {
          ...profile,
          kind: profile.part,
          profile: genesis.profile,
          moreModules: chooseModules(modules, genesis, storage),
          tracer,
        },
        { storage },
      ),
    servers: deps.servers?.(profile) ?? [],
    queries,
  };
}

function createControl(
  { control, home, profiles = CHAINS }: LocalnetOptions,
  { clock, logger }: ChainDeps,
  nodes: { readonly local: Node | undefined; readonly remote: Node | undefined },
): HttpService | undefined {
  if (control === undefined) return undefined;
  const chains = [
    ...(nodes.local === undefined ? [] : [{ profile: profiles.local, ready: nodes.local.ready }]),
    ...(nodes.remote === undefined ? [] : [{ profile: profiles.remote, ready: nodes.remote.ready }]),
  ];
  return createHttpService(
    {
      name: "localnet control",
      listen: { host: control.address.host, port: control.address.port },
      portOption: control.address.portOption,
      access: control.address.access ?? {},
      routes: withOpenApi({ title: "localnet", version: control.version ?? "" }, [
        ...controlRoutes(chains, clock, home),
        ...(control.routes ?? []),
      ]),
      token: control.token,
    },
    { logger },
  );
}
