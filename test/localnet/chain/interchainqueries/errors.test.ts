import * as keeper from "../../../../src/localnet/chain/modules/interchainqueries/keeper.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { type ErrorKind, ModuleError } from "../../../../src/localnet/chain/runtime/errors.ts";
import * as query from "../../../../src/cosmos/proto/gen/neutron/interchainqueries/query.ts";
import { createFakeIbc, type FakeIbc } from "../../../support/fake-ibc.ts";
import {
  addContract,
  ALICE,
  createIcqChain,
  type IcqChain,
  type PackedMessage,
} from "../../../support/icq-chain.ts";
import { kvKey, register, registerTx, submit } from "../../../support/icq-messages.ts";

let ibc: FakeIbc;
let chain: IcqChain;
let owner: string;

/** Query 1 is kv, query 2 tx. */
beforeEach(() => {
  ibc = createFakeIbc();
  chain = createIcqChain({ ibc });
  owner = addContract(chain, "icq-consumer");
  chain.deliver([register({ sender: owner }), registerTx({ sender: owner })]);
});

const PROVEN = {
  ...kvKey("somepath", "somedata"),
  storagePrefix: "somepath",
  value: new Uint8Array([1]),
  Proof: { ops: [] },
};
const KV = { kvResults: [PROVEN], height: 1n, revision: 1n };
const ANY = { typeUrl: "/ibc.lightclients.tendermint.v1.Header", value: new Uint8Array(0) };
const TX = {
  response: undefined,
  deliveryProof: undefined,
  inclusionProof: undefined,
  data: new Uint8Array([1]),
};

/** A message for each code. The codes of queries and genesis have tests below. */
const BY_MESSAGE: readonly (readonly [code: number, message: () => PackedMessage])[] = [
  [1100, () => submit(99n, ALICE, KV)],
  [1101, () => submit(1n, ALICE, undefined)],
  [1102, () => (setRoot(), (ibc.latestHeight = undefined), submit(1n, ALICE, KV))],
  [1103, () => register({ sender: owner, updatePeriod: 0n })],
  [1104, () => register({ sender: owner, connectionId: "connection-9" })],
  [1105, () => register({ sender: owner, queryType: "x" })],
  [1106, () => registerTx({ sender: owner, transactionsFilter: "" })],
  [1107, () => submit(1n, ALICE, { ...KV, kvResults: [PROVEN, PROVEN] })],
  [1109, () => submit(2n, ALICE, { block: { header: undefined, nextBlockHeader: undefined, tx: TX } })],
  [1110, () => submit(2n, ALICE, KV)],
  [1112, () => (setRoot(), submit(1n, ALICE, KV))],
  [1113, () => submit(2n, ALICE, { block: { header: ANY, nextBlockHeader: ANY, tx: TX } })],
  [1114, () => (setLastResult(), submit(1n, ALICE, KV))],
  [1116, () => register({ sender: ALICE })],
  [1117, () => register({ sender: owner, keys: [] })],
  [1118, () => register({ sender: owner, keys: [kvKey("", "k")] })],
  [1119, () => register({ sender: owner, keys: [kvKey("p", "")] })],
  [
    1120,
    () => register({ sender: owner, keys: Array.from({ length: 33 }, (_, index) => kvKey("p", `${index}`)) }),
  ],
];
/** 1111 needs a verified block. Recorded TX submissions reach it. */
const BY_RECORDING = [1111];
const BY_QUERY = [1115];
const BY_GENESIS = [1121];

/** Codes of the module's codespace that keeper.ts registers. */
const REGISTERED = Object.entries(keeper)
  .filter((entry): entry is [string, ErrorKind] => entry[0].startsWith("Err"))
  .map(([, create]) => create())
  .filter(({ codespace }) => codespace === "interchainqueries")
  .map(({ code }) => code);

describe("error codes", () => {
  it("all have a test", () => {
    const tested = [...BY_MESSAGE.map(([code]) => code), ...BY_RECORDING, ...BY_QUERY, ...BY_GENESIS];
    expect(REGISTERED).not.toEqual([]);
    expect(tested.toSorted((a, b) => a - b)).toEqual(REGISTERED.toSorted((a, b) => a - b));
  });

  it.each(BY_MESSAGE)("%i", (code, message) => {
    const outcome = chain.deliver([message()]);
    expect([outcome.codespace, outcome.code]).toEqual(["interchainqueries", code]);
  });

  it("1115", () => {
    const request = query.QueryRegisteredQueryResultRequest.encode({ queryId: 1n }).finish();
    expect(codeOf(() => chain.query("/neutron.interchainqueries.Query/QueryResult", request))).toBe(1115);
  });

  it("1121", () => {
    const bad = { registered_queries: [{ id: "1", owner: ALICE, query_type: "x" }] };
    expect(codeOf(() => chain.icq.initGenesis(chain.world.context(), bad))).toBe(1121);
  });
});

function setRoot(): void {
  ibc.roots.set("1-2", new Uint8Array(32));
}

function setLastResult(): void {
  const context = chain.world.context();
  const height = { revisionNumber: 1n, revisionHeight: 1n };
  keeper.setQuery(context, { ...keeper.getQuery(context, 1n), lastSubmittedResultRemoteHeight: height });
}

function codeOf(work: () => unknown): number {
  try {
    work();
  } catch (error) {
    if (error instanceof ModuleError) return error.code;
    throw error;
  }
  return 0;
}
