import { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/client/v1/query.ts";
import { latin1, utf8 } from "../../../../../platform/base/bytes.ts";
import type { Context, QueryHandler } from "../../../runtime/context.ts";
import { queryHandlers } from "../../../runtime/handlers.ts";
import {
  ErrClientNotActive,
  ErrClientNotFound,
  ErrConsensusStateNotFound,
  ErrInvalidClientType,
  ErrInvalidID,
} from "../host/errors.ts";
import { checkArgument, emptyProof, readMatches, requireFound } from "../host/signed-handler.ts";
import { formatHeight, isZeroHeight, parseHeight, ZERO_HEIGHT } from "../host/height.ts";
import { LOCALHOST, validateClientId } from "../host/identifiers.ts";
import { CLIENTS_PREFIX, consensusStatesPrefix } from "../host/keys.ts";
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

/** All queries of `ibc.core.client.v1.Query`. */
export const clientQueries: readonly QueryHandler[] = queryHandlers(wire.Query, {
  ClientState: (context, { clientId }) => {
    const { client } = clientOf(context, clientId);
    return { clientState: packClientState(client), ...emptyProof(context) };
  },
  ClientStates: (context, { pagination }) => {
    const page = readMatches(context, CLIENTS_PREFIX, pagination, (key, value) => {
      // Latin-1 leaves binary keys unchanged.
      const clientId = /^\/([^/]+)\/clientState$/.exec(latin1(key))?.[1];
      return clientId === undefined ? undefined : { clientId, clientState: Any.decode(value) };
    });
    const clientStates = page.items.toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
    return { clientStates, pagination: page.pagination };
  },
  ConsensusState: (context, { clientId, latestHeight, ...requested }) => {
    checkArgument(() => validateClientId(clientId));
    if (!latestHeight && requested.revisionHeight === 0n)
      throw new QueryError(GrpcCode.InvalidArgument, "consensus state height cannot be 0");
    const store = openClientStore(context, clientId);
    const client = latestHeight ? store.clientState() : undefined;
    const height = latestHeight ? client && latestHeightOf(client) : requested;
    const state = requireFound(height && store.consensusState(height), () =>
      ErrConsensusStateNotFound(`client-id: ${clientId}, height: ${formatHeight(requested)}`),
    );
    return { consensusState: packConsensusState(state), ...emptyProof(context) };
  },
  ConsensusStates: (context, request) => {
    const { items, pagination } = pageStates(context, request);
    const consensusStates = items.map(({ height, value }) => ({ height, consensusState: Any.decode(value) }));
    return { consensusStates, pagination };
  },
  ConsensusStateHeights: (context, request) => {
    const { items, pagination } = pageStates(context, request);
    return { consensusStateHeights: items.map(({ height }) => height), pagination };
  },
  ClientStatus: (context, { clientId }) => {
    const { client, store } = clientOf(context, clientId);
    return { status: statusOf(context, client, store) };
  },
  ClientParams: clientParams.query,
  // No chain upgrade is ever planned here.
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

/** Reads a page of a client's consensus states in key order. Keys sort as text: 2-1000 precedes 2-33. */
function pageStates(context: Context, { clientId, pagination }: wire.QueryConsensusStatesRequest) {
  checkArgument(() => validateClientId(clientId));
  return readMatches(context, consensusStatesPrefix(clientId), pagination, (key, value) => {
    // Any other key belongs to metadata, e.g. "2-33/processedTime".
    const height = parseHeight(latin1(key));
    return height === undefined ? undefined : { height, value };
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
  request: wire.QueryVerifyMembershipRequest,
): wire.QueryVerifyMembershipResponse {
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
  // A proof leads through two trees: the store's and the multistore's.
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
