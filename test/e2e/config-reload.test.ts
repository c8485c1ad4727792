import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LOCALNET_RELAYER_MNEMONIC, portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { type CliProcess, getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { deep, localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";
import { auditRelayer, doubledValues } from "../support/e2e/relayer-audit.ts";
import { type RelayerLoad, startRelayerLoad } from "../support/e2e/relayer-load.ts";
import { testAccount } from "../support/e2e/test-account.ts";

const RELOADS = 4;
const MAX_LIFE_MS = 2_500;
const TIMEOUT_MS = 180_000;
const INCLUDED = String.raw`relaywatch_relayer_results_total\{connection_id="connection-0",outcome="included"\}`;

const home = await openCliHome();
const ports = portsAt(home.portOffset);
const localnet = localnetEndpoints(home.portOffset);
const relayerUrl = `http://127.0.0.1:${ports.relayer}`;
const watchdogUrl = `http://127.0.0.1:${ports.watchdog}`;
const file = join(home.directory, "relayer.yaml");
const watchdogFile = join(home.directory, "watchdog.yaml");
const secret = join(home.directory, "mnemonic");
const token = join(home.directory, "token");
const control = ["--url", relayerUrl, "--token-file", token];
let load: RelayerLoad;
let relayer: CliProcess;

function writeRelayer(more: Readonly<Record<string, unknown>> = {}, listen = ports.relayer): void {
  const config = {
    chain: { id: "local-1", rpc: [localnet.rpc.local] },
    signer: { mnemonic: { file: secret } },
    connections: [{ id: "connection-0", chain_id: "remote-1", rpc: [localnet.rpc.remote] }],
    http: { listen: `127.0.0.1:${listen}`, token: { file: token } },
    ...more,
  };
  writeFileSync(file, stringify(config));
}

function writeWatchdog(more: Readonly<Record<string, unknown>>): void {
  const sources = {
    node: `http://127.0.0.1:${ports.localMetrics}/metrics`,
    prices: `http://127.0.0.1:${ports.prices}/`,
    oracle_metrics: null,
    sidecar_metrics: `http://127.0.0.1:${ports.sidecarMetrics}/metrics`,
  };
  const http = { listen: `127.0.0.1:${ports.watchdog}`, token: { file: token } };
  writeFileSync(watchdogFile, stringify({ http, interval: "1s", sources, ...more }));
}

async function metric(url: string, name: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(page)?.[1]);
}

/** Text of the log from a length on: of the lines after an event. */
async function logged(cli: CliProcess, from: number, pattern: RegExp): Promise<void> {
  await until(`${pattern} in the log`, async () =>
    pattern.test(cli.stderr().slice(from)) ? true : undefined,
  );
}

beforeAll(async () => {
  await home.start("localnet", "start", "--block-time", "400", "$PORTS").printed(/sidecar metrics/);
  load = await startRelayerLoad(home, localnet, { kvQueries: 12, updatePeriod: 6n });
  writeFileSync(secret, LOCALNET_RELAYER_MNEMONIC);
  writeFileSync(token, "secret-of-the-test");
  writeRelayer();
  relayer = home.start("relayer", "start", "--config", file);
  await relayer.printed(/icq-relayer +http/);
}, TIMEOUT_MS);
afterAll(home.close);

describe("SIGHUP of a relayer whose state is in memory", () => {
  it(
    "loses and doubles nothing while it submits",
    async () => {
      const { address } = await testAccount(home, "relayer");
      await until("a first transfer on the local chain", async () =>
        (await auditRelayer(localnet, address)).tx.has(load.txQueryId) ? true : undefined,
      );
      let results = await until("an included result", async () => {
        const included = await metric(relayerUrl, INCLUDED);
        return included > 0 ? included : undefined;
      });
      for (let reload = 1; reload <= RELOADS; reload++) {
        const from = relayer.stderr().length;
        writeRelayer({ gas: { max_price: `0.${reload}` } });
        relayer.kill("SIGHUP");
        await logged(
          relayer,
          from,
          /configuration loaded.*gas\.max_price|gas\.max_price.*configuration loaded/,
        );
        const now = await until("the metrics", async () => {
          const value = await metric(relayerUrl, INCLUDED);
          return Number.isNaN(value) ? undefined : value;
        });
        expect(now).toBeGreaterThanOrEqual(results);
        results = now;
        await sleep(Math.random() * MAX_LIFE_MS);
      }
      await load.stop();
      const sent = load.sent();
      const audit = await until("all transfers on the local chain", async () => {
        const now = await auditRelayer(localnet, address);
        return (now.tx.get(load.txQueryId)?.length ?? 0) >= sent.length ? now : undefined;
      });
      expect(audit.tx.get(load.txQueryId)).toEqual(sent);
      expect(doubledValues(audit, load.kvIds, load.updatePeriod)).toEqual([]);
      expect(audit.failed).toEqual([]);
      expect(await metric(relayerUrl, "relaywatch_relayer_config_last_reload_successful")).toBe(1);
    },
    TIMEOUT_MS,
  );

  it("keeps the settings when the file is wrong, and says why", async () => {
    const from = relayer.stderr().length;
    const name = "relaywatch_relayer_config_last_reload_success_timestamp_seconds";
    const successAt = await metric(relayerUrl, name);
    writeRelayer({ gas: { max_price: "much" } });
    relayer.kill("SIGHUP");
    await logged(relayer, from, /configuration is not loaded/);
    expect(relayer.stderr().slice(from)).toMatch(
      /relayer\.yaml:\d+:\d+: gas\.max_price: is not a positive decimal/,
    );
    expect(await metric(relayerUrl, "relaywatch_relayer_config_last_reload_successful")).toBe(0);
    expect(await metric(relayerUrl, name)).toBe(successAt);
    expect(deep(await getJson(`${relayerUrl}/api/status`), ["config", "error"])).toContain("gas.max_price");
    const page = await (await fetch(relayerUrl)).text();
    expect(page).toContain("configuration not loaded");
  });

  it("needs the token for what changes something, also on a loopback address", async () => {
    const post = async (path: string, body?: string) =>
      (await fetch(`${relayerUrl}${path}`, { method: "POST", ...(body === undefined ? {} : { body }) }))
        .status;
    expect(await post("/-/reload")).toBe(401);
    expect(await post("/-/log-level", '{"level":"debug"}')).toBe(401);
    expect((await fetch(`${relayerUrl}/-/log-level`)).status).toBe(200);
    const { code, stderr } = await home.run("relayer", "reload", "$PORTS");
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /refused \/-\/reload: the token does not match the daemon's; the token in \S+control-token is for the localnet; pass the configuration with --config/,
      ),
    ]);
    writeRelayer({ gas: { max_price: `0.${RELOADS}` } });
    expect(await home.run("relayer", "reload", "--config", file)).toMatchObject({
      code: 0,
      stdout: "loaded; no applicable key has changed\n",
    });
  });

  it("names the keys that need a restart, and applies the others", async () => {
    writeRelayer({ log: { level: "debug" }, retry: { most: "4m" } }, ports.relayer + 1);
    const { code, stdout } = await home.run("relayer", "reload", ...control);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: "applied: gas.max_price, retry.most, log.level\nneeds a process restart: http.listen\n",
    });
    expect(deep(await getJson(`${relayerUrl}/api/status`), ["config", "need_restart"])).toEqual([
      "http.listen",
    ]);
    expect((await home.run("relayer", "log-level", ...control)).stdout).toBe("debug\n");
    expect((await home.run("relayer", "log-level", "warn", ...control)).stdout).toBe("warn\n");
  });

  it(
    "goes back when the services do not start, for instance without a usable key",
    async () => {
      writeRelayer();
      expect(await home.run("relayer", "reload", "--config", file)).toMatchObject({ code: 0 });
      writeFileSync(secret, "no mnemonic");
      const { code, stderr } = await home.run("relayer", "reload", "--config", file);
      expect(code).toBe(1);
      expect(stderr).toContain("the settings are unchanged");
      writeFileSync(secret, LOCALNET_RELAYER_MNEMONIC);
      expect(await home.run("relayer", "reload", "--config", file)).toMatchObject({ code: 0 });
      await until("the relayer is ready", async () =>
        (await fetch(`${relayerUrl}/readyz`)).status === 200 ? true : undefined,
      );
      relayer.kill("SIGTERM");
      expect(await relayer.exited).toBe(0);
    },
    TIMEOUT_MS,
  );
});

