import type { ChainClient } from "../../client/chain-client.ts";
import type { PageRequest } from "../../proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import { QueryBalanceRequest, QueryBalanceResponse } from "../../proto/gen/cosmos/bank/v1beta1/query.ts";
import {
  QueryClientStateRequest,
  QueryClientStateResponse,
  QueryClientStatusRequest,
  QueryClientStatusResponse,
  QueryConsensusStateHeightsRequest,
  QueryConsensusStateHeightsResponse,
  QueryConsensusStateRequest,
  QueryConsensusStateResponse,
} from "../../proto/gen/ibc/core/client/v1/query.ts";
import {
  QueryConnectionRequest,
  QueryConnectionResponse,
} from "../../proto/gen/ibc/core/connection/v1/query.ts";
import { ClientState, ConsensusState } from "../../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import {
  QueryRegisteredQueriesRequest,
  QueryRegisteredQueriesResponse,
  QueryRegisteredQueryRequest,
  QueryRegisteredQueryResponse,
} from "../../proto/gen/neutron/interchainqueries/query.ts";
import { fromWireQuery, type RegisteredQuery, type RemoteHeight } from "./registered-query.ts";
import { RelayError } from "../relay-error.ts";

/** A light client on the local chain. */
export interface LightClientState {
  readonly clientId: string;
  readonly chainId: string;
  readonly latestHeight: RemoteHeight;
  readonly trustingPeriodNs: bigint;
}

/** What the relayer asks the local chain. All methods reject with the client's errors, or `RelayError`. */
export interface LocalQueries {
  /** Every registered query of the connection. */
  readonly registeredQueries: (
    connectionId: string,
    signal: AbortSignal,
  ) => Promise<readonly RegisteredQuery[]>;
  readonly registeredQuery: (id: bigint, signal: AbortSignal) => Promise<RegisteredQuery | undefined>;
  readonly clientOfConnection: (connectionId: string, signal: AbortSignal) => Promise<string>;
  readonly clientState: (clientId: string, signal: AbortSignal) => Promise<LightClientState>;
  /** "Active", "Expired", "Frozen", … */
  readonly clientStatus: (clientId: string, signal: AbortSignal) => Promise<string>;
  /** Time of the consensus state at this height, ns since the Unix epoch; rejects when there is none. */
  readonly consensusTimeNs: (clientId: string, at: RemoteHeight, signal: AbortSignal) => Promise<bigint>;
  /** Heights with a consensus state, in no order that may be relied on. */
  readonly consensusHeights: (clientId: string, signal: AbortSignal) => Promise<readonly RemoteHeight[]>;
  /** Coins of one denom; 0 for an account that does not exist. */
  readonly balance: (address: string, denom: string, signal: AbortSignal) => Promise<bigint>;
}

const PAGE = 100n;
/** At most this many pages are followed: 100,000 queries or consensus states. */
const MAX_PAGES = 1_000;

