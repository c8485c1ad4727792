import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ChainClient, StoreResponse } from "../../../src/cosmos/client/chain-client.ts";
import { decodeStoreResponse } from "../../../src/cosmos/client/create-chain-client.ts";
import { MsgSubmitQueryResult } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { type ProofOutcome, type ProofPoint, proveResults, readKeys } from "../../../src/relayer/kv/prove.ts";
import type { QueryState } from "../../../src/relayer/registry/query-state.ts";
import { sampleState } from "../../relayer/samples.ts";
import { readRecordedProofs, type RecordedProof } from "../../support/merkle/recorded-proofs.ts";

const cases = readRecordedProofs();
const raw: readonly { readonly abci_query_response: unknown }[] = JSON.parse(
  readFileSync(new URL("../../fixtures/proofs/kv.json", import.meta.url), "utf8"),
);
const answers = raw.map(({ abci_query_response: response }) => decodeStoreResponse({ response }, "node"));
const signal = new AbortController().signal;

/** A chain that returns the recorded response to every read. */
function replaying(answer: StoreResponse): Pick<ChainClient, "readStore"> {
  return { readStore: async () => answer };
}

/** Reads and proves as a cycle does. */
async function proveAll(
  deps: {
    readonly remote: Pick<ChainClient, "readStore">;
    readonly sender: string;
    readonly allowKvCallbacks: boolean;
  },
  point: ProofPoint,
  states: readonly QueryState[],
): Promise<readonly ProofOutcome[]> {
  const keys = states.flatMap(({ query }) => query.keys);
  const read = await readKeys(deps.remote, keys, point.at.height, signal);
  return proveResults(states, read, point, deps);
}

async function errorOf(recorded: RecordedProof, answer: StoreResponse): Promise<string> {
  const point = { appHash: recorded.root, at: { revision: 2n, height: BigInt(recorded.height) } };
  const deps = { remote: replaying(answer), sender: "neutron1relayer", allowKvCallbacks: true };
  const state = sampleState({ keys: [{ path: recorded.store, key: recorded.key }] });
  const [outcome] = await proveAll(deps, point, [state]);
  if (outcome === undefined) throw new Error("no outcome");
  return outcome.result.ok ? "proven" : outcome.result.error.code;
}

describe("recorded reads", () => {
  it("are proven, or fail with a code", async () => {
    const found = await Promise.all(
      cases.map((one, index) => errorOf(one, answers[index] ?? missingResponse())),
    );
    expect(found.filter((code) => code === "proven")).toHaveLength(42);
    const named = cases.flatMap((one, index) =>
      found[index] === "proven" ? [] : [`${one.name}: ${found[index]}`],
    );
    expect(named).toEqual([
      "bank absent, right neighbour has an empty value at 60: absence-not-provable",
      "bank present with an empty value at 60: empty-value",
      "params absent in an empty store at 60: empty-store",
      "mint store that does not exist at 60: no-such-store",
      "bank absent, right neighbour has an empty value at 400: absence-not-provable",
      "bank present with an empty value at 400: empty-value",
      "params absent in an empty store at 400: empty-store",
      "mint store that does not exist at 400: no-such-store",
      "harpoon  at 500: empty-store",
    ]);
  });

  it("read each key once for any number of queries", async () => {
    const [recorded, answer] = [cases[0], answers[0]];
    if (recorded === undefined || answer === undefined) throw new Error("no recorded case");
    let reads = 0;
    const remote = { readStore: async () => ((reads += 1), answer) };
    const states = [1n, 2n, 3n].map((id) =>
      sampleState({ id, keys: [{ path: recorded.store, key: recorded.key }] }),
    );
    const point = { appHash: recorded.root, at: { revision: 2n, height: BigInt(recorded.height) } };
    const outcomes = await proveAll(
      { remote, sender: "neutron1relayer", allowKvCallbacks: false },
      point,
      states,
    );
    expect(reads).toBe(1);
    const messages = outcomes.map(({ result }) =>
      result.ok ? MsgSubmitQueryResult.decode(result.value.message) : undefined,
    );
    expect(messages.map((message) => message?.queryId)).toEqual([1n, 2n, 3n]);
    expect(messages[0]?.result).toMatchObject({ height: 60n, revision: 2n, allowKvCallbacks: false });
  });

  it("do not accept a response of another height", async () => {
    const [recorded, answer] = [cases[0], answers[0]];
    if (recorded === undefined || answer === undefined) throw new Error("no recorded case");
    expect(await errorOf(recorded, { ...answer, height: answer.height - 1n })).toBe("read-failed");
  });
});

describe("an endpoint that returns a wrong proof", () => {
  const point = { appHash: new Uint8Array(32), at: { revision: 2n, height: 60n } };
  const ofKey = (name: string): { readonly state: QueryState; readonly answer: StoreResponse } => {
    const index = cases.findIndex((one) => one.name.startsWith(name) && one.height === 60);
    const [recorded, answer] = [cases[index], answers[index]];
    if (recorded === undefined || answer === undefined) throw new Error(`no recorded case ${name}`);
    return { answer, state: sampleState({ keys: [{ path: recorded.store, key: recorded.key }] }) };
  };
  const reported = async (states: readonly QueryState[], answer: StoreResponse) => {
    const calls: string[] = [];
    const read = await readKeys(
      replaying(answer),
      states.flatMap(({ query }) => query.keys),
      60n,
      signal,
    );
    const outcomes = proveResults(states, read, point, {
      sender: "neutron1relayer",
      allowKvCallbacks: false,
      onInvalidProof: (endpoint, reason) => void calls.push(`${endpoint}: ${reason}`),
    });
    return { calls, codes: outcomes.map(({ result }) => (result.ok ? "proven" : result.error.code)) };
  };

  it("is reported once for each key", async () => {
    const { state, answer } = ofKey("bank supply");
    const { calls, codes } = await reported([state, state], answer);
    expect(codes).toEqual(["invalid-proof", "invalid-proof"]);
    expect(calls).toEqual([expect.stringMatching(/^node: \w+\/[0-9a-f]+: ./)]);
  });

  it("is not reported for a state that cannot be proven, an error, or another height", async () => {
    const empty = ofKey("bank present with an empty value");
    expect(await reported([empty.state], empty.answer)).toEqual({ calls: [], codes: ["empty-value"] });
    const { state, answer } = ofKey("bank supply");
    const codes = ["read-failed"];
    expect(await reported([state], { ...answer, code: 4, log: "no" })).toEqual({ calls: [], codes });
    expect(await reported([state], { ...answer, height: 59n })).toEqual({ calls: [], codes });
  });
});

function missingResponse(): never {
  throw new Error("no recorded response");
}
