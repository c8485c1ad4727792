import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { encodeBech32, fromHex, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { startFaultProxy } from "../../support/fault-proxy.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import type { ProxiedCall } from "../../support/json-rpc-bodies.ts";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";

const ALICE = accountNamed(CHAINS.local, "alice").address;
const BOB = accountNamed(CHAINS.local, "bob").address;
/** The key "relayer" of the recorded keyring. */
const KEY = encodeBech32("neutron", fromHex("1d19480dbdf192bbc6f35415a59983c0e6bfb65c"));
const KEYRING = ["--keyring-backend", "test", "--keyring-dir", fileURLToPath(fixtureFile("keyring"))];
const DONE = { exitCode: 0, message: undefined };

let chain: CliChain;

beforeAll(async () => {
  chain = await startCliChain({ hasBench: true });
});
afterAll(async () => {
  await chain.stop();
});

const query = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("query", ...words, "--node", chain.url);
const send = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("tx", "bank", "send", ...words, "--node", chain.url);

async function rows(...words: readonly string[]): Promise<readonly (readonly string[])[]> {
  return (await query(...words)).out.split("\n").map((line) => line.trim().split(/ {2,}/));
}

async function json(result: Promise<CliResult>): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = JSON.parse((await result).out);
  if (!isRecord(value)) throw new Error("no object");
  return value;
}

/** The fee and the memo of a transaction in a block. */
async function transaction(hash: unknown): Promise<unknown> {
  const { tx } = await json(query("tx", String(hash), "--json"));
  return tx;
}

async function untrnOf(address: string): Promise<bigint> {
  const [, [, amount = ""] = []] = await rows("bank", "balance", address, "untrn");
  return BigInt(amount);
}

