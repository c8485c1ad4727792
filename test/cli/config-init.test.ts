import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { getRoute, jsonReply, textReply } from "../../src/platform/http/http-route.ts";
import type { OpenHttpServer } from "../../src/platform/http/http-server.ts";
import { openRouteServer } from "../../src/platform/http/route-server.ts";
import { type CliResult, runCommand } from "../support/cli-chain.ts";

const folder = mkdtempSync(join(tmpdir(), "relaywatch-init-"));
const KEY = "W/ucXUprcFrmWTdUUX3KiVD2za3dh5ce65NJh/lZq6M=";
const servers: OpenHttpServer[] = [];
let local = "";
let remote = "";

const run = (...args: readonly string[]): Promise<CliResult> =>
  runCommand(["config", "init", ...args, "--yes"], new AbortController().signal);

function status(network: string, power: string) {
  const validator = {
    address: "8D64ABFD3495A4CD2110747D2923F055733FC9F9",
    pub_key: { value: KEY },
    voting_power: power,
  };
  return getRoute("/status", () =>
    jsonReply(200, { result: { node_info: { network }, validator_info: validator } }),
  );
}

/** The latest block of a chain, by REST. */
function latest(chainId: string) {
  return getRoute("/cosmos/base/tendermint/v1beta1/blocks/latest", () =>
    jsonReply(200, { block: { header: { chain_id: chainId } } }),
  );
}

async function serve(routes: Parameters<typeof openRouteServer>[0]["routes"]): Promise<string> {
  const listen = { host: "127.0.0.1", port: 0 };
  const server = await openRouteServer(
    { name: "test", listen, portOption: "--port", routes },
    { logger: silentLogger },
  );
  servers.push(server);
  return `http://127.0.0.1:${server.address.port}`;
}