describe("reload of a watchdog whose state is in memory", () => {
  it(
    "applies thresholds, maintenance and targets, and counts on",
    async () => {
      writeWatchdog({});
      const watchdog = home.start("watchdog", "start", "--config", watchdogFile);
      await watchdog.printed(/oracle-watchdog +http/);
      const good = async (): Promise<number> =>
        Number(deep(await getJson(`${watchdogUrl}/api/status`), ["blocks", "good"]));
      const counted = await until("counted blocks", async () =>
        (await good()) > 0 ? await good() : undefined,
      );
      const scrapes = String.raw`oracle_watchdog_scrapes_total\{source="node",outcome="success"\}`;
      const scraped = await metric(watchdogUrl, scrapes);
      expect(scraped).toBeGreaterThan(0);
      const { status } = await fetch(`${watchdogUrl}/-/reload`, { method: "POST" });
      expect(status).toBe(401);
      const maintenance = [{ reason: "upgrade", from: new Date().toISOString(), duration: "1h" }];
      writeWatchdog({ alerts: { sidecar_down: { for: "1s" } }, maintenance });
      const result = await home.run("watchdog", "reload", "--config", watchdogFile);
      expect([result.stdout, result.stderr].join("")).toBe("applied: alerts.sidecar_down.for, maintenance\n");
      expect(await good()).toBeGreaterThanOrEqual(counted);
      expect(await metric(watchdogUrl, scrapes)).toBeGreaterThanOrEqual(scraped);
      expect(JSON.stringify(await getJson(`${watchdogUrl}/api/alerts`))).toContain("upgrade");
      writeFileSync(watchdogFile, "interval: soon\n");
      watchdog.kill("SIGHUP");
      await logged(watchdog, 0, /watchdog\.yaml:1:11: interval: is not a valid duration/);
      expect(await metric(watchdogUrl, "oracle_watchdog_config_last_reload_successful")).toBe(0);
      // Another chain is an error that ends a new watchdog, and here brings the settings before back.
      writeWatchdog({ chain_id: "other-1" });
      const from = watchdog.stderr().length;
      watchdog.kill("SIGHUP");
      await logged(watchdog, from, /the previous ones apply again/);
      await until("the watchdog is ready", async () =>
        (await fetch(`${watchdogUrl}/readyz`)).status === 200 ? true : undefined,
      );
      expect(await metric(watchdogUrl, "oracle_watchdog_config_last_reload_successful")).toBe(0);
      watchdog.kill("SIGTERM");
      expect(await watchdog.exited).toBe(0);
    },
    TIMEOUT_MS,
  );
});

