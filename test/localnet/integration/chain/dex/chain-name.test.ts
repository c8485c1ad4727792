import { expect, it } from "vitest";
import { messageFromJson } from "../../../../../src/cosmos/proto/json.ts";
import { startTestChain, testGenesis } from "../../../../support/test-chain.ts";
import { createTestKey } from "../../../../support/test-keys.ts";
import { buildTx } from "../../../../support/test-tx.ts";

it("a chain of another name has its own type URLs, paths, events and addresses", () => {
  const key = createTestKey("owner", "acme");
  const coins = ["TokenA", "TokenB", "untrn"].map((denom) => ({ denom, amount: "1000000" }));
  const genesis = {
    ...testGenesis([{ key, untrn: 0n }]),
    bank: { balances: [{ address: key.address, coins }] },
  };
  const chain = startTestChain(genesis, { chainName: "acme", bech32Prefix: "acme" });
  const deposit = messageFromJson("neutron.dex.MsgDeposit", {
    creator: key.address,
    receiver: key.address,
    token_a: "TokenA",
    token_b: "TokenB",
    amounts_a: ["100"],
    amounts_b: ["100"],
    tick_indexes_a_to_b: [0],
    fees: [1],
    options: [{}],
  });
  const messages = [{ typeUrl: "/acme.dex.MsgDeposit", value: deposit }];
  const [result] = chain.block(buildTx({ key, messages, sequence: 0n, gas: 500_000n })).txResults;
  expect(result).toMatchObject({ code: 0, log: "" });
  expect(result?.events.map(({ type }) => type)).toContain("acme");
  expect(result?.events.map(({ type }) => type)).not.toContain("neutron");
  const paths = chain.app.queryPaths().filter((path) => path.includes(".dex."));
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => !path.startsWith("/acme.dex.Query/"))).toEqual([]);
  const simulated = messageFromJson("neutron.dex.QuerySimulateDepositRequest", {
    msg: {
      token_a: "TokenA",
      token_b: "TokenB",
      amounts_a: ["1"],
      amounts_b: ["1"],
      tick_indexes_a_to_b: [0],
      fees: [1],
      options: [{}],
    },
  });
  const query = { path: "/acme.dex.Query/SimulateDeposit", data: simulated, height: 0n, prove: false };
  expect(chain.app.query(query)).toMatchObject({ code: 0, log: "" });
});
