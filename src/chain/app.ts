import { Params } from "../proto/gen/neutron/interchainqueries/params.ts";
import { messageToJson } from "../proto/json.ts";
import type { Application } from "./abci.ts";
import { echo } from "./contracts/echo.ts";
import { icqConsumer } from "./contracts/icq-consumer.ts";
import type { AuthKeeper, ModulePermissions } from "./modules/auth/keeper.ts";
import { createAuthModule } from "./modules/auth/module.ts";
import type { BankKeeper } from "./modules/bank/keeper.ts";
import { createBankModule } from "./modules/bank/module.ts";
import { createConsensusModule, maxBlockGas } from "./modules/consensus/module.ts";
import { createDexModule } from "./modules/dex/module.ts";
import { createFeemarketModule } from "./modules/feemarket/module.ts";
import { ESCROW_NAME } from "./modules/feemarket/keys.ts";
import { createIbcModule } from "./modules/ibc/module.ts";
import type { IbcKeeper } from "./modules/ibc/keeper.ts";
import type { InterchainqueriesModule } from "./modules/interchainqueries/module.ts";
import { createInterchainqueriesModule } from "./modules/interchainqueries/module.ts";
import { defaultParams } from "./modules/interchainqueries/params.ts";
import type { ContractCode } from "./modules/wasm/contract.ts";
import { createWasmModule } from "./modules/wasm/module.ts";
import { formatAddress, moduleAddress } from "./runtime/address.ts";
import { createAnteHandler } from "./runtime/ante/ante-handler.ts";
import { createApplication } from "./runtime/application.ts";
import { collectHandlers } from "./runtime/message-router.ts";
import type { ChainModule, MessageHandler, QueryHandler } from "./runtime/module.ts";
import { collectQueries } from "./runtime/query-router.ts";
import { ErrUnauthorized } from "./runtime/sdk-errors.ts";
import { DEFAULT_KEEP_RECENT } from "./store/multi-store.ts";
import type { StateStorage } from "./store/state-storage.ts";

/** Which chain the application is. */
export interface AppOptions {
  /** `local`: with interchain queries and contracts; `remote`: a plain chain that is queried. */
  readonly kind: "local" | "remote";
  /** Denomination of fees and deposits. */
  readonly denom: string;
  /** First part of the type URLs and REST paths of the chain's own modules; `neutron` unless given. */
  readonly chainName?: string;
  /** Prefix of account addresses; `neutron` unless given. */
  readonly bech32Prefix?: string;
  /** What `abci_info` and `/app/version` say. */
  readonly version?: string;
  /** Heights that queries can look at; 1000 unless given. */
  readonly keepRecent?: number;
  /** Contracts that a genesis may name, besides `icq-consumer` and `echo`. */
  readonly contracts?: readonly ContractCode[];
}

/** What the application works on. */
export interface AppDeps {
  /** Saved state to begin with; without it the state is empty and in memory. */
  readonly storage?: StateStorage;
}

/** Release of the deployed modules that this application follows. */
const VERSION = "6.0.3";
/** Name of the account that would decide on parameters: nobody holds its key. */
const AUTHORITY_NAME = "adminmodule";

const LOCAL_MODULE_ACCOUNTS: ModulePermissions = {
  [ESCROW_NAME]: [],
  dex: ["minter", "burner"],
  fee_collector: [],
  interchainqueries: [],
  "revenue-fee-redistribute": ["burner"],
  wasm: ["burner"],
};

const REMOTE_MODULE_ACCOUNTS: ModulePermissions = { [ESCROW_NAME]: [], fee_collector: [] };

/** Paths that contracts may ask, as on the deployed chain. */
const CONTRACT_QUERIES = [
  "Params",
  "RegisteredQueries",
  "RegisteredQuery",
  "QueryResult",
  "LastRemoteHeight",
].map((rpc) => `/neutron.interchainqueries.Query/${rpc}`);

/** The modules in the order in which genesis is read and blocks begin and end; contracts come last: they may use all others. */
const GENESIS_ORDER = ["consensus", "auth", "bank", "feemarket", "ibc", "interchainqueries", "dex", "wasm"];
const BEGIN_BLOCK_ORDER = ["dex", "ibc"];
const END_BLOCK_ORDER = ["interchainqueries", "dex", "wasm", "feemarket"];

