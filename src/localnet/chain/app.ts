import type { Application } from "./runtime/abci.ts";
import { echo } from "./contracts/echo.ts";
import { icqConsumer } from "./contracts/icq-consumer.ts";
import { rateLimiter } from "./contracts/rate-limiter/rate-limiter.ts";
import { votingPowerContract } from "./contracts/voting-power/voting-power.ts";
import { dexModule } from "./dex-module.ts";
import { MODULE_NAME as AUTHORITY_NAME, createAdminModule } from "./modules/adminmodule/module.ts";
import type { AuthKeeper, ModulePermissions } from "./modules/auth/keeper.ts";
import { createAuthModule } from "./modules/auth/module.ts";
import type { BankKeeper } from "./modules/bank/keeper.ts";
import { createBankModule } from "./modules/bank/module.ts";
import { createConsensusModule } from "./modules/consensus/module.ts";
import { type ContractManagerModule, createContractManagerModule } from "./modules/contractmanager/module.ts";
import { evidenceAge, keyTypes, maxBlockGas } from "./modules/consensus/params.ts";
import { createFeemarketModule } from "./modules/feemarket/module.ts";
import { ESCROW_NAME } from "./modules/feemarket/keys.ts";
import { createHarpoonModule } from "./modules/harpoon/module.ts";
import type { IBCModule } from "./modules/ibc/channel/ibc-module.ts";
import { createIbcModule } from "./modules/ibc/module.ts";
import type { IbcKeeper } from "./modules/ibc/keeper.ts";
import { createRateLimitModule } from "./modules/ibc-rate-limit/module.ts";
import {
  createInterchainqueriesModule,
  type InterchainqueriesModule,
} from "./modules/interchainqueries/module.ts";
import { createSlashingModule } from "./modules/slashing/module.ts";
import { joinHooks, type StakingHooks } from "./modules/staking/types.ts";
import { BONDED_POOL, NOT_BONDED_POOL } from "./modules/staking/keys.ts";
import type { StakingKeeper } from "./modules/staking/keeper.ts";
import { createStakingModule } from "./modules/staking/module.ts";
import type { ContractCode } from "./modules/wasm/contract.ts";
import { createWasmModule } from "./modules/wasm/module.ts";
import { formatAddress, moduleAddress } from "./runtime/address.ts";
import { createAnteHandler } from "./runtime/ante-handler.ts";
import { createApplication } from "./runtime/application.ts";
import { collectHandlers } from "./runtime/tx-runner.ts";
import type { ChainModule, MessageHandler, QueryHandler } from "./runtime/module.ts";
import { collectQueries } from "./runtime/query-router.ts";
import type { Upgrade } from "./runtime/upgrade.ts";
import { DEFAULT_KEEP_RECENT, type StateStorage } from "./store/multi-store.ts";
import { transferModule, wrapTransfers, type TransferRoute } from "./transfer-route.ts";

/** Identity and size of a chain. */
export interface AppOptions {
  /** `local`: with interchain queries and contracts; `remote`: without them, a chain that others query. */
  readonly kind: "local" | "remote";
  /** Denomination of fees and deposits. */
  readonly denom: string;
  /** First part of the type URLs and REST paths of the chain's own modules; default `neutron`. */
  readonly chainName?: string;
  /** Prefix of account addresses; default `neutron`. */
  readonly bech32Prefix?: string;
  /** Version in `abci_info` and `/app/version`; default 6.0.3. */
  readonly version?: string;
  /** Number of recent heights that queries can read; default 1000. */
  readonly keepRecent?: number;
  /** Contracts that a genesis may instantiate, in addition to those of `CODES`. */
  readonly contracts?: readonly ContractCode[];
}

export interface AppDeps {
  /** Saved state to continue from. Absent: an empty state in memory. */
  readonly storage?: StateStorage;
}

/** Release of the deployed modules that this application follows. */
const VERSION = "6.0.3";

const POOLS: ModulePermissions = {
  [BONDED_POOL]: ["burner", "staking"],
  [NOT_BONDED_POOL]: ["burner", "staking"],
};

const LOCAL_MODULE_ACCOUNTS: ModulePermissions = {
  ...POOLS,
  [ESCROW_NAME]: [],
  dex: ["minter", "burner"],
  fee_collector: [],
  interchainqueries: [],
  "revenue-fee-redistribute": ["burner"],
  transfer: ["minter", "burner"],
  wasm: ["burner"],
};

