import { CONTRACT_QUERIES, joinBindings, MORE_CONTRACT_QUERIES, ownBindings } from "./contract-bindings.ts";
import { echo } from "./contracts/echo.ts";
import { gasBurner } from "./contracts/gas-burner.ts";
import { icqConsumer } from "./contracts/icq-consumer.ts";
import { rateLimiter } from "./contracts/rate-limiter/rate-limiter.ts";
import { votingPowerContract } from "./contracts/voting-power.ts";
import { createAdminModule, MODULE_NAME as AUTHORITY_NAME } from "./modules/adminmodule/module.ts";
import { createAuthModule } from "./modules/auth/module.ts";
import { createBankKeeper } from "./modules/bank/keeper.ts";
import { createBankModule } from "./modules/bank/module.ts";
import { createConsensusModule, evidenceAge, keyTypes, maxBlockGas } from "./modules/consensus/module.ts";
import { type ContractManagerModule, createContractManagerModule } from "./modules/contractmanager/module.ts";
import { createDexModule } from "./modules/dex/module.ts";
import { type GasPrice, createFeemarketModule } from "./modules/feemarket/module.ts";
import { MODULE_NAME as GOV_NAME } from "./modules/gov/keys.ts";
import { createGovModule } from "./modules/gov/module.ts";
import { createGenutilModule } from "./modules/genutil/module.ts";
import { createHarpoonModule } from "./modules/harpoon/module.ts";
import { createRateLimitModule } from "./modules/ibc-rate-limit/module.ts";
import type { IBCModule } from "./modules/ibc/channel/ibc-module.ts";
import { ibcKeeper } from "./modules/ibc/keeper.ts";
import { createIbcModule, type IbcModule } from "./modules/ibc/module.ts";
import {
  createInterchainqueriesModule,
  type InterchainqueriesModule,
} from "./modules/interchainqueries/module.ts";
import type { InterchainqueriesDeps } from "./modules/interchainqueries/keeper.ts";
import { createSlashingModule, type SlashingModule } from "./modules/slashing/module.ts";
import { createStakingModule, type StakingModule } from "./modules/staking/module.ts";
import { joinHooks } from "./modules/staking/types.ts";
import { port as transferPort } from "./modules/transfer/keeper.ts";
import { PORT_ID } from "./modules/transfer/denom.ts";
import { createTransferModule, type TransferModule } from "./modules/transfer/module.ts";
import { createUpgradeModule } from "./modules/upgrade/module.ts";
import type { ContractCode } from "./modules/wasm/contract.ts";
import { createVestingModule } from "./modules/vesting/module.ts";
import { createWasmModule } from "./modules/wasm/module.ts";
import type { WasmDeps } from "./modules/wasm/types.ts";
import { profileNamed } from "./deviations/profile-named.ts";
import type { ProfileName } from "./deviations/deviations.ts";
import { createVm } from "../vm/vm.ts";
import type { AddedModules, CreateModules } from "./module-set.ts";
import * as tables from "./module-tables.ts";
import type { Application } from "./runtime/abci.ts";
import { formatAddress, moduleAddress } from "./runtime/address.ts";
import { type GasTracer, tracedModule, UNTRACED } from "./runtime/gas-trace.ts";
import type { Context, ChainModule, MessageHandler, QueryHandler } from "./runtime/context.ts";
import { createAnteHandler } from "./runtime/ante-handler.ts";
import { createApplication } from "./runtime/application.ts";
import { collectQueries } from "./runtime/query-router.ts";
import { collectHandlers } from "./runtime/tx-runner.ts";
import { DEFAULT_KEEP_RECENT, type StateStorage } from "./store/multi-store.ts";
import { createOracleModule, type OracleModule, type OracleStaking } from "./modules/oracle/module.ts";
import type { RevenueDeps, RevenueOptions } from "./modules/revenue/keeper.ts";
import { createRevenueModule } from "./modules/revenue/module.ts";