describe("relaywatch tx bank send", () => {
  it("sends coins with a memo, an estimated gas limit and the chain's price", async () => {
    const before = await untrnOf(BOB);
    const sent = await json(send(BOB, "1000untrn", "--from", "alice", "--note", "rent", "-y", "--json"));
    expect(sent).toMatchObject({ code: 0 });
    expect(await transaction(sent["txhash"])).toMatchObject({
      body: {
        memo: "rent",
        messages: [{ "@type": "/cosmos.bank.v1beta1.MsgSend", from_address: ALICE, to_address: BOB }],
      },
    });
    expect((await untrnOf(BOB)) - before).toBe(1000n);
  });

  it("refuses an address on another chain, which never reaches the chain", async () => {
    const proxy = await startFaultProxy(chain.url.replace("tcp:", "http:"));
    const sent: string[] = [];
    proxy.set({
      kind: "rewrite",
      result: ({ params }, result) => {
        sent.push(`${String(params["data"])} ${String(params["tx"])}`);
        return result;
      },
    });
    const foreign = encodeBech32("cosmos", new Uint8Array(20));
    const sendTo = (address: string): Promise<CliResult> =>
      chain.run("tx", "bank", "send", address, "1untrn", "--from", "alice", "--node", proxy.url);
    const { exitCode, message } = await sendTo(foreign);
    expect({ exitCode, message }).toEqual({
      exitCode: 2,
      message: expect.stringContaining("begins with neutron"),
    });
    await sendTo(BOB);
    await proxy.close();
    expect(sent.join().toLowerCase()).toContain(toHex(utf8(BOB)));
    expect(sent.join().toLowerCase()).not.toContain(toHex(utf8(foreign)));
  });

  it("pays the fee, or the price of gas, that the options fix", async () => {
    const words = [BOB, "1untrn", "--from", "alice", "--json"];
    const fixed = await json(send(...words, "--fees", "12345untrn", "--gas", "auto"));
    const fee = { amount: [{ denom: "untrn", amount: "12345" }], gas_limit: fixed["gas_wanted"] };
    expect(await transaction(fixed["txhash"])).toMatchObject({ auth_info: { fee } });
    const priced = await json(send(...words, "--gas-prices", "0.015untrn", "--gas", "300001"));
    const rounded = { amount: [{ denom: "untrn", amount: "4501" }], gas_limit: "300001" };
    expect(await transaction(priced["txhash"])).toMatchObject({ auth_info: { fee: rounded } });
    const both = await send(...words, "--fees", "1untrn", "--gas-prices", "1untrn");
    expect(both.usage).toContain("cannot be used with");
  });

  it("does not wait for a block with --broadcast-mode sync", async () => {
    const sent = await json(send(BOB, "1untrn", "--from", "alice", "-b", "sync", "--json"));
    expect(sent).toMatchObject({ code: 0, height: "0" });
    await expect
      .poll(async () => (await query("tx", String(sent["txhash"]))).out)
      .toContain("/cosmos.bank.v1beta1.MsgSend");
    const refused = await send(BOB, "1untrn", "--from", "alice", "-b", "sync", "--fees", "1untrn");
    expect(refused).toMatchObject({ exitCode: 1, message: expect.stringContaining("sdk/13") });
  });

  it("prints the transaction without a signature, for an address whose key is elsewhere", async () => {
    const words = [BOB, "2uibcatom,1untrn", "--generate-only", "--fees", "7untrn", "--note", "later"];
    const message = {
      "@type": "/cosmos.bank.v1beta1.MsgSend",
      from_address: ALICE,
      to_address: BOB,
      amount: [
        { denom: "uibcatom", amount: "2" },
        { denom: "untrn", amount: "1" },
      ],
    };
    for (const from of [ALICE, "alice"])
      expect(await json(send(...words, "--from", from))).toMatchObject({
        body: { messages: [message], memo: "later", timeout_height: "0" },
        auth_info: {
          signer_infos: [],
          fee: { amount: [{ denom: "untrn", amount: "7" }], gas_limit: "200000" },
        },
        signatures: [],
      });
    expect((await send(...words, "--from", "nobody")).message).toContain("an address or a test account name");
  });

  it("signs with a key of an SDK keyring", async () => {
    expect(await send(KEY, "5000000untrn", "--from", "alice")).toMatchObject(DONE);
    const sent = await json(send(BOB, "1untrn", "--from", "relayer", ...KEYRING, "--json"));
    expect(await transaction(sent["txhash"])).toMatchObject({ body: { messages: [{ from_address: KEY }] } });
    expect((await send(BOB, "1untrn", "--from", "nobody", ...KEYRING)).message).toContain("relayer");
  });

  it("signs with a program that has the key", async () => {
    const program = fileURLToPath(new URL("../../support/client/signer-program.mjs", import.meta.url));
    const signer = ["--signer", process.execPath, "--signer-arg", program, "--signer-arg=high-s"];
    const unsigned = await json(send(BOB, "1untrn", ...signer, "--generate-only"));
    const from = /"from_address":"(neutron1\w+)"/.exec(JSON.stringify(unsigned))?.[1] ?? "";
    expect(await send(from, "5000000untrn", "--from", "alice")).toMatchObject(DONE);
    const sent = await json(send(BOB, "1untrn", ...signer, "--json"));
    expect(await transaction(sent["txhash"])).toMatchObject({ body: { messages: [{ from_address: from }] } });
    const refused = await send(BOB, "1untrn", ...signer, "--signer-arg=refuses", "--from", "alice");
    expect(refused.usage).toContain("cannot be used with option");
    const missing = await send(BOB, "1untrn", "--signer", "/nowhere/signer");
    expect(missing).toMatchObject({ exitCode: 78 });
    expect(missing.message).toContain("the signer program signer does not exist");
  });

  it("refuses coins that the chain would not read", async () => {
    expect((await send(BOB, "1untrn,2untrn", "--from", "alice")).usage).toContain(
      "each denomination may appear only once",
    );
    expect((await send(BOB, "1untrn", "--from", "alice", "--fees", "1")).usage).toContain("2500untrn");
    expect((await send(BOB, "1untrn", "--from", "alice", "--gas-prices", "untrn")).usage).toContain(
      "0.01untrn",
    );
  });
});

