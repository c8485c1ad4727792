import type { Any } from "../../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Context } from "../../../runtime/context.ts";
import { createItem, uint64Codec } from "../../../store/collections.ts";
import { ErrClientNotActive, ErrInvalidClientType } from "../host/errors.ts";
import { clientCreated } from "../host/events.ts";
import { NEXT_CLIENT_SEQUENCE, STORE_NAME } from "../host/keys.ts";
import { getClientParams, isAllowedClient } from "../host/params.ts";
import { openClientStore } from "./client-store.ts";
import { latestHeightOf, unpackClientState } from "./client-state.ts";
import { LOCALHOST } from "../host/identifiers.ts";
import { statusOf } from "./client-status.ts";
import { unpackConsensusState } from "./consensus-state.ts";

/** Number of the next client, from 0. */
export const nextClientSequence = createItem(STORE_NAME, NEXT_CLIENT_SEQUENCE, uint64Codec);

/**
 * Creates a client from a client state and the consensus state of its latest height. Returns its id. Throws
 * `ModuleError`.
 */
export function createClient(
  context: Context,
  clientState: Any | undefined,
  consensusState: Any | undefined,
): string {
  const client = unpackClientState(clientState);
  if (client.type === LOCALHOST) throw ErrInvalidClientType(`cannot create client of type: ${client.type}`);
  if (!isAllowedClient(getClientParams(context), client.type)) {
    throw ErrInvalidClientType(`client state type ${client.type} is not registered in the allowlist`);
  }
  const sequence = nextClientSequence.get(context) ?? 0n;
  nextClientSequence.set(context, sequence + 1n);
  const clientId = `${client.type}-${sequence}`;
  const store = openClientStore(context, clientId);
  store.setClientState(client);
  store.setConsensusState(latestHeightOf(client), unpackConsensusState(consensusState));
  // As in ibc-go, the client is stored before its status is checked. A failure reverts the writes with the message.
  const status = statusOf(context, client, store);
  if (status !== "Active")
    throw ErrClientNotActive(`cannot create client (${clientId}) with status ${status}`);
  for (const event of clientCreated({ clientId, clientType: client.type }, latestHeightOf(client)))
    context.emit(event);
  return clientId;
}
