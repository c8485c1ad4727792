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

/**
 * gRPC queries that contracts may call on the deployed chain, also of modules that are not here: a query without a handler has "no route".
 * Source: `AcceptedStargateQueries` of the chain's release 6.
 */
export const CONTRACT_QUERIES = [
  ...rpcs("ibc.core.client.v1", "ClientState ConsensusState"),
  ...rpcs("ibc.core.connection.v1", "Connection"),
  ...rpcs("ibc.core.channel.v1", "ChannelClientState"),
  ...rpcs(
    "osmosis.tokenfactory.v1beta1",
    "Params DenomAuthorityMetadata DenomsFromCreator BeforeSendHookAddress FullDenom",
  ),
  ...rpcs("ibc.applications.interchain_accounts.controller.v1", "InterchainAccount"),
  ...rpcs("ibc.applications.transfer.v1", "DenomTrace EscrowAddress"),
  ...rpcs("cosmos.auth.v1beta1", "Account Params"),
  ...rpcs("cosmos.bank.v1beta1", "Balance DenomMetadata Params SupplyOf"),
  ...rpcs("neutron.interchaintxs.v1", "Params InterchainAccountAddress"),
  ...rpcs("neutron.cron", "Params"),
  ...rpcs(
    "neutron.interchainqueries",
    "Params RegisteredQueries RegisteredQuery QueryResult LastRemoteHeight",
  ),
  ...rpcs("neutron.feeburner", "Params TotalBurnedNeutronsAmount"),
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
  ...rpcs("slinky.oracle.v1", "GetAllCurrencyPairs GetPrice GetPrices"),
  ...rpcs("slinky.marketmap.v1", "Markets LastUpdated Params Market"),
  ...rpcs("feemarket.feemarket.v1", "Params State GasPrice GasPrices"),
  ...rpcs("neutron.dynamicfees.v1", "Params"),
  ...rpcs("gaia.globalfee.v1beta1", "Params"),
  ...rpcs("interchain_security.ccv.consumer.v1", "QueryParams"),
  ...rpcs("cosmos.distribution.v1beta1", "DelegationRewards"),
  ...rpcs(
    "cosmos.staking.v1beta1",
    "Validator Delegation UnbondingDelegation DelegatorDelegations DelegatorUnbondingDelegations",
  ),
  ...rpcs("neutron.harpoon", "SubscribedContracts"),
];

/** More queries of contracts on a chain that follows the specification, and of contracts in TypeScript on every chain. */
export const MORE_CONTRACT_QUERIES = [
  ...rpcs("neutron.contractmanager", "AddressFailures Failures"),
  ...rpcs("cosmos.staking.v1beta1", "ValidatorDelegations"),
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
