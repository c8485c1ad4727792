import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { encodeBech32, fromHex } from "../../../src/platform/base/bytes.ts";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import type { JsonValue } from "../../../src/platform/base/json.ts";
import { fieldAt } from "../../../src/platform/cli/table.ts";
import { runCommand } from "../../support/cli-chain.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { startParts } from "../../support/localnet-parts.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { leasePorts, type PortLease } from "../../support/port-lease.ts";

/** The key "relayer" of the recorded keyring. It has no account in a new chain. */
const OWNER = encodeBech32("neutron", fromHex("1d19480dbdf192bbc6f35415a59983c0e6bfb65c"));
const BY_OWNER = [
  "--from",
  "relayer",
  "--keyring-backend",
  "test",
  "--keyring-dir",
  fileURLToPath(fixtureFile("keyring")),
];
const BOB = "neutron1xek7j2nv3yshdf4ly3s87ddf0aysz3ckr3y3p7";
const YEAR_SECONDS = 365 * 24 * 3600;
/** Delegated after the first quarter, untrn. It is half of what vests. */
const DELEGATED = 2_000_000_000n;
/** Processor time for the year, five seconds, since other tests run beside this one. */
const YEAR_BUDGET_US = 5_000_000;

let lease: PortLease;
let home: string;
let end: () => Promise<void>;
const stop = new AbortController();

beforeAll(async () => {
  lease = await leasePorts();
  home = mkdtempSync(join(tmpdir(), "relaywatch-vesting-"));
  vi.stubEnv("XDG_STATE_HOME", home);
  end = await startParts(["local", "remote"], lease.offset);
  await cli("localnet", "time", "rate", "0");
  await cli("localnet", "mine", "2");
});

afterAll(async () => {
  stop.abort();
  await end();
  vi.unstubAllEnvs();
  lease.release();
  rmSync(home, { recursive: true, force: true });
});

async function cli(...words: readonly string[]): Promise<string> {
  const { out, message } = await runCommand([...words, "--port-offset", String(lease.offset)], stop.signal);
  expect(message).toBeUndefined();
  return out;
}

const json = async (...words: readonly string[]) => JSON.parse(await cli(...words, "-o", "json"));
const tx = (...words: readonly string[]) => json("tx", ...words, "-y");

async function spendable(address: string): Promise<bigint> {
  const { balances } = await json("query", "bank", "spendable-balances", address);
  return BigInt(balances[0].amount);
}

async function account(address: string): Promise<JsonValue | undefined> {
  const base = `http://127.0.0.1:${portsAt(lease.offset).localRest}`;
  const body: JsonValue = JSON.parse(
    await (await fetch(`${base}/cosmos/auth/v1beta1/accounts/${address}`)).text(),
  );
  return fieldAt(body, "account");
}

async function validator(): Promise<string> {
  const { validators } = await json("query", "staking", "validators");
  return validators[0].operator_address;
}

const seconds = (time: string): number => Math.floor(Date.parse(time) / 1000);
/** Moves the time ahead. A block's time is when the block before it was voted for, so the second one has the new time. */
async function pass(duration: string): Promise<void> {
  await cli("localnet", "time", "add", duration);
  await cli("localnet", "mine", "2");
}

const nowSeconds = async (): Promise<number> => seconds((await json("localnet", "time")).time);

