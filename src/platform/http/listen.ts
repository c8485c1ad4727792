import type { Server } from "node:net";
import { CodedError, errorText } from "../base/errors.ts";
import type { ListenAddress } from "../config/config-fields.ts";
import { findPortHolder } from "./port-holder.ts";

/** Thrown when a server cannot bind its address. */
class ListenError extends CodedError<{
  /** `port-in-use`: another process listens there. `cannot-listen`: the address is not of this machine, or not allowed. */
  readonly code: "port-in-use" | "cannot-listen";
  readonly host: string;
  readonly port: number;
  /** The process that holds the port; absent when it cannot be determined. */
  readonly holder?: string;
  /** The option that changes the port. */
  readonly option: string;
}> {}

/** Where a server listens. */
export interface ListenOptions {
  /** Name of the server in logs and errors: "oracle-watchdog HTTP", "rpc". */
  readonly name: string;
  /** Port 0 picks a free port. */
  readonly listen: ListenAddress;
  /** The option or configuration key that changes the port. */
  readonly portOption: string;
}

/**
 * Binds a TCP or HTTP server and resolves with the bound address, which has the real port.
 * Rejects with {@link ListenError}, code `port-in-use` or `cannot-listen`.
 */
export function listen(server: Server, options: ListenOptions): Promise<ListenAddress> {
  const { host, port } = options.listen;
  return new Promise((resolve, reject) => {
    const onError = (cause: unknown): void => reject(toListenError(cause, options));
    server.once("error", onError);
    server.listen({ host, port }, () => {
      server.off("error", onError);
      const bound = server.address();
      resolve({ host, port: typeof bound === "object" && bound !== null ? bound.port : port });
    });
  });
}

function toListenError(cause: unknown, options: ListenOptions): ListenError {
  const { name, portOption: option } = options;
  const { host, port } = options.listen;
  if (!isPortInUse(cause)) {
    const text = `${name} cannot listen on ${host}:${port}: ${errorText(cause)}; choose another address with ${option}`;
    return new ListenError({ code: "cannot-listen", host, port, option }, text, { cause });
  }
  const holder = findPortHolder(port);
  return new ListenError(
    { code: "port-in-use", host, port, option, ...(holder === undefined ? {} : { holder }) },
    `${name} needs port ${port} on ${host}, but ${holder ?? "another process"} uses it; stop that process, or choose another port with ${option}`,
    { cause },
  );
}

function isPortInUse(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
}
