import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { parse } from "yaml";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";

let chain: CliChain;
let url = "";
let folder = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "relaywatch-cli-"));
  chain = await startCliChain();
  url = chain.url;
});
afterAll(async () => {
  await chain.stop();
  rmSync(folder, { recursive: true, force: true });
});

const query = (...args: readonly string[]): Promise<CliResult> =>
  chain.run("query", "interchainqueries", ...args, "--node", url);
const tx = (...args: readonly string[]): Promise<CliResult> =>
  chain.run("tx", "interchainqueries", ...args, "--node", url);

describe("relaywatch query interchainqueries", () => {
  it("prints parameters as YAML with sorted keys, or as JSON", async () => {
    const yaml = (await query("params")).out;
    expect(yaml.split("\n").slice(0, 6)).toEqual([
      "params:",
      '  max_kv_query_keys_count: "32"',
      '  max_transactions_filters: "32"',
      "  query_deposit:",
      '  - amount: "1000000"',
      "    denom: untrn",
    ]);
    expect(JSON.parse((await query("params", "--json")).out)).toEqual(parse(yaml));
  });

  it("lists queries by owner and connection in pages", async () => {
    const all = JSON.parse((await query("registered-queries", "--count-total", "--json")).out) as unknown;
    expect(all).toMatchObject({
      registered_queries: [{ id: "1", connection_id: "connection-0", update_period: "2" }],
      pagination: { next_key: null, total: "1" },
    });
    const count = async (...args: readonly string[]): Promise<number> => {
      const found: unknown = parse((await query("registered-queries", ...args)).out);
      const list = isRecord(found) ? found["registered_queries"] : undefined;
      return Array.isArray(list) ? list.length : -1;
    };
    const owner = /"owner": "(\w+)"/.exec((await query("registered-query", "1", "--json")).out)?.[1] ?? "";
    expect(await count("--owners", "nobody")).toBe(0);
    expect(await count("--owners", "nobody", "--owners", owner)).toBe(1);
    expect(await count("--connection_id", "connection-0")).toBe(1);
    expect(await count("--connection_id", "connection-1")).toBe(0);
    expect(await count("--offset", "1")).toBe(0);
  });

  it("prints the remote height that the light client knows", async () => {
    const { out } = await query("query-last-remote-height", "connection-0");
    expect(out).toMatch(/^height: "\d+"\nrevision: "0"$/);
  });

  it("exits 1 with the error of the chain when the chain rejects the query", async () => {
    const refused = [
      await query("query-result", "1"),
      await query("registered-query", "99"),
      await query("params", "--chain-name", "other"),
    ];
    expect(refused.map(({ exitCode }) => exitCode)).toEqual([1, 1, 1]);
    expect(refused[0]?.message).toContain("no query result");
    expect(refused[1]?.message).toContain("there is no query with id: 99");
    expect(refused[2]?.message).toContain("unknown query path");
  });

  it("exits 78 when the node serves another chain", async () => {
    expect((await query("params", "--chain-id", "local-1")).exitCode).toBe(0);
    const said = await query("params", "--chain-id", "local-2");
    expect(said).toMatchObject({
      out: "",
      exitCode: 78,
      message: expect.stringMatching(/local-1.*local-2|local-2.*local-1/),
    });
  });

  it("exits 75 when the node does not respond", async () => {
    const said = await chain.run("query", "icq", "params", "--node", "http://127.0.0.1:1");
    expect(said).toMatchObject({ exitCode: 75, message: expect.stringContaining("--node") });
  });
});

describe("relaywatch tx interchainqueries", () => {
  it("signs with a mnemonic file and prints the result", async () => {
    const words = join(folder, "words");
    writeFileSync(words, `${accountNamed(CHAINS.local, "alice").mnemonic}\n`);
    const said = await tx("remove", "1", "--mnemonic-file", words, "--gas", "300000", "--json");
    expect(said).toMatchObject({ exitCode: 1, message: expect.stringContaining("only owner can remove") });
    expect(JSON.parse(said.out)).toMatchObject({
      txhash: expect.stringMatching(/^[0-9A-F]{64}$/),
      height: expect.stringMatching(/^[1-9]\d*$/),
      code: 4,
      codespace: "sdk",
      gas_wanted: "300000",
    });
  });

  it("simulates first and does not send a transaction that the simulation rejects", async () => {
    const said = await tx("remove-interchain-query", "99", "--from", "bob");
    expect(said).toMatchObject({ out: "", exitCode: 1 });
    expect(said.message).toMatch(
      /^the chain would reject the transaction: sdk\/\d+: .*message index: 0: .*\b99\b/,
    );
  });

  it("reports an invalid result file", async () => {
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const said = [
      await tx("submit", "1", join(folder, "missing"), "--from", "bob"),
      await tx("submit", "1", file("a.json", "{"), "--from", "bob"),
      await tx("submit", "1", file("b.json", '{"kv_results": [], "colour": 1}'), "--from", "bob"),
      await tx("submit", "1", file("c.json", '{"height": "7"}'), "--from", "bob"),
    ];
    expect(said.map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1]);
    expect(said[0]?.message).toContain("failed to read query result file");
    expect(said[1]?.message).toContain("failed to unmarshal query result");
    expect(said[2]?.message).toContain("colour");
    expect(said[3]?.message).toContain("empty result");
  });

  it("accepts exactly one account", async () => {
    const said = [
      await tx("remove", "1"),
      await tx("remove", "1", "--from", "bob", "--mnemonic-env", "WORDS"),
      await tx("remove", "1", "--from", "nobody"),
      await tx("remove", "1", "--mnemonic-env", "RELAYWATCH_NOT_SET"),
    ];
    expect(said.map(({ exitCode }) => exitCode)).toEqual([2, 2, 2, 78]);
    expect(said[2]?.message).toContain("alice, bob, relayer, operator, faucet");
  });
});