describe("relaywatch query", () => {
  it("prints balances, supply and names of denominations", async () => {
    expect(await rows("bank", "balances", ALICE)).toContainEqual(["untrn", expect.any(String)]);
    expect(await rows("bank", "spendable-balances", ALICE)).toContainEqual(["untrn", expect.any(String)]);
    const [, [, supply] = []] = await rows("bank", "total-supply-of", "untrn");
    expect(await rows("bank", "total", "--page-limit", "100")).toContainEqual(["untrn", supply]);
    const owners = await rows("bank", "denom-owners", "untrn", "--page-limit", "200");
    expect(owners.map(([address]) => address)).toContain(ALICE);
    const metadata = await json(query("bank", "denoms-metadata", "--json"));
    expect(metadata).toMatchObject({ metadatas: expect.any(Array) });
    expect(await rows("bank", "params")).toContainEqual(["default_send_enabled", "true"]);
  });

  it("takes the page options of SDK 0.50", async () => {
    const owners = async (...words: readonly string[]): Promise<readonly unknown[]> => {
      const page = await json(query("bank", "denom-owners", "untrn", ...words, "--json"));
      return Array.isArray(page["denom_owners"]) ? page["denom_owners"] : [];
    };
    const all = await owners();
    expect(all.length).toBeGreaterThan(3);
    expect(await owners("--page-limit", "2", "--page-offset", "1")).toEqual(all.slice(1, 3));
    expect(await owners("--page-reverse")).toEqual(all.toReversed());
    const counted = await json(query("bank", "total", "--page-limit", "1", "--page-count-total", "--json"));
    expect(counted).toMatchObject({ pagination: { total: "1" } });
  });

  it("prints coins without their display units, where a gateway does not let their metadata through", async () => {
    const proxy = await startFaultProxy(chain.url.replace("tcp:", "http:"));
    try {
      const only = ({ params }: ProxiedCall): boolean =>
        params["path"] === "/cosmos.bank.v1beta1.Query/DenomMetadata";
      proxy.set({ kind: "error", data: "this path is forbidden", only });
      const { exitCode, out } = await chain.run("query", "bank", "balances", ALICE, "--node", proxy.url);
      expect([exitCode, proxy.hits() > 0]).toEqual([0, true]);
      expect(out).toMatch(/^DENOM +AMOUNT\n/);
    } finally {
      await proxy.close();
    }
  });

  it("prints coins in display units too, where the chain has their metadata", async () => {
    // Before: no coin of the account has a display unit, so there is no such column.
    expect((await rows("bank", "balances", ALICE))[0]).toEqual(["DENOM", "AMOUNT"]);
    const denom = `factory/${ALICE}/gold`;
    const factory = (...words: readonly string[]): Promise<CliResult> =>
      chain.run("tx", "tokenfactory", ...words, "--from", "alice", "--node", chain.url);
    expect(await factory("create-denom", "gold")).toMatchObject(DONE);
    const units = [
      { denom, exponent: 0 },
      { denom: "gold", exponent: 6 },
    ];
    const metadata = { base: denom, display: "gold", name: "Gold", symbol: "GLD", denom_units: units };
    expect(await factory("set-denom-metadata", JSON.stringify(metadata))).toMatchObject(DONE);
    expect(await factory("mint", `1234500${denom}`)).toMatchObject(DONE);
    const balances = await rows("bank", "balances", ALICE);
    expect(balances[0]).toEqual(["DENOM", "AMOUNT", "DISPLAY"]);
    expect(balances).toContainEqual([denom, "1234500", "1.2345 GLD"]);
    expect(balances).toContainEqual(["untrn", expect.any(String), "-"]);
    expect(await rows("bank", "total-supply-of", denom)).toContainEqual([denom, "1234500", "1.2345 GLD"]);
    expect(await rows("bank", "denom-owners", denom)).toContainEqual([ALICE, "1234500", "1.2345 GLD"]);
    const shown = await json(query("bank", "balances", ALICE, "--json"));
    expect(shown).toMatchObject({ balances: expect.arrayContaining([{ denom, amount: "1234500" }]) });
  });

  it("prints text, JSON or YAML", async () => {
    const words = ["bank", "balance", ALICE, "untrn"];
    const object = await json(query(...words, "--json"));
    expect(await json(query(...words, "-o", "json"))).toEqual(object);
    expect((await query(...words, "-o", "yaml")).out).toMatch(
      /^balance:\n {2}amount: "\d+"\n {2}denom: untrn$/,
    );
    expect((await query(...words, "-o", "text")).out).toMatch(/^DENOM /);
    const { usage } = await query(...words, "-o", "xml");
    expect(usage).toMatch(/^relaywatch: option '-o, --output <format>' argument 'xml' is invalid/);
  });

  it("prints accounts", async () => {
    expect(await rows("auth", "account", ALICE)).toContainEqual([
      ALICE,
      expect.any(String),
      expect.any(String),
    ]);
    const [, bank] = await rows("auth", "module-account", "bonded_tokens_pool");
    expect(await rows("auth", "module-accounts")).toContainEqual(bank);
    expect(await rows("auth", "params")).toContainEqual(["max_memo_characters", "256"]);
  });

  it("prints the fee market", async () => {
    const [, [denom, price = ""] = []] = await rows("feemarket", "gas-price", "untrn");
    expect([denom, Number(price) > 0]).toEqual(["untrn", true]);
    expect(await rows("feemarket", "gas-prices")).toContainEqual([denom, price]);
    expect(await rows("feemarket", "state")).toHaveLength(2);
    expect(await rows("feemarket", "params")).toContainEqual(["enabled", "true"]);
  });

  it("prints blocks and transactions, and searches transactions", async () => {
    const sent = await json(send(BOB, "1untrn", "--from", "alice", "--json"));
    const found = await rows("txs", "--query", `tx.height=${String(sent["height"])}`);
    expect(found.map(([height, hash]) => [height, hash])).toContainEqual([sent["height"], sent["txhash"]]);
    const { block } = await json(query("block", String(sent["height"]), "--json"));
    expect(block).toMatchObject({ header: { chain_id: "local-1", height: sent["height"] } });
    expect((await query("tx", "00")).exitCode).toBe(1);
  });
});
