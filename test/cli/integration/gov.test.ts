import { afterAll, beforeAll, expect, it } from "vitest";
import { accountNamed, CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";

const ALICE = accountNamed(CHAINS.remote, "alice").address;

let chain: CliChain;

beforeAll(async () => {
  chain = await startCliChain();
});
afterAll(async () => {
  await chain.stop();
});

const query = async (...words: readonly string[]): Promise<string> =>
  (await chain.run("query", "gov", ...words, "--node", chain.remoteUrl)).out;
const tx = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("tx", "gov", ...words, "--from", "alice", "--fee-denom", "uatom", "--node", chain.remoteUrl);
const DONE = { exitCode: 0, message: undefined };

it("a text is proposed, gets deposits and votes, and is withdrawn", async () => {
  const deposit = ["--deposit", "9000000uatom"];
  const proposed = await tx("submit-legacy-proposal", "--title", "T", "--description", "D", ...deposit);
  expect(proposed).toMatchObject({ ...DONE, out: expect.stringContaining("proposal: 1") });
  expect(await query("proposals")).toContain("PROPOSAL_STATUS_DEPOSIT_PERIOD");
  expect(await tx("deposit", "1", "1000000uatom")).toMatchObject(DONE);
  expect(await query("deposits", "1")).toContain("10000000");
  expect(await query("deposit", "1", ALICE)).toContain(ALICE);
  expect(await tx("vote", "1", "no")).toMatchObject(DONE);
  expect(await tx("weighted-vote", "1", "yes=0.6,no=0.4")).toMatchObject(DONE);
  expect(await query("vote", "1", ALICE)).toContain('"weight":"0.6"');
  expect(await query("votes", "1")).toContain(ALICE);
  expect(await query("tally", "1")).toMatch(/^YES +ABSTAIN +NO +NO WITH VETO\n\d+ /);
  expect(await query("proposal", "1")).toContain("PROPOSAL_STATUS_VOTING_PERIOD");
  expect(await query("params")).toContain("voting_period");
  expect(await tx("cancel-proposal", "1")).toMatchObject(DONE);
  expect(await query("proposals")).not.toContain("PROPOSAL_STATUS");
});

it("wrong words are refused with what was expected", async () => {
  expect((await tx("vote", "1", "maybe")).usage).toContain(
    "Allowed choices are yes, abstain, no, no_with_veto",
  );
  expect((await tx("vote", "one", "yes")).usage).toContain("expected an integer below 2^64");
  expect((await tx("weighted-vote", "1", "yes:1")).usage).toContain("is not a weighted option");
});