/** Wires the modules of a chain. This is the one place that knows all of them. */
export function createApp(options: AppOptions, deps: AppDeps = {}): Application {
  const { kind, denom, chainName = "neutron", bech32Prefix = "neutron" } = options;
  const moduleAccounts = kind === "local" ? LOCAL_MODULE_ACCOUNTS : REMOTE_MODULE_ACCOUNTS;
  const auth = createAuthModule({ bech32Prefix, moduleAccounts });
  const accounts = auth.keeper;
  const bank = createBankModule({ blockedModules: Object.keys(moduleAccounts) }, accounts);
  const feeRecipient = kind === "local" ? "revenue-fee-redistribute" : "fee_collector";
  const feemarket = createFeemarketModule({ feeDenom: denom }, { bank: bank.keeper, accounts, feeRecipient });
  const authority = formatAddress(bech32Prefix, moduleAddress(AUTHORITY_NAME));
  const ibc = createIbcModule({ bech32Prefix, authority });
  const base: readonly ChainModule[] = [createConsensusModule(), auth, bank, feemarket, ibc];
  const names: ChainNames = { chainName, bech32Prefix, authority, denom };
  const keepers: BaseKeepers = { accounts, bank: bank.keeper, ibc: ibc.keeper };
  const modules = kind === "local" ? localModules(base, names, keepers, options.contracts) : base;
  return createApplication(
    {
      version: options.version ?? VERSION,
      appVersion: 0n,
      chainName,
      modules,
      genesisOrder: GENESIS_ORDER,
      beginBlockOrder: BEGIN_BLOCK_ORDER,
      endBlockOrder: END_BLOCK_ORDER,
      ante: createAnteHandler({
        accounts,
        takeFee: feemarket.takeFee,
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
}

/** The modules of a local chain. */
function localModules(
  base: readonly ChainModule[],
  names: ChainNames,
  keepers: BaseKeepers,
  contracts: readonly ContractCode[] = [],
): readonly ChainModule[] {
  const shared = [...base, dexModule(names, keepers.bank)];
  return [...shared, ...contractModules(shared, names, keepers, contracts)];
}

/** The exchange. Like messages, it does not pay to accounts of modules. */
function dexModule(names: ChainNames, bank: BankKeeper): ChainModule {
  const requireOpen = (address: Uint8Array): void => {
    if (!bank.isBlocked(address)) return;
    throw ErrUnauthorized(`${formatAddress(names.bech32Prefix, address)} is not allowed to receive funds`);
  };
  return createDexModule(names, {
    bank: {
      balance: (context, address, denom) => bank.balance(context, address, denom).amount,
      supply: bank.supply,
      sendToDex: (context, from, coins) => bank.sendToModule(context, from, "dex", coins),
      sendFromDex: (context, to, coins) => {
        requireOpen(to);
        bank.sendFromModule(context, "dex", to, coins);
      },
      mint: (context, coins) => bank.mint(context, "dex", coins),
      burn: (context, coins) => bank.burn(context, "dex", coins),
    },
    balances: {
      balances: bank.balances,
      holdings: function* (context, denom) {
        for (const address of bank.holders(context, denom))
          yield bank.balance(context, address, denom).amount;
      },
    },
  });
}

/** The contract host and interchain queries, which call each other: each looks the other up when it is used. */
function contractModules(
  base: readonly ChainModule[],
  names: ChainNames,
  { accounts, bank, ibc }: BaseKeepers,
  contracts: readonly ContractCode[] = [],
): readonly ChainModule[] {
  const address = accounts.parseAddress;
  const wasm = createWasmModule(
    { ...names, codes: [icqConsumer, echo, ...contracts], allowedQueries: CONTRACT_QUERIES },
    {
      bank: {
        sendCoins: (context, from, to, coins) => bank.send(context, address(from), address(to), coins),
      },
      accounts: { ensureAccount: (context, text) => accounts.ensure(context, address(text)) },
      findMessage: (typeUrl) => routes().messages.get(typeUrl),
      findQuery: (path) => routes().queries.get(path),
      customMessages: {
        handle: (context, contract, message) => icq.handleBinding(context, contract, message),
      },
      customQueries: (context, request) => icq.answerBinding(context, request),
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
  const routes = once(() => routesOf([...base, wasm, icq]));
  return [wasm, withDefaultParams(icq, names.denom)];
}

/** A genesis that says nothing about interchain queries gets the default parameters. */
function withDefaultParams(icq: InterchainqueriesModule, denom: string): ChainModule {
  const params = Params.encode(defaultParams(denom)).finish();
  const fallback = { params: messageToJson("neutron.interchainqueries.Params", params) };
  return { ...icq, initGenesis: (context, genesis) => icq.initGenesis(context, genesis ?? fallback) };
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

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