export interface AppOptions {
  /**
   * A `local` chain has interchain queries and contracts. A `remote` chain has neither, and is the chain from which interchain
   * queries read.
   */
  readonly kind: "local" | "remote";
  /** Denomination used for fees and deposits. */
  readonly denom: string;
  /** Prefix of the type URLs and REST paths of the chain's own modules. Default: `neutron`. */
  readonly chainName?: string;
  /** Profile that selects the chain's behaviour. The profile must never change during the chain's lifetime. Default: `specification`. */
  readonly profile?: ProfileName | undefined;
  /** Bech32 prefix for account addresses. Default: `neutron`. */
  readonly bech32Prefix?: string;
  /** Version reported by `abci_info` and `/app/version`. Default: 6.0.3. */
  readonly version?: string;
  /** Number of recent heights that can be queried. Default: 1000. */
  readonly keepRecent?: number;
  /** If true, a `local` chain burns its fees at the end of each block, as the deployed chain does. Default: false. */
  readonly burnsFees?: boolean;
  /**
   * Gas limit for simulations, capped at the block's gas limit. Default: the maximum gas that the fee market allows for a
   * transaction.
   */
  readonly simulationGas?: bigint | undefined;
  /**
   * Minimum gas prices, enforced by the mempool while the fee market is disabled. A transaction must meet at least one of these
   * prices. Default: none.
   */
  readonly minGasPrices?: readonly GasPrice[];
  /** Contracts that a genesis document may instantiate, in addition to `CODES`. */
  readonly contracts?: readonly ContractCode[];
  /** Creates additional modules for a local chain. Default: none. */
  readonly moreModules?: CreateModules | undefined;
  readonly tracer?: GasTracer | undefined;
}

export interface AppDeps {
  /**
   * Storage of the chain's state, from which a restarted chain continues. Without storage, the chain starts with an empty state in
   * memory.
   */
  readonly storage?: StateStorage;
}

/** Release of the deployed chain that this application follows. */
const VERSION = "6.0.3";

/** Contracts that any genesis document may instantiate by name. */
const CODES: readonly ContractCode[] = [icqConsumer, echo, rateLimiter, votingPowerContract, gasBurner];

export function createApp(options: AppOptions, deps: AppDeps = {}): Application {
  const { kind, chainName = "neutron" } = options;
  const { modules, auth, feemarket, ibc, staking } = createModules(options);
  return createApplication(
    {
      version: options.version ?? VERSION,
      appVersion: 0n,
      chainName,
      profile: profileNamed(options.profile),
      modules,
      upgrades: tables.UPGRADES,
      beginBlockOrder: tables.BEGIN_BLOCK_ORDER,
      endBlockOrder: tables.END_BLOCK_ORDER,
      validatorUpdates: staking.keeper.validatorUpdates,
      ante: createAnteHandler({
        accounts: auth.keeper,
        takeFee: feemarket.takeFee,
        relayCheck: ibc.relayCheck,
        ...(kind === "local" ? { txCounterStore: "wasm" } : {}),
      }),
      post: feemarket.settleFee,
      maxBlockGas,
      simulationGas: (context) => options.simulationGas ?? feemarket.maxTxGas(context),
      keepRecent: options.keepRecent ?? DEFAULT_KEEP_RECENT,
      ...(options.tracer && { tracer: options.tracer }),
    },
    deps.storage,
  );
}

/** A chain's modules in the order of genesis and hooks, and the modules that the application calls directly. */
interface Chain {
  readonly modules: readonly ChainModule[];
  readonly ibc: IbcModule;
  readonly staking: StakingModule;
  readonly added?: AddedModules;
}

type Base = ReturnType<typeof createBase>;

export function createModules(options: AppOptions): Chain & Pick<Base, "auth" | "feemarket"> {
  const base = createBase(options, () => chain.added);
  const chain: Chain = options.kind === "local" ? localChain(base, options) : remoteChain(base);
  return { ...chain, auth: base.auth, feemarket: base.feemarket };
}

