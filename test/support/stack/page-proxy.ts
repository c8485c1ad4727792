import { createServer, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What a {@link PageProxy} does to the pages of a server. */
type PageFault =
  /** every connection, open or new, is reset */
  | { readonly kind: "reset" }
  /** every page is an error */
  | { readonly kind: "status"; readonly status: number }
  /** each page stays as it is at its next request, as that of a process that hangs behind a cache */
  | { readonly kind: "frozen" }
  /** the machine's clock is ahead by this many seconds, and lines are added to each page */
  | { readonly kind: "changed"; readonly aheadSeconds: number; readonly lines: string };

/** A proxy in front of a server whose pages are read with GET, on loopback. */
export interface PageProxy {
  readonly url: string;
  /** Starts a fault, which ends the one before; undefined: none. */
  readonly set: (fault: PageFault | undefined) => void;
  readonly close: () => Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly body: string;
}

/** Starts a proxy without a fault. */
export async function startPageProxy(upstream: string): Promise<PageProxy> {
  let fault: PageFault | undefined;
  const frozen = new Map<string, Reply>();
  const sockets = new Set<Socket>();
  const read = async (path: string): Promise<Reply> => {
    const response = await fetch(new URL(path, upstream));
    return { status: response.status, body: await response.text() };
  };
  const reply = async (path: string): Promise<Reply> => {
    if (fault?.kind === "status") return { status: fault.status, body: "injected" };
    if (fault?.kind !== "frozen") return read(path);
    const page = frozen.get(path) ?? (await read(path));
    frozen.set(path, page);
    return page;
  };
  const serve = async (path: string, response: ServerResponse): Promise<void> => {
    const { status, body } = await reply(path);
    const { aheadSeconds, lines } = fault?.kind === "changed" ? fault : { aheadSeconds: 0, lines: "" };
    const date = new Date(Date.now() + aheadSeconds * 1_000).toUTCString();
    response.writeHead(status, { "content-type": "text/plain", date }).end(`${body}${lines}`);
  };
  const server = createServer((request, response) => {
    serve(request.url ?? "/", response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    sockets.add(socket);
    if (fault?.kind === "reset") socket.resetAndDestroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    set: (next) => {
      fault = next;
      frozen.clear();
      if (next?.kind === "reset") for (const socket of sockets) socket.resetAndDestroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
