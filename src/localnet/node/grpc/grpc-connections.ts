import type { Socket } from "node:net";
import { type ServerInterceptor, ServerInterceptingCall } from "@grpc/grpc-js";
import type { SendBudget } from "../../../platform/http/http-connections.ts";

/** Bounds of the connections of the gRPC server. */
export interface GrpcConnectionLimits {
  /** At the limit, a new connection replaces the one without traffic for the longest time. */
  readonly maxConnections: number;
  /** Time for the first bytes of HTTP/2 to arrive. */
  readonly prefaceTimeoutMs: number;
}

/** The TCP connections of the gRPC server. */
export interface GrpcConnections {
  readonly add: (socket: Socket) => void;
  /** Counts the unsent bytes of responses. */
  readonly interceptor: ServerInterceptor;
}

/** Every HTTP/2 connection starts with these 24 bytes of the client. */
const PREFACE_BYTES = 24;
interface Connection {
  readonly socket: Socket;
  /** Received bytes at the last measurement. Sent bytes say nothing: the server sends settings and pings to all. */
  bytesRead: number;
}

/** Creates an empty set of connections. */
export function createGrpcConnections(limits: GrpcConnectionLimits, budget: SendBudget): GrpcConnections {
  // By peer. Those without traffic for the longest time are first, because traffic moves a connection to the end.
  const connections = new Map<string, Connection>();
  const measure = (): void => {
    // Over a copy: an entry that moves to the end of the map would be visited again.
    for (const [peer, connection] of Array.from(connections)) {
      const { bytesRead } = connection.socket;
      if (bytesRead === connection.bytesRead) continue;
      connection.bytesRead = bytesRead;
      connections.delete(peer);
      connections.set(peer, connection);
    }
  };
  const evict = (): void => {
    measure();
    const [longest] = connections;
    if (longest === undefined) return;
    connections.delete(longest[0]);
    longest[1].socket.destroy();
  };
  return {
    add: (socket) => {
      const peer = peerOf(socket);
      if (connections.size >= limits.maxConnections) evict();
      connections.set(peer, { socket, bytesRead: 0 });
      const preface = setTimeout(() => {
        if (socket.bytesRead < PREFACE_BYTES) socket.destroy();
      }, limits.prefaceTimeoutMs);
      socket.once("close", () => {
        clearTimeout(preface);
        if (connections.get(peer)?.socket === socket) connections.delete(peer);
      });
    },
    interceptor: (_method, call) => {
      const { remoteAddress, remotePort } = call.getConnectionInfo();
      const cut = (): void => void connections.get(`${remoteAddress} ${remotePort}`)?.socket.destroy();
      return new CountedCall(call, budget, cut);
    },
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

type CallListener = Parameters<ServerInterceptingCall["start"]>[0];

/** A call whose responses count as unsent until the client has taken them. */
class CountedCall extends ServerInterceptingCall {
  readonly #budget: SendBudget;
  readonly #cut: () => void;
  readonly #holds = new Set<() => void>();

  constructor(
    call: ConstructorParameters<typeof ServerInterceptingCall>[0],
    budget: SendBudget,
    cut: () => void,
  ) {
    super(call);
    this.#budget = budget;
    this.#cut = cut;
  }

  override start(listener: CallListener): void {
    super.start({
      ...listener,
      // A cancelled call reports no end of its messages.
      onCancel: () => {
        for (const release of this.#holds) release();
        this.#holds.clear();
        listener.onCancel();
      },
    });
  }

  override sendMessage(message: unknown, callback: () => void): void {
    const bytes = message instanceof Uint8Array ? message.length : 0;
    const release = this.#budget.hold(bytes, this.#cut);
    this.#holds.add(release);
    super.sendMessage(message, () => {
      release();
      this.#holds.delete(release);
      callback();
    });
  }
}
