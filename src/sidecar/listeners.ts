import type { Logger } from "../base/logger.ts";
import type { ListenAddress } from "../ops/config-fields.ts";
import type { HttpReply, HttpRoute } from "../ops/http-route.ts";
import { type OpenHttpServer, openHttpServer } from "../ops/http-server.ts";

/** One of the sidecar's three ports. */
export interface FaceOptions {
  readonly name: string;
  readonly listen: ListenAddress;
  readonly portOption: string;
  readonly routes: readonly HttpRoute[];
  readonly notFound?: HttpReply;
}

/** Several ports that open and close together. */
export interface Faces {
  /** Opens all, on the ports of the first time; none stays open when one cannot be had. Nothing when open. */
  readonly open: () => Promise<readonly ListenAddress[]>;
  /** Cuts all connections; from now on the ports refuse. Nothing when closed. */
  readonly close: () => Promise<void>;
}

/** Creates faces that are closed. Calls must not overlap. */
export function createListeners(options: readonly FaceOptions[], deps: { readonly logger: Logger }): Faces {
  let servers: readonly OpenHttpServer[] = [];
  let bound = options.map(({ listen }) => listen);
  const close = async (): Promise<void> => {
    const open = servers;
    servers = [];
    await Promise.all(open.map((server) => server.close()));
  };
  const open = async (): Promise<readonly ListenAddress[]> => {
    if (servers.length > 0) return bound;
    const tries = await Promise.allSettled(
      options.map((face, index) =>
        openHttpServer({ ...face, listen: bound[index] ?? face.listen, closeTimeoutMs: 0 }, deps),
      ),
    );
    servers = tries.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const failed = tries.find((one) => one.status === "rejected");
    if (failed !== undefined) {
      await close();
      throw failed.reason;
    }
    bound = servers.map(({ address }) => address);
    return bound;
  };
  return { open, close };
}
