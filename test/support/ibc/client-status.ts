import {
  type ClientStatus,
  statusOf,
  openClientStore,
} from "../../../src/localnet/chain/modules/ibc/client/client-store.ts";
import type { Context } from "../../../src/localnet/chain/runtime/context.ts";

/** Returns a client's status at the block of the context; "Unknown" when the client does not exist. */
export function clientStatus(context: Context, clientId: string): ClientStatus | "Unknown" {
  const store = openClientStore(context, clientId);
  const client = store.clientState();
  return client === undefined ? "Unknown" : statusOf(context, client, store);
}
