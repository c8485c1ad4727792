import { describe, expect, it } from "vitest";
import { fromBase64, fromHex, toHex, utf8, sha256 } from "../../../src/platform/base/bytes.ts";
import { txResultLeaf } from "../../../src/cosmos/comet/block-hashes.ts";
import { simpleProofs } from "../../../src/cosmos/merkle/simple-tree.ts";
import {
  checkConsecutive,
  type BlockHeader,
  verifyTransaction,
} from "../../../src/localnet/chain/modules/interchainqueries/tx-queries.ts";
import { queries } from "../../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import { ModuleError } from "../../../src/localnet/chain/runtime/errors.ts";
import {
  MsgSubmitQueryResult,
  type TxValue,
} from "../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { createFakeIbc } from "../../support/fake-ibc.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { addContract, ALICE, createIcqChain, type IcqChain } from "../../support/icq-chain.ts";
import { registerTx, submit } from "../../support/icq-messages.ts";
import { list, readJson, record, text } from "../../support/recorded-client.ts";

const RESPONSE = {
  code: 0,
  data: fromHex("0a0b"),
  log: "",
  info: "",
  gasWanted: 200_000n,
  gasUsed: 150_000n,
  events: [],
  codespace: "",
};
const OTHERS = [
  { ...RESPONSE, data: new Uint8Array(0), gasWanted: 1n, gasUsed: 1n },
  { ...RESPONSE, data: new Uint8Array(0), code: 5, gasWanted: 2n, gasUsed: 2n },
] as const;

