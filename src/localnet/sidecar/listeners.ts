import type { Logger } from "../../platform/base/logger.ts";
import type { ListenAddress } from "../../platform/config/config-fields.ts";
import type { HttpReply, HttpRoute } from "../../platform/http/http-route.ts";
import { openRouteServer } from "../../platform/http/route-server.ts";
import type { OpenHttpServer } from "../../platform/http/http-server.ts";

export interface ListenerOptions {
  readonly name: string;
  readonly listen: ListenAddress;
  readonly portOption: string;
  readonly routes: readonly HttpRoute[];
  readonly notFound?: HttpReply;
}

/** HTTP listeners that open and close together. */
export interface Listeners {
  /** Opens all listeners and returns their addresses, in order. Opens none when one fails. No effect when open. */
  readonly open: () => Promise<readonly ListenAddress[]>;
  /** Closes all listeners and their connections. No effect when closed. */
  readonly close: () => Promise<void>;
}

/** Creates closed listeners. Calls of `open` and `close` must not overlap. */
export function createListeners(
  options: readonly ListenerOptions[],
  deps: { readonly logger: Logger },
): Listeners {
  let servers: readonly OpenHttpServer[] = [];
  // With port 0 the system chooses the port. After a restart the sidecar must have the same port, so that the clients
  // find it again: later openings use the bound address.
  let bound = options.map(({ listen }) => listen);
  const close = async (): Promise<void> => {
    const closing = servers;
    servers = [];
    await Promise.all(closing.map((server) => server.close()));
  };
  const open = async (): Promise<readonly ListenAddress[]> => {
    if (servers.length > 0) return bound;
    const results = await Promise.allSettled(
      options.map((listener, index) =>
        openRouteServer(
          { ...listener, listen: bound[index] ?? listener.listen, limits: { closeGraceMs: 0 } },
          deps,
        ),
      ),
    );
    servers = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) {
      await close();
      throw failed.reason;
    }
    bound = servers.map(({ address }) => address);
    return bound;
  };
  return { open, close };
}
