import { checkArgument, emptyProof, requireFound } from "../query-responses.ts";
import { latin1 } from "../../../../../platform/base/bytes.ts";
import type { Channel } from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import * as wire from "../../../../../cosmos/proto/gen/ibc/core/channel/v1/query.ts";
import type { ConnectionEnd } from "../../../../../cosmos/proto/gen/ibc/core/connection/v1/connection.ts";
import type { Context } from "../../../runtime/context.ts";
import { toQueryHandler } from "../../../runtime/handlers.ts";
import type { QueryHandler } from "../../../runtime/module.ts";
import { type ModuleError, QueryError } from "../../../runtime/errors.ts";
import { paginate, paginateFiltered } from "../../../runtime/pagination.ts";
import { packClientState } from "../client/client-state.ts";
import { openClientStore } from "../client/client-store.ts";
import { packConsensusState } from "../client/consensus-state.ts";
import { getConnection } from "../connection/connection-store.ts";
import { ErrClientNotFound, ErrConnectionNotFound, ErrConsensusStateNotFound } from "../errors.ts";
import { selfHeight } from "../height.ts";
import { validateChannelId, validateConnectionId, validatePortId } from "../identifiers.ts";
import { CHANNELS_PREFIX, STORE_NAME } from "../keys.ts";
import { getChannel, getChannelParams, identifyChannel } from "./channel-store.ts";
import { ErrChannelNotFound, ErrUpgradeErrorNotFound, ErrUpgradeNotFound } from "./errors.ts";
import { hopOf } from "./handshake.ts";
import type { ChannelEndpoint } from "./packet.ts";

const SERVICE = "/ibc.core.channel.v1.Query";
const NOT_FOUND = 5;

/** The queries of channels in `ibc.core.channel.v1.Query`. */
export const channelQueries: readonly QueryHandler[] = [
  toQueryHandler(
    `${SERVICE}/Channel`,
    { request: wire.QueryChannelRequest, response: wire.QueryChannelResponse },
    (context, request) => {
      checkEnd(request);
      return { channel: channelOf(context, request), ...emptyProof(context) };
    },
  ),
  toQueryHandler(
    `${SERVICE}/Channels`,
    { request: wire.QueryChannelsRequest, response: wire.QueryChannelsResponse },
    queryChannels,
  ),
  toQueryHandler(
    `${SERVICE}/ConnectionChannels`,
    { request: wire.QueryConnectionChannelsRequest, response: wire.QueryConnectionChannelsResponse },
    queryConnectionChannels,
  ),
  toQueryHandler(
    `${SERVICE}/ChannelClientState`,
    { request: wire.QueryChannelClientStateRequest, response: wire.QueryChannelClientStateResponse },
    queryClientState,
  ),
  toQueryHandler(
    `${SERVICE}/ChannelConsensusState`,
    { request: wire.QueryChannelConsensusStateRequest, response: wire.QueryChannelConsensusStateResponse },
    queryConsensusState,
  ),
  // This chain has no channel upgrades, so none is ever found.
  toQueryHandler(
    `${SERVICE}/Upgrade`,
    { request: wire.QueryUpgradeRequest, response: wire.QueryUpgradeResponse },
    (_context, request) => notFound(request, ErrUpgradeNotFound(endText(request))),
  ),
  toQueryHandler(
    `${SERVICE}/UpgradeError`,
    { request: wire.QueryUpgradeErrorRequest, response: wire.QueryUpgradeErrorResponse },
    (_context, request) =>
      // The missing colon is that of ibc-go.
      notFound(
        request,
        ErrUpgradeErrorNotFound(`port-id ${request.portId}, channel-id ${request.channelId}`),
      ),
  ),
  toQueryHandler(
    `${SERVICE}/ChannelParams`,
    { request: wire.QueryChannelParamsRequest, response: wire.QueryChannelParamsResponse },
    (context) => ({ params: getChannelParams(context) }),
  ),
];

/** Checks the ids of a request. Throws gRPC status InvalidArgument. */
export function checkEnd({ portId, channelId }: ChannelEndpoint): void {
  checkArgument(() => {
    validatePortId(portId);
    validateChannelId(channelId);
  });
}

/** Returns a channel. Throws gRPC status NotFound. */
export function channelOf(context: Context, end: ChannelEndpoint): Channel {
  return requireFound(getChannel(context, end), () => ErrChannelNotFound(endText(end)));
}

/** Names a channel as ibc-go's queries do. */
export function endText({ portId, channelId }: ChannelEndpoint): string {
  return `port-id: ${portId}, channel-id ${channelId}`;
}

function notFound(end: ChannelEndpoint, error: ModuleError): never {
  checkEnd(end);
  throw new QueryError(NOT_FOUND, error.message);
}

function queryChannels(
  context: Context,
  { pagination }: wire.QueryChannelsRequest,
): wire.QueryChannelsResponse {
  const channels: wire.QueryChannelsResponse["channels"] = [];
  const paged = { store: context.store(STORE_NAME), prefix: CHANNELS_PREFIX };
  const page = paginate(paged, pagination, (key, value) => {
    channels.push(identifyChannel(latin1(key), value));
  });
  return { channels, pagination: page, height: selfHeight(context) };
}

/** As in ibc-go, the filter ignores its page flag, so that a page by offset also has the entries around it. */
function queryConnectionChannels(
  context: Context,
  { connection, pagination }: wire.QueryConnectionChannelsRequest,
): wire.QueryConnectionChannelsResponse {
  checkArgument(() => validateConnectionId(connection));
  const channels: wire.QueryConnectionChannelsResponse["channels"] = [];
  const paged = { store: context.store(STORE_NAME), prefix: CHANNELS_PREFIX };
  const page = paginateFiltered(paged, pagination, (key, value) => {
    const channel = identifyChannel(latin1(key), value);
    if (hopOf(channel) !== connection) return false;
    channels.push(channel);
    return true;
  });
  return { channels, pagination: page, height: selfHeight(context) };
}

function queryClientState(
  context: Context,
  request: wire.QueryChannelClientStateRequest,
): wire.QueryChannelClientStateResponse {
  checkEnd(request);
  const { portId, channelId } = request;
  // This query has a colon that the others lack.
  const channel = requireFound(getChannel(context, request), () =>
    ErrChannelNotFound(`port-id: ${portId}, channel-id: ${channelId}`),
  );
  const { clientId } = connectionOf(context, channel);
  const client = requireFound(openClientStore(context, clientId).clientState(), () =>
    ErrClientNotFound(`client-id: ${clientId}`),
  );
  const clientState = packClientState(client);
  return { identifiedClientState: { clientId, clientState }, ...emptyProof(context) };
}

function queryConsensusState(
  context: Context,
  request: wire.QueryChannelConsensusStateRequest,
): wire.QueryChannelConsensusStateResponse {
  checkEnd(request);
  const { clientId } = connectionOf(context, channelOf(context, request));
  const state = requireFound(openClientStore(context, clientId).consensusState(request), () =>
    ErrConsensusStateNotFound(`client-id: ${clientId}`),
  );
  return { clientId, consensusState: packConsensusState(state), ...emptyProof(context) };
}

function connectionOf(context: Context, channel: Channel): ConnectionEnd {
  const id = hopOf(channel);
  return requireFound(getConnection(context, id), () => ErrConnectionNotFound(`connection-id: ${id}`));
}
