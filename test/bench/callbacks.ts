import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { classicContractAddress } from "../../src/localnet/chain/modules/wasm/keeper.ts";
import { formatAddress } from "../../src/localnet/chain/runtime/address.ts";
import {
  QuerySmartContractStateRequest,
  QuerySmartContractStateResponse,
} from "../../src/cosmos/proto/gen/cosmwasm/wasm/v1/query.ts";
import { fromUtf8, sha256, toBase64, utf8 } from "../../src/platform/base/bytes.ts";
import type { JsonObject } from "../../src/platform/base/json.ts";
import { submit } from "../support/icq-messages.ts";
import { list, record, recordedIbcGenesis, text } from "../support/recorded-client.ts";
import { startTestChain, type TestChain, testGenesis } from "../support/test-chain.ts";
import { createTestKey, type TestKey } from "../support/test-keys.ts";
import { buildTx } from "../support/test-tx.ts";
import { proveBalances, type ProvenValues } from "./bank-proofs.ts";
import type { BenchRow } from "./bench-row.ts";
import { median, processorMs } from "./measure.ts";
import { QUERY_PARAMS, withRoot } from "./result-gas.ts";
import { WIDE_MARKET } from "./wide-market.ts";

/** File of the contract, plain or with the ending `.gz`. */
const FILE = "neutron_interchain_queries.wasm";
const RESULTS = 300;
const RESULTS_PER_TX = 50;
/** Blocks before those that are measured: V8 compiles the code that they run. */
const WARM_UP = 3;
const CONTRACT = formatAddress("neutron", classicContractAddress(1n, 1n));

/**
 * Blocks of 300 KV results of bank balances for the contract `neutron_interchain_queries`, which reads its query and its result from the chain
 * in each callback and stores what it found. `folder` has the binary.
 */
export function benchCallbacks(folder: string, quick: boolean): readonly BenchRow[] {
  const alice = createTestKey("alice");
  const values = proveBalances(RESULTS);
  const { genesis, heights } = callbackGenesis(alice, values, readContract(folder));
  const chain = startTestChain(genesis);
  const blocks = heights
    .slice(0, WARM_UP + (quick ? 3 : 10))
    .map((height, index) => runBlock(chain, blockOf(alice, values, { height, index })));
  requireCallbacks(chain, values);
  const measured = blocks.slice(WARM_UP);
  const note = `processor time, median of ${measured.length} blocks after ${WARM_UP}`;
  return [
    {
      name: `FinalizeBlock and Commit, ${RESULTS} KV results with callbacks of a binary contract`,
      value: median(measured.map(({ ms }) => ms)),
      unit: "ms",
      note,
    },
    {
      name: "gas of a KV result with its callback",
      value: median(measured.map(({ gas }) => gas / RESULTS)),
      unit: "gas",
    },
  ];
}

function readContract(folder: string): Uint8Array {
  for (const [file, unpack] of [
    [FILE, (bytes: Uint8Array) => bytes],
    [`${FILE}.gz`, (bytes: Uint8Array) => gunzipSync(bytes)],
  ] as const) {
    const path = join(folder, file);
    if (existsSync(path)) return new Uint8Array(unpack(readFileSync(path)));
  }
  throw new Error(`${folder} has no ${FILE} and no ${FILE}.gz`);
}

