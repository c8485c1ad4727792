import { readFileSync, writeFileSync } from "node:fs";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { isRecord } from "../../src/platform/base/json.ts";
import { type CliResult, getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { deep, localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";

const home = await openCliHome();
const ports = portsAt(home.portOffset);

function file(name: string, text: string): string {
  const path = join(home.directory, name);
  writeFileSync(path, text);
  return path;
}

/** A message for a person: said on stderr, without a stack trace. */
function expectRefusal(result: CliResult, code: number, ...says: readonly (string | RegExp)[]): void {
  expect(result.stderr).not.toMatch(/^\s+at /m);
  for (const what of says) expect(result.stderr).toMatch(what);
  expect(result.code).toBe(code);
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

describe("a command line that cannot work", () => {
  afterAll(home.close);

  it.concurrent.each([
    [["nonsense"], /unknown command 'nonsense'/],
    [["query", "interchainqueries", "registered-query", "one"], /failed to parse query id/],
    [["tx", "interchainqueries", "remove", "1"], /no signing account/],
  ])("ends with 2: %j", async (args, says) => {
    expectRefusal(await home.run(...args), 2, says);
  });

  it("ends with 75 when no chain answers", async () => {
    const result = await home.run("query", "icq", "params", "$PORTS");
    expectRefusal(result, 75, `127.0.0.1:${ports.localRpc}`, "--port-offset");
  });

  it("ends with 1 when it is interrupted before its result", async () => {
    // A node that accepts the connection and never responds.
    const server = createServer();
    const connected = once(server, "connection");
    const node = `http://127.0.0.1:${await listen(server, 0)}`;
    const words = ["dist/program/relaywatch.js", "query", "staking", "validators", "--node", node];
    const child = spawn(process.execPath, words, { stdio: "ignore" });
    await connected;
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([1, null]);
    await close(server);
  });

  it("ends with 1 when a port is in use, and names it and the option that moves it", async () => {
    const server = createServer();
    await listen(server, ports.localRpc);
    const result = await home.run("up", "$PORTS");
    await close(server);
    expectRefusal(result, 1, new RegExp(`\\b${ports.localRpc}\\b`), "--port-offset");
  });

  it.each(["relayer", "watchdog"] as const)("names what moves a port that the %s needs", async (daemon) => {
    const server = createServer();
    await listen(server, ports[daemon]);
    const moved = await home.run(daemon, "start", "$PORTS");
    const config = file(
      `${daemon}.yaml`,
      daemon === "watchdog"
        ? `http: { listen: "127.0.0.1:${ports.watchdog}" }\n`
        : `chain: { id: a-1, rpc: ["http://127.0.0.1:1"] }
signer: { mnemonic: { file: ${file("mnemonic", `${"abandon ".repeat(11)}about`)} } }
connections: [{ id: connection-0, chain_id: b-1, rpc: ["http://127.0.0.1:2"] }]
http: { listen: "127.0.0.1:${ports.relayer}" }
`,
    );
    const configured = await home.run(daemon, "start", "--config", config);
    await close(server);
    expectRefusal(moved, 1, new RegExp(`\\b${ports[daemon]}\\b`), "choose another port with --port-offset");
    expectRefusal(
      configured,
      1,
      new RegExp(`\\b${ports[daemon]}\\b`),
      "choose another port with http.listen",
    );
  });

  it("ends with 78 and the place of every error when a configuration cannot be used", async () => {
    const wrong = file(
      "wrong.yaml",
      "chain: { id: local-1, rpc: [] }\nsigner: { mnemonic: { env: NOT_SET } }\nconections: []\n",
    );
    const missing = join(home.directory, "missing.yaml");
    const [relayer, watchdog, validate] = await Promise.all([
      home.run("relayer", "start", "--config", wrong),
      home.run("watchdog", "start", "--config", missing),
      home.run("config", "validate", "--kind", "icq-relayer", wrong),
    ]);
    const places = ["wrong.yaml:1:", "wrong.yaml:2:", "wrong.yaml:3:1: conections"];
    expectRefusal(relayer, 78, ...places);
    expectRefusal(watchdog, 78, "missing.yaml: file not found");
    expectRefusal(validate, 78, "1 of 1 file is invalid");
    for (const place of places) expect(validate.stdout).toContain(place);
  });

  it("ends with 78 also when nobody reads the errors to their end", async () => {
    const many = file("many.yaml", Array.from({ length: 4_000 }, (_, index) => `k${index}: 1\n`).join(""));
    const script = `set -o pipefail; "${process.execPath}" dist/program/relaywatch.js config validate "${many}" | head -1`;
    const { status, stdout } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
    expect([stdout.split("\n").length, status]).toEqual([2, 78]);
  });
});

describe("surroundings that are not as they should be", async () => {
  const world = await openCliHome();
  const its = localnetEndpoints(world.portOffset);
  const chains = ["--home", join(world.directory, "chains"), "--block-time", "300", "$PORTS"];
  let remote = world.start("localnet", "start", "remote", ...chains);
  beforeAll(async () => {
    await remote.printed(/http:/);
    await world.start("localnet", "start", "local", ...chains).printed(/http:/);
  });
  afterAll(world.close);

  it("a chain that is not the configured one ends the relayer with 78", async () => {
    const words = join(world.directory, "words");
    const accounts: unknown = JSON.parse((await world.run("localnet", "accounts", "--json")).stdout);
    writeFileSync(words, String(deep(accounts, ["0", "mnemonic"])), { mode: 0o600 });
    const config = join(world.directory, "relayer.yaml");
    writeFileSync(
      config,
      `chain: { id: other-9, rpc: ["${its.rpc.local}"] }
signer: { mnemonic: { file: ${words} } }
connections: [{ id: connection-0, chain_id: remote-1, rpc: ["${its.rpc.remote}"] }]
http: { listen: "127.0.0.1:0" }
`,
    );
    expectRefusal(await world.run("relayer", "start", "--config", config), 78, "other-9", "local-1");
  });

  it("a remote chain that is down is told, outwaited, and used when it comes", async () => {
    remote.kill("SIGKILL");
    await remote.exited;
    const relayer = world.start("relayer", "start", "$PORTS");
    const error = await until("an error of the connection", async () => {
      const told = deep(await getJson(`${its.relayer}/api/status`), ["connections", "0"]);
      return isRecord(told) && typeof told["error"] === "string" ? told["error"] : undefined;
    });
    expect(error).toMatch(/cannot be reached|ECONNREFUSED/);
    expect(relayer.stderr()).toContain(`127.0.0.1:${26_757 + world.portOffset}`);
    const before = await its.lastResult(1);
    remote = world.start("localnet", "start", "remote", ...chains);
    await its.resultAfter(1, before);
    relayer.kill("SIGTERM");
    expect(await relayer.exited).toBe(0);
  });

  it("the watchdog reports a metrics page that is HTML, and recovers when it is replaced", async () => {
    let page = "<!DOCTYPE html><html><body>nothing here</body></html>";
    const server = createServer((_request, response) => void response.end(page));
    const port = await listen(server, 0);
    const config = join(world.directory, "watchdog.yaml");
    writeFileSync(
      config,
      `interval: 200ms
http: { listen: "127.0.0.1:${9_998 + world.portOffset}" }
sources: { node: "http://127.0.0.1:${port}/metrics", prices: "http://127.0.0.1:${port}/" }
`,
    );
    const watchdog = world.start("watchdog", "start", "--config", config);
    const node = (state: boolean) => async (): Promise<unknown> => {
      const source = deep(await getJson(`${its.watchdog}/api/status`), ["sources", "0"]);
      return isRecord(source) && source["up"] === state ? source["error"] : undefined;
    };
    expect(await until("the error", node(false))).toMatch(/html/i);
    page = readFileSync("test/fixtures/metrics/node-26660-healthy.prom", "utf8");
    expect(await until("a good page", node(true))).toBeNull();
    watchdog.kill("SIGTERM");
    expect(await watchdog.exited).toBe(0);
    await close(server);
  });
});
