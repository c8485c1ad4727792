import { joinNs } from "../../platform/base/time.ts";
import { CodedError } from "../../platform/base/errors.ts";
import { type ChainClient, queriesOf } from "../client/chain-client.ts";
import type { RemoteHeight } from "../comet/ibc-height.ts";
import type { TrustLevel } from "../comet/verify-commit.ts";
import type { PageRequest } from "../proto/gen/cosmos/base/query/v1beta1/pagination.ts";
import { Query as ClientQuery } from "../proto/gen/ibc/core/client/v1/query.ts";
import { Query as ConnectionQuery } from "../proto/gen/ibc/core/connection/v1/query.ts";
import { ClientState, ConsensusState } from "../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";

/** State of an IBC light client, as stored on the local chain. */
export interface LightClientState {
  readonly clientId: string;
  /** Id of the remote chain that the client tracks. */
  readonly chainId: string;
  readonly latestHeight: RemoteHeight;
  readonly trustingPeriodNs: bigint;
  /** Validators with more than this share of the trusted power must have signed a non-adjacent header. */
  readonly trustLevel: TrustLevel;
}

export type LightClientQueries = ReturnType<typeof createLightClientQueries>;

const PAGE_LIMIT = 100n;
/** Maximum number of pages, enough for 100,000 entries. The limit protects the relayer from a node whose list never ends. */
const MAX_PAGES = 1_000;

/**
 * Creates gRPC queries about a chain's light clients. A failed query rejects with `ClientError`, or with `LightClientError` if the
 * docstring mentions this error.
 */
export function createLightClientQueries(client: Pick<ChainClient, "grpcQuery">) {
  const query = queriesOf(client, ClientQuery);
  const queryConnection = queriesOf(client, ConnectionQuery);
  return {
    /** Returns the connection's client id. Rejects with `LightClientError` "no-client" if the connection has no client. */
    clientOfConnection: async (connectionId: string, signal: AbortSignal): Promise<string> => {
      const { connection } = await queryConnection("Connection", { connectionId }, signal);
      if (connection !== undefined && connection.clientId !== "") return connection.clientId;
      throw new LightClientError(
        { code: "no-client", connectionId },
        `connection ${connectionId} has no client`,
      );
    },
    clientState: async (clientId: string, signal: AbortSignal): Promise<LightClientState> => {
      const { clientState } = await query("ClientState", { clientId }, signal);
      const state = ClientState.decode(clientState?.value ?? new Uint8Array());
      return {
        clientId,
        chainId: state.chainId,
        latestHeight: toRemoteHeight(state.latestHeight),
        trustingPeriodNs: joinNs(state.trustingPeriod),
        trustLevel: toTrustLevel(state.trustLevel),
      };
    },
    /** Returns the client's status, such as "Active", "Expired" or "Frozen". */
    clientStatus: async (clientId: string, signal: AbortSignal): Promise<string> =>
      (await query("ClientStatus", { clientId }, signal)).status,
    /**
     * Returns the time of a consensus state, and the hash of the next block's validator set. Rejects if the client has no consensus
     * state at this height.
     */
    consensusState: async (clientId: string, at: RemoteHeight, signal: AbortSignal) => {
      const height = { revisionNumber: at.revision, revisionHeight: at.height, latestHeight: false };
      const { consensusState } = await query("ConsensusState", { clientId, ...height }, signal);
      const state = ConsensusState.decode(consensusState?.value ?? new Uint8Array());
      return { timeNs: joinNs(state.timestamp), nextValidatorsHash: state.nextValidatorsHash };
    },
    /** Returns the heights that have a consensus state, unsorted. Rejects with "too-many-pages" if the list is too long. */
    consensusHeights: (clientId: string, signal: AbortSignal): Promise<readonly RemoteHeight[]> =>
      allPages(async (key) => {
        const request = { clientId, pagination: page(key) };
        const { consensusStateHeights, pagination } = await query("ConsensusStateHeights", request, signal);
        return { items: consensusStateHeights.map(toRemoteHeight), next: pagination?.nextKey };
      }),
  };
}

export function page(key: Uint8Array): PageRequest {
  return { key, offset: 0n, limit: PAGE_LIMIT, countTotal: false, reverse: false };
}

/** Reads all pages of a list. Rejects with `LightClientError` "too-many-pages" if the list has more than 1,000 pages. */
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
    `a list on the local chain has more than ${MAX_PAGES} pages`,
  );
}

function toRemoteHeight(
  height: { revisionNumber: bigint; revisionHeight: bigint } | undefined,
): RemoteHeight {
  return { revision: height?.revisionNumber ?? 0n, height: height?.revisionHeight ?? 0n };
}

/** Returns a client's trust level, or CometBFT's default if the client does not specify one. */
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

/** Thrown if reading or updating a light client fails. */
export class LightClientError extends CodedError<LightClientErrorFacts> {}
