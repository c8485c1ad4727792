import type { AuthKeeper } from "./modules/auth/keeper.ts";
import type { BankHooks, BankKeeper } from "./modules/bank/keeper.ts";
import type { FeeKeeper as RelayerFees } from "./modules/contractmanager/keeper.ts";
import type { IBCModule } from "./modules/ibc/channel/ibc-module.ts";
import type { IbcKeeper } from "./modules/ibc/keeper.ts";
import type { FeeKeeper as TransferFees } from "./modules/transfer/keeper.ts";
import type { ContractHost } from "./modules/wasm/contract-host.ts";
import type { WasmModule } from "./modules/wasm/module.ts";
import type { CustomMessageHandler, CustomQueryHandler } from "./modules/wasm/types.ts";
import type { Context, ChainModule, ChainNames, FindMessage, QueryHandler } from "./runtime/context.ts";

/** The local chain's names and keepers, which {@link CreateModules} needs to create additional modules. */
export interface ChainParts {
  readonly names: ChainNames;
  readonly bank: BankKeeper;
  readonly accounts: AuthKeeper;
  readonly contracts: ContractHost & Pick<WasmModule, "codeOf">;
  readonly channels: IbcKeeper;
  readonly findMessage: FindMessage;
  readonly findQuery: (path: string) => QueryHandler | undefined;
}

/** One module's handlers for contracts' `custom` messages and queries. Each handler returns undefined for other modules' messages. */
export interface ModuleBindings {
  readonly module: string;
  readonly message?: CustomMessageHandler;
  readonly query?: CustomQueryHandler;
}

/** Additional modules of a local chain, with the hooks that the standard modules call. */
export interface AddedModules {
  readonly modules: readonly ChainModule[];
  readonly bankHooks?: BankHooks;
  /** Charges relayer fees for packets that contracts send. */
  readonly fees?: Omit<TransferFees, "isContract"> & RelayerFees;
  /** Called at the end of each block on a chain that burns its fees. Burns collected coins. */
  readonly burnFees?: (context: Context, feeRecipient: string) => void;
  /** Middleware around the transfer application: `within` is inside the rate limiter, and `outside` is around the rate limiter. */
  readonly transfers?: Readonly<Record<"within" | "outside", (application: IBCModule) => IBCModule>>;
  readonly bindings?: readonly ModuleBindings[];
}

/** Creates a set of modules that only some local chains have. */
export type CreateModules = (parts: ChainParts) => AddedModules;
