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
 * Single ports that are leased, for servers that are not of a localnet. They too are below the range of outgoing connections: a
 * port that the system chooses could belong to somebody's connection by the time that its server starts.
 */
export const SINGLE_PORTS: readonly number[] = Array.from({ length: 400 }, (_, index) => 18_000 + index);

/**
 * Leases an offset at which nothing listens. Every other process that leases by this function gets another one. Rejects when
 * no offset is free.
 */
export async function leasePorts(): Promise<PortLease> {
  const { taken: offset, release } = await lease(OFFSETS, (one) => Object.values(portsAt(one)));
  return { offset, release };
}

/** Leases a port of loopback at which nothing listens, until the end of this process. Rejects when no port is free. */
export async function leasePort(): Promise<number> {
  return (await lease(SINGLE_PORTS, (port) => [port])).taken;
}

async function lease(all: readonly number[], portsOf: (one: number) => readonly number[]) {
  // Starts at a random place: with equal starts, all runs would try the same locks.
  const first = Math.floor(Math.random() * all.length);
  for (const taken of [...all.slice(first), ...all.slice(0, first)]) {
    const release = lock(taken);
    if (release === undefined) continue;
    const free = await Promise.all(portsOf(taken).map(isFree));
    if (free.every(Boolean)) return { taken, release };
    release();
  }
  throw new Error("no free ports were found");
}

/** Returns undefined when another process has the offset or the port. */
function lock(taken: number): (() => void) | undefined {
  try {
    // Not the folder of temporary files: that of a bench differs from that of the tests beside it.
    return lockFolder(join("/tmp", `relaywatch-ports-${userInfo().uid}`, String(taken))).release;
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
