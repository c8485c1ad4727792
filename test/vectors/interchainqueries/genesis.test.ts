import { describe, expect, it } from "vitest";
import { fromHex, toHex, utf8, sha256 } from "../../../src/platform/base/bytes.ts";
import type { JsonValue } from "../../../src/platform/base/json.ts";
import * as keeper from "../../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import { queryUpdated } from "../../../src/localnet/chain/modules/interchainqueries/handlers.ts";
import type { RegisteredQuery } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import { messageToJson } from "../../../src/cosmos/proto/json.ts";
import { Params } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/params.ts";
import { createFakeIbc } from "../../support/fake-ibc.ts";
import { createIcqChain, type IcqChain } from "../../support/icq-chain.ts";
import { kvKey, register } from "../../support/icq-messages.ts";

const A = "neutron17dtl0mjt3t77kpuhg2edqzjpszulwhgzcdvagh";
const PARAMS = messageToJson(
  "neutron.interchainqueries.Params",
  Params.encode(keeper.defaultParams("untrn")).finish(),
);
const KV = {
  owner: A,
  query_type: "kv",
  keys: [{ path: "bank", key: "AQ==" }],
  connection_id: "connection-0",
  update_period: "1",
};

const QUERY: RegisteredQuery = {
  id: 1n,
  owner: A,
  queryType: "tx",
  keys: [],
  transactionsFilter: "[]",
  connectionId: "connection-0",
  updatePeriod: 1n,
  lastSubmittedResultLocalHeight: 0n,
  lastSubmittedResultRemoteHeight: undefined,
  deposit: [{ denom: "untrn", amount: "1000000" }],
  submitTimeout: 1_036_800n,
  registeredAtHeight: 10n,
};

function kvKeyAttribute(keys: RegisteredQuery["keys"]): string | undefined {
  const { attributes } = queryUpdated("neutron", { ...QUERY, keys });
  return attributes.find(({ key }) => key === "kv_key")?.value;
}

function chainOf(genesis: JsonValue): IcqChain {
  const chain = createIcqChain({ ibc: createFakeIbc() });
  chain.icq.initGenesis(chain.world.context(), genesis);
  return chain;
}

describe("genesis", () => {
  it("reads the deployed form, and the last id is the highest id", () => {
    const chain = chainOf({
      params: PARAMS,
      registered_queries: [4, 3, 2, 1].map((id) => ({ ...KV, id: `${id}` })),
    });
    expect(keeper.lastId.get(chain.world.context())).toBe(4n);
    expect([...keeper.queries.entries(chain.world.context())].map(([id]) => id)).toEqual([1n, 2n, 3n, 4n]);
  });

  it("sets the default parameters when it is absent", () => {
    const chain = createIcqChain({ ibc: createFakeIbc() });
    keeper.moduleParams.set(chain.world.context(), {
      ...keeper.defaultParams("untrn"),
      txQueryRemovalLimit: 1n,
    });
    chain.icq.initGenesis(chain.world.context(), undefined);
    expect(keeper.moduleParams.get(chain.world.context())).toEqual(keeper.defaultParams("untrn"));
  });

  it("writes no last id for an empty state", () => {
    expect(keeper.lastId.get(chainOf({}).world.context())).toBeUndefined();
  });

  it.each([
    [
      "a duplicate id",
      [
        { ...KV, id: "1" },
        { ...KV, id: "1" },
      ],
      1100,
      "duplicate query id: 1: invalid query id",
    ],
    [
      "a bad filter",
      [{ owner: A, query_type: "tx", transactions_filter: '[{"field":"fi><eld","op":"eq","value":1}]' }],
      1106,
      "invalid transactions filter",
    ],
    ["kv without keys", [{ ...KV, keys: [] }], 1117, "keys are empty"],
    [
      "another type",
      [{ ...KV, query_type: "fake" }],
      1121,
      "Unexpected query type: fake: unexpected query type",
    ],
    [
      "a foreign owner",
      [{ ...KV, owner: "cosmos10h9stc5v6ntgeygf5xf945njqq5h32r53uquvw" }],
      1,
      "Invalid owner address",
    ],
  ])("rejects %s", (_name, registered, code, text) => {
    const load = (): unknown => chainOf({ params: PARAMS, registered_queries: registered });
    expect(load).toThrow(expect.objectContaining({ code }));
    expect(load).toThrow(text);
  });

  it.each([
    [{ last_query_id: "x" }, "app_state.interchainqueries.last_query_id: not an unsigned 64-bit integer"],
    [
      { last_query_id: "0", registered_queries: [{ ...KV, id: "1" }] },
      "app_state.interchainqueries.last_query_id: 0 is below query 1",
    ],
    [
      { submitted_txs: [{ query_id: "1", hash: "00" }] },
      "app_state.interchainqueries.submitted_txs[0].hash: not a SHA-256 hash in lower-case hex",
    ],
    [{ removed_tx_queries: {} }, "app_state.interchainqueries.removed_tx_queries: not a list"],
  ])("fails with the path of the invalid field: %j", (fields, text) => {
    expect(() => chainOf({ params: PARAMS, registered_queries: [], ...fields })).toThrow(text);
  });

  it("restores queries, results, transactions, marks and the last id from an export", () => {
    const chain = chainOf({ params: PARAMS, registered_queries: [{ ...KV, id: "7" }] });
    const context = chain.world.context();
    keeper.lastId.set(context, 12n);
    keeper.saveKvResult(context, keeper.getQuery(context, 7n), {
      kvResults: [{ storagePrefix: "bank", key: utf8("k"), value: new Uint8Array(0), Proof: undefined }],
      block: undefined,
      height: 2n ** 63n,
      revision: 1n,
      allowKvCallbacks: true,
    });
    keeper.markSubmitted(context, { queryId: 9n, hash: sha256(utf8("txbody")) });
    keeper.markRemoved(context, 9n);
    const exported = chain.icq.exportGenesis(context);
    const imported = chainOf(exported);
    expect(imported.world.dump("interchainqueries")).toEqual(chain.world.dump("interchainqueries"));
    expect(chain.world.dump("interchainqueries")).toHaveLength(6);
    expect(imported.icq.exportGenesis(imported.world.context())).toEqual(exported);
    expect(JSON.parse(JSON.stringify(exported))).toEqual(exported);
  });
});

