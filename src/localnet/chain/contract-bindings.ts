import { handleAdminMessage } from "./modules/adminmodule/bindings.ts";
import type { ContractManagerModule } from "./modules/contractmanager/module.ts";
import type { CronModule } from "./modules/cron/module.ts";
import { handleDexMessage } from "./modules/dex/bindings.ts";
import type { FeeRefunderModule } from "./modules/feerefunder/module.ts";
import type { InterchainqueriesModule } from "./modules/interchainqueries/module.ts";
import type { TokenFactoryModule } from "./modules/tokenfactory/module.ts";
import { handleInterchainMessage, queryInterchainAccount } from "./modules/interchaintxs/modules.ts";
import type { ParamsOnlyOptions } from "./modules/params-only/modules.ts";
import { handleTransferMessage } from "./modules/transfer/bindings.ts";
import type { WasmDeps } from "./modules/wasm/types.ts";
import type { MessageHandler } from "./runtime/module.ts";

/** gRPC queries that contracts may call, as on the deployed chain: of modules that are here. */
export const CONTRACT_QUERIES = [
  ...rpcs(
    "neutron.interchainqueries",
    "Params RegisteredQueries RegisteredQuery QueryResult LastRemoteHeight",
  ),
  ...rpcs("neutron.cron", "Params"),
  ...rpcs("neutron.harpoon", "SubscribedContracts"),
  ...rpcs("neutron.contractmanager", "AddressFailures Failures"),
  ...rpcs(
    "neutron.dex",
    "Params LimitOrderTrancheUser LimitOrderTrancheUserAll LimitOrderTrancheUserAllByAddress LimitOrderTranche LimitOrderTrancheAll",
  ),
  ...rpcs(
    "neutron.dex",
    "UserDepositsAll TickLiquidityAll InactiveLimitOrderTranche InactiveLimitOrderTrancheAll",
  ),
  ...rpcs("neutron.dex", "PoolReserves PoolReservesAll Pool PoolByID PoolMetadata PoolMetadataAll"),
  ...rpcs("neutron.dex", "EstimateMultiHopSwap EstimatePlaceLimitOrder SimulateDeposit SimulateWithdrawal"),
  ...rpcs(
    "neutron.dex",
    "SimulatePlaceLimitOrder SimulateWithdrawFilledLimitOrder SimulateCancelLimitOrder SimulateMultiHopSwap",
  ),
  ...rpcs("cosmos.auth.v1beta1", "Account Params"),
  ...rpcs("cosmos.bank.v1beta1", "Balance DenomMetadata Params SupplyOf"),
  ...rpcs("cosmos.staking.v1beta1", "Validator Delegation ValidatorDelegations"),
  ...rpcs("ibc.core.client.v1", "ClientState ConsensusState"),
  ...rpcs("ibc.core.connection.v1", "Connection"),
  ...rpcs("ibc.applications.transfer.v1", "DenomTrace"),
  ...rpcs(
    "osmosis.tokenfactory.v1beta1",
    "Params DenomAuthorityMetadata DenomsFromCreator BeforeSendHookAddress FullDenom",
  ),
];

function rpcs(service: string, names: string): readonly string[] {
  return names.split(" ").map((name) => `/${service}.Query/${name}`);
}

/** What the chain's bindings need. The modules are created after the module `wasm`, which calls the bindings. */
interface BindingDeps extends ParamsOnlyOptions {
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
  readonly modules: () => {
    readonly icq: Pick<InterchainqueriesModule, "handleCustomMessage" | "handleCustomQuery">;
    readonly tokenFactory: Pick<TokenFactoryModule, "handleCustomMessage" | "handleCustomQuery">;
    readonly feeRefunder: Pick<FeeRefunderModule, "handleCustomQuery">;
    readonly cron: Pick<CronModule, "handleCustomMessage">;
    readonly manager: Pick<ContractManagerModule, "handleCustomMessage">;
  };
}

/**
 * Creates the chain's bindings: messages and queries of the kind `custom`. If a message has members of several modules, the first in this
 * order wins, as in Go.
 */
export function createBindings(deps: BindingDeps): Pick<WasmDeps, "customMessages" | "customQueries"> {
  return {
    customMessages: (context, contract, message) => {
      const { icq, tokenFactory, cron, manager } = deps.modules();
      return (
        icq.handleCustomMessage(context, contract, message) ??
        handleInterchainMessage(message) ??
        handleTransferMessage(context, contract, message, deps) ??
        handleAdminMessage(context, contract, message, deps) ??
        tokenFactory.handleCustomMessage(context, contract, message) ??
        cron.handleCustomMessage(context, contract, message) ??
        manager.handleCustomMessage(context, contract, message) ??
        handleDexMessage(context, contract, message, deps)
      );
    },
    customQueries: (context, request) => {
      const { icq, feeRefunder, tokenFactory } = deps.modules();
      return (
        icq.handleCustomQuery(context, request) ??
        queryInterchainAccount(request, deps) ??
        feeRefunder.handleCustomQuery(context, request) ??
        tokenFactory.handleCustomQuery(context, request)
      );
    },
  };
}
