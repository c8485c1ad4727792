import { afterAll, beforeAll, expect, it } from "vitest";
import { type CliChain, type CliResult, startCliChain } from "../../support/cli-chain.ts";

let chain: CliChain;

beforeAll(async () => {
  chain = await startCliChain();
});
afterAll(async () => {
  await chain.stop();
});

const run = (...words: readonly string[]): Promise<CliResult> => chain.run(...words, "--node", chain.url);

it.each([
  ["query", "tokenfactory", "params"],
  ["query", "feerefunder", "params"],
  ["query", "interchaintxs", "params"],
  ["tx", "tokenfactory", "create-denom", "gold", "--from", "alice"],
])("%s %s %s on a chain without the module says how a chain gets it", async (...words) => {
  const { exitCode, message } = await run(...words);
  expect(exitCode).toBe(1);
  expect(message).toContain("a local chain has this module if started with --contract or --profile deployed");
});

it("a module that every chain has gives no such advice", async () => {
  const { message } = await run("query", "bank", "denom-metadata", "nothing");
  expect(message).toBeDefined();
  expect(message).not.toContain("--contract");
});
