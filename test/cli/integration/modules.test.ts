import { afterAll, beforeAll, expect, it } from "vitest";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";

let chain: CliChain;

beforeAll(async () => {
  chain = await startCliChain();
});
afterAll(async () => {
  await chain.stop();
});

const query = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("query", ...words, "--node", chain.url);
const json = async (...words: readonly string[]): Promise<unknown> =>
  JSON.parse((await query(...words, "--json")).out);
/** Sends a message of the authority in a proposal. */
const tx = (...words: readonly string[]): Promise<CliResult> =>
  chain.run("tx", ...words, "--from", "operator", "--node", chain.url);
const DONE = { exitCode: 0, message: undefined };

it("feerefunder: the least fee changes", async () => {
  const fees = ["--ack-fee", "7untrn", "--timeout-fee", "8untrn"];
  expect(await tx("feerefunder", "update-params", ...fees)).toMatchObject(DONE);
  expect(await json("feerefunder", "params")).toEqual({
    params: {
      min_fee: {
        recv_fee: [],
        ack_fee: [{ denom: "untrn", amount: "7" }],
        timeout_fee: [{ denom: "untrn", amount: "8" }],
      },
    },
  });
  expect((await query("feerefunder", "fee-info", "transfer", "channel-0", "1")).message).toContain(
    "no fee info found",
  );
  expect((await tx("feerefunder", "update-params", "--ack-fee", "7untrn")).usage).toContain("--timeout-fee");
});
