import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { classicContractAddress } from "../../../src/localnet/chain/modules/wasm/address.ts";
import { accountNamed, CHAINS } from "../../../src/localnet/network/chains.ts";
import { encodeBech32, sha256, toHex } from "../../../src/platform/base/bytes.ts";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";
import { buildEchoContract } from "../../support/vm/wasm-builder.ts";

const ALICE = accountNamed(CHAINS.local, "alice").address;
const BOB = accountNamed(CHAINS.local, "bob").address;
const CODE = buildEchoContract();
/** The localnet has four codes and one contract. */
const CONTRACT = encodeBech32("neutron", classicContractAddress(5n, 2n));

let chain: CliChain;
let folder: string;
let file: string;

beforeAll(async () => {
  chain = await startCliChain();
  folder = mkdtempSync(join(tmpdir(), "relaywatch-wasm-"));
  file = join(folder, "echo.wasm");
  writeFileSync(file, CODE);
});
afterAll(async () => {
  await chain.stop();
  rmSync(folder, { recursive: true, force: true });
});

const query = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("query", "wasm", ...words, "--node", chain.url);
const tx = (from: string, ...words: readonly string[]): Promise<CliResult> =>
  chain.run("tx", "wasm", ...words, "--from", from, "--node", chain.url);
const DONE = { exitCode: 0, message: undefined };

/** The words of a table row by row. */
function rowsOf({ out }: CliResult): readonly (readonly string[])[] {
  return out
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/ {2,}/));
}

describe("relaywatch tx wasm", () => {
  it("uploads, creates, calls and migrates a contract", async () => {
    const stored = await tx("alice", "store", file);
    expect(stored).toMatchObject({ ...DONE, out: expect.stringContaining("code: 5") });
    expect(rowsOf(await query("list-code")).at(-1)).toEqual([
      "5",
      ALICE,
      "Everybody",
      toHex(sha256(CODE)).toUpperCase(),
    ]);
    const created = await tx("alice", "instantiate", "5", '{"ok":{}}', "--label", "echo", "--admin", ALICE);
    expect(created).toMatchObject({ ...DONE, out: expect.stringContaining(`contract: ${CONTRACT}`) });
    const called = await tx("bob", "execute", CONTRACT, '{ "ok":{"data":"AQI="}}', "--amount", "5untrn");
    expect(called).toMatchObject({ ...DONE, out: expect.stringContaining("data: AQI=") });
    expect((await query("smart", CONTRACT, '{"ok":"eyJhIjoxfQ=="}', "--json")).out).toContain('"a": 1');
    expect(rowsOf(await query("state", CONTRACT)).map(([key]) => key)).toEqual([
      "KEY",
      "656E76",
      "696E666F",
      "6D7367",
    ]);
    expect(await tx("bob", "migrate", CONTRACT, "5", "{}")).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("can not migrate: unauthorized"),
    });
    expect(await tx("alice", "migrate", CONTRACT, "5", '{"ok":{}}')).toMatchObject(DONE);
    expect(rowsOf(await query("contract-history", CONTRACT)).map(([operation]) => operation)).toHaveLength(3);
  });

  it("changes the admin, and clears it", async () => {
    expect(await tx("alice", "set-contract-admin", CONTRACT, BOB)).toMatchObject(DONE);
    expect(rowsOf(await query("contract", CONTRACT)).at(-1)).toEqual(
      expect.arrayContaining(["5", "echo", ALICE, BOB]),
    );
    expect(await tx("bob", "clear-contract-admin", CONTRACT)).toMatchObject(DONE);
    expect(await tx("bob", "clear-contract-admin", CONTRACT)).toMatchObject({ exitCode: 1 });
  });

  it("refuses what the chain would refuse, before it sends anything", async () => {
    const bad = join(folder, "bad.wasm");
    writeFileSync(bad, "no code");
    expect(await tx("alice", "store", bad)).toMatchObject({
      exitCode: 78,
      message: expect.stringContaining("the chain refuses this code"),
    });
    expect(await tx("alice", "instantiate", "5", "{}", "--label", "x")).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("--no-admin was expected"),
    });
    expect((await tx("alice", "execute", CONTRACT, "{")).usage).toContain("JSON was expected");
    expect((await tx("alice", "execute", CONTRACT, "{}", "--amount", "5")).usage).toContain(
      "coins such as 5untrn",
    );
    expect((await query("smart", CONTRACT, "{")).usage).toContain("JSON was expected");
  });
});

describe("relaywatch query wasm", () => {
  it("lists contracts, pinned codes and parameters", async () => {
    expect(rowsOf(await query("list-contract-by-code", "5"))).toEqual([["CONTRACT"], [CONTRACT]]);
    expect(rowsOf(await query("list-contracts-by-creator", ALICE))).toEqual([["CONTRACT"], [CONTRACT]]);
    expect(await query("pinned")).toMatchObject(DONE);
    expect(rowsOf(await query("params")).at(-1)).toEqual(["Everybody", "Everybody"]);
  });
});
