import { handleAdminMessage } from "./modules/adminmodule/module.ts";
import type { ContractManagerModule } from "./modules/contractmanager/module.ts";
import { handleDexMessage } from "./modules/dex/bindings.ts";
import type { InterchainqueriesModule } from "./modules/interchainqueries/module.ts";
import { createTransferBinding } from "./modules/transfer/bindings.ts";
import type { CustomMessageHandler, WasmDeps } from "./modules/wasm/types.ts";
import type { ChainParts, ModuleBindings } from "./module-set.ts";

/**
 * gRPC queries that contracts may call on the deployed chain. Queries to modules that this chain lacks fail with "no route". The
 * list is copied from `AcceptedStargateQueries` in release 6 of the deployed chain.
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
    `Params LimitOrderTrancheUser LimitOrderTrancheUserAll LimitOrderTrancheUserAllByAddress LimitOrderTranche
    LimitOrderTrancheAll UserDepositsAll TickLiquidityAll InactiveLimitOrderTranche InactiveLimitOrderTrancheAll
    PoolReserves PoolReservesAll Pool PoolByID PoolMetadata PoolMetadataAll
    EstimateMultiHopSwap EstimatePlaceLimitOrder SimulateDeposit SimulateWithdrawal SimulatePlaceLimitOrder
    SimulateWithdrawFilledLimitOrder SimulateCancelLimitOrder SimulateMultiHopSwap`,
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

/** Additional gRPC queries for TypeScript contracts and, on chains with the `specification` profile, for all contracts. */
export const MORE_CONTRACT_QUERIES = [
  ...rpcs("neutron.contractmanager", "AddressFailures Failures"),
  ...rpcs("cosmos.staking.v1beta1", "ValidatorDelegations"),
];

function rpcs(service: string, names: string): readonly string[] {
  return names.split(/\s+/).map((name) => `/${service}.Query/${name}`);
}

/**
 * Modules that provide bindings, in lookup order. As in Go, if a message has members for several modules, the first module in this
 * order handles the message.
 */
const ORDER = [
  "interchainqueries",
  "interchaintxs",
  "feerefunder",
  "transfer",
  "adminmodule",
  "tokenfactory",
  "cron",
  "contractmanager",
  "dex",
];

interface OwnModules {
  readonly icq: Pick<InterchainqueriesModule, "handleCustomMessage" | "handleCustomQuery">;
  readonly manager: Pick<ContractManagerModule, "handleCustomMessage">;
}

/** Returns the bindings of the modules that exist on every local chain. */
export function ownBindings(
  { icq, manager }: OwnModules,
  names: ChainParts["names"],
  findMessage: ChainParts["findMessage"],
): readonly ModuleBindings[] {
  const deps = { ...names, findMessage };
  const withDeps =
    (handle: typeof handleAdminMessage): CustomMessageHandler =>
    (context, contract, message) =>
      handle(context, contract, message, deps);
  return [
    { module: "interchainqueries", message: icq.handleCustomMessage, query: icq.handleCustomQuery },
    { module: "transfer", message: createTransferBinding(deps) },
    { module: "adminmodule", message: withDeps(handleAdminMessage) },
    { module: "contractmanager", message: manager.handleCustomMessage },
    { module: "dex", message: withDeps(handleDexMessage) },
  ];
}

/**
 * Combines the bindings of a chain's modules. `bindings` is called for each message or query, because the bindings are created
 * after the `wasm` module.
 */
export function joinBindings(
  bindings: () => readonly ModuleBindings[],
): Pick<WasmDeps, "customMessages" | "customQueries"> {
  return {
    customMessages: (context, contract, message) => {
      for (const binding of inOrder(bindings())) {
        const result = binding.message?.(context, contract, message);
        if (result !== undefined) return result;
      }
      return undefined;
    },
    customQueries: (context, request) => {
      for (const binding of inOrder(bindings())) {
        const answer = binding.query?.(context, request);
        if (answer !== undefined) return answer;
      }
      return undefined;
    },
  };
}

function inOrder(bindings: readonly ModuleBindings[]): readonly ModuleBindings[] {
  return bindings.toSorted((a, b) => ORDER.indexOf(a.module) - ORDER.indexOf(b.module));
}
