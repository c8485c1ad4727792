import { once } from "node:events";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { FolderInUseError, lockFolder } from "../../src/platform/process/folder-lock.ts";

/** The ports of one localnet, for one test at a time on this machine. */
export interface PortLease {
  /** For `--port-offset`. */
  readonly offset: number;
  /** Lets other tests use the ports. The end of the process does the same. */
  readonly release: () => void;
}

/** Ports from 3,000 to 32,768 that `fetch` and browsers refuse: they belong to other protocols. */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/**
 * All offsets that are leased. Two localnets at two of them have no port in common. All are above the ports of a localnet that
 * the user may run, and all ports are below the range from which Linux takes ports for outgoing connections (32,768).
 */
export const OFFSETS: readonly number[] = Array.from({ length: 85 }, (_, index) => 2_000 + 47 * index).filter(
  (offset) => !Object.values(portsAt(offset)).some((port) => BLOCKED_PORTS.has(port)),
);

/**
 * Leases an offset at which nothing listens. Every other process that leases by this function gets another one. Rejects when
 * no offset is free.
 */
export async function leasePorts(): Promise<PortLease> {
  // Starts at a random offset: with equal starts, all runs would try the same locks.
  const first = Math.floor(Math.random() * OFFSETS.length);
  for (const offset of [...OFFSETS.slice(first), ...OFFSETS.slice(0, first)]) {
    const lease = lock(offset);
    if (lease === undefined) continue;
    const free = await Promise.all(Object.values(portsAt(offset)).map(isFree));
    if (free.every(Boolean)) return lease;
    lease.release();
  }
  throw new Error("no free range of ports was found for a localnet");
}

/** Returns undefined when another process has the offset. */
function lock(offset: number): PortLease | undefined {
  try {
    // Not the folder of temporary files: that of a bench differs from that of the tests beside it.
    const folder = join("/tmp", `relaywatch-ports-${userInfo().uid}`, String(offset));
    return { offset, release: lockFolder(folder).release };
  } catch (error) {
    if (error instanceof FolderInUseError) return undefined;
    throw error;
  }
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