/** Genesis with the contract, which registered a query for each balance, and the remote heights that have consensus states. */
function callbackGenesis(
  alice: TestKey,
  { root, all }: ProvenValues,
  code: Uint8Array,
): { readonly genesis: JsonObject; readonly heights: readonly bigint[] } {
  const ibc = withRoot(recordedIbcGenesis().genesis, root);
  const checksum = toBase64(sha256(code));
  const instantiate_contract = {
    sender: alice.address,
    admin: alice.address,
    code_id: "1",
    label: "queries",
    msg: {},
    funds: [],
  };
  const registrations = all.map(({ key }) => ({
    execute_contract: {
      sender: alice.address,
      contract: CONTRACT,
      funds: [],
      msg: {
        register_balances_query: {
          connection_id: "connection-0",
          update_period: 1,
          // The key is a prefix, the length of the address, the address, and the denomination.
          addr: formatAddress("cosmos", key.subarray(2, 22)),
          denoms: ["untrn"],
        },
      },
    },
  }));
  const genesis = testGenesis([{ key: alice, untrn: 1_000_000_000_000n }], {
    ibc,
    interchainqueries: { params: QUERY_PARAMS },
    feemarket: WIDE_MARKET,
    wasm: {
      codes: [
        {
          code_id: "1",
          code_info: {
            code_hash: checksum,
            creator: alice.address,
            instantiate_config: { permission: "ACCESS_TYPE_EVERYBODY", addresses: [] },
          },
          code_bytes: toBase64(code),
          pinned: false,
        },
      ],
      gen_msgs: [{ instantiate_contract }, ...registrations],
    },
  });
  return { genesis, heights: heightsOf(ibc) };
}

/** Remote heights of results: a result of a height is proven by the consensus state of the next one. */
function heightsOf(ibc: JsonObject): bigint[] {
  const [consensus] = list(record(ibc["client_genesis"])["clients_consensus"]).map(record);
  return list(consensus?.["consensus_states"])
    .map((state) => BigInt(text(record(record(state)["height"])["revision_height"])) - 1n)
    .toSorted((one, other) => (one < other ? -1 : 1));
}

/** The transactions of one block: a result of each query at this height. */
function blockOf(
  key: TestKey,
  { all }: ProvenValues,
  { height, index }: { readonly height: bigint; readonly index: number },
): Uint8Array[] {
  const txs = RESULTS / RESULTS_PER_TX;
  return Array.from({ length: txs }, (_, tx) => {
    const messages = all.slice(tx * RESULTS_PER_TX, (tx + 1) * RESULTS_PER_TX).map((value, at) =>
      submit(BigInt(tx * RESULTS_PER_TX + at + 1), key.address, {
        kvResults: [value],
        height,
        revision: 2n,
        allowKvCallbacks: true,
      }),
    );
    const fee = [{ denom: "untrn", amount: "1000000" }];
    return buildTx({ key, sequence: BigInt(index * txs + tx), gas: 20_000_000n, fee, messages });
  });
}

function runBlock(
  chain: TestChain,
  txs: readonly Uint8Array[],
): { readonly ms: number; readonly gas: number } {
  for (const tx of txs) requireGood(chain.app.checkTx(tx, false));
  const start = processorMs();
  const { txResults } = chain.block(...txs);
  const ms = processorMs() - start;
  txResults.forEach(requireGood);
  return { ms, gas: txResults.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0) };
}

/** Asks the contract for the balances that its queries have, and what its callbacks stored. */
function requireCallbacks(chain: TestChain, { all }: ProvenValues): void {
  const ask = (message: object): JsonObject => {
    const data = QuerySmartContractStateRequest.encode({
      address: CONTRACT,
      queryData: utf8(JSON.stringify(message)),
    }).finish();
    const path = "/cosmwasm.wasm.v1.Query/SmartContractState";
    const response = chain.app.query({ path, data, height: 0n, prove: false });
    requireGood(response);
    return record(JSON.parse(fromUtf8(QuerySmartContractStateResponse.decode(response.value).data)));
  };
  for (const [at, { value }] of all.entries()) {
    const query_id = at + 1;
    const balance = JSON.stringify(ask({ balance: { query_id } }));
    const stats = ask({ kv_callback_stats: { query_id } });
    if (!balance.includes(`"${fromUtf8(value)}"`) || stats["last_update_height"] === 0)
      throw new Error(`query ${query_id}: ${balance}, ${JSON.stringify(stats)}`);
  }
}

function requireGood({ code, log }: { readonly code: number; readonly log: string }): void {
  if (code !== 0) throw new Error(log);
}
