import { Buffer } from "node:buffer";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface HttpConnectionsOptions {
  /**
   * Maximum number of open connections. At the limit, a new connection replaces the connection that has gone longest without
   * completing a request, whether that connection is idle or has sent half a request.
   */
  readonly maxConnections: number;
  /** Time after which the server closes a connection whose client reads nothing from an unsent reply. */
  readonly stalledMs: number;
  readonly budget: SendBudget;
  readonly serve: (response: ServerResponse) => void;
}

export type HttpConnections = ReturnType<typeof createHttpConnections>;

/** Number of queued requests at which the server stops reading from a connection. */
const PAUSE_AT = 16;
/**
 * Number of queued requests at which the server closes the connection. A paused connection stays below this limit, because one read
 * in Node returns up to 64 KiB, enough for 2,621 of the smallest requests.
 */
const MAX_QUEUED = 4_096;
/** Total number of queued requests, of about 5 kB each, at which the server closes connections instead of pausing them. */
const MAX_QUEUED_TOTAL = 16_384;

/** Creates an HTTP server's set of connections. Like Go, handles one request at a time on each connection. */
export function createHttpConnections(options: HttpConnectionsOptions) {
  const pool: Pool = { options, all: new Map(), idle: new Set(), queued: 0, changes: 0 };
  return {
    add: (socket: Socket): void => {
      if (pool.all.size >= options.maxConnections && !evict(pool)) {
        socket.destroy();
        return;
      }
      const connection = new HttpConnection(socket, pool);
      pool.all.set(socket, connection);
      pool.idle.add(connection);
      socket.once("close", () => connection.close());
      // Pause again if needed, because Node resumes the socket after every message that it parses.
      socket.on("resume", () => connection.pauseWhenFull());
      // The server has ended its side, so close the connection soon, even if the client leaves its own side open.
      socket.once("finish", () => closeLater(socket));
    },
    /** Queues a request, identified by its reply. Ignores requests from sockets that `add` has rejected. */
    take: (response: ServerResponse): void => pool.all.get(response.req.socket)?.take(response),
    /** Counts a finished response's unsent bytes in the send budget until the client has taken them. */
    sent: (response: ServerResponse, bytes: number): void => {
      const { socket } = response;
      if (socket !== null && socket.writableLength > 0) holdUnsent(response, socket, bytes, options);
    },
    /**
     * Stops serving requests on an upgraded connection. If the connection still has unanswered requests, changes nothing and
     * returns false.
     */
    upgrade: (socket: Socket): boolean => pool.all.get(socket)?.upgrade() === true,
  };
}

interface Pool {
  readonly options: HttpConnectionsOptions;
  readonly all: Map<Socket, HttpConnection>;
  /** Connections with no request in progress, longest idle first. */
  readonly idle: Set<HttpConnection>;
  queued: number;
  /** Number of state changes so far across all connections. */
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

/** Returns the connection whose request body has been arriving longest. Takes linear time, so call it only at the limit. */
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
  // Node restarts this timer whenever the client reads bytes, and closes the connection when the timer expires.
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
  /** Sequence number of the connection's last state change (opened, request begun, or idle again), counted across all connections. */
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

  /** Returns true if the current request has a body that has not fully arrived. */
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
    // "close" fires when the client has received the reply or has disconnected, and always after "finish", so the next request
    // finds the socket free. `on` avoids the wrapper that `once` allocates for each request.
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
    // Defer the next request; otherwise, a client whose socket takes every reply immediately would delay all other clients.
    setImmediate(() => {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#pool.queued -= 1;
      if (this.#queue.length === 0) this.socket.resume();
      // Clear the timer for the last reply, which may expire before the next request has been handled.
      this.socket.setTimeout(0);
      this.#begin(next);
    });
  }
}

export type SendBudget = ReturnType<typeof createSendBudget>;

interface Hold {
  readonly bytes: number;
  readonly sinceMs: number;
  readonly cut: () => void;
}

/**
 * Time within which a client must read a reply while other clients wait for capacity. For comparison, a client on loopback reads 1
 * MB in a few milliseconds.
 */
const SLOW_AFTER_MS = 500;

/**
 * Creates a limit on the bytes that a server's clients have not read yet, in total for all connections. One reply may exceed the
 * limit, because the budget counts a reply only once its size is known.
 */
export function createSendBudget(maxBytes: number) {
  // A Set iterates in insertion order, so the oldest hold comes first.
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
  /** Wakes waiting replies one at a time, because each reply may use up the capacity again. */
  const wake = (): void => {
    if (isWaking) return;
    isWaking = true;
    setImmediate(() => {
      isWaking = false;
      // Wake the newest waiter first, because a client that has waited long is probably part of a flood or has given up.
      if (heldBytes < maxBytes) waiters.pop()?.();
      if (waiters.length === 0) return;
      if (heldBytes < maxBytes) wake();
      else watch();
    });
  };
  /** Schedules a check that cuts off slow clients, oldest reply first, until there is capacity. */
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
    /**
     * Returns undefined if there is capacity for another reply now. Otherwise, returns a promise that resolves once there is
     * capacity, within about a second.
     */
    untilCapacity: (): Promise<void> | undefined => {
      if (heldBytes < maxBytes && waiters.length === 0) return undefined;
      const capacity = new Promise<void>((resolve) => waiters.push(resolve));
      wake();
      return capacity;
    },
    /**
     * Counts unsent bytes until the returned function is called. If the bytes are still unsent after half a second and other
     * clients need the capacity, the budget calls `cut`, which must discard the bytes.
     */
    hold: (bytes: number, cut: () => void): (() => void) => {
      const hold = { bytes, sinceMs: performance.now(), cut };
      holds.add(hold);
      heldBytes += bytes;
      return () => release(hold);
    },
  };
}

/** Time within which a client must close its side of a connection. */
const LINGER_MS = 1_000;

/** Destroys a socket whose write side has ended if the client does not close its own side within {@link LINGER_MS}. */
function closeLater(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
}

/** Refuses an upgrade or another request on a connection that Node no longer serves, and closes the connection. */
export function refuseUpgrade(socket: Duplex, status: string, text = ""): void {
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  closeLater(socket);
}
