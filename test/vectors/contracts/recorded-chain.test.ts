import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { replayChain } from "../../support/contract-chain.ts";
import { fixtureFile } from "../../support/fixture-file.ts";

// SOURCE: a chain of the deployed release (neutrond 6.0.3) from its genesis on: a genesis transaction, 17 blocks, an upload of a
// contract of ours and its calls, with the simulation of each, and the raw stores after the last block.
// `npm run conformance:contracts` replays more of them.

const { cases, stores } = replayChain(fileURLToPath(fixtureFile("contracts")), "big");

it("has transactions, simulations, blocks and queries", () => {
  expect(cases.length).toBeGreaterThanOrEqual(37);
});

it.each(cases)("$id is as recorded", ({ differences }) => {
  expect(differences).toEqual([]);
});

/** Entries of stores that differ, with the reason. */
const KNOWN: Readonly<Record<string, number>> = {
  // The code of the contract is in a file of the deployed chain.
  wasm: 1,
};

it.each(stores)("the store $store is as recorded", ({ store, differences }) => {
  expect(differences).toHaveLength(KNOWN[store] ?? 0);
});
