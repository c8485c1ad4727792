import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { classicContractAddress } from "../../../src/localnet/chain/modules/wasm/keeper.ts";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { parseProfileReport } from "../../../src/workbench/profile/profile-json.ts";
import { I32, OP } from "../../../src/localnet/vm/operators.ts";
import { encodeBech32, sha256, toBase64, toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";
import { profileSum } from "../../support/contract-chain.ts";
import {
  buildContract,
  buildEchoContract,
  call,
  i32,
  RESULT_POINTER,
} from "../../support/vm/wasm-builder.ts";

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
      message: expect.stringContaining("the chain would reject this code"),
    });
    expect(await tx("alice", "instantiate", "5", "{}", "--label", "x")).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("or --no-admin"),
    });
    expect((await tx("alice", "execute", CONTRACT, "{")).usage).toContain("expected JSON");
    expect((await tx("alice", "execute", CONTRACT, "{}", "--amount", "5")).usage).toContain(
      "amount with a denomination",
    );
    expect((await query("smart", CONTRACT, "{")).usage).toContain("expected JSON");
  });
});

describe("relaywatch tx wasm, the other commands", () => {
  it("creates a contract at an address that is known before", async () => {
    const salt = ["--ascii", "--label", "second", "--no-admin"];
    const predicted = rowsOf(await query("build-address", toHex(sha256(CODE)), ALICE, "6162")).at(-1)?.[0];
    const created = await tx("alice", "instantiate2", "5", '{"ok":{}}', "ab", ...salt);
    expect(created).toMatchObject({ ...DONE, out: expect.stringContaining(`contract: ${predicted}`) });
    expect(await tx("alice", "instantiate2", "5", "{}", "xyz", "--label", "a", "--no-admin")).toMatchObject({
      exitCode: 2,
      message: "salt xyz: expected 1 to 64 bytes of hex (see --ascii and --b64)",
    });
  });

  it("chooses who may create contracts, and pins code through the authority", async () => {
    const nobody = await tx("alice", "store", file, "--instantiate-nobody");
    expect(nobody).toMatchObject({ ...DONE, out: expect.stringContaining("code: 6") });
    const permission = async (): Promise<string | undefined> =>
      rowsOf(await query("code-info", "6")).at(-1)?.[2];
    expect(await permission()).toBe("Nobody");
    expect(await tx("alice", "update-instantiate-config", "6", "--instantiate-everybody")).toMatchObject(
      DONE,
    );
    expect(await permission()).toBe("Everybody");
    const addresses = ["--instantiate-anyof-addresses", `${ALICE},${BOB}`];
    expect(await tx("alice", "update-instantiate-config", "6", ...addresses)).toMatchObject(DONE);
    expect((await query("code-info", "6", "--json")).out).toContain(BOB);
    expect(await tx("alice", "update-instantiate-config", "6")).toMatchObject({ exitCode: 2 });
    expect(await tx("operator", "pin", "5", "6")).toMatchObject(DONE);
    expect(rowsOf(await query("pinned")).slice(1)).toEqual([["5"], ["6"]]);
    expect(await tx("operator", "unpin", "6")).toMatchObject(DONE);
    expect(rowsOf(await query("pinned")).slice(1)).toEqual([["5"]]);
  });

  it("renames a contract, reads its entries, and downloads a code", async () => {
    const created = await tx("alice", "instantiate", "5", '{"ok":{}}', "--label", "old", "--admin", ALICE);
    const address = created.out.split(" ").at(-1) ?? "";
    expect(await tx("alice", "set-contract-label", address, "new name")).toMatchObject(DONE);
    expect(rowsOf(await query("contract", address)).at(-1)?.[1]).toBe("new name");
    expect(await tx("alice", "execute", address, '{"ok":{}}')).toMatchObject(DONE);
    expect(rowsOf(await query("contract-state", "all", address))).toHaveLength(4);
    expect(rowsOf(await query("contract-state", "raw", address, toHex(utf8("msg")))).at(-1)).toEqual([
      toBase64(utf8('{"ok":{}}')),
    ]);
    expect((await query("contract-state", "raw", address, "xyz")).usage).toContain("expected hex");
    expect((await query("contract-state", "smart", address, '{"ok":"e30="}')).out).toContain("{}");
    const download = join(folder, "download.wasm");
    expect(await query("code", "5", download)).toMatchObject(DONE);
    expect(new Uint8Array(readFileSync(download))).toEqual(CODE);
    expect(await query("code", "1", download)).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("built into the localnet"),
    });
  });
});

