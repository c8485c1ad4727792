import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toBase64, encodeBech32 } from "../../../src/platform/base/bytes.ts";
import { classicContractAddress } from "../../../src/localnet/chain/modules/wasm/keeper.ts";
import { operatorOf } from "../../../src/localnet/cli/module-tx.ts";
import { validatorKey } from "../../../src/localnet/node/consensus/validators.ts";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";

const ALICE = accountNamed(CHAINS.local, "alice").address;
const BOB = accountNamed(CHAINS.local, "bob").address;
/** The operator of the first validator of the localnet. */
const FIRST = operatorOf(accountNamed(CHAINS.local, "operator").address);
const SECOND = operatorOf(BOB);
const CONTRACT = encodeBech32("neutron", classicContractAddress(1n, 1n));
const FILE = {
  pubkey: {
    "@type": "/cosmos.crypto.ed25519.PubKey",
    key: toBase64(validatorKey(new Uint8Array(32).fill(7)).publicKey),
  },
  amount: "2000000untrn",
  moniker: "bob's",
  "commission-rate": "0.1",
  "commission-max-rate": "0.2",
  "commission-max-change-rate": "0.01",
  "min-self-delegation": "1",
};

let chain: CliChain;
let folder: string;

beforeAll(async () => {
  chain = await startCliChain();
  folder = mkdtempSync(join(tmpdir(), "relaywatch-staking-"));
});
afterAll(async () => {
  await chain.stop();
  rmSync(folder, { recursive: true, force: true });
});

const query = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("query", ...words, "--node", chain.url);
const DONE = { exitCode: 0, message: undefined };
const tx = (from: string, ...words: readonly string[]): Promise<CliResult> =>
  chain.run("tx", ...words, "--from", from, "--node", chain.url);

/** The words of a table row by row. */
function rowsOf({ out }: CliResult): readonly (readonly string[])[] {
  return out.split("\n").map((line) => line.split(/ {2,}/));
}

function writeFile(content: object): string {
  const path = join(folder, "validator.json");
  writeFileSync(path, JSON.stringify(content));
  return path;
}

describe("relaywatch tx staking", () => {
  it("creates a validator, which bonds, and delegates to it", async () => {
    expect(await tx("bob", "staking", "create-validator", writeFile(FILE))).toMatchObject(DONE);
    expect(await tx("alice", "staking", "delegate", SECOND, "1500000untrn")).toMatchObject(DONE);
    expect(await tx("alice", "staking", "delegate", FIRST, "300untrn")).toMatchObject(DONE);
    const rows = rowsOf(await query("staking", "validators", "--status", "BOND_STATUS_BONDED"));
    expect(rows[0]).toEqual(["MONIKER", "OPERATOR", "STATUS", "JAILED", "TOKENS", "SHARES", "COMMISSION"]);
    expect(rows).toContainEqual(["bob's", SECOND, "bonded", "false", "3500000", "3500000", "0.1"]);
  });

  it("changes the description and keeps the other texts", async () => {
    const words = ["staking", "edit-validator", "--new-moniker", "new", "--min-self-delegation", "5"];
    expect(await tx("bob", ...words)).toMatchObject(DONE);
    expect(await tx("bob", "staking", "edit-validator", "--details", "text")).toMatchObject(DONE);
    const { out } = await query("staking", "validator", SECOND, "--json");
    expect(JSON.parse(out)).toMatchObject({
      validator: { description: { moniker: "new", details: "text" }, min_self_delegation: "5" },
    });
    expect(await tx("bob", "staking", "edit-validator", "--commission-rate", "0.11")).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("commission cannot be changed more than once in 24h"),
    });
  });

  it("undelegates, says when, cancels, and redelegates", async () => {
    const undelegated = await tx("alice", "staking", "unbond", SECOND, "500000untrn");
    expect(undelegated.out).toMatch(/\namount: 500000\ncompletes: 20\d\d-/);
    const [, row = []] = rowsOf(await query("staking", "unbonding-delegation", ALICE, SECOND));
    expect([row[0], row[1], row[4], row[5]]).toEqual([ALICE, SECOND, "500000", "500000"]);
    const cancel = await tx(
      "alice",
      "staking",
      "cancel-unbond",
      SECOND,
      "200000untrn",
      row[3] ?? "",
      "--json",
    );
    expect(JSON.parse(cancel.out)).toMatchObject({ code: 0 });
    expect(rowsOf(await query("staking", "unbonding-delegations", ALICE))[1]?.[4]).toBe("300000");
    expect((await tx("alice", "staking", "redelegate", SECOND, FIRST, "100000untrn")).out).toContain(
      "completes: 20",
    );
    expect(rowsOf(await query("staking", "redelegations", ALICE))[1]?.slice(0, 3)).toEqual([
      ALICE,
      SECOND,
      FIRST,
    ]);
  });

  it.each([
    [["delegate", FIRST, "x"], 2],
    [["delegate", FIRST, "10"], 2],
    [["delegate", FIRST], 2],
    [["cancel-unbond", FIRST, "1untrn", "-1"], 2],
    [["edit-validator", "--commission-rate", "1.5"], 2],
    [["create-validator", "/nowhere"], 2],
    [["delegate", BOB, "1untrn"], 1],
    [["unbond", FIRST, "9999999untrn"], 1],
  ])("%j exits %i", async (words, exitCode) => {
    expect(await tx("alice", "staking", ...words)).toMatchObject({ exitCode });
  });

  it("names every wrong member of a validator file", async () => {
    const file = writeFile({ ...FILE, amount: "2", "commission-rate": "2", extra: 1 });
    const { message } = await tx("bob", "staking", "create-validator", file);
    for (const text of ["e.g. 1000000untrn", "from 0 to 1", "extra"]) expect(message).toContain(text);
  });
});

