import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Socket state TCP_LISTEN in /proc/net/tcp. */
const LISTENING = "0A";

/**
 * Returns the process that listens on a TCP port of this machine, e.g. `"node" (process 4711)`. Returns undefined for a
 * process of another user and on systems other than Linux. Reads /proc, which takes a few milliseconds.
 */
export function findPortHolder(port: number): string | undefined {
  const inode = ["/proc/net/tcp", "/proc/net/tcp6"]
    .map((table) => listenerInode(table, port))
    .find(isPresent);
  const pid = inode === undefined ? undefined : processOfSocket(inode);
  if (pid === undefined) return undefined;
  const name = attempt(() => readFileSync(`/proc/${pid}/comm`, "utf8").trim()) ?? "unknown";
  return `"${name}" (process ${pid})`;
}

function listenerInode(table: string, port: number): string | undefined {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const rows = attempt(() => readFileSync(table, "utf8")) ?? "";
  return rows
    .split("\n")
    .map((row) => row.trim().split(/\s+/))
    .find((cells) => cells[1]?.endsWith(suffix) === true && cells[3] === LISTENING)?.[9];
}

function processOfSocket(inode: string): string | undefined {
  const pids = (attempt(() => readdirSync("/proc")) ?? []).filter((name) => /^\d+$/.test(name));
  return pids.find((pid) =>
    (attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []).some((fd) => isSocket(pid, fd, inode)),
  );
}

function isSocket(pid: string, fd: string, inode: string): boolean {
  return attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) === `socket:[${inode}]`;
}

function isPresent(value: string | undefined): value is string {
  return value !== undefined;
}

/** Returns undefined on an error: a process may end meanwhile, and other users' processes are not readable. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
