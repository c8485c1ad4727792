/** Names of gRPC queries that contracts may call, by service: the deployed chain's list, of modules that are here. */
const ALLOWED: Readonly<Record<string, string>> = {
  "neutron.interchainqueries": "Params RegisteredQueries RegisteredQuery QueryResult LastRemoteHeight",
  "neutron.harpoon": "SubscribedContracts",
  "neutron.contractmanager": "AddressFailures Failures",
  "neutron.dex": `
    Params LimitOrderTrancheUser LimitOrderTrancheUserAll LimitOrderTrancheUserAllByAddress LimitOrderTranche LimitOrderTrancheAll
    UserDepositsAll TickLiquidityAll InactiveLimitOrderTranche InactiveLimitOrderTrancheAll
    PoolReserves PoolReservesAll Pool PoolByID PoolMetadata PoolMetadataAll
    EstimateMultiHopSwap EstimatePlaceLimitOrder SimulateDeposit SimulateWithdrawal
    SimulatePlaceLimitOrder SimulateWithdrawFilledLimitOrder SimulateCancelLimitOrder SimulateMultiHopSwap`,
  "cosmos.auth.v1beta1": "Account Params",
  "cosmos.bank.v1beta1": "Balance DenomMetadata Params SupplyOf",
  "cosmos.staking.v1beta1": "Validator Delegation ValidatorDelegations",
  "ibc.core.client.v1": "ClientState ConsensusState",
  "ibc.core.connection.v1": "Connection",
  "ibc.applications.transfer.v1": "DenomTrace",
  "osmosis.tokenfactory.v1beta1":
    "Params DenomAuthorityMetadata DenomsFromCreator BeforeSendHookAddress FullDenom",
};

/** Paths of the gRPC queries that contracts may call. */
export const CONTRACT_QUERIES: readonly string[] = Object.entries(ALLOWED).flatMap(([service, names]) =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => `/${service}.Query/${name}`),
);