describe("the bytes", () => {
  it("of messages and records equal the vectors", () => {
    expect(toHex(register({ sender: A }).value)).toBe(
      "0a026b7612140a08736f6d65706174681208736f6d6564617461220c636f6e6e656374696f6e2d302801322e6e657574726f6e313764746c306d6a74337437376b70756867326564717a6a70737a756c7768677a636476616768",
    );
    expect(toHex(Params.encode(keeper.defaultParams("untrn")).finish())).toBe(
      "0880a43f12100a05756e74726e12073130303030303018904e20202820",
    );
  });

  it("of store entries equal the vectors", () => {
    const chain = createIcqChain();
    const context = chain.world.context();
    const bank01 = { storagePrefix: "bank", key: fromHex("01"), value: utf8("v"), Proof: undefined };
    keeper.saveKvResult(context, QUERY, {
      kvResults: [bank01],
      block: undefined,
      height: 100n,
      revision: 1n,
      allowKvCallbacks: false,
    });
    keeper.setQuery(context, QUERY);
    keeper.markSubmitted(context, { queryId: 1n, hash: sha256(utf8("txbody")) });
    keeper.markRemoved(context, 1n);
    keeper.lastId.set(context, 1n);
    expect(chain.world.dump("interchainqueries")).toEqual([
      [
        "010000000000000001",
        "0801122e6e657574726f6e313764746c306d6a74337437376b70756867326564717a6a70737a756c7768677a6364766167681a0274782a025b5d320c636f6e6e656374696f6e2d30380152100a05756e74726e1207313030303030305880a43f600a",
      ],
      ["020000000000000001", "0a0c0a0462616e6b1201011a017618642001"],
      ["0300000000000000012fbd202f811507edab325de978e69de745e9ebb7bd16cb6c6f017525b7784a4c", ""],
      ["040000000000000001", ""],
      ["05", "0880a43f12100a05756e74726e12073130303030303018904e20202820"],
      ["64", "0000000000000001"],
    ]);
  });

  it("of kv_key equal the vectors", () => {
    const keys = [{ path: "bank", key: fromHex("0001ab") }, kvKey("a/b,c", "x")];
    expect(kvKeyAttribute(keys)).toBe("bank/0001ab,a/b,c/78");
    expect(kvKeyAttribute([kvKey("somepath", "somedata")])).toBe("somepath/736f6d6564617461");
    expect(kvKeyAttribute([])).toBe("");
  });
});
