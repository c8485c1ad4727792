import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { createGoProgram } from "../../../src/cli/go-program.ts";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { type CliResult, runCommand } from "../../support/cli-chain.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { leasePort } from "../../support/port-lease.ts";
import { type RelayedLocalnet, sendMessage, startRelayedLocalnet } from "../../support/relayed-localnet.ts";

const WAIT = { timeout: 60_000, interval: 50 };
const { signal } = new AbortController();

const GO_STORAGE = fileURLToPath(fixtureFile("go-relayer/leveldb"));

let net: RelayedLocalnet;
let folder = "";
let api = "";
let config = "";
let urls = { local: "", remote: "" };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-relayer-"));
  net = await startRelayedLocalnet({ relayer: `state_dir: ${stateDir()}` });
  const port = (part: "local" | "remote"): string => `${net.running.chains[part]?.ports.get("rpc")}`;
  urls = { local: `http://127.0.0.1:${port("local")}`, remote: `http://127.0.0.1:${port("remote")}` };
  const address = await net.relayer.http.ready;
  api = `http://${address.host}:${address.port}`;
  // Another account than that of the running relayer.
  writeFileSync(join(folder, "words"), accountNamed(CHAINS.local, "bob").mnemonic);
  config = writeConfig("relayer.yaml", {});
  await vi.waitFor(() => expect(net.relayer.status().queries[0]?.results).toBeGreaterThan(0), WAIT);
});
afterAll(async () => {
  await net.stop();
  rmSync(folder, { recursive: true, force: true });
});

const stateDir = (): string => join(folder, "state");

function writeConfig(name: string, { remote = urls.remote, more = "" }): string {
  const file = join(folder, name);
  writeFileSync(
    file,
    `chain: { id: local-1, rpc: ["${urls.local}"] }
signer: { mnemonic: { file: ${join(folder, "words")} } }
connections: [{ id: connection-0, chain_id: remote-1, rpc: ["${remote}"] }]
${more}`,
  );
  return file;
}

const relayer = (...args: readonly string[]): Promise<CliResult> => runCommand(["relayer", ...args], signal);

const goRelayer = (...args: readonly string[]): Promise<CliResult> =>
  runCommand(args, signal, createGoProgram);

