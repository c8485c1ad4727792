import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { leasePort } from "../port-lease.ts";

/** A port of loopback that accepts connections while it is open, and refuses them while it is shut. */
export interface Door {
  /** "host:port". */
  readonly target: string;
  readonly open: () => Promise<void>;
  readonly shut: () => Promise<void>;
}

/** Opens a port. */
export async function openDoor(): Promise<Door> {
  const port = await leasePort();
  let server: Server | undefined;
  const open = async (): Promise<void> => {
    server = createServer((socket) => socket.on("error", () => {}).end()).listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  await open();
  return {
    target: `127.0.0.1:${port}`,
    open,
    shut: async () => {
      const closing = server;
      server = undefined;
      if (closing !== undefined) await new Promise((resolve) => closing.close(resolve));
    },
  };
}
