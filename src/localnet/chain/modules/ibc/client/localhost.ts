import type { Context } from "../../../runtime/context.ts";
import { selfHeight } from "../host/height.ts";
import { openClientStore } from "./client-store.ts";
import { LOCALHOST } from "../host/identifiers.ts";
import { statusOf } from "./client-status.ts";

/** Creates the localhost client: the client that a chain has of itself. */
export function createLocalhostClient(context: Context): void {
  openClientStore(context, LOCALHOST).setClientState({
    type: LOCALHOST,
    state: { latestHeight: selfHeight(context) },
  });
}

/** Sets the latest height of the localhost client to this block. Does nothing when the params do not allow its type. */
export function updateLocalhostClient(context: Context): void {
  const store = openClientStore(context, LOCALHOST);
  const client = store.clientState();
  if (client === undefined || statusOf(context, client, store) !== "Active") return;
  store.setClientState({ type: LOCALHOST, state: { latestHeight: selfHeight(context) } });
}
