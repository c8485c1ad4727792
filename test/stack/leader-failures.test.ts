import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { type CliProcess, openCliHome, until } from "../support/e2e/cli-process.ts";
import { localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";
import { auditRelayer, doubledValues, type RelayerAudit } from "../support/e2e/relayer-audit.ts";
import { type RelayerLoad, startRelayerLoad } from "../support/e2e/relayer-load.ts";
import { testAccount } from "../support/e2e/test-account.ts";
import { type PostgresServer, startPostgres } from "../support/stack/postgres-server.ts";

/** The objective of `docs/operations.md`, in blocks of a second. */
const OBJECTIVE_BLOCKS = 30;

const home = await openCliHome();
const localnet = localnetEndpoints(home.portOffset);
let server: PostgresServer;
let load: RelayerLoad;
let address: string;
let configOf: (localRpc: string, name: string) => string;

beforeAll(async () => {
  server = await startPostgres();
  await home.start("localnet", "start", "--block-time", "1000", "$PORTS").printed(/sidecar metrics/);
  const account = await testAccount(home, "relayer");
  ({ address } = account);
  const secret = (name: string, text: string): string => {
    const path = join(home.directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const mnemonic = secret("mnemonic", account.mnemonic);
  const password = secret("password", server.password);
  const url = await server.createDatabase();
  configOf = (localRpc, name) =>
    secret(
      name,
      `
chain: { id: local-1, rpc: ["${localRpc}"] }
signer: { mnemonic: { file: "${mnemonic}" } }
connections: [{ id: connection-0, chain_id: remote-1, rpc: ["${localnet.rpc.remote}"] }]
store: { url: "${url}", password: { file: "${password}" } }
http: { listen: "127.0.0.1:0" }
`,
    );
  load = await startRelayerLoad(home, localnet, { kvQueries: 20, updatePeriod: 3n });
});
afterAll(async () => {
  for (const { proxy } of instances) await proxy.close();
  await home.close();
  await server.close();
});

/** A relayer with a proxy of its own in front of the local chain. */
interface Instance {
  readonly cli: CliProcess;
  readonly url: string;
  readonly proxy: FaultProxy;
}

let instances: readonly Instance[] = [];

async function startInstance(): Promise<Instance> {
  const proxy = await startFaultProxy(localnet.rpc.local);
  const cli = home.start(
    "relayer",
    "start",
    "--config",
    configOf(proxy.url, `${new URL(proxy.url).port}.yaml`),
  );
  await cli.printed(/http:\/\/127\.0\.0\.1:\d+/);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(`${cli.stdout()}${cli.stderr()}`)?.[0] ?? "";
  const one = { cli, url, proxy };
  instances = [...instances, one];
  return one;
}

async function read({ url }: Instance, path: string): Promise<string> {
  const response = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(1_000) }).catch(
    () => undefined,
  );
  return response === undefined ? "none" : `${response.status} ${await response.text()}`;
}
const roleOf = async (one: Instance): Promise<string | undefined> =>
  /^relaywatch_relayer_role\{role="(\w+)"\} 1$/m.exec(await read(one, "/metrics"))?.[1];
const withRole = (role: string, of: () => readonly Instance[] = () => instances): Promise<Instance> =>
  until(`a ${role}`, async () => {
    for (const one of of()) if ((await roleOf(one)) === role) return one;
    return undefined;
  });

const resultsOf = ({ kv }: RelayerAudit): number =>
  [...kv.values()].reduce((sum, { length }) => sum + length, 0);
async function untilResults(more: number): Promise<RelayerAudit> {
  const before = resultsOf(await auditRelayer(localnet, address));
  return until("results", async () => {
    const now = await auditRelayer(localnet, address);
    return resultsOf(now) > before + more ? now : undefined;
  });
}

/** The most blocks between two with a result. */
function largestGap({ kv }: RelayerAudit): number {
  const heights = [...new Set([...kv.values()].flat())].map(Number).toSorted((a, b) => a - b);
  return Math.max(...heights.slice(1).map((height, index) => height - (heights[index] ?? height)));
}

interface Failure {
  readonly what: string;
  readonly begin: (leader: Instance) => void;
  /** Undefined: the instance does not come back. */
  readonly end: ((leader: Instance) => void) | undefined;
  /** What /readyz of the instance says meanwhile. */
  readonly says: RegExp;
}

const FAILURES: readonly Failure[] = [
  {
    what: "blind: nothing comes from the local chain",
    begin: ({ proxy }) => proxy.set({ kind: "hang" }),
    end: ({ proxy }) => proxy.set(undefined),
    says: /^503 (?:.*\n)*(?:local-not-followed|not-sending): .*local (?:chain|block)/,
  },
  {
    what: "cut from the local chain",
    begin: ({ proxy }) => proxy.set({ kind: "reset" }),
    end: ({ proxy }) => proxy.set(undefined),
    says: /^503 (?:.*\n)*(?:local-not-followed|not-sending): .*local (?:chain|block)/,
  },
  {
    what: "mute: its broadcasts get no response",
    begin: ({ proxy }) => proxy.set({ kind: "hang", only: ({ method }) => method.startsWith("broadcast") }),
    end: ({ proxy }) => proxy.set(undefined),
    says: /^(?:200|503 )/,
  },
  {
    what: "mute: its broadcasts are forbidden",
    begin: ({ proxy }) =>
      proxy.set({ kind: "status", status: 403, only: ({ method }) => method.startsWith("broadcast") }),
    end: ({ proxy }) => proxy.set(undefined),
    says: /^(?:200|503 )/,
  },
  {
    what: "stopped",
    begin: ({ cli }) => cli.kill("SIGSTOP"),
    end: ({ cli }) => cli.kill("SIGCONT"),
    says: /^none/,
  },
  { what: "dead", begin: ({ cli }) => cli.kill("SIGKILL"), end: undefined, says: /^none/ },
];

describe("two relayers on one PostgreSQL", () => {
  it.each(FAILURES)(
    "have results within 30 s when the leader is $what",
    async ({ begin, end, says }) => {
      while (instances.length < 2) await startInstance();
      const leader = await withRole("leader");
      await withRole("standby");
      await untilResults(20);
      const others = instances.filter((one) => one !== leader);
      begin(leader);
      const startedMs = performance.now();
      const next = await withRole("leader", () => others);
      const takeoverMs = Math.round(performance.now() - startedMs);
      expect(await read(leader, "/readyz")).toMatch(says);
      const audit = await untilResults(20);
      process.stdout.write(`takeover ${takeoverMs} ms, largest gap ${largestGap(audit)} blocks\n`);
      expect(largestGap(audit)).toBeLessThanOrEqual(OBJECTIVE_BLOCKS);
      if (end === undefined) {
        instances = others;
        await leader.proxy.close();
        return;
      }
      end(leader);
      // It sees blocks again, and does not take the lease from the one that has it.
      await until("a standby that is ready", async () =>
        (await roleOf(leader)) === "standby" && (await read(leader, "/readyz")).startsWith("200")
          ? true
          : undefined,
      );
      expect(await roleOf(next)).toBe("leader");
    },
    150_000,
  );

  it("have doubled and lost nothing in all of that", async () => {
    for (const { proxy } of instances) proxy.set(undefined);
    await load.stop();
    const sent = load.sent();
    const audit = await until("all transfers on the local chain", async () => {
      const now = await auditRelayer(localnet, address);
      return (now.tx.get(load.txQueryId)?.length ?? 0) >= sent.length ? now : undefined;
    });
    // Whatever was still in flight.
    await sleep(3_000);
    expect((await auditRelayer(localnet, address)).tx.get(load.txQueryId)).toEqual(sent);
    expect(doubledValues(audit, load.kvIds, load.updatePeriod)).toEqual([]);
    expect(audit.failed).toEqual([]);
  }, 120_000);

  it("say on a standby's /readyz that no process sends, when it cannot lead either", async () => {
    while (instances.length < 2) await startInstance();
    await untilResults(20);
    for (const { proxy } of instances)
      proxy.set({ kind: "hang", only: ({ method }) => method.startsWith("broadcast") });
    const silent = (texts: readonly string[]): boolean =>
      texts.every((text) => /^503 (?:.*\n)*(?:queries-overdue|not-sending): /.test(text));
    await until("two instances that say it", async () =>
      silent(await Promise.all(instances.map((one) => read(one, "/readyz")))) ? true : undefined,
    );
    for (const { proxy } of instances) proxy.set(undefined);
    await untilResults(20);
  }, 180_000);
});
