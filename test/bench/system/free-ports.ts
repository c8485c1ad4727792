import { once } from "node:events";
import { createServer } from "node:net";
import { portsAt } from "../../../daemons/localnet/ports.ts";

/** Offsets that are tried; far from the defaults, where a localnet of the user's may run. */
const OFFSETS = { first: 3_100, step: 97, tries: 40 };

/** A port offset at which nothing listens on any port of a localnet. Throws when there is none among those tried. */
export async function freePortOffset(): Promise<number> {
  for (let index = 0; index < OFFSETS.tries; index++) {
    const offset = OFFSETS.first + OFFSETS.step * ((index + process.pid) % OFFSETS.tries);
    const free = await Promise.all(Object.values(portsAt(offset)).map(isFree));
    if (free.every(Boolean)) return offset;
  }
  throw new Error("no free range of ports was found for a localnet");
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
