import type { CallRouter } from "./grpc/call-router.ts";

/** A network server of a node. */
export interface NodeServer {
  readonly name: string;
  /** Starts to listen. Returns the bound port. Rejects with `ListenError`. */
  readonly listen: () => Promise<number>;
  /** Stops listening and closes open connections within a second. */
  readonly close: () => Promise<void>;
}

/** Creates a server of a node's gRPC methods. REST and gRPC are attached to a node in this way. */
export type ServerFactory = (router: CallRouter) => NodeServer;
