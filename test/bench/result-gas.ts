import { toBase64 } from "../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../src/platform/base/json.ts";
import { list, record, recordedIbcGenesis } from "../support/recorded-client.ts";
import { submit } from "../support/icq-messages.ts";
import { startTestChain, testGenesis } from "../support/test-chain.ts";
import { createTestKey, type TestKey } from "../support/test-keys.ts";
import { buildTx } from "../support/test-tx.ts";
import type { StorageValue } from "../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { ProvenValues } from "./bank-proofs.ts";

/** Remote height of the results; the client holds the height after it. */
const HEIGHT = 1544n;

/** Gas and size of one signed transaction with results. */
export interface ResultTransaction {
  readonly gasEach: number;
  readonly bytesEach: number;
}

/** Runs all results in one signed transaction of a whole local application. */
export function runResultTransaction({ root, all }: ProvenValues): ResultTransaction {
  const alice = createTestKey("alice");
  const chain = startTestChain(
    testGenesis([{ key: alice, untrn: 1_000_000_000n }], queriesGenesis(alice, { root, all })),
  );
  const tx = resultTransaction(alice, 0n, all.map(toResult));
  const [result] = chain.block(tx).txResults;
  if (result?.code !== 0) throw new Error(result?.log ?? "the block has no transaction");
  return { gasEach: Number(result.gasUsed) / all.length, bytesEach: tx.length / all.length };
}

/** Genesis of the client and of one query for each value, owned by this key. */
export function queriesGenesis(owner: TestKey, { root, all }: ProvenValues): JsonObject {
  return {
    ibc: withRoot(recordedIbcGenesis().genesis, root),
    interchainqueries: {
      params: QUERY_PARAMS,
      registered_queries: all.map(({ key }, index) => queryOf(owner.address, key, index)),
    },
  };
}

/** A value as the result of a query. */
export interface BenchResult {
  readonly queryId: bigint;
  readonly value: StorageValue;
}

/** The result of the query that {@link queriesGenesis} has for the value at this index. */
export function toResult(value: StorageValue, index: number): BenchResult {
  return { queryId: BigInt(index + 1), value };
}

/** One signed transaction of these results. */
export function resultTransaction(
  key: TestKey,
  sequence: bigint,
  results: readonly BenchResult[],
  memo = "",
): Uint8Array {
  const messages = results.map(({ queryId, value }) =>
    submit(queryId, key.address, { kvResults: [value], height: HEIGHT, revision: 2n }),
  );
  const fee = [{ denom: "untrn", amount: "1000000" }];
  return buildTx({ key, sequence, gas: 20_000_000n, fee, messages, memo });
}

/** Parameters without deposit. */
export const QUERY_PARAMS: JsonObject = {
  query_submit_timeout: "1036800",
  query_deposit: [],
  tx_query_removal_limit: "10000",
  max_kv_query_keys_count: "32",
  max_transactions_filters: "32",
};

function queryOf(owner: string, key: Uint8Array, index: number): JsonObject {
  return {
    id: `${index + 1}`,
    owner,
    query_type: "kv",
    keys: [{ path: "bank", key: toBase64(key) }],
    connection_id: "connection-0",
    update_period: "4",
  };
}

/** The recorded client, but with another app hash at all its heights. */
export function withRoot(genesis: JsonObject, root: Uint8Array): JsonObject {
  const clients = record(genesis["client_genesis"]);
  const [consensus] = list(clients["clients_consensus"]).map(record);
  const states = list(consensus?.["consensus_states"])
    .map(record)
    .map((state) => ({
      ...state,
      consensus_state: { ...record(state["consensus_state"]), root: { hash: toBase64(root) } },
    }));
  return {
    ...genesis,
    client_genesis: { ...clients, clients_consensus: [{ ...consensus, consensus_states: states }] },
  };
}