describe("--profile", () => {
  const gasIn = (path: string): bigint => {
    const report = parseProfileReport(JSON.parse(readFileSync(path, "utf8")));
    expect(profileSum(report.root)).toBe(report.gasUsed * 140_000n);
    return report.gasUsed;
  };

  it("of an executed transaction has its gas, as a file and as a table", async () => {
    const path = join(folder, "execute.json");
    const { out } = await tx("alice", "execute", CONTRACT, '{"ok":{}}', "--profile", path);
    const used = /gas_used: "(\d+)"/.exec(out)?.[1];
    expect(gasIn(path).toString()).toBe(used);
    expect(out).toContain(`gas used: ${used}`);
    expect(out).toMatch(/host +db_write/);
    expect(out).toMatch(/cost +Loading CosmWasm module: execute/);
  });

  it("of a dry run is that of the simulation", async () => {
    const path = join(folder, "dry.json");
    const isEqual = async (): Promise<boolean> => {
      const { out } = await tx("alice", "execute", CONTRACT, '{"ok":{}}', "--profile", path, "--dry-run");
      return out.includes(`gas_used: "${gasIn(path)}"`);
    };
    // The profile is a second simulation. A block between the two may change the length of a number in a store.
    await expect.poll(isEqual).toBe(true);
  });

  it("of a query has the contract's gas", async () => {
    const path = join(folder, "query.json");
    await query("smart", CONTRACT, '{"ok":"e30="}', "--profile", path);
    // The code is pinned.
    expect(gasIn(path)).toBeGreaterThan(2_000n);
  });

  it("is written in other formats, and not where no file can be", async () => {
    const path = join(folder, "a.folded");
    await tx("alice", "execute", CONTRACT, '{"ok":{}}', "--profile", path, "--dry-run");
    expect(readFileSync(path, "utf8")).toMatch(/^simulation;ante handler;.* \d+$/m);
    const chosen = ["--profile", path, "--profile-format", "speedscope", "--dry-run"];
    await tx("alice", "execute", CONTRACT, '{"ok":{}}', ...chosen);
    expect(readFileSync(path, "utf8")).toContain("speedscope.app");
    const nowhere = join(folder, "no", "folder");
    expect(
      await tx("alice", "execute", CONTRACT, '{"ok":{}}', "--profile", nowhere, "--dry-run"),
    ).toMatchObject({ exitCode: 78 });
  });

  it("shows the functions of a trap, and the contract's own panic, which the log has without them", async () => {
    const trap = join(folder, "trap.wasm");
    const entry = { params: [I32, I32, I32], results: [I32] };
    const create = { ...entry, body: [...i32(RESULT_POINTER)], exportAs: "instantiate" };
    const name = utf8("_ZN1a4fail17h0123456789abcdefE");
    const names = Uint8Array.of(1, name.length + 3, 1, 6, name.length, ...name);
    writeFileSync(
      trap,
      buildContract(call(6), {
        functions: [create, { body: [OP.unreachable] }],
        result: '{"ok":{}}',
        custom: [["name", names]],
      }),
    );
    await tx("alice", "store", trap);
    const created = await tx("alice", "instantiate", "7", "{}", "--label", "trap", "--no-admin");
    const address = created.out.split(" ").at(-1) ?? "";
    const simulated = await tx("alice", "execute", address, "{}");
    expect(simulated).toMatchObject({ exitCode: 1 });
    expect(simulated.message).toMatch(/unreachable\n {6}at a::fail\n {6}at execute$/);
    const executed = await tx("alice", "execute", address, "{}", "--gas", "400000");
    expect(executed.message).toMatch(/unreachable\n {6}at a::fail\n {6}at execute$/);
    expect(executed.out).not.toContain("at execute");
  });
});

describe("relaywatch query wasm", () => {
  it("lists contracts, pinned codes and parameters", async () => {
    expect(rowsOf(await query("list-contract-by-code", "5")).slice(0, 2)).toEqual([["CONTRACT"], [CONTRACT]]);
    expect(rowsOf(await query("list-contracts-by-creator", ALICE)).slice(0, 2)).toEqual([
      ["CONTRACT"],
      [CONTRACT],
    ]);
    expect(await query("pinned")).toMatchObject(DONE);
    expect(rowsOf(await query("params")).at(-1)).toEqual(["Everybody", "Everybody"]);
  });
});
