import { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type {
  Height,
  IdentifiedClientState,
} from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/client/v1/query.ts";
import type {
  QueryVerifyMembershipRequest,
  QueryVerifyMembershipResponse,
} from "../../../../../cosmos/proto/gen/ibc/core/client/v1/query.ts";
import { fromUtf8, utf8 } from "../../../../../platform/base/bytes.ts";
import type { Context } from "../../../runtime/context.ts";
import { queryHandlers } from "../../../runtime/handlers.ts";
import type { QueryHandler } from "../../../runtime/module.ts";
import { paginateFiltered } from "../../../runtime/pagination.ts";
import {
  ErrClientNotActive,
  ErrClientNotFound,
  ErrConsensusStateNotFound,
  ErrInvalidClientType,
  ErrInvalidID,
} from "../host/errors.ts";
import { checkArgument, emptyProof, requireFound } from "../host/signed-handler.ts";
import { formatHeight, isZeroHeight, parseHeight, ZERO_HEIGHT } from "../host/height.ts";
import { LOCALHOST, validateClientId } from "../host/identifiers.ts";
import { CLIENTS_PREFIX, consensusStatesPrefix, STORE_NAME } from "../host/keys.ts";
import { clientParams } from "../host/params.ts";
import {
  type ClientStore,
  latestHeightOf,
  openClientStore,
  packClientState,
  packConsensusState,
  statusOf,
  type StoredClient,
} from "./client-store.ts";
import { verifyStored } from "./verify-proof.ts";
import { isOutOfGas, ModuleError, QueryError, GrpcCode } from "../../../runtime/errors.ts";

const SLASH = 0x2f;

/** All queries of `ibc.core.client.v1.Query`. */
export const clientQueries: readonly QueryHandler[] = queryHandlers(wire.Query, {
  ClientState: (context, { clientId }) => {
    const { client } = clientOf(context, clientId);
    return { clientState: packClientState(client), ...emptyProof(context) };
  },
  ClientStates: queryClientStates,
  ConsensusState: queryConsensusState,
  ConsensusStates: queryConsensusStates,
  ConsensusStateHeights: queryHeights,
  ClientStatus: (context, { clientId }) => {
    const { client, store } = clientOf(context, clientId);
    return { status: statusOf(context, client, store) };
  },
  ClientParams: clientParams.query,
  // No upgrade of a chain is ever planned here.
  UpgradedClientState: () => notFound("upgrade plan not found"),
  UpgradedConsensusState: ({ height }) => notFound(`upgraded consensus state not found, height ${height}`),
  VerifyMembership: verifyMembership,
});

function notFound(text: string): never {
  throw new QueryError(GrpcCode.NotFound, text);
}

function clientOf(
  context: Context,
  clientId: string,
): { readonly client: StoredClient; readonly store: ClientStore } {
  checkArgument(() => validateClientId(clientId));
  const store = openClientStore(context, clientId);
  return { client: requireFound(store.clientState(), () => ErrClientNotFound(clientId)), store };
}

/**
 * Returns a page of client states. ibc-go ignores the filter's page flag, so a page requested by offset also contains the entries
 * read before and after it: with offset 0, one entry above the limit.
 */
function queryClientStates(
  context: Context,
  { pagination }: wire.QueryClientStatesRequest,
): wire.QueryClientStatesResponse {
  const clientStates: IdentifiedClientState[] = [];
  const paged = { store: context.store(STORE_NAME), prefix: CLIENTS_PREFIX };
  const page = paginateFiltered(paged, pagination, (key, value) => {
    const clientId = clientIdOfStateKey(key);
    if (clientId === undefined) return false;
    clientStates.push({ clientId, clientState: Any.decode(value) });
    return true;
  });
  clientStates.sort((a, b) => (a.clientId < b.clientId ? -1 : 1));
  return { clientStates, pagination: page };
}

/** Returns the client id from "/{id}/clientState", or undefined for any other key. Latin-1 leaves binary keys unchanged. */
function clientIdOfStateKey(key: Uint8Array): string | undefined {
  const match = /^\/([^/]+)\/clientState$/.exec(Buffer.from(key).toString("latin1"));
  return match?.[1];
}

function queryConsensusState(
  context: Context,
  { clientId, latestHeight, ...requested }: wire.QueryConsensusStateRequest,
): wire.QueryConsensusStateResponse {
  checkArgument(() => validateClientId(clientId));
  if (!latestHeight && requested.revisionHeight === 0n) {
    throw new QueryError(GrpcCode.InvalidArgument, "consensus state height cannot be 0");
  }
  const store = openClientStore(context, clientId);
  const height = latestHeight ? latestOf(store) : requested;
  const state = requireFound(height === undefined ? undefined : store.consensusState(height), () =>
    ErrConsensusStateNotFound(`client-id: ${clientId}, height: ${formatHeight(requested)}`),
  );
  return { consensusState: packConsensusState(state), ...emptyProof(context) };
}

function latestOf(store: ClientStore): Height | undefined {
  const client = store.clientState();
  return client === undefined ? undefined : latestHeightOf(client);
}

function queryConsensusStates(
  context: Context,
  { clientId, pagination }: wire.QueryConsensusStatesRequest,
): wire.QueryConsensusStatesResponse {
  const consensusStates: wire.QueryConsensusStatesResponse["consensusStates"] = [];
  const page = pageStates({ context, clientId }, pagination, (height, value) => {
    consensusStates.push({ height, consensusState: Any.decode(value) });
  });
  return { consensusStates, pagination: page };
}

function queryHeights(
  context: Context,
  { clientId, pagination }: wire.QueryConsensusStateHeightsRequest,
): wire.QueryConsensusStateHeightsResponse {
  const consensusStateHeights: Height[] = [];
  const page = pageStates({ context, clientId }, pagination, (height) => consensusStateHeights.push(height));
  return { consensusStateHeights, pagination: page };
}

/**
 * Visits a page of a client's consensus states in key order. Keys sort as text: 2-1000 precedes 2-33. As in ibc-go, a page
 * requested by offset visits one entry above its limit.
 */
function pageStates(
  { context, clientId }: { readonly context: Context; readonly clientId: string },
  pagination: wire.QueryConsensusStatesRequest["pagination"],
  onState: (height: Height, value: Uint8Array) => void,
): wire.QueryConsensusStatesResponse["pagination"] {
  checkArgument(() => validateClientId(clientId));
  const paged = { store: context.store(STORE_NAME), prefix: consensusStatesPrefix(clientId) };
  return paginateFiltered(paged, pagination, (key, value) => {
    // A slash separates the height from a metadata key, such as "2-33/processedTime".
    if (key.includes(SLASH)) return false;
    const height = parseHeight(fromUtf8(key));
    if (height === undefined) return false;
    onState(height, value);
    return true;
  });
}

const SOLO_MACHINE = "06-solomachine";
/** A proof query costs as much as reading the proof three times, at 3 gas per byte. */
const GAS_PER_PROOF_BYTE = 9n;

/**
 * Returns whether a proof shows that a client's counterparty stores a value. An invalid proof is not an error. Throws
 * `QueryError` if the request lacks a client or another part, in ibc-go's order and with the same texts.
 */
export function verifyMembership(
  context: Context,
  request: QueryVerifyMembershipRequest,
): QueryVerifyMembershipResponse {
  const { clientId, proof, value } = request;
  checkArgument(() => validateClientId(clientId));
  checkArgument(() => requireProvingClient(clientId));
  const proofHeight = request.proofHeight ?? ZERO_HEIGHT;
  const keyPath = request.merklePath?.keyPath ?? [];
  requirePart(proof.length > 0, "empty proof");
  requirePart(!isZeroHeight(proofHeight), "proof height must be non-zero");
  requirePart(keyPath.length > 0, "empty merkle path");
  requirePart(value.length > 0, "empty value");
  requireActive(context, clientId);
  context.gas.consume(GAS_PER_PROOF_BYTE * BigInt(proof.length), "verify membership query");
  const [prefix = "", path, ...more] = keyPath;
  // A proof leads through two trees: the store's, and the multistore's.
  if (path === undefined || more.length > 0) return { success: false };
  const delay = { timeNs: request.timeDelay, blocks: request.blockDelay };
  const claim = { clientId, proofHeight, proof, prefix: utf8(prefix), path, delay };
  return { success: isVerified(() => verifyStored(context, claim, value)) };
}

/** Throws for an id that ibc-go would not assign and for client types that cannot prove anything about another chain. */
function requireProvingClient(clientId: string): void {
  const type = clientId === LOCALHOST ? clientId : /^(\w+(?:[\w-]*\w)?)-[0-9]{1,20}$/.exec(clientId)?.[1];
  if (type === undefined)
    throw ErrInvalidID(`invalid client identifier ${clientId} is not in format: \`{client-type}-{N}\``);
  if (type === LOCALHOST || type === SOLO_MACHINE)
    throw ErrInvalidClientType(
      `verify membership is disabled for client types [${LOCALHOST} ${SOLO_MACHINE}]`,
    );
}

function requirePart(isPresent: boolean, text: string): void {
  if (!isPresent) throw new QueryError(GrpcCode.InvalidArgument, text);
}

function requireActive(context: Context, clientId: string): void {
  const store = openClientStore(context, clientId);
  const client = requireFound(store.clientState(), () => ErrClientNotFound(clientId));
  const status = statusOf(context, client, store);
  if (status === "Active") return;
  const text = `cannot verify membership using client (${clientId}) with status ${status}`;
  throw new QueryError(GrpcCode.FailedPrecondition, ErrClientNotActive(text).message);
}

function isVerified(verify: () => void): boolean {
  try {
    verify();
    return true;
  } catch (error) {
    if (!(error instanceof ModuleError) || isOutOfGas(error)) throw error;
    return false;
  }
}
