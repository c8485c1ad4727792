import { beforeEach, describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../src/platform/base/bytes.ts";
import {
  getResult,
  queries,
  setQuery,
  defaultParams,
} from "../../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import type { StorageValue } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { createFakeIbc, type FakeIbc } from "../../support/fake-ibc.ts";
import { addContract, ALICE, createIcqChain, type IcqChain } from "../../support/icq-chain.ts";
import { kvKey, register, registerTx, submit } from "../../support/icq-messages.ts";

const APP_HASH_A = "dfe3e8d9f17d9a1327445d651a5ff29b3a34b932ffc91e3bec27f45fd168ac2b";
const PROOF_A = [
  "0a130a01011201761a0b0801180120012a03000202",
  "0a330a0462616e6b1220fa2b5efa9b23e64ddc05c90b6e56b805b1a806dfd915360799e62ee10fa990341a090801180120012a0100",
];
const APP_HASH_B = "711b70ccafff7fd6f9676d19289933f71ec60ed6bdd22dfcde04e2ef61facd8d";
const PROOF_B = [
  "1285010a010212400a01011201761a0b0801180120012a03000202222b08011204020402201a2120350ed89a3fa164045436736f0fe64783a16d12542fe222d3502713b2ff7caced1a3e0a01031201771a0b0801180120012a0300020222290801122502040220fa2b5efa9b23e64ddc05c90b6e56b805b1a806dfd915360799e62ee10fa9903420",
  "0a330a0462616e6b1220884308cd2182dc6cef83a916b69f8eb14ddd37a477c971dd59710351456d2eb31a090801180120012a0100",
];

function value(key: string, data: string, proof: readonly string[] | undefined): StorageValue {
  const ops = proof?.map((op) => ({ type: "ignored", key: new Uint8Array(0), data: fromHex(op) }));
  return { storagePrefix: "bank", key: fromHex(key), value: fromHex(data), Proof: ops && { ops } };
}

let chain: IcqChain;
let ibc: FakeIbc;
let owner: string;

const VALUE_A = value("01", "76", PROOF_A);
const VALUE_B = value("02", "deadbeef", PROOF_B);
/**
 * Query 1: bank/01. Query 2: bank/02. Query 3: transactions. App hash A is at 1-101 and B at 1-102; results have one
 * height less.
 */
beforeEach(() => {
  ibc = createFakeIbc();
  chain = createIcqChain({ ibc });
  owner = addContract(chain, "icq-consumer");
  ibc.roots
    .set("1-101", fromHex(APP_HASH_A))
    .set("1-102", fromHex(APP_HASH_B))
    .set("1-103", fromHex(APP_HASH_A));
  const keys = ["\u0001", "\u0002"].map((key) => [kvKey("bank", key)]);
  const registered = chain.deliver([
    ...keys.map((list) => register({ sender: owner, keys: list })),
    registerTx({ sender: owner }),
  ]);
  expect(registered.code).toBe(0);
});

describe("KV results", () => {
  const at100 = { height: 100n, revision: 1n };
  const at101 = { height: 101n, revision: 1n };
  const cases: readonly (readonly [
    string,
    Parameters<typeof submit>[0],
    Parameters<typeof submit>[2],
    string,
  ])[] = [
    ["A with its value", 1n, { ...at100, kvResults: [VALUE_A] }, "0"],
    [
      "A with another value",
      1n,
      { ...at100, kvResults: [value("01", "78", PROOF_A)] },
      "1112 proof did not|chained membership proof failed to verify",
    ],
    [
      "A with an empty value",
      1n,
      { ...at100, kvResults: [value("01", "", PROOF_A)] },
      "1112 empty value in membership proof",
    ],
    ["B is absent", 2n, { ...at101, kvResults: [VALUE_B] }, "0"],
    [
      "B for a present key",
      1n,
      { ...at101, kvResults: [value("01", "", PROOF_B)] },
      "1112 could not verify absence",
    ],
    ["unregistered id", 9n, { ...at100, kvResults: [VALUE_A] }, "1100 there is no query with id: 9"],
    ["the value twice", 1n, { ...at100, kvResults: [VALUE_A, VALUE_A] }, "1107 2 != 1"],
    [
      "for a tx query",
      3n,
      { ...at100, kvResults: [VALUE_A] },
      "1110 invalid query result for query type: tx",
    ],
    ["no proof", 1n, { ...at100, kvResults: [value("01", "76", undefined)] }, "1110 tendermint proof is nil"],
    [
      "a proof without operations",
      1n,
      { ...at100, kvResults: [value("01", "76", [])] },
      "1112 proof cannot be empty",
    ],
    [
      "a proof that is no proof",
      1n,
      { ...at100, kvResults: [value("01", "76", ["ff", "ff"])] },
      "1110 could not unmarshal proof op into CommitmentProof at index 0",
    ],
    ["another key", 1n, { ...at100, kvResults: [value("6e6f", "76", PROOF_A)] }, "1107 [110 111] != [1]"],
    ["another path", 1n, { ...at100, kvResults: [{ ...VALUE_A, storagePrefix: "acc" }] }, "1107 acc != bank"],
    [
      "a height without consensus state",
      1n,
      { ...at100, height: 500n, kvResults: [VALUE_A] },
      "7 consensus state not found",
    ],
    [
      "the highest height there is",
      1n,
      { ...at100, height: 2n ** 64n - 1n, kvResults: [VALUE_A] },
      "7 consensus state not found",
    ],
    ["another revision", 1n, { ...at100, revision: 2n, kvResults: [VALUE_A] }, "7 consensus state not found"],
    [
      "the wrong height",
      1n,
      { ...at101, kvResults: [VALUE_A] },
      "1112 proof did not commit to expected root",
    ],
  ];

  it.each(cases)("%s", (_name, id, result, expected) => {
    const [code = "", text = ""] = expected.split(/ (.*)/s);
    const outcome = chain.deliver([submit(id, ALICE, result)]);
    expect(`${outcome.code}`).toBe(code);
    expect(outcome.log).toMatch(
      new RegExp(
        text
          .split("|")
          .map((part) => part.replace(/[[\]]/g, "\\$&"))
          .join("|"),
      ),
    );
  });

  it("stores no proof, no callback flag, and an empty value for an absent key", () => {
    chain.deliver([submit(1n, ALICE, { ...at100, kvResults: [VALUE_A] })], { height: 20n });
    chain.deliver([submit(2n, ALICE, { ...at101, kvResults: [VALUE_B], allowKvCallbacks: true })]);
    const [one, two] = [1n, 2n].map((id) => getResult(chain.world.context(), id));
    expect(one).toMatchObject({ height: 100n, revision: 1n, block: undefined, allowKvCallbacks: false });
    expect(one?.kvResults[0]?.Proof).toBeUndefined();
    expect(toHex(two?.kvResults[0]?.value ?? new Uint8Array([1]))).toBe("");
    expect(two?.allowKvCallbacks).toBe(false);
    expect(queries.get(chain.world.context(), 1n)).toMatchObject({
      lastSubmittedResultLocalHeight: 20n,
      lastSubmittedResultRemoteHeight: { revisionNumber: 1n, revisionHeight: 100n },
    });
  });

  it.each([
    [1n, 9999n],
    [2n, 1n],
    [1n, 100n],
  ])("rejects a result that is not newer than %s-%s", (revisionNumber, revisionHeight) => {
    setLastResult({ revisionNumber, revisionHeight });
    const outcome = chain.deliver([submit(1n, ALICE, { ...at100, kvResults: [VALUE_A] })]);
    expect(outcome.code).toBe(1114);
    expect(outcome.log).toContain(
      `result's remote height {1 100} is less than or equal to last result's remote height &{${revisionNumber} ${revisionHeight}}: height is invalid`,
    );
  });

  it("accepts a newer revision with a lower height, and two results in consecutive blocks", () => {
    setLastResult({ revisionNumber: 0n, revisionHeight: 5000n });
    expect(chain.deliver([submit(1n, ALICE, { ...at100, kvResults: [VALUE_A] })], { height: 11n }).code).toBe(
      0,
    );
    const next = submit(1n, ALICE, { height: 102n, revision: 1n, kvResults: [VALUE_A] });
    expect(chain.deliver([next], { height: 12n }).code).toBe(0);
  });

  it("fails with 1102 when the client state is missing", () => {
    ibc.latestHeight = undefined;
    const outcome = chain.deliver([submit(1n, ALICE, { ...at100, kvResults: [VALUE_A] })]);
    expect([outcome.codespace, outcome.code]).toEqual(["interchainqueries", 1102]);
  });
});

describe("KV callbacks", () => {
  const result = { height: 100n, revision: 1n, kvResults: [VALUE_A], allowKvCallbacks: true };
  const block = {
    header: undefined,
    nextBlockHeader: undefined,
    tx: {
      response: undefined,
      deliveryProof: undefined,
      inclusionProof: undefined,
      data: new Uint8Array([1]),
    },
  };

  it("run only when the submitter asks for them, after the result is stored", () => {
    expect(chain.deliver([submit(1n, ALICE, { ...result, allowKvCallbacks: false })]).events).toEqual([]);
    const outcome = chain.deliver([submit(1n, ALICE, { ...result, height: 102n })]);
    expect(outcome.events.map(({ type }) => type)).toEqual(["sudo", "wasm"]);
    expect(smartQuery({ kv_result: { query_id: 1 } })).toEqual({
      result: {
        kv_results: [{ storage_prefix: "bank", key: "AQ==", value: "dg==" }],
        height: 102,
        revision: 1,
      },
      callbacks: 1,
    });
  });

  it("revert the message when the contract fails, and the same result may be submitted again", () => {
    setFailure({ kv: true });
    const before = chain.world.dump("interchainqueries");
    const refused = chain.deliver([submit(1n, ALICE, result)]);
    expect([refused.codespace, refused.code]).toEqual(["undefined", 1]);
    expect(refused.log).toBe(
      `failed to execute message; message index: 0: contract ${owner} rejected KV query result (query_id: 1): failed to sudo: kv callbacks are set to fail: execute wasm contract failed`,
    );
    expect(chain.world.dump("interchainqueries")).toEqual(before);
    setFailure({ kv: false });
    expect(chain.deliver([submit(1n, ALICE, result)]).code).toBe(0);
  });

  it("make the module ignore a block in the same message; without them the block fails and reverts the values", () => {
    expect(chain.deliver([submit(1n, ALICE, { ...result, block })]).code).toBe(0);
    const before = chain.world.dump("interchainqueries");
    const both = { ...result, height: 102n, allowKvCallbacks: false, block };
    expect(chain.deliver([submit(1n, ALICE, both)]).code).toBe(1110);
    expect(chain.world.dump("interchainqueries")).toEqual(before);
  });

  it("fail when the owner is not a contract", () => {
    const query = queries.get(chain.world.context(), 1n);
    if (query === undefined) throw new Error("query 1 is missing");
    setQuery(chain.world.context(), { ...query, owner: ALICE });
    const outcome = chain.deliver([submit(1n, ALICE, result)]);
    expect([outcome.codespace, outcome.code]).toEqual(["undefined", 1]);
    expect(outcome.log).toContain(`failed to sudo: ${ALICE} is not a contract address`);
  });
});

function setLastResult(height: { readonly revisionNumber: bigint; readonly revisionHeight: bigint }): void {
  const query = queries.get(chain.world.context(), 1n);
  if (query === undefined) throw new Error("query 1 is missing");
  setQuery(chain.world.context(), { ...query, lastSubmittedResultRemoteHeight: height });
}

function smartQuery(request: object): unknown {
  const response = chain.wasm.host.query(
    chain.world.context(),
    owner,
    new TextEncoder().encode(JSON.stringify(request)),
  );
  return JSON.parse(new TextDecoder().decode(response));
}

function setFailure(failure: object): void {
  const message = new TextEncoder().encode(JSON.stringify({ set_failure: failure }));
  chain.wasm.host.execute(chain.world.context(), owner, { sender: ALICE, funds: [] }, message);
}

it("default parameters have the deposit of the specification", () => {
  expect(defaultParams("untrn").queryDeposit).toEqual([{ denom: "untrn", amount: "1000000" }]);
});
