import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { Secret } from "../../../src/platform/base/secret.ts";
import type { StorePlace } from "../../../src/relayer/state/store.ts";
import { leasePort } from "../port-lease.ts";
import { programPath } from "./programs.ts";

/** A PostgreSQL server of one test, in a directory of its own. */
export interface PostgresServer {
  readonly port: number;
  readonly password: string;
  /** Creates an empty database and returns the URL without a password. */
  readonly createDatabase: () => Promise<string>;
  /** The database of a URL as a place of the store. */
  readonly placeOf: (url: string) => StorePlace & { readonly kind: "postgres" };
  /** Runs SQL in a database, for what a test changes or checks behind the program. */
  readonly query: (url: string, sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Ends the server with SIGKILL: everything that was not committed is lost. */
  readonly crash: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** Ends the server and removes its directory. */
  readonly close: () => Promise<void>;
}

const USER = "relaywatch";
const PASSWORD = "a secret of the tests";
const START_MS = 30_000;

/** Creates and starts a server on a free port of loopback. PostgreSQL refuses root, so root runs it as `postgres`. */
export async function startPostgres(): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), "relaywatch-postgres-"));
  const data = join(directory, "data");
  const passwordFile = join(directory, "password");
  writeFileSync(passwordFile, PASSWORD);
  const account = serverAccount();
  if (account.uid !== undefined)
    for (const path of [directory, passwordFile]) chownSync(path, account.uid, account.gid ?? 0);
  const initdb = ["-D", data, "-U", USER, "-A", "scram-sha-256", `--pwfile=${passwordFile}`, "--no-sync"];
  execFileSync(programPath("initdb"), initdb, { ...account, cwd: directory, stdio: "ignore" });
  const port = await leasePort();
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", `unix_socket_directories=${directory}`];
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const options = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
    server = spawn(programPath("postgres"), options, { ...account, cwd: directory, stdio: "ignore" });
    await untilReady(port);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
  };
  // The server's processes outlive their parent for a moment, and would still commit what arrives in it.
  const crash = async (): Promise<void> => {
    const processes = await run(port, "postgres", "SELECT pid FROM pg_stat_activity");
    const ended = end("SIGKILL");
    for (const { pid } of processes) kill(Number(pid));
    await ended;
  };
  await start();
  let databases = 0;
  const query: PostgresServer["query"] = (url, sql) => run(port, new URL(url).pathname.slice(1), sql);
  return {
    port,
    password: PASSWORD,
    createDatabase: async () => {
      const name = `test_${databases++}`;
      await run(port, "postgres", `CREATE DATABASE ${name}`);
      return `postgres://${USER}@127.0.0.1:${port}/${name}`;
    },
    placeOf: (url) => ({
      kind: "postgres",
      address: {
        host: "127.0.0.1",
        port,
        user: USER,
        database: new URL(url).pathname.slice(1),
        sslMode: "disable",
      },
      password: new Secret(PASSWORD),
    }),
    query,
    crash,
    start,
    close: async () => {
      await end("SIGINT");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Ends a process at once; one that has already ended is ended. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** The account of the server process; empty for the own one. */
function serverAccount(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

async function run(
  port: number,
  database: string,
  sql: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: USER, password: PASSWORD, database });
  // The server may end while the connection is idle.
  client.on("error", () => undefined);
  await client.connect();
  try {
    const result: pg.QueryResult<Record<string, unknown>> = await client.query(sql);
    return result.rows;
  } finally {
    await client.end();
  }
}

async function untilReady(port: number): Promise<void> {
  const endMs = performance.now() + START_MS;
  for (;;) {
    try {
      await run(port, "postgres", "SELECT 1");
      return;
    } catch (error) {
      if (performance.now() > endMs) throw new Error("PostgreSQL did not start", { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