/** Creates the modules that local and remote chains share. */
function createBase(options: AppOptions, added: () => AddedModules | undefined) {
  const { kind, denom, chainName = "neutron", bech32Prefix = "neutron" } = options;
  const { burnsFees = false, minGasPrices = [] } = options;
  const moduleAccounts = kind === "local" ? tables.LOCAL_MODULE_ACCOUNTS : tables.REMOTE_MODULE_ACCOUNTS;
  const auth = createAuthModule({
    bech32Prefix,
    moduleAccounts,
    ...(kind === "local" ? { genesisAccounts: tables.GENESIS_ACCOUNTS } : {}),
  });
  const bank = createBankModule(
    { blockedModules: Object.keys(moduleAccounts) },
    auth.keeper,
    () => added()?.bankHooks,
  );
  const feeRecipient = kind === "local" ? "revenue-fee-redistribute" : "fee_collector";
  const names = {
    chainName,
    bech32Prefix,
    denom,
    authority: formatAddress(bech32Prefix, moduleAddress(kind === "local" ? AUTHORITY_NAME : GOV_NAME)),
  };
  const burnFees = (context: Context): void => added()?.burnFees?.(context, feeRecipient);
  const vesting = createVestingModule({ accounts: auth.keeper, bank: bank.keeper });
  const feemarket = createFeemarketModule(
    { feeDenom: denom, minGasPrices },
    {
      bank: bank.keeper,
      accounts: auth.keeper,
      feeRecipient,
      ...(burnsFees && kind === "local" && { burnFees }),
    },
  );
  return {
    names,
    auth,
    bank,
    feemarket,
    // The staking module gets a bank keeper without hooks, because the deployed chain passes the keeper to `staking` before it sets
    // the keeper's hooks.
    stakingBank: createBankKeeper(auth.keeper, { blockedModules: [] }),
    modules: [createConsensusModule(names), auth, vesting, bank, feemarket],
  };
}

// If two modules call each other, the module created first receives functions that look up the later module on each call.

function remoteChain(base: Base): Chain {
  const { names, bank } = base;
  const routes = once(() => routesOf(modules));
  const ibc = createIbcModule(names, (_context, port) =>
    port === PORT_ID ? transfer.application : undefined,
  );
  const transfer: TransferModule = createTransferModule(names, { bank: bank.keeper, channels: ibc.keeper });
  const hooks = joinHooks(() => [slashing.hooks]);
  const staking = createStakingModule(names, { bank: bank.keeper, hooks, keyTypes });
  const slashing: SlashingModule = createSlashingModule(names, { staking: staking.keeper, evidenceAge });
  const genutil = createGenutilModule(names, staking.keeper);
  const gov = createGovModule(names, {
    bank: bank.keeper,
    staking: staking.keeper,
    findMessage: (typeUrl) => routes().messages.get(typeUrl),
  });
  const own = [ibc, transfer, staking, slashing, gov, genutil];
  const modules: readonly ChainModule[] = [...base.modules, ...own];
  return { modules, ibc, staking };
}

