import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRecord } from "../../src/platform/base/json.ts";
import { type CliProcess, getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";
import { auditRelayer, doubledValues } from "../support/e2e/relayer-audit.ts";
import { testAccount } from "../support/e2e/test-account.ts";
import { openWallet } from "../support/e2e/test-wallet.ts";
import { type PostgresServer, startPostgres } from "../support/stack/postgres-server.ts";

const PERIOD = 3n;
const CONNECTIONS = ["connection-0", "connection-1"] as const;
/** The signer of each shard. */
const SIGNERS = ["relayer", "bob"] as const;

const home = await openCliHome();
const localnet = localnetEndpoints(home.portOffset);
let server: PostgresServer;
let database = "";
const queryIds = new Map<string, readonly bigint[]>();

beforeAll(async () => {
  server = await startPostgres();
  database = await server.createDatabase();
  await startTwoConnections();
  const alice = await openWallet(home, "alice", localnet.rpc.local);
  const { address } = await testAccount(home, "alice", "remote-1");
  for (const connection_id of CONNECTIONS) {
    const ids: bigint[] = [];
    for (let index = 0; index < 4; index++)
      ids.push(
        await alice.register({
          register_balance_query: {
            connection_id,
            update_period: Number(PERIOD),
            addr: address,
            denom: `denom${index}`,
          },
        }),
      );
    queryIds.set(connection_id, ids);
  }
}, 120_000);
afterAll(async () => {
  await home.close();
  await server.close();
});

/** Starts a localnet whose local chain has a second connection over the same light client. */
async function startTwoConnections(): Promise<void> {
  const [first, second] = [join(home.directory, "one"), join(home.directory, "two")];
  const start = (directory: string): CliProcess =>
    home.start("localnet", "start", "--block-time", "500", "--home", directory, "$PORTS");
  const one = start(first);
  await one.printed(/sidecar metrics/);
  // A chain without a block has nothing to export.
  await until("a block", async () => ((await localnet.height("local")) > 1n ? true : undefined));
  one.kill("SIGTERM");
  await one.exited;
  const { stdout, stderr } = await home.run("localnet", "export", "--home", first, "$PORTS");
  expect(stderr).toBe("");
  const genesis = join(home.directory, "genesis.json");
  writeFileSync(genesis, JSON.stringify(withConnection(JSON.parse(stdout))));
  cpSync(first, second, { recursive: true, filter: (path) => !path.includes("local-1") });
  const imported = await home.run("localnet", "import", genesis, "--home", second, "$PORTS");
  expect(imported.stderr).toBe("");
  await start(second).printed(/sidecar metrics/);
}

/** Adds a copy of `connection-0` as `connection-1`. */
function withConnection(genesis: unknown): unknown {
  const state: unknown = isRecord(genesis) ? genesis["app_state"] : undefined;
  const ibc: unknown = isRecord(state) ? state["ibc"] : undefined;
  const part: unknown = isRecord(ibc) ? ibc["connection_genesis"] : undefined;
  const list: unknown = isRecord(part) ? part["connections"] : undefined;
  const original: unknown = Array.isArray(list)
    ? list.find((one: unknown) => isRecord(one) && one["id"] === CONNECTIONS[0])
    : undefined;
  if (!isRecord(part) || !Array.isArray(list) || !isRecord(original))
    throw new Error("no connection-0 in the genesis");
  Object.assign(part, {
    connections: [...list, { ...original, id: CONNECTIONS[1] }],
    next_connection_sequence: "2",
  });
  return genesis;
}

interface Shard {
  readonly cli: CliProcess;
  readonly url: string;
}

async function configOf(index: number): Promise<string> {
  const { mnemonic } = await testAccount(home, SIGNERS[index] ?? "");
  const secret = (name: string, text: string): string => {
    const path = join(home.directory, `${name}-${index}`);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const rpc = localnet.rpc.remote;
  return secret(
    "relayer.yaml",
    `
chain: { id: local-1, rpc: ["${localnet.rpc.local}"] }
signer: { mnemonic: { file: "${secret("mnemonic", mnemonic)}" } }
connections:
${CONNECTIONS.map((id) => `  - { id: ${id}, chain_id: remote-1, rpc: ["${rpc}"] }`).join("\n")}
shards: { count: 2, index: ${index} }
store: { url: "${database}", password: { file: "${secret("password", server.password)}" } }
http: { listen: "127.0.0.1:0" }
`,
  );
}

async function startShard(index: number): Promise<Shard> {
  const cli = home.start("relayer", "start", "--config", await configOf(index));
  await cli.printed(/http:\/\/127\.0\.0\.1:\d+/);
  return { cli, url: /http:\/\/127\.0\.0\.1:\d+/.exec(`${cli.stdout()}${cli.stderr()}`)?.[0] ?? "" };
}

const addressOf = async (index: number): Promise<string> =>
  (await testAccount(home, SIGNERS[index] ?? "")).address;

describe("two running shards on one PostgreSQL", () => {
  it("serve only their connections, each with a lease of its own, and send nothing twice", async () => {
    const shards = [await startShard(0), await startShard(1)];
    for (const [index, { url }] of shards.entries()) {
      const audit = await until("results of every query", async () => {
        const now = await auditRelayer(localnet, await addressOf(index));
        const own = queryIds.get(CONNECTIONS[index] ?? "") ?? [];
        return own.every((id) => (now.kv.get(id)?.length ?? 0) >= 4) ? now : undefined;
      });
      const served = new Set(queryIds.get(CONNECTIONS[index] ?? ""));
      const foreign = [...audit.kv.keys()].filter(
        (id) => !served.has(id) && [...queryIds.values()].flat().includes(id),
      );
      expect(foreign).toEqual([]);
      expect(doubledValues(audit, [...served], PERIOD)).toEqual([]);
      expect(audit.failed).toEqual([]);
      expect(await getJson(`${url}/api/status`)).toMatchObject({
        role: "leader",
        connections: [{ id: CONNECTIONS[index], error: null }],
      });
    }
    // A standby of one shard waits for that shard only.
    const standby = await startShard(1);
    await until("a standby", async () => {
      const status = await getJson(`${standby.url}/api/status`);
      return isRecord(status) && status["role"] === "standby" ? true : undefined;
    });
    const once = await home.run("relayer", "once", "--config", await configOf(1), "--timeout", "60s");
    expect(once).toMatchObject({ code: 75 });
    expect(once.stderr).toMatch(
      /another process has this signer's lease and submits its results: \S+\/\d+\/\w+/,
    );
    shards[1]?.cli.kill("SIGKILL");
    await until("the standby to lead", async () => {
      const status = await getJson(`${standby.url}/api/status`);
      return isRecord(status) && status["role"] === "leader" ? true : undefined;
    });
    expect(await getJson(`${shards[0]?.url}/api/status`)).toMatchObject({ role: "leader" });
    for (const { cli } of [standby, ...shards.slice(0, 1)]) {
      cli.kill("SIGTERM");
      expect(await cli.exited).toBe(0);
    }
    // Both leases are free now: `once` takes the one of its signer, and leaves it free.
    for (let time = 0; time < 2; time++) {
      const run = await home.run("relayer", "once", "--config", await configOf(0));
      expect(run, run.stderr).toMatchObject({ code: 0 });
    }
  }, 240_000);
});
