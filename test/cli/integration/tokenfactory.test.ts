import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";

const ALICE = accountNamed(CHAINS.local, "alice").address;
const BOB = accountNamed(CHAINS.local, "bob").address;
const DENOM = `factory/${ALICE}/gold`;

let chain: CliChain;

beforeAll(async () => {
  chain = await startCliChain({ hasBench: true });
});
afterAll(async () => {
  await chain.stop();
});

const query = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("query", ...words, "--node", chain.url);
const tx = (from: string, ...words: readonly string[]): Promise<CliResult> =>
  chain.run("tx", "tokenfactory", ...words, "--from", from, "--node", chain.url);
const DONE = { exitCode: 0, message: undefined };

async function json(...words: readonly string[]): Promise<unknown> {
  const { out } = await query(...words, "--json");
  return JSON.parse(out);
}

describe("relaywatch tx tokenfactory", () => {
  it("creates a denomination, mints, burns, moves and describes its coins, and changes its admin", async () => {
    expect(await tx("alice", "create-denom", "gold")).toMatchObject({
      ...DONE,
      out: expect.stringContaining(`denomination: ${DENOM}`),
    });
    expect(await tx("alice", "mint", `100${DENOM}`)).toMatchObject(DONE);
    expect(await tx("alice", "mint", `50${DENOM}`, "--to", BOB)).toMatchObject(DONE);
    expect(await tx("alice", "burn", `5${DENOM}`, "--from-address", BOB)).toMatchObject(DONE);
    expect(await tx("alice", "force-transfer", `20${DENOM}`, BOB, ALICE)).toMatchObject(DONE);
    const metadata = {
      base: DENOM,
      display: "GOLD",
      name: "Gold",
      symbol: "GLD",
      denom_units: [{ denom: DENOM }, { denom: "GOLD", exponent: 6 }],
    };
    expect(await tx("alice", "set-denom-metadata", JSON.stringify(metadata))).toMatchObject(DONE);
    expect(await tx("alice", "change-admin", DENOM, BOB)).toMatchObject(DONE);
    expect(await tx("alice", "mint", `1${DENOM}`)).toMatchObject({
      message: expect.stringContaining("unauthorized account"),
    });
    expect(await tx("bob", "set-before-send-hook", DENOM)).toMatchObject(DONE);
  });

  it("replaces the params in a proposal", async () => {
    const hook = JSON.stringify({ code_id: "1", denom_creator: ALICE });
    const words = ["update-params", "--creation-gas", "7", "--hook", hook];
    expect(await tx("operator", ...words)).toMatchObject(DONE);
    expect(await json("tokenfactory", "params")).toEqual({
      params: {
        denom_creation_fee: [],
        denom_creation_gas_consume: "7",
        fee_collector_address: "",
        whitelisted_hooks: [{ code_id: "1", denom_creator: ALICE }],
      },
    });
  });

  it("rejects a hook that is not a JSON object", async () => {
    const { usage } = await tx("operator", "update-params", "--hook", "1");
    expect(usage).toContain("expected a JSON object");
  });
});

describe("relaywatch query tokenfactory", () => {
  it("prints admin, denominations, hook and names as tables", async () => {
    const out = async (...words: readonly string[]): Promise<readonly string[]> =>
      (await query("tokenfactory", ...words)).out.split("\n").map((line) => line.trim());
    expect(await out("denom-authority-metadata", ALICE, "gold")).toEqual(["ADMIN", BOB]);
    expect(await out("denoms-from-creator", ALICE)).toEqual(["DENOM", DENOM]);
    expect(await out("full-denom", ALICE, "silver")).toEqual(["DENOM", `factory/${ALICE}/silver`]);
    expect((await out("before-send-hook", ALICE, "gold"))[0]).toBe("CONTRACT");
  });
});
