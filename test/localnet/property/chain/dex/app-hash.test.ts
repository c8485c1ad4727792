import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex } from "../../../../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../../../../src/platform/base/json.ts";
import { messageFromJson } from "../../../../../src/cosmos/proto/json.ts";
import { type DexAction, sequences, USER_KEYS, USERS } from "../../../../support/dex-actions.ts";
import { createDexSequence, textOf } from "../../../../support/dex-sequence.ts";
import { startTestChain, type TestChain, testGenesis } from "../../../../support/test-chain.ts";
import { buildTx } from "../../../../support/test-tx.ts";

const TIMEOUT_MS = 120_000;

type Message = readonly [name: string, json: JsonObject];

/** The messages of a sequence, block by block. */
function blocksOf(actions: readonly DexAction[]): readonly (readonly Message[])[] {
  const sequence = createDexSequence();
  const blocks: Message[][] = [[]];
  for (const action of actions) {
    const executed = sequence.apply(action);
    if (executed !== undefined) blocks.at(-1)?.push([executed.name, executed.json]);
    else if (action.kind === "block") blocks.push([]);
  }
  return blocks;
}

function startChain(): TestChain {
  const denoms = ["TokenA", "TokenB", "TokenC", "untrn"];
  const coins = denoms.map((denom) => ({ denom, amount: (10n ** 30n).toString() }));
  const accounts = USER_KEYS.map((key) => ({ key, untrn: 0n }));
  const balances = USERS.map((address) => ({ address, coins }));
  return startTestChain({ ...testGenesis(accounts), bank: { balances } });
}

/** Executes the blocks. Returns the app hash and the codes of each. */
function run(
  chain: TestChain,
  blocks: readonly (readonly Message[])[],
): readonly (readonly [string, ...number[]])[] {
  const sequenceOf = USERS.map(() => 0n);
  return blocks.map((messages) => {
    const txs = messages.map(([name, json]) => {
      const index = USERS.indexOf(textOf(json["creator"]));
      const sequence = sequenceOf[index] ?? 0n;
      sequenceOf[index] = sequence + 1n;
      const value = messageFromJson(`neutron.dex.Msg${name}`, json);
      const message = { typeUrl: `/neutron.dex.Msg${name}`, value };
      const key = USER_KEYS[index];
      if (key === undefined) throw new Error("no key");
      const fee = [{ denom: "untrn", amount: "1000000" }];
      return buildTx({
        key,
        messages: [message],
        sequence,
        accountNumber: BigInt(index),
        gas: 5_000_000n,
        fee,
      });
    });
    const { appHash, txResults } = chain.block(...txs);
    return [toHex(appHash), ...txResults.map(({ code }) => code)] as const;
  });
}

describe("the state of a chain with dex transactions", () => {
  it(
    "is the same on every machine, and survives an export",
    () => {
      let succeeded = 0;
      fc.assert(
        fc.property(sequences, (actions) => {
          const blocks = blocksOf(actions);
          const chain = startChain();
          const results = run(chain, blocks);
          expect(run(startChain(), blocks)).toEqual(results);
          succeeded += results.flatMap(([, ...codes]) => codes).filter((code) => code === 0).length;
          const state = chain.app.exportState();
          expect(startTestChain(state).app.exportState()["dex"]).toEqual(state["dex"]);
        }),
        { numRuns: 8 },
      );
      expect(succeeded).toBeGreaterThan(20);
    },
    TIMEOUT_MS,
  );
});