describe("relaywatch relayer", () => {
  it("doctor finds nothing wrong, says what to do about a wrong chain, and exits 3 when it cannot read", async () => {
    const healthy = await relayer("doctor", "--config", config);
    expect(healthy, healthy.out).toMatchObject({ exitCode: 0 });
    expect(healthy.message).toBeUndefined();
    expect(healthy.out).toMatch(
      /good {5}connection-0: proof: query 1 at remote height \d+: (?:the chain accepts it|proven; another relayer)/,
    );
    expect(healthy.out).not.toMatch(/PROBLEM|unseen/);

    const wrong = await relayer("doctor", "--config", writeConfig("wrong.yaml", { remote: urls.local }));
    expect(wrong).toMatchObject({ exitCode: 1 });
    expect(wrong.out).toMatch(
      /PROBLEM {2}remote-1: endpoint .* serves chain local-1.*\n +→ correct the endpoint/,
    );

    const down = await relayer(
      "doctor",
      "--config",
      writeConfig("down.yaml", { remote: "http://127.0.0.1:1" }),
    );
    expect(down).toMatchObject({ exitCode: 3 });
    expect(down.out).toMatch(/unseen {3}remote-1: endpoint .*\n +→ start the node/);
  });

  it("doctor names an account that does not exist, or that has too few coins for one transaction", async () => {
    const words = join(folder, "new-words");
    writeFileSync(words, `${"abandon ".repeat(11)}about`);
    const file = join(folder, "new.yaml");
    writeFileSync(file, readFileSync(config, "utf8").replace(/file: [^ ]+words/, `file: ${words}`));
    const { out, exitCode } = await relayer("doctor", "--config", file);
    expect(exitCode).toBe(1);
    expect(out).toMatch(
      /PROBLEM {2}account: neutron1\w+ does not exist on the chain\n +→ send it some coins/,
    );
    expect(out).toMatch(
      /PROBLEM {2}balance: neutron1\w+ has 0 untrn, but a transaction costs about [1-9]\d+ untrn\n +→ send untrn/,
    );
    // What pays no transaction is no good balance either.
    const [address = ""] = /neutron1\w+/.exec(out) ?? [];
    await net.send(net.alice.local, sendMessage(CHAINS.local, net.alice.local.address, address, 100n));
    expect((await relayer("doctor", "--config", file)).out).toMatch(
      /PROBLEM {2}balance: neutron1\w+ has 100 untrn, but a transaction costs about [1-9]\d+ untrn\n +→ send untrn/,
    );
  });

  it("doctor names a missing fee grant, a client without queries, and prints JSON", async () => {
    const granter = accountNamed(CHAINS.local, "alice").address;
    const more = "queries: { ids: ['77'] }";
    const file = writeConfig("grant.yaml", { more });
    const granted = join(folder, "granted.yaml");
    const words = join(folder, "words");
    writeFileSync(
      granted,
      `chain: { id: local-1, rpc: ["${urls.local}"] }
signer: { mnemonic: { file: ${words} }, fee_granter: ${granter} }
connections: [{ id: connection-0, chain_id: remote-1, rpc: ["${urls.remote}"] }]`,
    );
    const none = await relayer("doctor", "--config", file, "--json");
    expect(none.exitCode).toBe(1);
    expect(JSON.parse(none.out)).toContainEqual({
      subject: "connection-0: queries",
      verdict: "problem",
      text: "0 of 1 served",
      advice: expect.stringContaining("queries.ids"),
    });
    const refused = await relayer("doctor", "--config", granted);
    expect(refused.out).toMatch(/PROBLEM {2}fee grant: .* has no fee grant for/);
  });

  it("dry-run proves and simulates beside another relayer, and finds that it would have sent the same", async () => {
    const dry = await relayer("dry-run", "--config", config, "--json");
    expect(dry.message).toBeUndefined();
    const [row, ...others] = JSON.parse(dry.out);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ id: "1", type: "kv", before: "same" });
    // The running relayer may have answered at the same remote height, so that nothing is left to send.
    expect([row.outcome, row.results]).toEqual(
      row.outcome === "answered" ? ["answered", 0] : ["accepted", 1],
    );
    await vi.waitFor(async () => {
      const [{ outcome, gas, callback_gas: called }] = JSON.parse(
        (await relayer("dry-run", "--config", config, "--json")).out,
      );
      expect(outcome).toBe("accepted");
      // The contract stores the result. The rest are a transaction, a client update and the result.
      expect(Number(called)).toBeGreaterThan(40_000);
      expect(Number(gas) - Number(called)).toBeGreaterThan(100_000);
    }, WAIT);
    // Bob never sent anything.
    const doctor = await relayer("doctor", "--config", config);
    expect(doctor.out).toMatch(/good {5}account: \w+, sequence 0/);
  });

  it("once answers a query at once, and refuses an unknown one", async () => {
    await net.execute({ set_failure: { kv: false, tx: false } });
    const once = await relayer("once", "--config", config, "--query", "1");
    expect(once.message, once.out).toBeUndefined();
    // The running relayer serves the same query, and may be faster.
    expect(once.out).toMatch(/^query 1: answered (?:at remote height \d+|by another relayer)$/);
    expect(await relayer("once", "--config", config, "--query", "1,77")).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("not served: 77"),
    });
  });

  it("beside a running relayer with the same state_dir, all commands work that send nothing", async () => {
    const same = writeConfig("same.yaml", { more: `state_dir: ${stateDir()}` });
    expect(await relayer("once", "--config", same)).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(`state_dir ${stateDir()} is in use by process ${process.pid}; stop`),
    });
    expect(await relayer("doctor", "--config", same)).toMatchObject({ exitCode: 0 });
    expect(await relayer("dry-run", "--config", same)).toMatchObject({ exitCode: 0 });
    expect((await relayer("inspect", "1", "--url", api, "--config", same)).out).toContain("attempts:");
    expect((await relayer("dead-letters", "list", "--url", api)).message).toBeUndefined();
    const report = await runCommand(
      [
        "report",
        "relayer",
        "--config",
        writeConfig("report.yaml", {
          more: `state_dir: ${stateDir()}\nhttp: { listen: "${api.replace("http://", "")}" }`,
        }),
      ],
      signal,
    );
    expect(report.message).toBeUndefined();
  });

  it("queries and inspect show the running relayer, and a fresh proof", async () => {
    const listed = await relayer("queries", "--url", api);
    expect(listed.out.split("\n")[0]).toMatch(/^id +type +connection/);
    expect(listed.out.split("\n")[1]).toMatch(/^1 +kv +connection-0 /);
    const inspect = ["inspect", "1", "--url", api, "--config", config] as const;
    const lines = (await relayer(...inspect)).out.split("\n");
    expect(lines.length).toBeLessThanOrEqual(11);
    expect(lines[0]).toMatch(/^query 1: (?:answered|backing_off)/);
    expect(lines.filter((line) => line.endsWith(", -"))).toEqual([]);
    expect(lines.slice(-5).join("\n")).toMatch(
      /^(?:.*\n)?attempts:\n(?: {2}20\d\d-.*\n){1,3}proof: (?:accepted|answered) at/,
    );
    const inspected: unknown = parse((await relayer(...inspect, "--verbose")).out);
    expect(inspected).toMatchObject({
      id: "1",
      state: { type: "kv", connection_id: "connection-0" },
      proof: { outcome: expect.stringMatching(/^(?:accepted|answered)$/) },
    });
    expect(inspected).toHaveProperty("attempts");
    const missing = await relayer("inspect", "77", "--url", api, "--config", config);
    expect(missing.exitCode).toBe(1);
    expect(missing.out).toMatch(/^query 77: state unknown: .*does not serve query 77/);
    expect(missing.out).toMatch(/^proof: .*does not serve this query/m);
    expect(await relayer("queries", "--url", "http://127.0.0.1:1")).toMatchObject({ exitCode: 3 });
  });

  it("dead-letters lists and sends again, and dry-run shows TX queries", async () => {
    const recipient = net.alice.remote.address;
    await net.execute(
      { set_failure: { kv: false, tx: true } },
      { register_transfers_query: { connection_id: "connection-0", update_period: 1, recipient } },
    );
    await vi.waitFor(() => expect(net.relayer.status().queries).toHaveLength(2), WAIT);
    for (const amount of [3n, 4n])
      await net.send(net.alice.remote, sendMessage(CHAINS.remote, recipient, recipient, amount));
    const [hash = "", other = ""] = await vi.waitFor(async () => {
      const { out } = await relayer("dead-letters", "list", "--url", api);
      const found = [...out.matchAll(/^\d+ +([0-9a-f]{64}) /gm)].map(([, one = ""]) => one);
      expect(found).toHaveLength(2);
      return found;
    }, WAIT);
    const id = net.relayer.status().queries.find(({ type }) => type === "tx")?.id ?? 0n;
    const again = await relayer("dead-letters", "resubmit", `${id}/${hash}`, "--url", api);
    expect(again.out).toMatch(/failed again: .*rejected/);
    const dry = await relayer("dry-run", "--config", config, "--query", `${id}`, "--json");
    expect(dry.exitCode).toBe(1);
    const shown = (received: boolean) =>
      expect.arrayContaining([hash, other].map((one) => expect.objectContaining({ hash: one, received })));
    expect(JSON.parse(dry.out)).toMatchObject([{ before: "none", txs: shown(false) }]);
    await net.execute({ set_failure: { kv: false, tx: false } });
    const listed = await goRelayer("query", "unsuccessful-txs", "-u", api);
    expect(JSON.parse(listed.out)).toContainEqual(
      expect.objectContaining({ query_id: Number(id), submitted_tx_hash: hash, status: "ErrorOnSubmit" }),
    );
    expect(await goRelayer("exec", "resubmit-tx", "77", hash, "--url", api)).toMatchObject({
      exitCode: 1,
      message: `no tx found with queryID=77 and hash=${hash}`,
    });
    const sent = await goRelayer("exec", "resubmit-tx", `${id}`, hash, "-u", api);
    expect(sent.out).toBe(`Tx queryID=${id} hash=${hash} resubmitted successfully`);
    const all = await relayer("dead-letters", "resubmit", "--all", "--url", api);
    expect(all.out).toBe(`${id}/${other} included`);
    expect(await net.queryConsumer({ transactions: { query_id: Number(id) } })).toMatchObject({
      transactions: [{}, {}],
    });
    expect((await relayer("dead-letters", "resubmit", "--all", "--url", api)).out).toBe("");
    expect((await relayer("dead-letters", "list", "--url", api, "--json")).out).toBe("[]");
    const after = await relayer("dry-run", "--config", config, "--query", `${id}`, "--json");
    expect(after.message).toBeUndefined();
    expect(JSON.parse(after.out)).toMatchObject([{ before: "same", txs: shown(true) }]);
    expect(await relayer("dead-letters", "resubmit", "--url", api)).toMatchObject({ exitCode: 2 });
    expect(await relayer("dead-letters", "resubmit", "x", "--url", api)).toMatchObject({ exitCode: 2 });
  });

  it("config from-env reads an .env file and the chain ids of the endpoints", async () => {
    const file = join(folder, ".env");
    const variables = {
      RELAYER_NEUTRON_CHAIN_RPC_ADDR: urls.local.replace("http", "tcp"),
      RELAYER_TARGET_CHAIN_RPC_ADDR: urls.remote.replace("http", "tcp"),
      RELAYER_MNEMONIC_FILE: join(folder, "words"),
      RELAYER_NEUTRON_CHAIN_CONNECTION_ID: "connection-0",
      RELAYER_ALLOW_TX_QUERIES: "false",
      RELAYER_ALLOW_KV_CALLBACKS: "true",
      RELAYER_STORAGE_PATH: join(folder, "state"),
    };
    writeFileSync(
      file,
      `# a comment\n${Object.entries(variables)
        .map(([name, value]) => `${name}=${value}\n`)
        .join("")}`,
    );
    const printed = await runCommand(["config", "from-env", file], signal);
    expect(printed.message).toBeUndefined();
    expect(parse(printed.out)).toMatchObject({
      chain: { id: "local-1" },
      connections: [{ chain_id: "remote-1" }],
      queries: { tx: false },
    });
    const low = join(folder, "low.env");
    writeFileSync(low, `${readFileSync(file, "utf8")}\nRELAYER_NEUTRON_CHAIN_MAX_GAS_PRICE=0.000001\n`);
    expect((await relayer("doctor", "--from-env", low)).out).toMatch(
      /PROBLEM {2}gas price: .*\n +→ raise RELAYER_NEUTRON_CHAIN_MAX_GAS_PRICE, or wait/,
    );
    const doctor = await relayer("doctor", "--from-env", file);
    expect(doctor.message).toBeUndefined();
    expect(doctor.exitCode).toBe(0);
  });

  it("import-leveldb takes over the storage of the Go relayer once, and names what it cannot read", async () => {
    const into = writeConfig("import.yaml", { more: `state_dir: ${join(folder, "imported")}` });
    const first = await relayer("import-leveldb", GO_STORAGE, "--config", into);
    expect(first.message).toBeUndefined();
    expect(first.out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["query", "searched to", "relayed", "in flight", "dead letters", "note"],
      ["1", "6999990", "0", "0", "0", "-"],
      ["7", "6999997", "200", "2", "2", "-"],
      ["18446744073709551615", "42", "0", "0", "0", "-"],
      ["1 entry damaged or from another program"],
    ]);
    const second = await relayer("import-leveldb", GO_STORAGE, "--config", into, "--json");
    expect(JSON.parse(second.out)).toMatchObject({
      queries: [{ note: "already known, unchanged" }, { dead_letters: 0 }, { relayed: 0 }],
      unknown_entries: 1,
    });
    expect(await relayer("import-leveldb", folder, "--config", into)).toMatchObject({
      exitCode: 78,
      message: expect.stringContaining("no LevelDB found"),
    });
    expect(await relayer("import-leveldb", GO_STORAGE, "--config", config)).toMatchObject({
      exitCode: 78,
      message: expect.stringContaining("set state_dir or store"),
    });
  });

  it("start --from-env takes it over at its first start", async () => {
    const storage = join(folder, "go-storage");
    cpSync(GO_STORAGE, storage, { recursive: true });
    const port = await leasePort();
    const file = join(folder, "go.env");
    writeFileSync(
      file,
      `RELAYER_NEUTRON_CHAIN_RPC_ADDR=${urls.local}
RELAYER_TARGET_CHAIN_RPC_ADDR=${urls.remote}
RELAYER_MNEMONIC_FILE=${join(folder, "words")}
RELAYER_NEUTRON_CHAIN_CONNECTION_ID=connection-0
RELAYER_REGISTRY_QUERY_IDS=99
RELAYER_ALLOW_TX_QUERIES=true
RELAYER_ALLOW_KV_CALLBACKS=true
RELAYER_STORAGE_PATH=${storage}
RELAYER_LISTEN_ADDR=127.0.0.1:${port}
`,
    );
    const stop = new AbortController();
    const running = runCommand(["relayer", "start", "--from-env", file], stop.signal);
    const url = `http://127.0.0.1:${port}`;
    await vi.waitFor(async () => {
      const letters = await relayer("dead-letters", "list", "--url", url, "--json");
      expect(JSON.parse(letters.out)).toMatchObject([
        { query_id: 7, message: "Code: 5, Log: out of gas" },
        { query_id: 7 },
      ]);
    }, WAIT);
    stop.abort(new Error("the test is over"));
    await running;
  });

  it("the commands of the Go relayer name what is missing in the environment, and the version", async () => {
    expect(await goRelayer("start")).toMatchObject({
      exitCode: 78,
      message: expect.stringMatching(
        /RELAYER_NEUTRON_CHAIN_RPC_ADDR: is missing[^]*RELAYER_STORAGE_PATH: is missing/,
      ),
    });
    expect((await goRelayer("version")).out).toMatch(/^Version: \d+\.\d+\.\d+ .*\nCommit: unknown$/);
  });
});