const REMOTE_MODULE_ACCOUNTS: ModulePermissions = {
  ...POOLS,
  [ESCROW_NAME]: [],
  fee_collector: [],
  transfer: ["minter", "burner"],
};

/** Contracts that every genesis may instantiate. */
const CODES: readonly ContractCode[] = [icqConsumer, echo, rateLimiter, votingPowerContract];

/** gRPC queries that contracts may call, as on the deployed chain. */
const CONTRACT_QUERIES = [
  ...["Params", "RegisteredQueries", "RegisteredQuery", "QueryResult", "LastRemoteHeight"].map(
    (rpc) => `/neutron.interchainqueries.Query/${rpc}`,
  ),
  "/neutron.harpoon.Query/SubscribedContracts",
  ...["AddressFailures", "Failures"].map((rpc) => `/neutron.contractmanager.Query/${rpc}`),
  ...["Validator", "Delegation", "ValidatorDelegations"].map((rpc) => `/cosmos.staking.v1beta1.Query/${rpc}`),
];

/** Slashes and jails come first, as on the deployed chain. */
const BEGIN_BLOCK_ORDER = ["slashing"];

/** The fee market closes its block last, as on the deployed chain. */
const END_BLOCK_ORDER = ["staking", "interchainqueries", "dex", "feemarket"];

/**
 * Upgrades, in order of release. A home that was written before a module existed gets the module in its next block. Modules
 * of the first release have no upgrade.
 */
const UPGRADES: readonly Upgrade[] = [
  { name: "dex", adds: ["dex"] },
  { name: "staking", adds: ["staking", "slashing", "harpoon"] },
  { name: "adminmodule", adds: [AUTHORITY_NAME] },
  { name: "transfer", adds: ["transfer", "rate-limited-ibc"] },
  { name: "contractmanager", adds: ["contractmanager"] },
];

/** Creates the application of a chain from its modules. No other file lists the modules. */
export function createApp(options: AppOptions, deps: AppDeps = {}): Application {
  const { kind, denom, chainName = "neutron", bech32Prefix = "neutron" } = options;
  const moduleAccounts = kind === "local" ? LOCAL_MODULE_ACCOUNTS : REMOTE_MODULE_ACCOUNTS;
  const auth = createAuthModule({ bech32Prefix, moduleAccounts });
  const accounts = auth.keeper;
  const bank = createBankModule({ blockedModules: Object.keys(moduleAccounts) }, accounts);
  const feeRecipient = kind === "local" ? "revenue-fee-redistribute" : "fee_collector";
  const feemarket = createFeemarketModule({ feeDenom: denom }, { bank: bank.keeper, accounts, feeRecipient });
  const authority = formatAddress(bech32Prefix, moduleAddress(AUTHORITY_NAME));
  const names: ChainNames = { chainName, bech32Prefix, authority, denom };
  const ports = new Map<string, IBCModule>();
  const ibc = createIbcModule(names, (port) => ports.get(port));
  const stake = stakeModules(names, bank.keeper);
  const route: TransferRoute = { sender: ibc.keeper, ports };
  const keepers: BaseKeepers = { accounts, bank: bank.keeper, ibc: ibc.keeper, stake, route };
  const transfer = transferModule({ ...names, kind }, keepers);
  const base: readonly ChainModule[] = [createConsensusModule(), auth, bank, feemarket, ibc, transfer];
  const modules =
    kind === "local" ? localModules(base, names, keepers, options.contracts) : [...base, ...stake.modules];
  return createApplication(
    {
      version: options.version ?? VERSION,
      appVersion: 0n,
      chainName,
      modules,
      upgrades: UPGRADES,
      beginBlockOrder: BEGIN_BLOCK_ORDER,
      endBlockOrder: END_BLOCK_ORDER,
      validatorUpdates: stake.validatorUpdates,
      ante: createAnteHandler({
        accounts,
        takeFee: feemarket.takeFee,
        relayCheck: ibc.relayCheck,
        ...(kind === "local" ? { txCounterStore: "wasm" } : {}),
      }),
      post: feemarket.settleFee,
      maxBlockGas,
      keepRecent: options.keepRecent ?? DEFAULT_KEEP_RECENT,
    },
    deps.storage,
  );
}

