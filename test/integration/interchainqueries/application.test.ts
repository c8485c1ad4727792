import { describe, expect, it } from "vitest";
import { toHex } from "../../../src/base/bytes.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { classicContractAddress } from "../../../src/chain/modules/wasm/address.ts";
import { formatAddress, moduleAddress } from "../../../src/chain/runtime/address.ts";
import {
  QueryBalanceRequest,
  QueryBalanceResponse,
} from "../../../src/proto/gen/cosmos/bank/v1beta1/query.ts";
import { RegisteredQuery } from "../../../src/proto/gen/neutron/interchainqueries/genesis.ts";
import {
  QueryRegisteredQueryResultRequest,
  QueryRegisteredQueryResultResponse,
} from "../../../src/proto/gen/neutron/interchainqueries/query.ts";
import { MsgSubmitQueryResult } from "../../../src/proto/gen/neutron/interchainqueries/tx.ts";
import { messageFromJson, messageToJson } from "../../../src/proto/json.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { list, readJson, record, recordedIbcGenesis, text } from "../../support/recorded-client.ts";
import { recordedQueries } from "../../support/replay-chain.ts";
import { startTestChain, type TestChain, testGenesis } from "../../support/test-chain.ts";
import { createTestKey } from "../../support/test-keys.ts";
import { buildTx } from "../../support/test-tx.ts";

const alice = createTestKey("alice");
const CONSUMER = formatAddress("neutron", classicContractAddress(1n, 1n));
const ESCROW = formatAddress("neutron", moduleAddress("interchainqueries"));
const CASES = list(readJson(fixtureFile("interchainqueries/submit-cases.json"))).map(record);

/** The recorded client and queries, and a funded consumer that registers one query of its own. */
function genesis(): JsonObject {
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

/** A recorded submission in a transaction of Alice's. */
function submission(name: string, sequence: bigint): Uint8Array {
  const found = CASES.find((recorded) => recorded["name"] === name);
  const { "@type": typeUrl, ...fields } = record(found?.["message"]);
  const message = MsgSubmitQueryResult.decode(messageFromJson(text(typeUrl).slice(1), fields));
  const value = MsgSubmitQueryResult.encode({ ...message, sender: alice.address }).finish();
  return buildTx({
    key: alice,
    sequence,
    gas: 3_000_000n,
    fee: [{ denom: "untrn", amount: "50000" }],
    messages: [{ typeUrl: text(typeUrl), value }],
  });
}

const GOOD = "client id of another client (ignored or checked?)";

describe("interchain queries in the application", () => {
  it("begin with a consumer that has registered a query and paid for it", () => {
    const chain = startTestChain(genesis());
    expect(balance(chain, ESCROW)).toBe("1000000");
    expect(balance(chain, CONSUMER)).toBe("2000000");
    const state = record(record(chain.app.exportState()["interchainqueries"]));
    const own = list(state["registered_queries"]).map(record).at(-1);
    expect(own).toMatchObject({ id: "321", owner: CONSUMER, query_type: "kv" });
  });

  it("take a proven result in a signed transaction, for about the gas of the deployed chain", () => {
    const chain = startTestChain(genesis());
    const [result] = chain.block(submission(GOOD, 0n)).txResults;
    expect(result?.log).toBe("");
    expect(result?.events.map(({ type }) => type)).toContain("message");
    // The deployed chain used 161,006 for these three values.
    expect(Number(result?.gasUsed)).toBeGreaterThan(110_000);
    expect(Number(result?.gasUsed)).toBeLessThan(210_000);
    const answer = chain.app.query({
      path: "/neutron.interchainqueries.Query/QueryResult",
      data: QueryRegisteredQueryResultRequest.encode({ queryId: 317n }).finish(),
      height: 0n,
      prove: false,
    });
    expect(QueryRegisteredQueryResultResponse.decode(answer.value).result?.kvResults).toHaveLength(3);
  });

  it("refuse an altered proof and a height that is not newer, and go on", () => {
    const chain = startTestChain(genesis());
    const bad = chain.block(submission("one bit of the iavl proof flipped", 0n)).txResults[0];
    expect(bad).toMatchObject({ code: 1112, codespace: "interchainqueries" });
    expect(chain.block(submission(GOOD, 1n)).txResults[0]?.code).toBe(0);
    const again = chain.block(submission(GOOD, 2n)).txResults[0];
    expect(again).toMatchObject({ code: 1114, codespace: "interchainqueries" });
  });

  it("give the same app hash for the same blocks", () => {
    const hashes = [1, 2].map(() => {
      const chain = startTestChain(genesis());
      return [submission(GOOD, 0n), submission(GOOD, 1n)].map((tx) => toHex(chain.block(tx).appHash));
    });
    expect(hashes[0]).toEqual(hashes[1]);
    expect(new Set(hashes[0]).size).toBe(2);
  });

  it("come back from an export with everything else: the heir of a chain goes on as the chain itself", () => {
    const chain = startTestChain(genesis());
    chain.block(submission(GOOD, 0n));
    chain.block();
    const exported = chain.app.exportState();
    expect(record(exported["interchainqueries"])).toMatchObject({ last_query_id: "321" });
    const { height } = chain.app.info();
    const heir = startTestChain(JSON.parse(JSON.stringify(exported)), { initialHeight: height + 1n });
    chain.block();
    expect(heir.app.info().height).toBe(chain.app.info().height);
    expect(heir.app.exportState()).toEqual(chain.app.exportState());
    expect(Object.keys(exported)).toHaveLength(7);
  });
});

function balance(chain: TestChain, address: string): string | undefined {
  const data = QueryBalanceRequest.encode({ address, denom: "untrn" }).finish();
  const answer = chain.app.query({
    path: "/cosmos.bank.v1beta1.Query/Balance",
    data,
    height: 0n,
    prove: false,
  });
  return QueryBalanceResponse.decode(answer.value).balance?.amount;
}
