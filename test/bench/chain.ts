import { queriesGenesis, resultTransaction, toResult } from "./result-gas.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { JsonObject } from "../../src/platform/base/json.ts";
import { createApp } from "../../src/localnet/chain/app.ts";
import type { StateStorage } from "../../src/localnet/chain/store/multi-store.ts";
import { startTestChain, type TestChain, testGenesis } from "../support/test-chain.ts";
import { createTestKey, type TestKey } from "../support/test-keys.ts";
import { startTestNode, testGenesis as nodeGenesis } from "../support/test-node.ts";
import { buildTx, sendMessage } from "../support/test-tx.ts";
import { proveBalances } from "./bank-proofs.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { WIDE_MARKET } from "./wide-market.ts";

const ACCOUNTS = 100;
const SENDS = 1_000;
const RESULTS = 1_050;
const RESULTS_PER_TX = 150;
/** Number of repetitions; the best one counts. Other programs can only make a figure worse. */
const ROUNDS = { full: 5, quick: 2 };
const CHAIN_ID = "test-1";

/** Initial state, and the transactions of one block. */
interface Load {
  readonly name: string;
  readonly genesis: JsonObject;
  /** Creates different transactions for every name, because the application caches verified transactions. */
  readonly txs: (memo: string) => readonly Uint8Array[];
}

/** Speed of the whole application: payments and KV results, checked, in a block, and written by a node. */
export async function benchChain({ quick }: BenchSettings): Promise<readonly BenchRow[]> {
  const count = quick ? ROUNDS.quick : ROUNDS.full;
  const sends = paymentLoad();
  const results = resultLoad();
  return [
    ...benchApp(sends, count),
    ...benchApp(results, count),
    await benchInNode(sends),
    await benchInNode(results),
  ];
}

function paymentLoad(): Load {
  const keys = Array.from({ length: ACCOUNTS }, (_, index) => createTestKey(`account ${index}`));
  const accounts = keys.map((key) => ({ key, untrn: 1_000_000_000n }));
  return {
    name: `${SENDS} payments`,
    genesis: testGenesis(accounts, { feemarket: WIDE_MARKET }),
    txs: (memo) => Array.from({ length: SENDS }, (_, index) => payment(keys, index, memo)),
  };
}

function payment(keys: readonly TestKey[], index: number, memo: string): Uint8Array {
  const number = index % ACCOUNTS;
  const [key, to] = [keys[number], keys[(number + 1) % ACCOUNTS]];
  if (key === undefined || to === undefined) throw new Error("an account is missing");
  const messages = [sendMessage(key.address, to.address, 1n)];
  const sequence = BigInt(Math.floor(index / ACCOUNTS));
  return buildTx({ key, sequence, accountNumber: BigInt(number), chainId: CHAIN_ID, messages, memo });
}

function resultLoad(): Load {
  const alice = createTestKey("alice");
  const values = proveBalances(RESULTS);
  const all = values.all.map(toResult);
  const parts = Array.from({ length: RESULTS / RESULTS_PER_TX }, (_, index) =>
    all.slice(index * RESULTS_PER_TX, (index + 1) * RESULTS_PER_TX),
  );
  return {
    name: `${RESULTS} KV results in ${parts.length} transactions`,
    genesis: testGenesis([{ key: alice, untrn: 1_000_000_000n }], {
      ...queriesGenesis(alice, values),
      feemarket: WIDE_MARKET,
    }),
    txs: (memo) => parts.map((part, index) => resultTransaction(alice, BigInt(index), part, memo)),
  };
}

function benchApp({ name, genesis, txs }: Load, count: number): readonly BenchRow[] {
  const best = `best of ${count} repetitions`;
  const rounds = Array.from({ length: count }, (_, round) => {
    const chain = startTestChain(genesis, { chainId: CHAIN_ID });
    const block = txs(`round ${round}`);
    return { checkMs: checkAll(chain, block) / block.length, blockMs: runBlock(chain, block) };
  });
  const checkMs = Math.min(...rounds.map((round) => round.checkMs));
  const blockMs = Math.min(...rounds.map((round) => round.blockMs));
  return [
    { name: `CheckTx, each of ${name}`, value: checkMs, unit: "ms", note: best },
    {
      name: `FinalizeBlock and Commit, ${name}`,
      value: blockMs,
      unit: "ms",
      note: `checked before, ${best}`,
    },
  ];
}

function checkAll({ app }: TestChain, txs: readonly Uint8Array[]): number {
  const started = performance.now();
  for (const tx of txs) requireGood(app.checkTx(tx, false));
  return performance.now() - started;
}

function runBlock(chain: TestChain, txs: readonly Uint8Array[]): number {
  const started = performance.now();
  const { txResults } = chain.block(...txs);
  const took = performance.now() - started;
  txResults.forEach(requireGood);
  return took;
}

function requireGood({ code, log }: { readonly code: number; readonly log: string }): void {
  if (code !== 0) throw new Error(log);
}

/** One block of a complete node: proposed, signed, executed, indexed and written. */
async function benchInNode({ name, genesis, txs }: Load): Promise<BenchRow> {
  const node = await startTestNode(
    { chainId: CHAIN_ID },
    {
      clock: systemClock,
      createApp: (storage: StateStorage) => createApp({ kind: "local", denom: "untrn" }, { storage }),
      genesis: (stored) => stored ?? { ...nodeGenesis(CHAIN_ID, [10n]), appState: genesis },
    },
  );
  node.control.produce(1);
  for (const tx of txs("node")) requireGood(node.view.broadcast(tx).check);
  const started = performance.now();
  node.control.produce(1);
  const took = performance.now() - started;
  node.view.results(2n)?.txResults.forEach(requireGood);
  await node.stop();
  return { name: `block of a node, ${name}`, value: took, unit: "ms", note: "indexed and written, one run" };
}