describe("the answer to a reload of a watchdog", () => {
  it(
    "comes after a round with the new settings, and refuses files that lose what is running",
    async () => {
      const url = join(home.directory, "hook");
      writeFileSync(url, "http://127.0.0.1:9/hook");
      const channels = [{ kind: "webhook", name: "hook", url: { file: url } }];
      // Where the watchdog is, for those who ask it.
      const asking = join(home.directory, "asking.yaml");
      writeWatchdog({});
      copyFileSync(watchdogFile, asking);
      writeWatchdog({ notify: { channels } });
      const watchdog = home.start("watchdog", "start", "--config", watchdogFile);
      await watchdog.printed(/oracle-watchdog +http/);
      const reload = (...more: readonly string[]) =>
        home.run("watchdog", "reload", "--config", asking, ...more);
      // Another chain shows in the first poll only, a port in use when it is bound.
      writeWatchdog({ notify: { channels }, chain_id: "other-1" });
      expect(await reload()).toMatchObject({ code: 1, stderr: expect.stringContaining("expected other-1") });
      const busy = `127.0.0.1:${ports.localMetrics}`;
      writeWatchdog({ notify: { channels }, status_page: { listen: busy, validators: ["default"] } });
      const inUse = await reload();
      expect([inUse.code, inUse.stderr]).toEqual([1, expect.stringContaining("the settings are unchanged")]);
      writeFileSync(watchdogFile, "");
      expect(await reload()).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(
          "the configuration is empty, but the running one is not; if that is intended",
        ),
      });
      writeWatchdog({});
      expect(await reload()).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(
          "no notify.channels, but the running one has 1: nobody would be notified",
        ),
      });
      expect(await (await fetch(`${watchdogUrl}/notifications`)).text()).toContain("hook");
      rmSync(watchdogFile);
      execFileSync("mkfifo", [watchdogFile]);
      expect(await reload()).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("is a pipe or device"),
      });
      rmSync(watchdogFile);
      writeWatchdog({ interval: "2s" });
      expect(await reload("--force")).toMatchObject({ code: 0, stdout: expect.stringContaining("interval") });
      watchdog.kill("SIGTERM");
      expect(await watchdog.exited).toBe(0);
    },
    TIMEOUT_MS,
  );
});

describe("a daemon without http.token", () => {
  it("has a token of its own in state_dir, which its commands find by the configuration", async () => {
    const state_dir = join(home.directory, "watchdog-state");
    writeWatchdog({ http: { listen: `127.0.0.1:${ports.watchdog}` }, state_dir });
    const watchdog = home.start("watchdog", "start", "--config", watchdogFile);
    await watchdog.printed(/oracle-watchdog +http/);
    expect((await fetch(`${watchdogUrl}/-/reload`, { method: "POST" })).status).toBe(401);
    expect(statSync(join(state_dir, "control-token")).mode & 0o777).toBe(0o600);
    expect(await home.run("watchdog", "log-level", "warn", "--config", watchdogFile)).toMatchObject({
      code: 0,
      stdout: "warn\n",
    });
    watchdog.kill("SIGTERM");
    await watchdog.exited;
    writeRelayer({
      http: { listen: `127.0.0.1:${ports.relayer}` },
      state_dir: join(home.directory, "state-r"),
    });
    const own = home.start("relayer", "start", "--config", file);
    await own.printed(/icq-relayer +http/);
    // The mnemonic is not read for that.
    rmSync(secret);
    expect(await home.run("relayer", "log-level", "warn", "--config", file)).toMatchObject({ code: 0 });
    own.kill("SIGTERM");
    await own.exited;
  });

  it("controls nothing without state_dir either", async () => {
    writeFileSync(secret, LOCALNET_RELAYER_MNEMONIC);
    writeRelayer({ http: { listen: `127.0.0.1:${ports.relayer}` } });
    const open = home.start("relayer", "start", "--config", file);
    await open.printed(/icq-relayer +http/);
    expect((await fetch(`${relayerUrl}/-/reload`, { method: "POST" })).status).toBe(403);
    expect((await home.run("relayer", "reload", "--config", file)).stderr).toContain(
      "sets neither http.token nor state_dir; send SIGHUP to reload",
    );
  });
});
