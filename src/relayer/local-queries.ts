import type { ChainClient, QueryHeight } from "../cosmos/client/chain-client.ts";
import type { TrustLevel } from "../cosmos/comet/verify-commit.ts";
import type { PageRequest } from "../cosmos/proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import { QueryBalanceRequest, QueryBalanceResponse } from "../cosmos/proto/gen/cosmos/bank/v1beta1/query.ts";
import {
  QueryClientStateRequest,
  QueryClientStateResponse,
  QueryClientStatusRequest,
  QueryClientStatusResponse,
  QueryConsensusStateHeightsRequest,
  QueryConsensusStateHeightsResponse,
  QueryConsensusStateRequest,
  QueryConsensusStateResponse,
} from "../cosmos/proto/gen/ibc/core/client/v1/query.ts";
import {
  QueryConnectionRequest,
  QueryConnectionResponse,
} from "../cosmos/proto/gen/ibc/core/connection/v1/query.ts";
import {
  ClientState,
  ConsensusState,
} from "../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import {
  QueryRegisteredQueriesRequest,
  QueryRegisteredQueriesResponse,
  QueryRegisteredQueryRequest,
  QueryRegisteredQueryResponse,
  QueryRegisteredQueryResultRequest,
  QueryRegisteredQueryResultResponse,
} from "../cosmos/proto/gen/neutron/interchainqueries/query.ts";
import type { StorageValue } from "../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { fromWireQuery, type RegisteredQuery, type RemoteHeight } from "./registry/registered-query.ts";
import { RelayError } from "./relay-error.ts";
import type { BlockLimits } from "./submit/budgets.ts";
import { readBlockLimits } from "./submit/budgets.ts";

/** The state of a light client on the local chain. */
export interface LightClientState {
  readonly clientId: string;
  /** Id of the remote chain. */
  readonly chainId: string;
  readonly latestHeight: RemoteHeight;
  readonly trustingPeriodNs: bigint;
  /** Share of the trusted validators' power that must be exceeded by those who signed a header that is not the next one. */
  readonly trustLevel: TrustLevel;
}

/** gRPC queries to the local chain. All methods reject with `ClientError`; those that say so also with `RelayError`. */
export interface LocalQueries {
  /** Returns all registered queries of the connection, at `height` (default: the latest). Rejects with `RelayError` "too-many-pages". */
  readonly registeredQueries: (
    connectionId: string,
    signal: AbortSignal,
    height?: QueryHeight,
  ) => Promise<readonly RegisteredQuery[]>;
  /** Resolves with undefined for a query of an unknown type. */
  readonly registeredQuery: (
    id: bigint,
    signal: AbortSignal,
    height?: QueryHeight,
  ) => Promise<RegisteredQuery | undefined>;
  /** Returns the client id. Rejects with `RelayError` "no-client". */
  readonly clientOfConnection: (connectionId: string, signal: AbortSignal) => Promise<string>;
  readonly clientState: (clientId: string, signal: AbortSignal) => Promise<LightClientState>;
  /** Returns "Active", "Expired", "Frozen", … */
  readonly clientStatus: (clientId: string, signal: AbortSignal) => Promise<string>;
  /** Returns the time of the consensus state at this height, ns since the Unix epoch. Rejects when there is none. */
  readonly consensusTimeNs: (clientId: string, at: RemoteHeight, signal: AbortSignal) => Promise<bigint>;
  /** Returns the heights that have a consensus state, unsorted. Rejects with `RelayError` "too-many-pages". */
  readonly consensusHeights: (clientId: string, signal: AbortSignal) => Promise<readonly RemoteHeight[]>;
  /** Returns what one block of the chain may hold. */
  readonly blockLimits: (signal: AbortSignal) => Promise<BlockLimits>;
  /** Returns the amount of one denom; 0 when the account does not exist. */
  readonly balance: (address: string, denom: string, signal: AbortSignal) => Promise<bigint>;
}

const PAGE_LIMIT = 100n;
/** A list may have 100,000 entries. A node whose list never ends must not keep the relayer busy for ever. */
const MAX_PAGES = 1_000;

/** Creates the queries. `chainName` is the first part of the protobuf package of interchainqueries. */
export function createLocalQueries(client: ChainClient, chainName: string): LocalQueries {
  const icq = (rpc: string): string => `/${chainName}.interchainqueries.Query/${rpc}`;
  return {
    registeredQueries: (connectionId, signal, height) =>
      allPages(async (key) => {
        const request = { owners: [], connectionId, pagination: page(key) };
        const bytes = QueryRegisteredQueriesRequest.encode(request).finish();
        const response = QueryRegisteredQueriesResponse.decode(
          await client.grpcQuery(icq("RegisteredQueries"), bytes, signal, height),
        );
        return {
          items: response.registeredQueries.flatMap((wire) => fromWireQuery(wire) ?? []),
          next: response.pagination?.nextKey,
        };
      }),
    registeredQuery: async (id, signal, height) => {
      const bytes = QueryRegisteredQueryRequest.encode({ queryId: id }).finish();
      const { registeredQuery } = QueryRegisteredQueryResponse.decode(
        await client.grpcQuery(icq("RegisteredQuery"), bytes, signal, height),
      );
      return registeredQuery && fromWireQuery(registeredQuery);
    },
    clientOfConnection: async (connectionId, signal) => {
      const bytes = QueryConnectionRequest.encode({ connectionId }).finish();
      const response = QueryConnectionResponse.decode(
        await client.grpcQuery("/ibc.core.connection.v1.Query/Connection", bytes, signal),
      );
      if (response.connection !== undefined && response.connection.clientId !== "")
        return response.connection.clientId;
      throw new RelayError({ code: "no-client", connectionId }, `connection ${connectionId} has no client`);
    },
    balance: async (address, denom, signal) => {
      const bytes = QueryBalanceRequest.encode({ address, denom }).finish();
      const { balance } = QueryBalanceResponse.decode(
        await client.grpcQuery("/cosmos.bank.v1beta1.Query/Balance", bytes, signal),
      );
      const amount = balance?.amount ?? "";
      return /^\d{1,78}$/.test(amount) ? BigInt(amount) : 0n;
    },
    blockLimits: (signal) => readBlockLimits(client, signal),
    ...clientQueries(client),
  };
}

