import type { JsonObject } from "../../src/platform/base/json.ts";
import { toHex, utf8 } from "../../src/platform/base/bytes.ts";
import { classicContractAddress } from "../../src/localnet/chain/modules/wasm/keeper.ts";
import { formatAddress } from "../../src/localnet/chain/runtime/address.ts";
import { MsgExecuteContract } from "../../src/cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { RegisteredQuery } from "../../src/cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import { MsgSubmitQueryResult } from "../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { messageFromJson, messageToJson } from "../../src/cosmos/proto/json.ts";
import { fixtureFile } from "./fixture-file.ts";
import { list, readJson, record, recordedIbcGenesis, text } from "./recorded-client.ts";
import { recordedQueries } from "./replay-chain.ts";
import { startTestChain, testGenesis } from "./test-chain.ts";
import { createTestKey } from "./test-keys.ts";
import { buildTx, type PackedMessage } from "./test-tx.ts";

const alice = createTestKey("alice");
/** The consumer contract of {@link icqGenesis}. */
export const CONSUMER = formatAddress("neutron", classicContractAddress(1n, 1n));
const CASES = list(readJson(fixtureFile("interchainqueries/submit-cases.json"))).map(record);

/** Returns a genesis state with the recorded client and queries, and a funded consumer that registers one query. */
export function icqGenesis(): JsonObject {
  const queries = recordedQueries().map((query) => ({
    ...query,
    deposit: [],
    lastSubmittedResultLocalHeight: 0n,
    lastSubmittedResultRemoteHeight: undefined,
  }));
  const registration = {
    register_balance_query: {
      connection_id: "connection-0",
      update_period: 2,
      addr: alice.address,
      denom: "untrn",
    },
  };
  return testGenesis([{ key: alice, untrn: 1_000_000_000n }], {
    ibc: recordedIbcGenesis().genesis,
    interchainqueries: {
      params: messageParams(),
      registered_queries: queries.map((query) =>
        messageToJson("neutron.interchainqueries.RegisteredQuery", RegisteredQuery.encode(query).finish()),
      ),
    },
    wasm: {
      codes: [{ name: "icq-consumer", creator: alice.address }],
      gen_msgs: [
        {
          instantiate_contract: {
            sender: alice.address,
            code_id: "1",
            label: "consumer",
            msg: {},
            funds: [{ denom: "untrn", amount: "3000000" }],
          },
        },
        { execute_contract: { sender: alice.address, contract: CONSUMER, msg: registration, funds: [] } },
      ],
    },
  });
}

function messageParams(): JsonObject {
  return {
    query_submit_timeout: "1036800",
    query_deposit: [{ denom: "untrn", amount: "1000000" }],
    tx_query_removal_limit: "10000",
    max_kv_query_keys_count: "32",
    max_transactions_filters: "32",
  };
}

/** Returns a recorded submission with alice as its sender. */
export function recordedSubmission(name: string): MsgSubmitQueryResult {
  const found = CASES.find((recorded) => recorded["name"] === name);
  const { "@type": typeUrl, ...fields } = record(found?.["message"]);
  const message = MsgSubmitQueryResult.decode(messageFromJson(text(typeUrl).slice(1), fields));
  return { ...message, sender: alice.address };
}

/** Returns a transaction of alice with a recorded submission. */
export function submission(name: string, sequence: bigint): Uint8Array {
  const value = MsgSubmitQueryResult.encode(recordedSubmission(name)).finish();
  return signed({ typeUrl: "/neutron.interchainqueries.MsgSubmitQueryResult", value }, sequence);
}

/** Name of a recorded submission that the chain accepts. */
export const GOOD = "client id of another client (ignored or checked?)";

/**
 * Runs blocks with random registrations, updates, removals, failing callbacks and submissions. Returns their app hashes in
 * hex, which depend on `seed` only.
 */
export function runIcqBlocks(seed: number): readonly string[] {
  const chain = startTestChain(icqGenesis());
  const draw = createDraw(seed);
  return Array.from({ length: 40 }, (_, block) => {
    const sequence = BigInt(block);
    const tx = draw(5) === 0 ? submission(GOOD, sequence) : execution(drawnMessage(draw), sequence);
    return toHex(chain.block(tx).appHash);
  });
}

/** Creates a linear congruential generator of integers from 0 to `bound` - 1. */
function createDraw(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) % bound;
  };
}

function drawnMessage(draw: (bound: number) => number): JsonObject {
  const id = 317 + draw(10);
  const key = { path: ["bank", "staking"][draw(2)] ?? "bank", key: "AQ==" };
  const messages: readonly JsonObject[] = [
    { register_kv_query: { connection_id: "connection-0", update_period: 1 + draw(5), keys: [key] } },
    { register_tx_query: { connection_id: "connection-0", update_period: 1, transactions_filter: "[]" } },
    { update_interchain_query: { query_id: id, new_update_period: 1 + draw(9) } },
    { remove_interchain_query: { query_id: id } },
    { set_failure: { kv: draw(2) === 0, tx: false } },
  ];
  return messages[draw(messages.length)] ?? {};
}

function execution(message: JsonObject, sequence: bigint): Uint8Array {
  const msg = utf8(JSON.stringify(message));
  const value = MsgExecuteContract.encode({
    sender: alice.address,
    contract: CONSUMER,
    msg,
    funds: [],
  }).finish();
  return signed({ typeUrl: "/cosmwasm.wasm.v1.MsgExecuteContract", value }, sequence);
}

function signed(message: PackedMessage, sequence: bigint): Uint8Array {
  const fee = [{ denom: "untrn", amount: "50000" }];
  return buildTx({ key: alice, sequence, gas: 3_000_000n, fee, messages: [message] });
}
