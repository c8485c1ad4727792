import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import type { HeadWatch } from "./head-watch.ts";

/** Returns the client with a `status` that also notes what it read, so that cycles need no reads of their own for the health. */
export function watchedClient<C extends Pick<ChainClient, "status">>(client: C, head: HeadWatch): C {
  return {
    ...client,
    status: async (signal) => {
      try {
        const status = await client.status(signal);
        head.note(status);
        return status;
      } catch (error) {
        if (!signal.aborted) head.noteError(error);
        throw error;
      }
    },
  };
}
