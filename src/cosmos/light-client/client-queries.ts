import { joinNs } from "../../platform/base/time.ts";
import { CodedError } from "../../platform/base/errors.ts";
import type { ChainClient } from "../client/chain-client.ts";
import type { RemoteHeight } from "../comet/ibc-height.ts";
import type { TrustLevel } from "../comet/verify-commit.ts";
import type { PageRequest } from "../proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import {
  QueryClientStateRequest,
  QueryClientStateResponse,
  QueryClientStatusRequest,
  QueryClientStatusResponse,
  QueryConsensusStateHeightsRequest,
  QueryConsensusStateHeightsResponse,
  QueryConsensusStateRequest,
  QueryConsensusStateResponse,
} from "../proto/gen/ibc/core/client/v1/query.ts";
import {
  QueryConnectionRequest,
  QueryConnectionResponse,
} from "../proto/gen/ibc/core/connection/v1/query.ts";
import { ClientState, ConsensusState } from "../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";

/** A light client's state on the local chain. */
export interface LightClientState {
  readonly clientId: string;
  /** The remote chain's id. */
  readonly chainId: string;
  readonly latestHeight: RemoteHeight;
  readonly trustingPeriodNs: bigint;
  /** If a header is not the next one, more than this share of the trusted validators' power must have signed it. */
  readonly trustLevel: TrustLevel;
}

/** A light client's consensus state. */
interface TrustedConsensus {
  /** Nanoseconds since the Unix epoch. */
  readonly timeNs: bigint;
  /** Hash of the next block's validator set. */
  readonly nextValidatorsHash: Uint8Array;
}

/** gRPC queries about a chain's light clients. All reject with `ClientError`, and with `LightClientError` where documented. */
export interface LightClientQueries {
  /** Returns the client id. Rejects with `LightClientError` "no-client". */
  readonly clientOfConnection: (connectionId: string, signal: AbortSignal) => Promise<string>;
  readonly clientState: (clientId: string, signal: AbortSignal) => Promise<LightClientState>;
  /** Returns "Active", "Expired", "Frozen", … */
  readonly clientStatus: (clientId: string, signal: AbortSignal) => Promise<string>;
  /** Rejects if there is no consensus state at this height. */
  readonly consensusState: (
    clientId: string,
    at: RemoteHeight,
    signal: AbortSignal,
  ) => Promise<TrustedConsensus>;
  /** Returns the heights that have a consensus state, unsorted. Rejects with `LightClientError` "too-many-pages". */
  readonly consensusHeights: (clientId: string, signal: AbortSignal) => Promise<readonly RemoteHeight[]>;
}

const PAGE_LIMIT = 100n;
/** A list may have 100,000 entries. The limit protects the relayer from a node whose list never ends. */
const MAX_PAGES = 1_000;

export function createLightClientQueries(client: Pick<ChainClient, "grpcQuery">): LightClientQueries {
  const query = (rpc: string, request: Uint8Array, signal: AbortSignal): Promise<Uint8Array> =>
    client.grpcQuery(`/ibc.core.client.v1.Query/${rpc}`, request, signal);
  return {
    clientOfConnection: async (connectionId, signal) => {
      const bytes = QueryConnectionRequest.encode({ connectionId }).finish();
      const response = QueryConnectionResponse.decode(
        await client.grpcQuery("/ibc.core.connection.v1.Query/Connection", bytes, signal),
      );
      if (response.connection !== undefined && response.connection.clientId !== "")
        return response.connection.clientId;
      throw new LightClientError(
        { code: "no-client", connectionId },
        `connection ${connectionId} has no client`,
      );
    },
    clientState: async (clientId, signal) => {
      const bytes = await query("ClientState", QueryClientStateRequest.encode({ clientId }).finish(), signal);
      const state = ClientState.decode(
        QueryClientStateResponse.decode(bytes).clientState?.value ?? new Uint8Array(),
      );
      return {
        clientId,
        chainId: state.chainId,
        latestHeight: toRemoteHeight(state.latestHeight),
        trustingPeriodNs: joinNs(state.trustingPeriod),
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
    consensusState: async (clientId, at, signal) => {
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
      const { timestamp, nextValidatorsHash } = ConsensusState.decode(any?.value ?? new Uint8Array());
      return { timeNs: joinNs(timestamp), nextValidatorsHash };
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

export function page(key: Uint8Array): PageRequest {
  return { key, offset: 0n, limit: PAGE_LIMIT, countTotal: false, reverse: false };
}

/** Reads a list page by page. Rejects with `LightClientError` "too-many-pages" if it does not end. */
export async function allPages<T>(
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
  throw new LightClientError(
    { code: "too-many-pages", pages: MAX_PAGES },
    `the list of the local chain has more than ${MAX_PAGES} pages`,
  );
}

function toRemoteHeight(
  height: { revisionNumber: bigint; revisionHeight: bigint } | undefined,
): RemoteHeight {
  return { revision: height?.revisionNumber ?? 0n, height: height?.revisionHeight ?? 0n };
}

/** CometBFT's default if a client does not specify a level. */
function toTrustLevel(level: TrustLevel | undefined): TrustLevel {
  return level === undefined || level.denominator === 0n ? { numerator: 1n, denominator: 3n } : level;
}

type LightClientErrorFacts =
  | { readonly code: "no-client"; readonly connectionId: string }
  | { readonly code: "too-many-pages"; readonly pages: number }
  | { readonly code: "no-trusted-height"; readonly clientId: string; readonly height: bigint }
  /** The endpoints have pruned the headers needed for an update from a trusted height. */
  | {
      readonly code: "trusted-headers-missing";
      readonly clientId: string;
      readonly heights: readonly bigint[];
    };

/** A light client cannot be read or updated. */
export class LightClientError extends CodedError<LightClientErrorFacts> {}
