import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { closeLater } from "./raw-socket.ts";
import type { SendBudget } from "./send-budget.ts";

export interface HttpConnectionsOptions {
  /** Open connections. At the limit, a new one replaces the one that is idle for the longest time. */
  readonly maxConnections: number;
  /** The server cuts a connection that takes nothing of an unsent reply for this time. */
  readonly stalledMs: number;
  readonly budget: SendBudget;
  /** Handles a request. */
  readonly serve: (response: ServerResponse) => void;
}

/** The connections of an HTTP server. Each handles one request at a time, as in Go. */
export interface HttpConnections {
  readonly add: (socket: Socket) => void;
  /** Takes a request, identified by its response. */
  readonly take: (response: ServerResponse) => void;
  /** Counts the bytes of an ended response that the socket did not take at once. */
  readonly sent: (response: ServerResponse, bytes: number) => void;
  /** Stops serving requests on an upgraded connection. Returns false when it still has requests without a reply. */
  readonly upgrade: (socket: Socket) => boolean;
}

/** Queued requests of a connection above which the server stops reading from it. */
const PAUSE_AT = 16;
/**
 * Queued requests above which the server cuts the connection. Node reads 64 KiB at once, which hold 2,621 smallest
 * requests, so a paused connection stays below.
 */
const MAX_QUEUED = 4_096;
/** Queued requests of all connections, at which the server cuts those that it has paused. Each takes about 5 kB. */
const MAX_QUEUED_TOTAL = 16_384;

/** Creates an empty set of connections. */
export function createHttpConnections(options: HttpConnectionsOptions): HttpConnections {
  const pool: Pool = { options, all: new Map(), idle: new Set(), queued: 0 };
  return {
    add: (socket) => {
      if (pool.all.size >= options.maxConnections && !evictIdle(pool)) {
        socket.destroy();
        return;
      }
      const connection = new HttpConnection(socket, pool);
      pool.all.set(socket, connection);
      pool.idle.add(connection);
      socket.once("close", () => connection.close());
      // Node resumes the socket at the end of every message that it parses.
      socket.on("resume", () => connection.pauseWhenFull());
      // The write side has ended. A client that keeps its own side open must not keep the connection.
      socket.once("finish", () => closeLater(socket));
    },
    // A socket that `add` refused has no connection.
    take: (response) => pool.all.get(response.req.socket)?.take(response),
    sent: (response, bytes) => {
      const { socket } = response;
      if (socket !== null && socket.writableLength > 0) holdUnsent(response, socket, bytes, options);
    },
    upgrade: (socket) => pool.all.get(socket)?.upgrade() === true,
  };
}

interface Pool {
  readonly options: HttpConnectionsOptions;
  readonly all: Map<Socket, HttpConnection>;
  /** Connections that no request is being handled on, the longest idle first. */
  readonly idle: Set<HttpConnection>;
  /** Queued requests of all connections. */
  queued: number;
}

function evictIdle(pool: Pool): boolean {
  const [longest] = pool.idle;
  if (longest === undefined) return false;
  longest.close();
  longest.socket.destroy();
  return true;
}

function holdUnsent(
  response: ServerResponse,
  socket: Socket,
  bytes: number,
  { budget, stalledMs }: HttpConnectionsOptions,
): void {
  // Node restarts this timer when the client takes bytes, and cuts the connection at its end.
  socket.setTimeout(stalledMs);
  response.once(
    "close",
    budget.hold(bytes, () => socket.destroy()),
  );
}

class HttpConnection {
  readonly socket: Socket;
  readonly #pool: Pool;
  readonly #queue: ServerResponse[] = [];
  #isBusy = false;
  readonly #onResponseClose = (): void => this.#next();

  constructor(socket: Socket, pool: Pool) {
    this.socket = socket;
    this.#pool = pool;
  }

  take(response: ServerResponse): void {
    if (!this.#isBusy) {
      this.#pool.idle.delete(this);
      this.#begin(response);
      return;
    }
    this.#queue.push(response);
    this.#pool.queued += 1;
    this.pauseWhenFull();
  }

  pauseWhenFull(): void {
    if (this.#queue.length < PAUSE_AT) return;
    if (this.#queue.length < MAX_QUEUED && this.#pool.queued < MAX_QUEUED_TOTAL) this.socket.pause();
    else this.socket.destroy();
  }

  upgrade(): boolean {
    this.#pool.idle.delete(this);
    return !this.#isBusy;
  }

  close(): void {
    this.#pool.queued -= this.#queue.length;
    this.#queue.length = 0;
    this.#pool.idle.delete(this);
    this.#pool.all.delete(this.socket);
  }

  #begin(response: ServerResponse): void {
    this.#isBusy = true;
    // The client has the reply, or is gone. "close" follows "finish", so the next request finds the socket free.
    // `on` instead of `once`, which allocates a wrapper for each request.
    response.on("close", this.#onResponseClose);
    const { budget, serve } = this.#pool.options;
    const room = budget.room();
    if (room === undefined) serve(response);
    else void room.then(() => !response.destroyed && serve(response));
  }

  #next(): void {
    this.#isBusy = false;
    if (this.socket.destroyed) return;
    if (this.#queue.length === 0) {
      this.#pool.idle.add(this);
      return;
    }
    this.#isBusy = true;
    // Not at once: a reply that the socket takes at once would let this connection's requests run without a pause.
    setImmediate(() => {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#pool.queued -= 1;
      if (this.#queue.length === 0) this.socket.resume();
      // Ends the timer of an unsent reply, which may be shorter than the next request takes.
      this.socket.setTimeout(0);
      this.#begin(next);
    });
  }
}