beforeAll(async () => {
  const connection = (id: string, client: string, state = "STATE_OPEN") => ({ id, client_id: client, state });
  const client = (id: string, chainId?: string) => ({ client_id: id, client_state: { chain_id: chainId } });
  local = await serve([
    status("local-1", "10"),
    latest("local-1"),
    getRoute("/cosmos/auth/v1beta1/bech32", () => jsonReply(200, { bech32_prefix: "neutron" })),
    getRoute("/feemarket/v1/params", () =>
      jsonReply(200, { params: { fee_denom: "ufee", min_base_gas_price: "0.002500000000000000" } }),
    ),
    getRoute("/ibc/core/connection/v1/connections", () =>
      jsonReply(200, {
        connections: [
          connection("connection-0", "07-tendermint-0"),
          connection("connection-1", "07-tendermint-1"),
          connection("connection-2", "07-tendermint-1"),
          connection("connection-3", "07-tendermint-0", "STATE_INIT"),
          connection("connection-localhost", "09-localhost"),
        ],
      }),
    ),
    getRoute("/ibc/core/client/v1/client_states", () =>
      jsonReply(200, {
        client_states: [
          client("07-tendermint-0", "remote-1"),
          client("07-tendermint-1", "other-1"),
          client("09-localhost"),
        ],
      }),
    ),
    getRoute("/cosmos/staking/v1beta1/validators", () =>
      jsonReply(200, {
        validators: [
          {
            operator_address: "neutronvaloper1j2we6nx00wr3jvddwh46xte4dp6yay750fef3f",
            consensus_pubkey: { key: KEY },
          },
        ],
      }),
    ),
    getRoute("/metrics", () => textReply(200, "")),
  ]);
  remote = await serve([status("remote-1", "0"), latest("remote-1")]);
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

describe("config init relayer", () => {
  const endpoints = (): readonly string[] => ["--rpc", local, "--rest", local, "--remote-rpc", remote];

  it("writes what the endpoints say, once, and the relayer accepts it", async () => {
    const file = join(folder, "relayer.yaml");
    const { exitCode, out } = await run(
      "relayer",
      ...endpoints(),
      "--state-dir",
      "/var/lib/x",
      "--output",
      file,
    );
    expect([exitCode, out.split("\n")[0]]).toEqual([0, `written to ${file}`]);
    // These nodes have no JSON-RPC.
    const name = new URL(local).host;
    expect(out).toContain(`local-1 ${name}`);
    expect(out).toMatch(/^chain id +no +no$/m);
    expect(out).toContain(`${name} responded with HTTP status`);
    const text = readFileSync(file, "utf8");
    expect(parse(text)).toMatchObject({
      chain: { id: "local-1", rpc: [local] },
      signer: { mnemonic: { env: "RELAYER_MNEMONIC" }, prefix: "neutron" },
      gas: { denom: "ufee" },
      connections: [{ id: "connection-0", chain_id: "remote-1", rpc: [remote] }],
      state_dir: "/var/lib/x",
    });
    expect(text).toContain("fee market is 0.0025.");
    expect((await run("relayer", ...endpoints(), "--output", file)).exitCode).toBe(2);
    const valid = await runCommand(
      ["config", "validate", "--no-secrets", file],
      new AbortController().signal,
    );
    expect(valid.out).toBe(`${file}: good`);
  });

  it("refuses a connection to another chain, and asks which of several it is", async () => {
    const wrong = await run("relayer", ...endpoints(), "--connection", "connection-1");
    expect(wrong).toMatchObject({
      exitCode: 78,
      message: "connection-1 is not an open connection to remote-1; the open ones are connection-0",
    });
    const other = await serve([status("other-1", "0")]);
    const several = await run("relayer", "--rpc", local, "--rest", local, "--remote-rpc", other);
    expect(several.message).toContain("name one of connection-1, connection-2 with --connection");
    expect((await run("relayer", "--rpc", local, "--rest", local)).message).toBe(
      "--remote-rpc: RPC of the remote chain, e.g. http://127.0.0.1:26757; name it, or answer in a terminal without --yes",
    );
    expect((await run("relayer", ...endpoints(), "--chain-id", "neutron-1")).message).toContain(
      "not of neutron-1",
    );
  });

  it("says that no connection leads to the remote chain, and how one is made", async () => {
    const lonely = await serve([status("lonely-1", "0")]);
    const { exitCode, message } = await run(
      "relayer",
      "--rpc",
      local,
      "--rest",
      local,
      "--remote-rpc",
      lonely,
    );
    expect(exitCode).toBe(78);
    expect(message).toContain(
      "local-1 has no open connection to lonely-1. An IBC relayer creates one: hermes",
    );
  });

  it("refuses what a chain calls itself when it is not such a name", async () => {
    const bad = await serve([status("local-1\nhttp:", "10")]);
    const rpc = await run("relayer", "--rpc", bad, "--rest", local, "--remote-rpc", remote);
    expect(rpc.message).toContain(
      "/status of --rpc does not look like a Cosmos node's response: result.node_info.network",
    );
    const prefix = await serve([
      latest("local-1"),
      getRoute("/cosmos/auth/v1beta1/bech32", () => jsonReply(200, { bech32_prefix: "a\nb" })),
    ]);
    const rest = await run("relayer", "--rpc", local, "--rest", prefix, "--remote-rpc", remote);
    expect(rest.message).toContain(
      "the address prefix of --rest does not look like a Cosmos node's response: bech32_prefix",
    );
    const other = await run("relayer", "--rpc", local, "--rest", remote, "--remote-rpc", remote);
    expect([other.exitCode, other.message]).toEqual([78, "--rest is a node of remote-1, not of local-1"]);
  });

  it("says which endpoint does not respond, and writes no file", async () => {
    const file = join(folder, "none.yaml");
    const down = ["relayer", "--rpc", "http://127.0.0.1:1", "--remote-rpc", remote, "--output", file];
    const { exitCode, message } = await run(...down);
    expect([exitCode, existsSync(file)]).toEqual([75, false]);
    expect(message).toMatch(/^--rpc: 127\.0\.0\.1:1 returned no usable response to \/status: .*--offline/);
    // The RPC has no such path: not every URL is REST.
    const bare = await serve([status("local-1", "0")]);
    const rest = await run("relayer", "--rpc", local, "--rest", bare, "--remote-rpc", remote);
    expect(rest.message).toMatch(/^--rest: .* returned no usable response/);
  });

  it("sends nothing with --offline", async () => {
    const offline = [
      "relayer",
      "--offline",
      "--rpc",
      "http://a.example:26657",
      "--remote-rpc",
      "http://b.example:26657",
    ];
    const ids = [
      "--chain-id",
      "neutron-1",
      "--connection",
      "connection-9",
      "--remote-chain-id",
      "cosmoshub-4",
    ];
    const { out, exitCode } = await run(...offline, ...ids);
    expect(exitCode).toBe(0);
    expect(parse(out)).toMatchObject({
      signer: { prefix: "neutron", hd_path: "m/44'/118'/0'/0/0" },
      connections: [{ id: "connection-9", chain_id: "cosmoshub-4", rpc: ["http://b.example:26657"] }],
    });
    const unknown = await run(...offline, ...ids.with(1, "mine-1"));
    expect(unknown.message).toContain("mine-1 is not a known chain (neutron-1");
    expect((await run(...offline)).message).toContain("--chain-id");
  });
});

describe("config init watchdog", () => {
  const endpoints = (): readonly string[] => [
    "--node",
    local,
    "--sidecar",
    remote,
    "--rpc",
    local,
    "--rest",
    local,
  ];

  it("finds the validator of the node's key", async () => {
    const { out, exitCode } = await run("watchdog", ...endpoints());
    expect(exitCode).toBe(0);
    expect(parse(out)).toMatchObject({
      chain_id: "local-1",
      consensus_address: expect.stringMatching(/^neutronvalcons1/),
      operator_address: "neutronvaloper1j2we6nx00wr3jvddwh46xte4dp6yay750fef3f",
      sources: { node: `${local}/metrics`, prices: remote },
      chain: { rest: local },
    });
  });

  it("names the option and what it is, with an example", async () => {
    expect((await run("watchdog")).message).toBe(
      "--node: URL of the metrics page of the validator's node, e.g. http://127.0.0.1:26660/metrics; name it, or answer in a terminal without --yes",
    );
    for (const [option, value, what] of [
      ["--node", "127.0.0.1:26660", "metrics page"],
      ["--second-rest", "rest.example", "REST URL of a second node"],
      ["--runbooks", "https://a.example/\nx", "runbook folder"],
      ["--currency", "US DOLLAR!", "currency of the month's pay"],
      ["--notify", "pager", "notification channel (alertmanager, pagerduty, slack"],
      ["--set", "nonsense", "channel setting"],
    ] as const) {
      const { exitCode, message } = await run("watchdog", ...endpoints(), "--notify", "slack", option, value);
      expect([exitCode, message]).toEqual([2, expect.stringContaining(`${option}: `)]);
      expect(message).toContain(what);
      expect(message).toContain(JSON.stringify(value));
    }
  });

  it("writes second endpoint, RPC, currency and runbooks", async () => {
    const more = ["--second-rest", local, "--currency", "USD", "--runbooks", "https://a.example/runbooks"];
    const { out } = await run("watchdog", ...endpoints(), ...more);
    expect(parse(out)).toMatchObject({
      chain: { rest: local, fallbacks: [local], rpc: local },
      policy: { currency: "USD" },
      notify: { runbooks: "https://a.example/runbooks" },
    });
    const other = await run("watchdog", ...endpoints(), "--second-rest", remote);
    expect(other.message).toBe("--second-rest is a node of remote-1, not of local-1");
  });

  it("reads the pay from a chain that has the module, and only there", async () => {
    expect(parse((await run("watchdog", ...endpoints())).out)).not.toHaveProperty("policy");
    const performance = { allowed_to_miss: "0.1", required_at_least: "0.8" };
    const params = {
      blocks_performance_requirement: performance,
      oracle_votes_performance_requirement: performance,
      reward_quote: { amount: "2500", asset: "USD" },
      payment_schedule_type: { monthly_payment_schedule_type: {} },
    };
    const paying = (reply: object, code = 200) =>
      serve([
        status("local-1", "0"),
        latest("local-1"),
        getRoute("/neutron/revenue/params", () => jsonReply(code, reply)),
      ]);
    const initAt = (rest: string) =>
      run("watchdog", "--node", local, "--sidecar", remote, "--rpc", rest, "--rest", rest);
    const policyAt = async (rest: string): Promise<unknown> => parse((await initAt(rest)).out);
    expect(await policyAt(await paying({ params }))).toMatchObject({ policy: { from_chain: true } });
    expect(await policyAt(await paying({ params: {} }))).not.toHaveProperty("policy");
    expect(await policyAt(await paying({ code: 12 }, 501))).not.toHaveProperty("policy");
    // An endpoint that is busy says nothing about the chain.
    const busy = await initAt(await paying({}, 503));
    expect(busy.exitCode).toBe(75);
    expect(busy.message).toMatch(/^--rest: .* no usable response to \/neutron\/revenue\/params: HTTP 503/);
  });

  it("tests the channel, and writes nothing when its receiver refuses", async () => {
    let code = 200;
    const texts: string[] = [];
    const receiver = await serve([
      {
        method: "POST",
        path: "/hook",
        handle: async ({ body }) => {
          texts.push(String(body));
          return textReply(code, code === 200 ? "ok" : "no_service");
        },
      },
    ]);
    const file = join(folder, "notified.yaml");
    const notified = [...endpoints(), "--notify", "slack", "--set", "url=INIT_TEST_URL", "name=on-call"];
    vi.stubEnv("INIT_TEST_URL", "");
    const unset = await run("watchdog", ...notified);
    expect(unset.out).toContain("# No test message was sent: ");
    expect(unset.out).toContain("INIT_TEST_URL");
    expect(parse(unset.out)).toMatchObject({
      notify: { channels: [{ kind: "slack", name: "on-call", url: { env: "INIT_TEST_URL" } }] },
    });
    vi.stubEnv("INIT_TEST_URL", `${receiver}/hook`);
    const sent = await run("watchdog", ...notified, "--output", file);
    expect(sent.out).toContain("The channel on-call accepted a test message");
    expect(texts).toEqual([expect.stringContaining("relaywatch config init")]);
    expect(readFileSync(file, "utf8")).not.toContain(receiver);
    code = 404;
    const other = join(folder, "refused.yaml");
    const refused = await run("watchdog", ...notified, "--output", other);
    expect([refused.exitCode, existsSync(other)]).toEqual([75, false]);
    expect(refused.message).toMatch(
      /^--notify: the channel on-call did not accept .*no_service.*nothing is written$/,
    );
    vi.unstubAllEnvs();
  });

  it("asks for the settings that a channel needs, and no more", async () => {
    const mail = ["--offline", "--notify", "email"];
    const missing = await run("watchdog", ...endpoints(), "--chain-id", "local-1", ...mail);
    expect(missing.message).toContain("--set host=…: host of the channel email, e.g. mail.example");
    const set = ["--set", "host=mail.a.example", "from=w@a.example", "to=a@a.example,b@a.example"];
    const { out } = await run("watchdog", ...endpoints(), "--chain-id", "local-1", ...mail, ...set);
    expect(parse(out)).toMatchObject({ notify: { channels: [{ to: ["a@a.example", "b@a.example"] }] } });
    expect(out).not.toContain("password");
    const odd = await run("watchdog", ...endpoints(), "--chain-id", "local-1", ...mail, ...set, "hots=x");
    expect(odd.message).toMatch(/^--set: channel setting.*; email has no setting hots, it has .*\bhost\b/);
  });

  it("writes a file without requests", async () => {
    const args = [
      "watchdog",
      "--offline",
      "--node",
      "http://v.example:26660",
      "--sidecar",
      "http://v.example:8080/",
    ];
    const asked: string[] = [];
    const record = ({ path }: { readonly path: string }) => {
      asked.push(path);
      return jsonReply(200, {});
    };
    const rest = await serve([getRoute("*", record)]);
    const urls = ["--rest", rest, "--rpc", rest, "--second-rest", rest];
    const { out } = await run(...args, "--chain-id", "neutron-1", ...urls);
    expect(asked).toEqual([]);
    const file = join(folder, "offline.yaml");
    writeFileSync(file, out);
    expect(parse(out)).toMatchObject({
      chain_id: "neutron-1",
      sources: { sidecar_metrics: "http://v.example:8002/metrics" },
      chain: { rest, rpc: rest, fallbacks: [rest] },
    });
    const valid = await runCommand(["config", "validate", file], new AbortController().signal);
    expect(valid.out).toBe(`${file}: good`);
  });
});