/** Returns the values of the last KV result, in the order of the query's keys. Rejects with `ClientError` when there is none. */
export async function readQueryResult(
  client: Pick<ChainClient, "grpcQuery">,
  chainName: string,
  queryId: bigint,
  signal: AbortSignal,
): Promise<readonly StorageValue[]> {
  const path = `/${chainName}.interchainqueries.Query/QueryResult`;
  const request = QueryRegisteredQueryResultRequest.encode({ queryId }).finish();
  const response = QueryRegisteredQueryResultResponse.decode(await client.grpcQuery(path, request, signal));
  return response.result?.kvResults ?? [];
}

function clientQueries(
  client: ChainClient,
): Pick<LocalQueries, "clientState" | "clientStatus" | "consensusTimeNs" | "consensusHeights"> {
  const query = (rpc: string, request: Uint8Array, signal: AbortSignal): Promise<Uint8Array> =>
    client.grpcQuery(`/ibc.core.client.v1.Query/${rpc}`, request, signal);
  return {
    clientState: async (clientId, signal) => {
      const bytes = await query("ClientState", QueryClientStateRequest.encode({ clientId }).finish(), signal);
      const state = ClientState.decode(
        QueryClientStateResponse.decode(bytes).clientState?.value ?? new Uint8Array(),
      );
      return {
        clientId,
        chainId: state.chainId,
        latestHeight: toRemoteHeight(state.latestHeight),
        trustingPeriodNs: toNs(state.trustingPeriod),
        trustLevel: toTrustLevel(state.trustLevel),
      };
    },
    clientStatus: async (clientId, signal) => {
      const bytes = await query(
        "ClientStatus",
        QueryClientStatusRequest.encode({ clientId }).finish(),
        signal,
      );
      return QueryClientStatusResponse.decode(bytes).status;
    },
    consensusTimeNs: async (clientId, at, signal) => {
      const request = {
        clientId,
        revisionNumber: at.revision,
        revisionHeight: at.height,
        latestHeight: false,
      };
      const bytes = await query(
        "ConsensusState",
        QueryConsensusStateRequest.encode(request).finish(),
        signal,
      );
      const any = QueryConsensusStateResponse.decode(bytes).consensusState;
      return toNs(ConsensusState.decode(any?.value ?? new Uint8Array()).timestamp);
    },
    consensusHeights: (clientId, signal) =>
      allPages(async (key) => {
        const request = QueryConsensusStateHeightsRequest.encode({
          clientId,
          pagination: page(key),
        }).finish();
        const response = QueryConsensusStateHeightsResponse.decode(
          await query("ConsensusStateHeights", request, signal),
        );
        return {
          items: response.consensusStateHeights.map(toRemoteHeight),
          next: response.pagination?.nextKey,
        };
      }),
  };
}

function page(key: Uint8Array): PageRequest {
  return { key, offset: 0n, limit: PAGE_LIMIT, countTotal: false, reverse: false };
}

async function allPages<T>(
  read: (key: Uint8Array) => Promise<{ readonly items: readonly T[]; readonly next: Uint8Array | undefined }>,
): Promise<readonly T[]> {
  const all: T[] = [];
  let key: Uint8Array = new Uint8Array();
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { items, next } = await read(key);
    all.push(...items);
    if (next === undefined || next.length === 0) return all;
    key = next;
  }
  throw new RelayError(
    { code: "too-many-pages", pages: MAX_PAGES },
    `the list of the local chain has more than ${MAX_PAGES} pages`,
  );
}

function toRemoteHeight(
  height: { revisionNumber: bigint; revisionHeight: bigint } | undefined,
): RemoteHeight {
  return { revision: height?.revisionNumber ?? 0n, height: height?.revisionHeight ?? 0n };
}

/** CometBFT's default for a client that says none. */
function toTrustLevel(level: TrustLevel | undefined): TrustLevel {
  return level === undefined || level.denominator === 0n ? { numerator: 1n, denominator: 3n } : level;
}

function toNs(time: { seconds: bigint; nanos: number } | undefined): bigint {
  return (time?.seconds ?? 0n) * 1_000_000_000n + BigInt(time?.nanos ?? 0);
}
