import type { Any } from "../../../proto/gen/google/protobuf/any.ts";
import type { Height } from "../../../proto/gen/ibc/core/client/v1/client.ts";
import type { ConnectionEnd } from "../../../proto/gen/ibc/core/connection/v1/connection.ts";
import type { ClientState } from "../../../proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { Context } from "../../runtime/context.ts";
import { latestHeightOf, TENDERMINT_TYPE } from "./client/client-state.ts";
import { type ClientStatus, statusOf } from "./client/client-status.ts";
import { openClientStore } from "./client/client-store.ts";
import type { VerifiedState } from "./client/consensus-state.ts";
import { updateClient } from "./client/update-client.ts";
import { getConnection } from "./connection/connection-store.ts";
import { ErrInvalidClientType } from "./errors.ts";

/** What other modules may ask of IBC's clients and connections. */
export interface IbcKeeper {
  readonly getConnection: (context: Context, connectionId: string) => ConnectionEnd | undefined;
  /** The client behind a connection, whatever the connection's state; undefined when there is no such connection. */
  readonly connectionClientId: (context: Context, connectionId: string) => string | undefined;
  /** A client's state; undefined when there is no such client. Throws client/10 when it does not follow a CometBFT chain. */
  readonly getClientState: (context: Context, clientId: string) => ClientState | undefined;
  /** A client's status at this block; "Unknown" when there is no such client. */
  readonly getClientStatus: (context: Context, clientId: string) => ClientStatus | "Unknown";
  /** A client's latest height; undefined when there is no such client. Throws client/10 when it does not follow a CometBFT chain. */
  readonly clientLatestHeight: (context: Context, clientId: string) => Height | undefined;
  /** What a client holds of a remote height; undefined when nothing. */
  readonly getConsensusState: (
    context: Context,
    clientId: string,
    height: Height,
  ) => VerifiedState | undefined;
  /** The app hash that a client holds of a remote height; undefined when none. */
  readonly consensusRoot: (context: Context, clientId: string, height: Height) => Uint8Array | undefined;
  /** Verifies a header (as Any) and stores its consensus state; a contradiction freezes the client instead. Throws `ModuleError`. */
  readonly updateClient: (context: Context, clientId: string, header: Any) => void;
}

/** The keeper over the module's store. It holds no state of its own. */
export const ibcKeeper: IbcKeeper = {
  getConnection,
  connectionClientId: (context, connectionId) => getConnection(context, connectionId)?.clientId,
  getClientState,
  getClientStatus: (context, clientId) => {
    const store = openClientStore(context, clientId);
    const client = store.clientState();
    return client === undefined ? "Unknown" : statusOf(context, client, store);
  },
  clientLatestHeight: (context, clientId) => {
    const state = getClientState(context, clientId);
    return state === undefined ? undefined : latestHeightOf({ type: TENDERMINT_TYPE, state });
  },
  getConsensusState: (context, clientId, height) => openClientStore(context, clientId).consensusState(height),
  consensusRoot: (context, clientId, height) =>
    openClientStore(context, clientId).consensusState(height)?.root,
  updateClient,
};

function getClientState(context: Context, clientId: string): ClientState | undefined {
  const client = openClientStore(context, clientId).clientState();
  if (client === undefined) return undefined;
  if (client.type !== TENDERMINT_TYPE)
    throw ErrInvalidClientType(`expected ${TENDERMINT_TYPE}, got ${client.type}`);
  return client.state;
}