interface ChainNames {
  readonly chainName: string;
  readonly bech32Prefix: string;
  readonly authority: string;
  readonly denom: string;
}

interface BaseKeepers {
  readonly accounts: AuthKeeper;
  readonly bank: BankKeeper;
  readonly ibc: IbcKeeper;
  readonly stake: StakeModules;
  readonly route: TransferRoute;
}

/** Staking and slashing. Their genesis runs hooks, so it comes after that of the modules that have some. */
interface StakeModules {
  readonly modules: readonly ChainModule[];
  readonly validatorUpdates: StakingKeeper["validatorUpdates"];
  /** The hooks of staking in order of the calls. A module with hooks adds its own. */
  readonly hooks: Partial<StakingHooks>[];
}

function stakeModules(names: ChainNames, bank: BankKeeper): StakeModules {
  const hooks: Partial<StakingHooks>[] = [];
  const staking = createStakingModule(names, { bank, hooks: joinHooks(() => hooks), keyTypes });
  const slashing = createSlashingModule(names, { staking: staking.keeper, evidenceAge });
  hooks.push(slashing.hooks);
  return { modules: [staking, slashing], validatorUpdates: staking.keeper.validatorUpdates, hooks };
}

/** Creates the modules of a local chain. */
function localModules(
  base: readonly ChainModule[],
  names: ChainNames,
  keepers: BaseKeepers,
  contracts: readonly ContractCode[] = [],
): readonly ChainModule[] {
  const shared = [...base, dexModule(names, keepers.bank)];
  return [...shared, ...contractModules(shared, names, keepers, contracts)];
}

/**
 * Creates interchain queries and the contract host. Each of them calls the other, so the contract host gets functions
 * that read `icq` and `routes` when they are called.
 */
function contractModules(
  base: readonly ChainModule[],
  names: ChainNames,
  { accounts, bank, ibc, stake, route }: BaseKeepers,
  contracts: readonly ContractCode[] = [],
): readonly ChainModule[] {
  const address = accounts.parseAddress;
  const wasm = createWasmModule(
    { ...names, codes: [...CODES, ...contracts], allowedQueries: CONTRACT_QUERIES },
    {
      bank: {
        sendCoins: (context, from, to, coins) => bank.send(context, address(from), address(to), coins),
        supply: bank.supply,
      },
      accounts: { ensureAccount: (context, text) => accounts.ensure(context, address(text)) },
      findMessage: (typeUrl) => routes().messages.get(typeUrl),
      findQuery: (path) => routes().queries.get(path),
      customMessages: (context, contract, message) =>
        icq.handleCustomMessage(context, contract, message) ??
        manager.handleCustomMessage(context, contract, message),
      customQueries: (context, request) => icq.handleCustomQuery(context, request),
    },
  );
  const icq: InterchainqueriesModule = createInterchainqueriesModule(names, {
    bank: {
      sendFromAccountToModule: (context, from, module, coins) =>
        bank.sendToModule(context, address(from), module, coins),
      sendFromModuleToAccount: (context, module, to, coins) =>
        bank.sendFromModule(context, module, address(to), coins),
    },
    contracts: wasm.host,
    ibc,
  });
  const harpoon = createHarpoonModule(names, { contracts: wasm.host });
  stake.hooks.push(harpoon.hooks);
  const limits = createRateLimitModule(names, { contracts: wasm.host });
  const manager: ContractManagerModule = createContractManagerModule(names, { contracts: wasm.host });
  wrapTransfers(route, manager, limits);
  // The genesis of contracts runs messages of other modules, so the contract host follows them. Subscriptions name contracts,
  // and the genesis of staking calls the subscribers.
  const admin = createAdminModule(names, { findMessage: (typeUrl) => routes().messages.get(typeUrl) });
  const modules = [admin, icq, wasm, manager, limits, harpoon, ...stake.modules];
  const routes = once(() => routesOf([...base, ...modules]));
  return modules;
}

interface Routes {
  readonly messages: ReadonlyMap<string, MessageHandler>;
  readonly queries: ReadonlyMap<string, QueryHandler>;
}

function routesOf(modules: readonly ChainModule[]): Routes {
  return {
    messages: collectHandlers(modules),
    queries: collectQueries(modules.flatMap(({ queries }) => queries)),
  };
}

function once<T>(create: () => T): () => T {
  let created: T | undefined;
  return () => {
    created ??= create();
    return created;
  };
}