/** Creates the queries over gRPC paths; `chainName` is the package of the module's own services. */
export function createLocalQueries(client: ChainClient, chainName: string): LocalQueries {
  const icq = (rpc: string): string => `/${chainName}.interchainqueries.Query/${rpc}`;
  return {
    registeredQueries: (connectionId, signal) =>
      allPages(async (key) => {
        const request = { owners: [], connectionId, pagination: page(key) };
        const bytes = QueryRegisteredQueriesRequest.encode(request).finish();
        const answer = QueryRegisteredQueriesResponse.decode(
          await client.grpcQuery(icq("RegisteredQueries"), bytes, signal),
        );
        return {
          items: answer.registeredQueries.flatMap((wire) => fromWireQuery(wire) ?? []),
          next: answer.pagination?.nextKey,
        };
      }),
    registeredQuery: async (id, signal) => {
      const bytes = QueryRegisteredQueryRequest.encode({ queryId: id }).finish();
      const { registeredQuery } = QueryRegisteredQueryResponse.decode(
        await client.grpcQuery(icq("RegisteredQuery"), bytes, signal),
      );
      return registeredQuery && fromWireQuery(registeredQuery);
    },
    clientOfConnection: async (connectionId, signal) => {
      const bytes = QueryConnectionRequest.encode({ connectionId }).finish();
      const answer = QueryConnectionResponse.decode(
        await client.grpcQuery("/ibc.core.connection.v1.Query/Connection", bytes, signal),
      );
      if (answer.connection !== undefined && answer.connection.clientId !== "")
        return answer.connection.clientId;
      throw new RelayError({ code: "no-client", connectionId }, `connection ${connectionId} names no client`);
    },
    balance: async (address, denom, signal) => {
      const bytes = QueryBalanceRequest.encode({ address, denom }).finish();
      const { balance } = QueryBalanceResponse.decode(
        await client.grpcQuery("/cosmos.bank.v1beta1.Query/Balance", bytes, signal),
      );
      const amount = balance?.amount ?? "";
      return /^\d{1,78}$/.test(amount) ? BigInt(amount) : 0n;
    },
    ...clientQueries(client),
  };
}

function clientQueries(
  client: ChainClient,
): Pick<LocalQueries, "clientState" | "clientStatus" | "consensusTimeNs" | "consensusHeights"> {
  const ask = (rpc: string, request: Uint8Array, signal: AbortSignal): Promise<Uint8Array> =>
    client.grpcQuery(`/ibc.core.client.v1.Query/${rpc}`, request, signal);
  return {
    clientState: async (clientId, signal) => {
      const bytes = await ask("ClientState", QueryClientStateRequest.encode({ clientId }).finish(), signal);
      const state = ClientState.decode(
        QueryClientStateResponse.decode(bytes).clientState?.value ?? new Uint8Array(),
      );
      return {
        clientId,
        chainId: state.chainId,
        latestHeight: toRemoteHeight(state.latestHeight),
        trustingPeriodNs: toNs(state.trustingPeriod),
      };
    },
    clientStatus: async (clientId, signal) => {
      const bytes = await ask("ClientStatus", QueryClientStatusRequest.encode({ clientId }).finish(), signal);
      return QueryClientStatusResponse.decode(bytes).status;
    },
    consensusTimeNs: async (clientId, at, signal) => {
      const request = {
        clientId,
        revisionNumber: at.revision,
        revisionHeight: at.height,
        latestHeight: false,
      };
      const bytes = await ask("ConsensusState", QueryConsensusStateRequest.encode(request).finish(), signal);
      const any = QueryConsensusStateResponse.decode(bytes).consensusState;
      return toNs(ConsensusState.decode(any?.value ?? new Uint8Array()).timestamp);
    },
    consensusHeights: (clientId, signal) =>
      allPages(async (key) => {
        const request = QueryConsensusStateHeightsRequest.encode({
          clientId,
          pagination: page(key),
        }).finish();
        const answer = QueryConsensusStateHeightsResponse.decode(
          await ask("ConsensusStateHeights", request, signal),
        );
        return { items: answer.consensusStateHeights.map(toRemoteHeight), next: answer.pagination?.nextKey };
      }),
  };
}

function page(key: Uint8Array): PageRequest {
  return { key, offset: 0n, limit: PAGE, countTotal: false, reverse: false };
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
    `the chain's list does not end within ${MAX_PAGES} pages`,
  );
}

function toRemoteHeight(
  height: { revisionNumber: bigint; revisionHeight: bigint } | undefined,
): RemoteHeight {
  return { revision: height?.revisionNumber ?? 0n, height: height?.revisionHeight ?? 0n };
}

function toNs(time: { seconds: bigint; nanos: number } | undefined): bigint {
  return (time?.seconds ?? 0n) * 1_000_000_000n + BigInt(time?.nanos ?? 0);
}
