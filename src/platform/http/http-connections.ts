import { Buffer } from "node:buffer";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface HttpConnectionsOptions {
  /**
   * Open connections. At the limit, a new one replaces the one that has been without a complete request for the longest time. A client
   * that has just connected has not sent its request yet, so others with half a request go first.
   */
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
  /** Counts the bytes of an ended response that the socket has not taken yet. */
  readonly sent: (response: ServerResponse, bytes: number) => void;
  /** Stops serving requests on an upgraded connection. Returns false when it still has requests without a reply. */
  readonly upgrade: (socket: Socket) => boolean;
}

/** Queued requests of a connection above which the server stops reading from it. */
const PAUSE_AT = 16;
/**
 * Queued requests above which the server cuts the connection. One read of Node returns up to 64 KiB, which hold 2,621 smallest
 * requests, so a paused connection stays below.
 */
const MAX_QUEUED = 4_096;
/** Queued requests of all connections, at which the server cuts those that it has paused. Each takes about 5 kB. */
const MAX_QUEUED_TOTAL = 16_384;

/** Creates an empty set of connections. */
export function createHttpConnections(options: HttpConnectionsOptions): HttpConnections {
  const pool: Pool = { options, all: new Map(), idle: new Set(), queued: 0, changes: 0 };
  return {
    add: (socket) => {
      if (pool.all.size >= options.maxConnections && !evict(pool)) {
        socket.destroy();
        return;
      }
      const connection = new HttpConnection(socket, pool);
      pool.all.set(socket, connection);
      pool.idle.add(connection);
      socket.once("close", () => connection.close());
      // Node resumes the socket at the end of every message that it parses.
      socket.on("resume", () => connection.pauseWhenFull());
      // The write side has ended. A client that keeps its own side open must not hold the connection.
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
  /** Changes of state of all connections so far. */
  changes: number;
}

function evict(pool: Pool): boolean {
  const [idle] = pool.idle;
  const incomplete = longestIncomplete(pool);
  const longest = (idle?.since ?? Infinity) < (incomplete?.since ?? Infinity) ? idle : incomplete;
  if (longest === undefined) return false;
  longest.close();
  longest.socket.destroy();
  return true;
}

/** Returns the connection whose body has been arriving for the longest time. Linear; only at the limit. */
function longestIncomplete(pool: Pool): HttpConnection | undefined {
  let longest: HttpConnection | undefined;
  for (const connection of pool.all.values()) {
    if (!connection.isIncomplete()) continue;
    if (longest === undefined || connection.since < longest.since) longest = connection;
  }
  return longest;
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
  #current: ServerResponse | undefined;
  /** Number of its last change of state, in the order of all connections: opened, begun with a request, or idle again. */
  since: number;
  readonly #onResponseClose = (): void => this.#next();

  constructor(socket: Socket, pool: Pool) {
    this.socket = socket;
    this.#pool = pool;
    this.since = pool.changes += 1;
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

  /** Returns whether a request is being handled whose body has not arrived completely. */
  isIncomplete(): boolean {
    return this.#current?.req.complete === false;
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
    this.#current = response;
    this.since = this.#pool.changes += 1;
    // The client has the reply, or is gone. "close" follows "finish", so the next request finds the socket free.
    // `on` instead of `once`, which allocates a wrapper for each request.
    response.on("close", this.#onResponseClose);
    const { budget, serve } = this.#pool.options;
    const capacity = budget.untilCapacity();
    if (capacity === undefined) serve(response);
    else void capacity.then(() => !response.destroyed && serve(response));
  }

  #next(): void {
    this.#isBusy = false;
    this.#current = undefined;
    if (this.socket.destroyed) return;
    if (this.#queue.length === 0) {
      this.since = this.#pool.changes += 1;
      this.#pool.idle.add(this);
      return;
    }
    this.#isBusy = true;
    // Later, not now: otherwise a client whose socket takes every reply immediately would delay all others.
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

/** Bounds the bytes that the clients of a server have not read yet, over all connections together. */
export interface SendBudget {
  /** Returns undefined when there is capacity for another reply now. Otherwise resolves when there is, within about a second. */
  readonly untilCapacity: () => Promise<void> | undefined;
  /**
   * Counts unsent bytes until the returned function is called. `cut` must discard the bytes. The budget calls it when
   * the bytes are unsent for half a second and other clients need the capacity.
   */
  readonly hold: (bytes: number, cut: () => void) => () => void;
}

interface Hold {
  readonly bytes: number;
  readonly sinceMs: number;
  readonly cut: () => void;
}

/** Time that a client gets to read a reply while others wait for capacity. A client on loopback reads 1 MB in a few ms. */
const SLOW_AFTER_MS = 500;

/** Creates a budget. It may be exceeded by one reply, since a reply is counted when its size is known. */
export function createSendBudget(maxBytes: number): SendBudget {
  // In insertion order, so the oldest is first.
  const holds = new Set<Hold>();
  const waiters: (() => void)[] = [];
  let heldBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let isWaking = false;
  const release = (hold: Hold): void => {
    if (!holds.delete(hold)) return;
    heldBytes -= hold.bytes;
    if (waiters.length > 0) wake();
  };
  /** Wakes the waiters one after the other, because each may use up the capacity again. */
  const wake = (): void => {
    if (isWaking) return;
    isWaking = true;
    setImmediate(() => {
      isWaking = false;
      // The newest first: under a flood, a client that has waited for long is part of the flood, or has given up.
      if (heldBytes < maxBytes) waiters.pop()?.();
      if (waiters.length === 0) return;
      if (heldBytes < maxBytes) wake();
      else watch();
    });
  };
  /** Cuts clients once they are slow. */
  const watch = (): void => {
    const [oldest] = holds;
    if (timer !== undefined || oldest === undefined) return;
    const delayMs = Math.max(0, oldest.sinceMs + SLOW_AFTER_MS - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      for (const hold of holds) {
        if (heldBytes < maxBytes || performance.now() - hold.sinceMs < SLOW_AFTER_MS) break;
        release(hold);
        hold.cut();
      }
      if (waiters.length > 0) wake();
    }, delayMs + 1);
  };
  return {
    untilCapacity: () => {
      if (heldBytes < maxBytes && waiters.length === 0) return undefined;
      const capacity = new Promise<void>((resolve) => waiters.push(resolve));
      wake();
      return capacity;
    },
    hold: (bytes, cut) => {
      const hold = { bytes, sinceMs: performance.now(), cut };
      holds.add(hold);
      heldBytes += bytes;
      return () => release(hold);
    },
  };
}

/** Time that a client gets to close its side of a connection. */
const LINGER_MS = 1_000;

/** Destroys a socket whose write side has ended, unless the client closes it first. */
function closeLater(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
}

/** Replies to a request whose connection Node no longer serves, such as an upgrade, and closes the connection. */
export function refuseUpgrade(socket: Duplex, status: string, text = ""): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  closeLater(socket);
}