describe("a vesting year on a localnet", () => {
  it("passes in five seconds, with what is spendable after each quarter", { timeout: 90_000 }, async () => {
    const began = process.cpuUsage();
    const amount = 4_000_000_000n;
    const endTime = (await nowSeconds()) + YEAR_SECONDS;
    const created = ["create-vesting-account", OWNER, `${amount}untrn`, String(endTime), "--from", "alice"];
    expect(await tx("vesting", ...created)).toMatchObject({ code: 0 });
    expect(await account(OWNER)).toMatchObject({
      "@type": "/cosmos.vesting.v1beta1.ContinuousVestingAccount",
      start_time: String(endTime - YEAR_SECONDS),
    });
    expect(await spendable(OWNER)).toBe(0n);
    let feePaid = 0n;
    for (let quarter = 1n; quarter <= 4n; quarter += 1n) {
      await pass(`${YEAR_SECONDS / 4}s`);
      // The clock stands still, so a quarter is exact.
      const vested = (amount * quarter) / 4n;
      expect(await spendable(OWNER)).toBe((vested < DELEGATED ? vested : amount - DELEGATED) - feePaid);
      if (quarter > 1n) continue;
      // Two thirds of the locked coins.
      expect(
        await tx("staking", "delegate", await validator(), `${DELEGATED}untrn`, ...BY_OWNER),
      ).toMatchObject({ code: 0 });
      feePaid = amount / 4n - (await spendable(OWNER));
      expect(await account(OWNER)).toMatchObject({
        base_vesting_account: {
          delegated_free: [],
          delegated_vesting: [{ denom: "untrn", amount: String(DELEGATED) }],
        },
      });
    }
    const { user, system } = process.cpuUsage(began);
    expect(user + system).toBeLessThan(YEAR_BUDGET_US);
    expect(feePaid).toBeGreaterThan(0n);
    expect(feePaid).toBeLessThan(1_000_000n);
  });
});

describe("relaywatch tx vesting", () => {
  const fresh = (name: string): string => createTestKey(name).address;

  it("creates a periodic account from a file, a delayed one, and a locked one", {
    timeout: 90_000,
  }, async () => {
    const start = await nowSeconds();
    const file = join(home, "periods.json");
    const periods = [
      { coins: "3untrn", length_seconds: 100 },
      { coins: "4untrn", length_seconds: 50 },
    ];
    writeFileSync(file, JSON.stringify({ start_time: start, periods }));
    const from = ["--from", "bob"];
    const create = (what: string, ...words: readonly string[]) =>
      tx("vesting", `create-${what}`, ...words, ...from);
    const [parts, later, locked] = [fresh("parts"), fresh("later"), fresh("locked")];
    await create("periodic-vesting-account", parts, file);
    await create("vesting-account", later, "9untrn", String(start + 150), "--delayed");
    await create("permanent-locked-account", locked, "9untrn");
    const all = async () => Promise.all([parts, later, locked].map(spendable));
    expect(await all()).toEqual([0n, 0n, 0n]);
    await pass("100s");
    expect(await all()).toEqual([3n, 0n, 0n]);
    await pass("50s");
    expect(await all()).toEqual([7n, 9n, 0n]);
  });

  it.each([
    ["no JSON", "{", "in JSON"],
    ["no periods", "{}", 'expected an object with "start_time" and "periods"'],
    ["no time", '{"periods":[]}', "start_time: expected seconds"],
    ["a negative time", '{"start_time":-1,"periods":[]}', "expected an integer below 2^64"],
    [
      "no coins",
      '{"start_time":1,"periods":[{"length_seconds":1}]}',
      'expected periods with "coins" and "length_seconds"',
    ],
    ["no length", '{"start_time":1,"periods":[{"coins":"1untrn"}]}', "length_seconds: expected seconds"],
    [
      "half a coin",
      '{"start_time":1,"periods":[{"coins":"1","length_seconds":1}]}',
      "expected an amount with a denomination",
    ],
  ])("refuses a file with %s", async (_what, text, message) => {
    const file = join(home, "bad.json");
    writeFileSync(file, text);
    const words = ["tx", "vesting", "create-periodic-vesting-account", BOB, file, "--from", "bob", "-y"];
    const refused = await runCommand([...words, "--port-offset", String(lease.offset)], stop.signal);
    expect(refused).toMatchObject({ exitCode: 1, out: "" });
    expect(refused.message).toContain(`cannot read the periods in ${file}: `);
    expect(refused.message).toContain(message);
  });
});
