import { utf8, sha256 } from "../../src/platform/base/bytes.ts";
import { txResultLeaf } from "../../src/cosmos/comet/block-hashes.ts";
import { verifyTransaction } from "../../src/localnet/chain/modules/interchainqueries/tx-queries.ts";
import { simpleProofs } from "../../src/cosmos/merkle/simple-tree.ts";
import type { TxValue } from "../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { createFakeIbc } from "../support/fake-ibc.ts";
import { addContract, ALICE, createIcqChain } from "../support/icq-chain.ts";
import { register, submit } from "../support/icq-messages.ts";
import { replayTxSubmission } from "../support/replay-submissions.ts";
import { createRecordedChain } from "../support/replay-chain.ts";
import { fixtureFile } from "../support/fixture-file.ts";
import { list, readJson, record } from "../support/recorded-client.ts";
import { proveBalances, type ProvenValues } from "./bank-proofs.ts";
import type { BenchRow } from "./bench-row.ts";
import { runResultTransaction } from "./result-gas.ts";
import { defaultParams, moduleParams } from "../../src/localnet/chain/modules/interchainqueries/keeper.ts";

const RESULTS = 150;
/** Number of repetitions; the best one counts. Other programs can only make a figure worse. */
const ROUNDS = 20;
const TX_VERIFICATIONS = 2000;

/** Results in the keeper: KV results of one height in one transaction, their gas, and TX results. */
export function benchKeeper(): readonly BenchRow[] {
  const values = proveBalances(RESULTS);
  const best = Math.max(...Array.from({ length: ROUNDS }, () => kvResultsPerSecond(values)));
  const { gasEach, bytesEach } = runResultTransaction(values);
  const note = `best of ${ROUNDS} repetitions`;
  const signed = "one signed transaction through the whole application, consensus state there";
  return [
    {
      name: "KV results in the keeper, 150 of one height in one transaction",
      value: best,
      unit: "results/s",
      note,
    },
    {
      name: "gas of each of 150 KV results in one transaction",
      value: gasEach,
      unit: "gas",
      note: signed,
      beside: "deployed chain 28,718",
    },
    { name: "bytes of each of 150 KV results in one transaction", value: bytesEach, unit: "B", note: signed },
    {
      name: "TX results in the keeper, both headers verified",
      value: txResultsPerSecond(),
      unit: "results/s",
      note: `recorded headers with one signature each, ${note}`,
    },
    {
      name: "TX proofs of a block with 1,000 transactions",
      value: txProofsPerSecond(),
      unit: "proofs/s",
      note: `inclusion and delivery, ${TX_VERIFICATIONS} one after the other`,
    },
  ];
}

/** One transaction with all results, on a chain without earlier results. */
function kvResultsPerSecond({ root, all }: ProvenValues): number {
  const ibc = createFakeIbc();
  const chain = createIcqChain({ ibc });
  moduleParams.set(chain.world.context(), { ...defaultParams("untrn"), queryDeposit: [] });
  const owner = addContract(chain, "icq-consumer");
  const registrations = all.map(({ key }) => register({ sender: owner, keys: [{ path: "bank", key }] }));
  if (chain.deliver(registrations).code !== 0) throw new Error("the queries were not registered");
  ibc.roots.set("1-101", root);
  const messages = all.map((value, index) =>
    submit(BigInt(index + 1), ALICE, { kvResults: [value], height: 100n, revision: 1n }),
  );
  const start = performance.now();
  const outcome = chain.deliver(messages, { height: 100n });
  if (outcome.code !== 0) throw new Error(outcome.log);
  return (RESULTS * 1000) / (performance.now() - start);
}

/** Submits the recorded results repeatedly, each time on a new chain. */
function txResultsPerSecond(): number {
  const good = list(readJson(fixtureFile("interchainqueries/tx-submit-cases.json")))
    .map(record)
    .find(({ name }) => name === "good (for another query id)");
  if (good === undefined) throw new Error("the recorded case is missing");
  let best = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const chain = createRecordedChain();
    const start = performance.now();
    const { code } = replayTxSubmission(chain, good);
    best = Math.max(best, 1000 / (performance.now() - start));
    if (code !== 0) throw new Error("the recorded case failed");
  }
  return Math.round(best);
}

function txProofsPerSecond(): number {
  const response = {
    code: 0,
    data: utf8("ok"),
    log: "",
    info: "",
    gasWanted: 200_000n,
    gasUsed: 150_000n,
    events: [],
    codespace: "",
  };
  const txs = Array.from({ length: 1000 }, (_, index) => utf8(`transaction ${index}`));
  const inclusion = simpleProofs(txs.map(sha256));
  const delivery = simpleProofs(txs.map(() => txResultLeaf(response)));
  const values: readonly TxValue[] = txs.map((data, index) => ({
    data,
    response,
    inclusionProof: wireProof(inclusion.proofs[index]),
    deliveryProof: wireProof(delivery.proofs[index]),
  }));
  const start = performance.now();
  for (let done = 0; done < TX_VERIFICATIONS; done += 1) {
    const tx = values[done % values.length];
    if (tx !== undefined) verifyTransaction(tx, { dataHash: inclusion.root, resultsHash: delivery.root });
  }
  return Math.round((TX_VERIFICATIONS * 1000) / (performance.now() - start));
}

function wireProof(
  proof: ReturnType<typeof simpleProofs>["proofs"][number] | undefined,
): TxValue["inclusionProof"] {
  return proof && { ...proof, aunts: [...proof.aunts] };
}