function localChain(
  base: Base,
  { contracts: contractCodes = [], moreModules, tracer = UNTRACED }: AppOptions,
): Chain {
  const { names, auth, bank } = base;
  const routes = once(() => routesOf(modules));
  const findMessage = (typeUrl: string): MessageHandler | undefined => routes().messages.get(typeUrl);
  const findQuery = (path: string): QueryHandler | undefined => routes().queries.get(path);
  const hooks = joinHooks(() => [slashing.hooks, harpoon.hooks]);
  const staking = createStakingModule(names, { bank: base.stakingBank, hooks, keyTypes });
  const wasm = createWasmModule(
    {
      ...names,
      codes: [...CODES, ...contractCodes],
      allowedQueries: CONTRACT_QUERIES,
      moreQueries: MORE_CONTRACT_QUERIES,
    },
    {
      ...addressedByText(base),
      channels: ibcKeeper,
      vm: createVm(),
      staking: staking.contractReads,
      readTransferPort: transferPort.get,
      tracer,
      findMessage,
      findQuery,
      ...joinBindings(() => bindings),
    },
  );
  const contracts = wasm.host;
  const added: AddedModules = moreModules?.({
    names,
    bank: bank.keeper,
    accounts: auth.keeper,
    contracts: { ...contracts, codeOf: wasm.codeOf },
    channels: ibcKeeper,
    findMessage,
    findQuery,
  }) ?? { modules: [] };

  const ibc = createIbcModule(names, (context, port) =>
    port === PORT_ID ? transferStack : wasm.application(context, port),
  );
  const rateLimit = createRateLimitModule(names, { contracts });
  const manager: ContractManagerModule = createContractManagerModule(names, {
    contracts,
    ...(added.fees && { fees: added.fees }),
  });
  const transfer = createTransferModule(
    { ...names, ownMessages: names },
    {
      bank: bank.keeper,
      channels: { ...ibc.keeper, ...rateLimit.rateLimitICS4Wrapper(ibc.keeper) },
      ...(added.fees && { fees: { ...added.fees, isContract: contracts.isContract } }),
    },
  );
  // The middleware is listed from the outermost to the innermost layer. If a packet's memo calls a contract, the receiver is
  // replaced before the rate limiter checks the packet. After a timeout, the quota is restored, the transfer is refunded, and then
  // the sending contract is called.
  const { within, outside } = added.transfers ?? { within: unchanged, outside: unchanged };
  const transferStack: IBCModule = outside(
    rateLimit.rateLimitMiddleware(within(manager.callbacksMiddleware(transfer.application))),
  );

  const icq: InterchainqueriesModule = createInterchainqueriesModule(names, {
    ...addressedByText(base),
    contracts,
    ibc: ibc.keeper,
  });
  const harpoon = createHarpoonModule(names, { contracts });
  const slashing: SlashingModule = createSlashingModule(names, { staking: staking.keeper, evidenceAge });
  const admin = createAdminModule(names, { findMessage });
  const dex = createDexModule(names, bank.keeper);
  const own = [ibc, transfer, dex, admin, icq, wasm, manager, rateLimit, harpoon, staking, slashing];
  const all: readonly ChainModule[] = [
    ...base.modules,
    ...own,
    createUpgradeModule(names),
    ...createPriceModules(names, { bank: bank.keeper, staking: staking.keeper }),
    createGenutilModule(names, staking.keeper),
    ...added.modules,
  ];
  const bindings = [...ownBindings({ icq, manager }, names, findMessage), ...(added.bindings ?? [])];
  const modules = tables.inGenesisOrder(all).map((module) => tracedModule(module, tracer));
  return { modules, ibc, staking, added };
}

function unchanged(application: IBCModule): IBCModule {
  return application;
}

/** Wraps bank and account methods for modules that handle addresses only as bech32 text. */
function addressedByText({
  auth,
  bank,
}: Base): Pick<WasmDeps, "bank" | "accounts"> & Pick<InterchainqueriesDeps, "bank"> {
  const { parseAddress: address, getOrCreate } = auth.keeper;
  const { send, sendToModule, sendFromModule, requireSendEnabled, supply, balance, balances, burn } =
    bank.keeper;
  return {
    bank: {
      requireSendEnabled,
      supply,
      balance,
      balances,
      burnCoins: (context, from, coins) => {
        sendToModule(context, address(from), "wasm", coins);
        burn(context, "wasm", coins);
      },
      sendCoins: (context, from, to, coins) => send(context, address(from), address(to), coins),
      sendFromAccountToModule: (context, from, module, coins) =>
        sendToModule(context, address(from), module, coins),
      sendFromModuleToAccount: (context, module, to, coins) =>
        sendFromModule(context, module, address(to), coins),
    },
    accounts: {
      ensureAccount: (context, text) => {
        getOrCreate(context, address(text));
      },
    },
  };
}

function routesOf(modules: readonly ChainModule[]) {
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

/** Creates the two modules that process a block's price votes. First, `oracle` stores the prices, and then `revenue` counts the votes. */
function createPriceModules(
  names: RevenueOptions,
  { bank, staking }: Pick<RevenueDeps, "bank"> & { readonly staking: OracleStaking },
): readonly ChainModule[] {
  const oracle: OracleModule = createOracleModule({
    staking,
    countVotes: (context, votes) => revenue.countVotes(context, votes),
  });
  const revenue = createRevenueModule(names, { bank, staking, priceOf: oracle.priceOf });
  return [oracle, revenue];
}
