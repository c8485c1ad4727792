import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliProcess, openCliHome, until } from "../support/e2e/cli-process.ts";
import { localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";
import { auditRelayer, doubledValues, type RelayerAudit } from "../support/e2e/relayer-audit.ts";
import { type RelayerLoad, startRelayerLoad } from "../support/e2e/relayer-load.ts";
import { testAccount } from "../support/e2e/test-account.ts";
import { type PostgresServer, startPostgres } from "../support/stack/postgres-server.ts";

const TAKEOVER_MS = 10_000;
const KILLS = 3;

const home = await openCliHome();
const localnet = localnetEndpoints(home.portOffset);
let server: PostgresServer;
let load: RelayerLoad;
let configFile: string;

beforeAll(async () => {
  server = await startPostgres();
  await home.start("localnet", "start", "--block-time", "1000", "$PORTS").printed(/sidecar metrics/);
  const { mnemonic } = await testAccount(home, "relayer");
  const secret = (name: string, text: string): string => {
    const path = join(home.directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  configFile = secret(
    "relayer.yaml",
    `
chain: { id: local-1, rpc: ["${localnet.rpc.local}"] }
signer: { mnemonic: { file: "${secret("mnemonic", mnemonic)}" } }
connections: [{ id: connection-0, chain_id: remote-1, rpc: ["${localnet.rpc.remote}"] }]
store: { url: "${await server.createDatabase()}", password: { file: "${secret("password", server.password)}" } }
http: { listen: "127.0.0.1:0" }
`,
  );
  load = await startRelayerLoad(home, localnet, { kvQueries: 20, updatePeriod: 3n });
});
afterAll(async () => {
  await home.close();
  await server.close();
});

interface Instance {
  readonly cli: CliProcess;
  readonly url: string;
}

async function startInstance(): Promise<Instance> {
  const cli = home.start("relayer", "start", "--config", configFile);
  await cli.printed(/http:\/\/127\.0\.0\.1:\d+/);
  return { cli, url: /http:\/\/127\.0\.0\.1:\d+/.exec(`${cli.stdout()}${cli.stderr()}`)?.[0] ?? "" };
}

async function roleOf({ url }: Instance): Promise<string | undefined> {
  const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(2_000) }).catch(
    () => undefined,
  );
  return /^relaywatch_relayer_role\{role="(\w+)"\} 1$/m.exec((await response?.text()) ?? "")?.[1];
}

const resultsOf = (audit: RelayerAudit): number =>
  [...audit.kv.values(), ...audit.tx.values()].reduce((sum, { length }) => sum + length, 0);

describe("two relayers on one PostgreSQL", () => {
  it("survive SIGKILL of the leader under load: never both submit, and the standby takes over within 10 s", async () => {
    const { address } = await testAccount(home, "relayer");
    let instances = [await startInstance(), await startInstance()];
    const overlaps: string[] = [];
    const over = new AbortController();
    const watching = (async () => {
      while (!over.signal.aborted) {
        const roles = await Promise.all(instances.map(roleOf));
        if (roles.filter((role) => role === "leader").length > 1) overlaps.push(roles.join(" and "));
        await sleep(50);
      }
    })();
    const leaderNow = (): Promise<Instance> =>
      until("a leader", async () => {
        for (const one of instances) if ((await roleOf(one)) === "leader") return one;
        return undefined;
      });
    const takeoversMs: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const leader = await leaderNow();
      const before = resultsOf(await auditRelayer(localnet, address));
      await until("results of the leader", async () =>
        resultsOf(await auditRelayer(localnet, address)) > before + 20 ? true : undefined,
      );
      leader.cli.kill("SIGKILL");
      const killedMs = performance.now();
      await leader.cli.exited;
      instances = instances.filter((one) => one !== leader);
      const atKill = resultsOf(await auditRelayer(localnet, address));
      await leaderNow();
      takeoversMs.push(performance.now() - killedMs);
      await until("results of the new leader", async () =>
        resultsOf(await auditRelayer(localnet, address)) > atKill + 20 ? true : undefined,
      );
      instances = [...instances, await startInstance()];
    }
    await load.stop();
    const sent = load.sent();
    const audit = await until("all transfers on the local chain", async () => {
      const now = await auditRelayer(localnet, address);
      return (now.tx.get(load.txQueryId)?.length ?? 0) >= sent.length ? now : undefined;
    });
    over.abort();
    await watching;
    expect(audit.tx.get(load.txQueryId)).toEqual(sent);
    expect(doubledValues(audit, load.kvIds, load.updatePeriod)).toEqual([]);
    expect(audit.failed).toEqual([]);
    expect(overlaps).toEqual([]);
    process.stdout.write(
      `takeovers after SIGKILL: ${takeoversMs.map((ms) => `${Math.round(ms)} ms`).join(", ")}\n`,
    );
    expect(Math.max(...takeoversMs)).toBeLessThan(TAKEOVER_MS);
    for (const { cli } of instances) {
      cli.kill("SIGTERM");
      expect(await cli.exited).toBe(0);
      expect(`${cli.stdout()}${cli.stderr()}`).not.toContain(server.password);
    }
  }, 240_000);

  it("take over immediately after SIGTERM of the leader", async () => {
    const first = await startInstance();
    await until("a leader", async () => ((await roleOf(first)) === "leader" ? true : undefined));
    const second = await startInstance();
    first.cli.kill("SIGTERM");
    expect(await first.cli.exited).toBe(0);
    const endedMs = performance.now();
    await until("the second one to lead", async () =>
      (await roleOf(second)) === "leader" ? true : undefined,
    );
    expect(performance.now() - endedMs).toBeLessThan(5_000);
    second.cli.kill("SIGTERM");
    await second.cli.exited;
  });

  it("are not ready while PostgreSQL is down: neither knows whether the other one sends", async () => {
    const instances = [await startInstance(), await startInstance()];
    const readiness = async ({ url }: Instance): Promise<string> => {
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
      return `${response.status} ${await response.text()}`;
    };
    const both = (what: string, pattern: RegExp): Promise<true> =>
      until(what, async () =>
        (await Promise.all(instances.map(readiness))).every((text) => pattern.test(text)) ? true : undefined,
      );
    await both("two instances that are ready", /^200 /);
    await server.crash();
    await both("an unknown lease", /^503 (?:.*\n)*lease-unknown: .*ECONNREFUSED/);
    expect(await Promise.all(instances.map(roleOf))).toEqual(["unknown", "unknown"]);
    for (const { url } of instances)
      expect(await (await fetch(url)).text()).toContain("It is not known whether any process sends");
    await server.start();
    await both("two instances that are ready again", /^200 /);
    expect(new Set(await Promise.all(instances.map(roleOf)))).toEqual(new Set(["leader", "standby"]));
  });
});
