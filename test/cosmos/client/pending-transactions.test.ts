import { beforeEach, expect, it } from "vitest";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { createTxWindow, countPendingTransactions } from "../../../src/cosmos/client/tx/create-tx-window.ts";
import type { Signer } from "../../../src/cosmos/client/tx/signer.ts";
import { createFakeChain, type FakeChain } from "../../support/client/fake-chain.ts";
import { createSteppingClock } from "../../support/manual-clock.ts";

const signal = new AbortController().signal;
const signer: Signer = {
  address: "neutron1pending",
  publicKey: new Uint8Array(33),
  feeGranter: "",
  sign: async () => new Uint8Array(64),
};

let chain: FakeChain;
beforeEach(() => {
  chain = createFakeChain(signer.address);
});

const count = (): Promise<bigint> => countPendingTransactions(chain.client, signer, "untrn", signal);

it("counts the transactions of the account that are in the mempool and in no block", async () => {
  expect(await count()).toBe(0n);
  const gasPrice = { denom: "untrn", multiplier: parseDec18("1"), cap: parseDec18("1") };
  const window = createTxWindow(
    { chainId: "test-1", memo: "", gasPrice },
    { client: chain.client, signer, clock: createSteppingClock(), random: () => 0.5, logger: silentLogger },
  );
  const draft = { messages: [], gasLimit: 1_000n };
  await window.broadcast([draft, draft], { gasPrice: parseDec18("0.01"), height: 100n }, signal);
  expect(await count()).toBe(2n);
  chain.mine();
  expect(await count()).toBe(0n);
});

it("counts none when the simulation fails for another reason", async () => {
  chain.simulationLog = "insufficient funds";
  expect(await count()).toBe(0n);
});

it("counts none when the node that simulates is behind the one that read the account", async () => {
  chain.simulationLog = "account sequence mismatch, expected 38, got 40: incorrect account sequence";
  expect(await count()).toBe(0n);
});
