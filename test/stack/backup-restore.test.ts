import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LOCALNET_RELAYER_MNEMONIC, portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { type CliProcess, getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { deep, localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";
import { type PostgresServer, startPostgres } from "../support/stack/postgres-server.ts";
import { programPath } from "../support/stack/programs.ts";

const TIMEOUT_MS = 120_000;
/** Attempts and blocks that a backup has at least. */
const SOME = 5;

const home = await openCliHome();
const ports = portsAt(home.portOffset);
const localnet = localnetEndpoints(home.portOffset);
const path = (name: string): string => join(home.directory, name);
const url = { relayer: `http://127.0.0.1:${ports.relayer}`, watchdog: `http://127.0.0.1:${ports.watchdog}` };
let postgres: PostgresServer;

beforeAll(async () => {
  postgres = await startPostgres();
  writeFileSync(path("mnemonic"), LOCALNET_RELAYER_MNEMONIC);
  writeFileSync(path("password"), postgres.password);
  await home.start("localnet", "start", "--block-time", "500", "$PORTS").printed(/sidecar metrics/);
});
afterAll(async () => {
  await home.close();
  await postgres.close();
});

/** Writes a configuration, and starts the daemon with it. */
async function start(
  daemon: "relayer" | "watchdog",
  config: Readonly<Record<string, unknown>>,
): Promise<CliProcess> {
  const file = path(`${daemon}.yaml`);
  writeFileSync(file, stringify(config));
  const cli = home.start(daemon, "start", "--config", file);
  await cli.printed(/http:\/\/127/);
  return cli;
}

async function stop(cli: CliProcess): Promise<void> {
  cli.kill("SIGTERM");
  await cli.exited;
}

/** As docs/operations.md, "Backup and restore": every database of the folder, while the daemon uses it. */
function backUp(stateDir: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(stateDir).filter((one) => one.endsWith(".sqlite")))
    execFileSync(programPath("sqlite3"), [join(stateDir, name), `.backup '${join(to, name)}'`]);
}

function restore(from: string, stateDir: string): void {
  rmSync(stateDir, { recursive: true });
  cpSync(from, stateDir, { recursive: true });
}

const relayerConfig = (place: Readonly<Record<string, unknown>>) => ({
  chain: { id: "local-1", rpc: [localnet.rpc.local] },
  signer: { mnemonic: { file: path("mnemonic") } },
  connections: [{ id: "connection-0", chain_id: "remote-1", rpc: [localnet.rpc.remote] }],
  http: { listen: `127.0.0.1:${ports.relayer}` },
  ...place,
});

const startTimes = async (): Promise<readonly string[]> => {
  const attempts = await getJson(`${url.relayer}/api/attempts?limit=1000`);
  if (!Array.isArray(attempts)) throw new Error("no list of attempts");
  return attempts.map((one) => String(deep(one, ["started_at"])));
};
const someAttempts = (): Promise<readonly string[]> =>
  until("attempts", async () => {
    const times = await startTimes();
    return times.length >= SOME ? times : undefined;
  });

describe("a backup of SQLite, taken while the daemon runs", () => {
  it(
    "brings the watchdog's counts and silences back",
    async () => {
      const stateDir = path("watchdog-state");
      const config = {
        http: { listen: `127.0.0.1:${ports.watchdog}` },
        interval: "500ms",
        sources: {
          node: `http://127.0.0.1:${ports.localMetrics}/metrics`,
          prices: `http://127.0.0.1:${ports.prices}/`,
          oracle_metrics: null,
          sidecar_metrics: null,
        },
        state_dir: stateDir,
      };
      const good = async (): Promise<number> =>
        Number(deep(await getJson(`${url.watchdog}/api/status`), ["blocks", "good"]));
      const before = await start("watchdog", config);
      const file = path("watchdog.yaml");
      const counted = await until("counted blocks", async () =>
        (await good()) >= SOME ? await good() : undefined,
      );
      const silence = [
        "alerts",
        "silence",
        "sidecar-down",
        "--for",
        "2h",
        "--reason",
        "kept",
        "--config",
        file,
      ];
      expect(await home.run(...silence)).toMatchObject({ code: 0 });
      backUp(stateDir, path("watchdog-backup"));
      await stop(before);
      restore(path("watchdog-backup"), stateDir);
      const after = await start("watchdog", config);
      expect(await good()).toBeGreaterThanOrEqual(counted);
      expect((await home.run("alerts", "list", "--config", file)).stdout).toContain("kept");
      await stop(after);
    },
    TIMEOUT_MS,
  );

  it(
    "brings the relayer's attempts back, which goes on from there",
    async () => {
      const stateDir = path("relayer-state");
      const before = await start("relayer", relayerConfig({ state_dir: stateDir }));
      const known = await someAttempts();
      backUp(stateDir, path("relayer-backup"));
      await stop(before);
      restore(path("relayer-backup"), stateDir);
      const after = await start("relayer", relayerConfig({ state_dir: stateDir }));
      const times = await startTimes();
      expect(times).toEqual(expect.arrayContaining([...known]));
      await until("a further attempt", async () =>
        (await startTimes()).length > times.length ? true : undefined,
      );
      await stop(after);
    },
    TIMEOUT_MS,
  );

  it(
    "is the way back from a newer program, whose state an older one refuses without changing it",
    async () => {
      const stateDir = path("relayer-state");
      const [name = ""] = readdirSync(path("relayer-backup"));
      const file = join(stateDir, name);
      execFileSync(programPath("sqlite3"), [
        file,
        "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA user_version = 999",
      ]);
      const newer = readFileSync(file);
      const { code, stderr } = await home.run("relayer", "start", "--config", path("relayer.yaml"));
      expect([code, stderr]).toEqual([
        78,
        expect.stringContaining("it was written by a newer relaywatch (format 999"),
      ]);
      expect(readFileSync(file).equals(newer)).toBe(true);
      restore(path("relayer-backup"), stateDir);
      const old = await start("relayer", relayerConfig({ state_dir: stateDir }));
      expect((await someAttempts()).length).toBeGreaterThan(0);
      await stop(old);
    },
    TIMEOUT_MS,
  );
});

describe("a dump of PostgreSQL", () => {
  it(
    "brings the relayer's attempts back in another database",
    async () => {
      const store = (database: string) =>
        relayerConfig({ store: { url: database, password: { file: path("password") } } });
      const database = await postgres.createDatabase();
      const before = await start("relayer", store(database));
      const known = await someAttempts();
      const env = { PATH: process.env["PATH"], PGPASSWORD: postgres.password };
      const dump = path("relaywatch.dump");
      execFileSync(
        programPath("pg_dump"),
        ["--format=custom", "--schema=relaywatch", `--file=${dump}`, database],
        { env },
      );
      await stop(before);
      const other = await postgres.createDatabase();
      execFileSync(programPath("pg_restore"), ["--exit-on-error", `--dbname=${other}`, dump], { env });
      const after = await start("relayer", store(other));
      expect(
        await until("the lease", async () => {
          const times = await startTimes();
          return times.length >= known.length ? times : undefined;
        }),
      ).toEqual(expect.arrayContaining([...known]));
      await stop(after);
    },
    TIMEOUT_MS,
  );
});