describe("proofs of a transaction", () => {
  const alone = block([utf8("txbody")], [RESPONSE], 0);
  const among = block(["tx0", "txbody", "tx2"].map(utf8), [OTHERS[0], RESPONSE, OTHERS[1]], 1);

  it("have the expected hashes", () => {
    expect(toHex(txResultLeaf(RESPONSE))).toBe("12020a0b28c09a0c30f09309");
    expect(toHex(alone.roots.dataHash)).toBe(
      "2c91594b66e9c2343b14acf296787b24fb0ea84c96a4afb3b1e6f2f52f46c371",
    );
    expect(toHex(alone.roots.resultsHash)).toBe(
      "a3352d29860ddaa61abe52f7c60e2c7df619406c051bb0466e83474dd2ad15ca",
    );
    expect(toHex(among.roots.dataHash)).toBe(
      "e71acfc8675e3e283bdd1e54479a88747c85a7bdb5d9098d2dc85fd85a32d8f6",
    );
    expect(toHex(among.roots.resultsHash)).toBe(
      "128b12fb0711407c5100c57d278b0b0eb89353a4a4475b94fcc3430671ac456f",
    );
    expect(among.tx.inclusionProof?.aunts.map(toHex)).toEqual([
      "5e0bee3b0a2e783a0e43a5b93c5d769ad07969cb6213d009763153f07134fca3",
      "fe8334ff03826156a150a298ceec2b2ecb123d3a709ff509a17804ba93303fe6",
    ]);
    expect(among.tx.deliveryProof?.aunts.map(toHex)).toEqual([
      "46c5ad277a848d8c4962995346475448809789001d6bdbd5c77b96605090f885",
      "5bc031f83e88741f44f1332944f7090d680c7f01e86e2256b43fdeba6eb97790",
    ]);
  });

  it("verify in a block of one and of three transactions, with any log, info, events and codespace", () => {
    expect(() => verifyTransaction(alone.tx, alone.roots)).not.toThrow();
    const response = {
      ...RESPONSE,
      log: "x",
      info: "y",
      codespace: "z",
      events: [{ type: "e", attributes: [] }],
    };
    expect(() => verifyTransaction({ ...among.tx, response }, among.roots)).not.toThrow();
  });

  it.each([
    ["no inclusion proof", { inclusionProof: undefined }, 1110, "nil proof"],
    ["no delivery proof", { deliveryProof: undefined }, 1110, "nil proof"],
    ["no response", { response: undefined }, 1110, "response is missing"],
    [
      "another transaction",
      { data: utf8("txbodx") },
      1112,
      "failed to verify inclusion proof: invalid leaf hash",
    ],
    [
      "another gas",
      { response: { ...RESPONSE, gasUsed: 1n } },
      1112,
      "failed to verify delivery proof: invalid leaf hash",
    ],
    ["the delivery of a neighbour", neighbour(), 1112, "index"],
    ["a failed transaction", failed(), 1111, "is unsuccessful: ResponseDelivery.Code = 5"],
  ])("fail for %s", (_name, change, code, message) => {
    const error = errorOf(() => verifyTransaction({ ...among.tx, ...change }, among.roots));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  function neighbour(): Partial<TxValue> {
    const first = block(["tx0", "txbody", "tx2"].map(utf8), [OTHERS[0], RESPONSE, OTHERS[1]], 0);
    return { deliveryProof: first.tx.deliveryProof, response: OTHERS[0] };
  }

  function failed(): Partial<TxValue> {
    return block(["tx0", "txbody", "tx2"].map(utf8), [OTHERS[0], RESPONSE, OTHERS[1]], 2).tx;
  }
});

describe("two headers", () => {
  const hash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
  const header: BlockHeader = {
    height: 10n,
    trustedRevision: 1n,
    hash: hash(1),
    lastBlockHash: hash(2),
    validatorsHash: hash(3),
    nextValidatorsHash: hash(4),
    dataHash: hash(5),
    lastResultsHash: hash(6),
  };
  const next = { ...header, height: 11n, validatorsHash: hash(4), lastBlockHash: hash(1), hash: hash(7) };

  it("pass when the second has the next height", () => {
    expect(() => checkConsecutive(header, next)).not.toThrow();
  });

  it.each([
    ["a gap", { height: 12n }, "nextHeader.Height (12) is not actually next for a header with height 10"],
    [
      "other validators",
      { validatorsHash: hash(9) },
      "header.NextValidatorsHash is not equal to nextHeader.ValidatorsHash: 0404",
    ],
    [
      "another block before it",
      { lastBlockHash: hash(0xab) },
      "header hash is not equal to nextHeader.LastBlockId.Hash: 0101",
    ],
  ])("fail for %s", (_name, change, message) => {
    const error = errorOf(() => checkConsecutive(header, { ...next, ...change }));
    expect([error.codespace, error.code]).toEqual(["interchainqueries", 1113]);
    expect(error.message).toContain("block.NextBlockHeader is not next for the block.Header");
    expect(error.message).toContain(message);
  });
});

describe("TX results", () => {
  it("are delivered once for each query, and their headers are verified every time", () => {
    const { chain, ibc, result, owner } = txQueries();
    expect(chain.deliver([submit(1n, ALICE, result)], { height: 20n }).code).toBe(0);
    expect(ibc.headers).toHaveLength(2);
    expect(transactions(chain, owner, 1)).toHaveLength(1);
    const again = chain.deliver([submit(1n, ALICE, result)], { height: 30n });
    expect([again.code, again.events]).toEqual([0, []]);
    expect(ibc.headers).toHaveLength(4);
    expect(queries.get(chain.world.context(), 1n)).toMatchObject({
      lastSubmittedResultLocalHeight: 30n,
      lastSubmittedResultRemoteHeight: undefined,
    });
    expect(chain.deliver([submit(2n, ALICE, result)]).code).toBe(0);
    expect(transactions(chain, owner, 1)).toHaveLength(1);
    expect(transactions(chain, owner, 2)).toEqual([
      { height: { revision_number: 2, revision_height: 361 }, data: expect.stringMatching(/^CpIBCo8B/) },
    ]);
  });

  it("store only a mark, and revert when the contract fails", () => {
    const { chain, result, owner } = txQueries();
    setFailure(chain, owner, true);
    const before = chain.world.dump("interchainqueries");
    const refused = chain.deliver([submit(1n, ALICE, result)]);
    expect([refused.codespace, refused.code]).toEqual(["undefined", 1]);
    expect(refused.log).toContain("rejected transaction query result (tx_hash: ");
    expect(chain.world.dump("interchainqueries")).toEqual(before);
    setFailure(chain, owner, false);
    expect(chain.deliver([submit(1n, ALICE, result)]).code).toBe(0);
    const added = chain.world
      .dump("interchainqueries")
      .filter(([key]) => !before.some(([present]) => present === key));
    const hash = toHex(sha256(result.block?.tx?.data ?? new Uint8Array(0)));
    expect(added).toEqual([[`030000000000000001${hash}`, ""]]);
  });

  it("fail with 1113 for a header that the client rejects", () => {
    const { chain, ibc, result } = txQueries();
    ibc.onHeader = () => {
      throw new ModuleError("client", 29, "client is not active: client state is not active");
    };
    const outcome = chain.deliver([submit(1n, ALICE, result)]);
    expect(outcome.code).toBe(1113);
    expect(outcome.log).toContain("failed to verify headers: failed to update client: client is not active");
  });

  it("accept a transaction of 100 kB", () => {
    const big = block([new Uint8Array(100_000).fill(7)], [RESPONSE], 0);
    expect(() => verifyTransaction(big.tx, big.roots)).not.toThrow();
  });

  it("accept a transaction of a block with 1,000 transactions", () => {
    const txs = Array.from({ length: 1000 }, (_, index) => utf8(`tx${index}`));
    const crowded = block(
      txs,
      txs.map(() => RESPONSE),
      617,
    );
    expect(() => verifyTransaction(crowded.tx, crowded.roots)).not.toThrow();
  });
});

function block(txs: readonly Uint8Array[], responses: readonly (typeof RESPONSE)[], index: number) {
  const inclusion = simpleProofs(txs.map(sha256));
  const delivery = simpleProofs(responses.map(txResultLeaf));
  const tx: TxValue = {
    response: responses[index],
    data: txs[index] ?? new Uint8Array(0),
    inclusionProof: wireProof(inclusion.proofs[index]),
    deliveryProof: wireProof(delivery.proofs[index]),
  };
  return { tx, roots: { dataHash: inclusion.root, resultsHash: delivery.root } };
}

function wireProof(
  proof: ReturnType<typeof simpleProofs>["proofs"][number] | undefined,
): TxValue["inclusionProof"] {
  return proof && { ...proof, aunts: [...proof.aunts] };
}

function errorOf(work: () => void): ModuleError {
  try {
    work();
  } catch (error) {
    if (error instanceof ModuleError) return error;
    throw error;
  }
  throw new Error("no error was thrown");
}

/** Creates two TX queries of one consumer, with a recorded result. */
function txQueries() {
  const ibc = createFakeIbc();
  const chain = createIcqChain({ ibc });
  const owner = addContract(chain, "icq-consumer");
  chain.deliver([registerTx({ sender: owner }), registerTx({ sender: owner })]);
  const recorded = list(readJson(fixtureFile("interchainqueries/tx-submit-cases.json"))).map(record);
  const good = recorded.find(({ name }) => name === "good (for another query id)");
  const [encoded] = list(good?.["messages_base64"]);
  const { result } = MsgSubmitQueryResult.decode(fromBase64(text(encoded)));
  if (result === undefined) throw new Error("the recorded message has no result");
  return { chain, ibc, owner, result };
}

function transactions(chain: IcqChain, owner: string, queryId: number): unknown {
  const request = utf8(JSON.stringify({ transactions: { query_id: queryId } }));
  const response = JSON.parse(
    new TextDecoder().decode(chain.wasm.host.query(chain.world.context(), owner, request)),
  );
  return response.transactions;
}

function setFailure(chain: IcqChain, owner: string, tx: boolean): void {
  const message = utf8(JSON.stringify({ set_failure: { tx } }));
  chain.wasm.host.execute(chain.world.context(), owner, { sender: ALICE, funds: [] }, message);
}