describe("relaywatch query staking and slashing", () => {
  it.each([
    [["staking", "validators"], 2],
    [["staking", "validator", FIRST], 1],
    [["staking", "delegations", ALICE], 2],
    [["staking", "delegations-to", SECOND], 2],
    [["staking", "delegation", ALICE, SECOND], 1],
    [["staking", "unbonding-delegations-from", SECOND], 1],
    [["staking", "redelegation", ALICE, SECOND, FIRST], 1],
    [["staking", "redelegations-from", SECOND], 1],
    [["staking", "delegator-validators", ALICE], 2],
    [["staking", "delegator-validator", ALICE, FIRST], 1],
    [["staking", "pool"], 1],
    [["staking", "params"], 6],
    [["slashing", "params"], 5],
    [["slashing", "signing-infos"], 2],
  ])("%j prints a table with %i rows, and the JSON of the REST API", async (words, count) => {
    const table = await query(...words);
    expect(table).toMatchObject(DONE);
    expect(rowsOf(table)).toHaveLength(count + 1);
    const json: unknown = JSON.parse((await query(...words, "--json")).out);
    expect(json).toBeTypeOf("object");
  });

  it("prints the next page, and one signing info", async () => {
    const { out } = await query("staking", "validators", "--limit", "1");
    expect(out).toMatch(/\nnext page: --page-key \S+$/);
    const [, row = []] = rowsOf(await query("slashing", "signing-infos"));
    expect(rowsOf(await query("slashing", "signing-info", row[0] ?? ""))[1]).toEqual(row);
  });

  it.each([
    [["staking", "validators", "--status", "bonded"], "invalid validator status bonded"],
    [["staking", "validator", operatorOf(ALICE)], "not found"],
    [["slashing", "signing-info", FIRST], "hrp does not match bech32 prefix"],
  ])("%j fails with the text of the chain", async (words, text) => {
    expect(await query(...words)).toMatchObject({ exitCode: 1, message: expect.stringContaining(text) });
  });
});

it("relaywatch tx slashing unjail is refused for a validator that is free", async () => {
  // The one that signs: the other is jailed on a slow machine.
  expect(await tx("operator", "slashing", "unjail")).toMatchObject({
    exitCode: 1,
    message: expect.stringContaining("validator not jailed; cannot be unjailed"),
  });
});

describe("relaywatch tx harpoon and query harpoon", () => {
  const HOOK = "HOOK_TYPE_BEFORE_VALIDATOR_SLASHED";
  const manage = (from: string, ...hooks: readonly string[]): Promise<CliResult> =>
    tx(from, "harpoon", "manage-hook-subscription", CONTRACT, ...hooks);
  const subscribed = async (hook: string): Promise<readonly string[]> =>
    (await query("harpoon", "subscribed-contracts", hook)).out.split("\n").slice(1);

  it("replace the hook types of a contract in a proposal of an admin", async () => {
    expect((await manage("operator", HOOK, "3")).out).toContain("\nproposal: 1");
    expect(await subscribed(HOOK)).toEqual([CONTRACT]);
    expect(await subscribed("3")).toEqual([CONTRACT]);
    expect(await manage("operator", "3")).toMatchObject(DONE);
    expect(await subscribed("10")).toEqual([]);
    expect((await manage("operator")).out).toContain("\nproposal: 3");
    expect(await subscribed("3")).toEqual([]);
  });

  it("refuse another account, a contract that does not exist, and unknown hook types", async () => {
    expect((await manage("alice", HOOK)).message).toContain(`proposer ${ALICE} must be admin`);
    const nobody = await tx("operator", "harpoon", "manage-hook-subscription", BOB, HOOK);
    expect(nobody.message).toContain(`contract address not found: ${BOB}: invalid address`);
    expect((await manage("operator", "12")).message).toContain("non-existing hook=12");
    expect(await manage("operator", "HOOK_TYPE_X")).toMatchObject({ exitCode: 2 });
    expect(await query("harpoon", "subscribed-contracts", "HOOK_TYPE_X")).toMatchObject({ exitCode: 2 });
    expect(await query("harpoon", "subscribed-contracts")).toMatchObject({ exitCode: 2 });
    expect((await query("harpoon", "subscribed-contracts", "0")).message).toContain(
      "unspecified hooks are not allowed",
    );
  });
});
