import { once } from "node:events";
import { createServer, connect, type Server, type Socket } from "node:net";

/** A TCP proxy that adds latency. */
export interface DelayProxy {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Maximum number of bytes in flight in one direction of a connection. */
const MOST_UNDER_WAY = 16_777_216;

/**
 * Listens on a free port of loopback and passes everything on to `port`, each direction `oneWayMs` later. Setting up a
 * connection is not delayed: the relayer keeps its connections.
 */
export async function startDelayProxy(port: number, oneWayMs: number): Promise<DelayProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ port, host: "127.0.0.1" });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.once("close", () => sockets.delete(socket));
      // An error of one socket ends the other one.
      socket.on("error", () => socket.destroy());
    }
    passOn(near, far, oneWayMs);
    passOn(far, near, oneWayMs);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: boundPort(server), close: () => closeAll(server, sockets) };
}

/** Timers of one length fire in the order in which they were set, so the order of the bytes is kept. */
function passOn(from: Socket, to: Socket, delayMs: number): void {
  let underWay = 0;
  from.on("data", (chunk) => {
    underWay += chunk.length;
    if (underWay > MOST_UNDER_WAY) from.pause();
    setTimeout(() => {
      underWay -= chunk.length;
      if (to.writable) to.write(chunk);
      if (underWay <= MOST_UNDER_WAY) from.resume();
    }, delayMs);
  });
  from.once("close", () => setTimeout(() => to.destroy(), delayMs));
}

function boundPort(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return address.port;
}

async function closeAll(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = once(server, "close");
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
}
