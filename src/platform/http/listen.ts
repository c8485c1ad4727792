import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Server } from "node:net";
import { attempt, CodedError, errorText } from "../base/errors.ts";
import type { ListenAddress } from "../config/config-fields.ts";

/** Thrown when a server cannot bind its address. */
class ListenError extends CodedError<{
  /** `port-in-use`: another process listens on the port. `cannot-listen`: the address is not local or is not allowed. */
  readonly code: "port-in-use" | "cannot-listen";
  readonly host: string;
  readonly port: number;
  /** The process that uses the port; absent if it cannot be determined. */
  readonly holder?: string;
  /** Name of the option that changes the port. */
  readonly option: string;
}> {}

export interface ListenOptions {
  /** The server's name in logs and errors, for example "oracle-watchdog HTTP" or "rpc". */
  readonly name: string;
  /** The address to bind, where port 0 picks a free port. */
  readonly listen: ListenAddress;
  readonly portOption: string;
}

/**
 * Binds a TCP or HTTP server and resolves with the bound address, including the actual port. Rejects with {@link ListenError}, code
 * `port-in-use` or `cannot-listen`.
 */
export function listen(server: Server, options: ListenOptions): Promise<ListenAddress> {
  const { host, port } = options.listen;
  return new Promise((resolve, reject) => {
    const onError = (cause: unknown): void => reject(toListenError(cause, options));
    server.once("error", onError);
    server.listen({ host, port }, () => {
      server.off("error", onError);
      const bound = server.address();
      resolve({ host, port: typeof bound === "object" && bound !== null ? bound.port : port });
    });
  });
}

function toListenError(cause: unknown, options: ListenOptions): ListenError {
  const { name, portOption: option } = options;
  const { host, port } = options.listen;
  if (!isPortInUse(cause)) {
    const text = `${name} cannot listen on ${host}:${port}: ${errorText(cause)}; choose another address with ${option}`;
    return new ListenError({ code: "cannot-listen", host, port, option }, text, { cause });
  }
  const holder = findPortHolder(port);
  return new ListenError(
    { code: "port-in-use", host, port, option, ...(holder === undefined ? {} : { holder }) },
    `${name} needs port ${port} on ${host}, but ${holder ?? "another process"} is using it; stop that process or choose another port with ${option}`,
    { cause },
  );
}

function isPortInUse(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
}

/** Socket state TCP_LISTEN in /proc/net/tcp. */
const LISTENING = "0A";

/**
 * Returns the process that listens on a TCP port of this machine, for example `"node" (process 4711)`. Returns undefined for
 * another user's process and on systems other than Linux. Reading /proc takes a few milliseconds.
 */
function findPortHolder(port: number): string | undefined {
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
  // A process may end during the reads, and other users' processes are not readable.
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
