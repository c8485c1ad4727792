import { describe, expect, it } from "vitest";
import { decodeValidatorsPage, readLightBlock } from "../../../src/cosmos/client/light-block.ts";
import { createCometReads } from "../../../src/cosmos/client/create-chain-client.ts";
import { createEndpointPool } from "../../../src/cosmos/client/endpoint-pool.ts";
import { parseEndpoints } from "../../../src/cosmos/client/endpoint.ts";
import { createPooledEndpoint } from "../../../src/cosmos/client/pooled-endpoint.ts";
import type { CallEndpoint } from "../../../src/cosmos/client/rpc-caller.ts";
import { decodeStatus } from "../../../src/cosmos/client/rpc-response.ts";
import { validatorToJson } from "../../../src/cosmos/comet/rpc-json.ts";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import { silentLogger } from "../../../src/platform/base/logger.ts";
import { blockResult, statusResult } from "../../support/client/rpc-server.ts";
import { signedHeaderToJson } from "../../support/comet/light-block.ts";
import { createSigners, signBlock } from "../../support/comet/signed-chain.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const signal = new AbortController().signal;

/** An endpoint that responds with `results` by method. */
function endpoint(name: string, results: Readonly<Record<string, unknown>>, calls: string[] = []) {
  const call = async (method: string): Promise<unknown> => {
    calls.push(`${name} ${method}`);
    return method === "status" ? statusResult("test-1", 7n) : results[method];
  };
  const options = { name, chainId: "test-1", rest: { minMs: 1, baseMs: 1, maxMs: 1 } };
  const deps = { clock: createManualClock(0), random: () => 0, logger: silentLogger };
  return createPooledEndpoint(options, { ...deps, caller: { call, close: () => {} } });
}

describe("a status", () => {
  const sync = {
    latest_block_height: 7,
    earliest_block_height: "1",
    latest_block_time: "2026-11-21T12:26:05Z",
  };
  it.each([
    [
      "a validator key of another type",
      { validator_info: { pub_key: { type: "cometbft/PubKeyBn254" } } },
      {},
    ],
    ["no validator", { validator_info: null }, {}],
    ["heights as numbers, and no catching_up", {}, { earliest_block_height: 1 }],
  ])("with %s is read", (_what, root, changes) => {
    const result = { node_info: { network: "test-1" }, sync_info: { ...sync, ...changes }, ...root };
    expect(decodeStatus(result, "n")).toMatchObject({
      latestHeight: 7n,
      earliestHeight: 1n,
      catchingUp: false,
    });
  });

  it("of a node in state sync has height 0 and the time 1970", () => {
    const empty = { latest_block_height: "0", latest_block_time: "1970-01-01T00:00:00Z", catching_up: true };
    const result = { node_info: { network: "test-1" }, sync_info: empty };
    expect(decodeStatus(result, "n")).toMatchObject({ latestHeight: 0n, latestTimeNs: 0n, catchingUp: true });
  });
});

describe("a commit", () => {
  it.each([[null], [{ signed_header: { header: null, commit: null } }], [{ signed_header: null }]])(
    "that is %j is left to the next endpoint",
    async (commit) => {
      const calls: string[] = [];
      const pool = createEndpointPool([endpoint("a", { commit }, calls), endpoint("b", { commit }, calls)]);
      const run = (call: CallEndpoint, name: string) => readLightBlock(0n, call, name);
      await expect(pool.run({ method: "commit", params: {}, run }, signal)).rejects.toThrow("a: commit");
      expect(calls).toEqual(["a status", "a commit", "b status", "b commit"]);
    },
  );
});

describe("a light block", () => {
  const signers = createSigners("two", [2n, 1n]);
  const [five, six] = [5n, 6n].map((height) => signBlock(signers, { chainId: "unit-1", height }));
  const validators = {
    block_height: "5",
    total: "2",
    validators: signers.set.validators.map((one) => validatorToJson(one)),
  };
  const nodeWith =
    (block = five): CallEndpoint =>
    async (method) =>
      method === "validators" ? validators : { signed_header: block && signedHeaderToJson(block) };
  const validatorsHash = five?.header.validatorsHash ?? expect.unreachable();

  it("is for the height that was requested", async () => {
    expect(await readLightBlock(5n, nodeWith(), "n")).toMatchObject({ height: 5n });
    await expect(readLightBlock(5n, nodeWith(six), "n")).rejects.toThrow(
      "commit.signed_header.header.height is not the requested height",
    );
  });

  it("has the validators that the light client trusts", async () => {
    const read = (hash: Uint8Array) => readLightBlock(5n, nodeWith(), "n", Promise.resolve(hash));
    expect(await read(validatorsHash)).toMatchObject({ height: 5n });
    await expect(read(new Uint8Array(32))).rejects.toThrow(
      "header 5 does not have the validators that the light client trusts",
    );
  });
});

describe("a block", () => {
  const whole = blockResult([utf8("a"), utf8("b")]);
  const short = structuredClone(whole);
  Object(short["block"]).data.txs.pop();

  it("that lacks a transaction is left to the next endpoint, and the first one is distrusted", async () => {
    const [a, b] = [endpoint("a", { block: short }), endpoint("b", { block: whole })];
    const { block } = createCometReads(createEndpointPool([a, b]), signal);
    expect(await block(7)).toEqual({ block: { txs: [utf8("a"), utf8("b")] }, endpoint: "b" });
    expect(a.health().distrusted).toContain("a: block of 7 has transactions that do not match its header");
  });
});

describe("validators", () => {
  it.each([
    [100, 1],
    [101, 2],
    [180, 2],
  ])("%d are read in %d pages", async (total, pages) => {
    const read: unknown[] = [];
    const call = async (method: string, params: Readonly<Record<string, unknown>>): Promise<unknown> => {
      if (method === "commit") throw new Error("not asked");
      read.push(params["page"]);
      const size = Math.min(100, total - 100 * (read.length - 1));
      return { block_height: "5", total: `${total}`, validators: Array.from({ length: size }, () => ({})) };
    };
    await expect(readLightBlock(5n, call, "n")).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(read).toHaveLength(pages);
  });

  it("with keys of an unknown type are an error that names it", async () => {
    const key = { type: "cometbft/PubKeyBls12_381", value: "AAAA" };
    const entry = { address: "00", pub_key: key, voting_power: "1", proposer_priority: "0" };
    const page = { block_height: "5", total: "1", validators: [entry] };
    expect(decodeValidatorsPage(page, 5n, "n").total).toBe(1);
    const call = (method: string): Promise<unknown> =>
      method === "commit" ? new Promise(() => {}) : Promise.resolve(page);
    await expect(readLightBlock(5n, call, "n")).rejects.toThrow("cometbft/PubKeyBls12_381");
  });
});

it.each([
  ["http://[::1]:26657", "http://[::1]:26657", "/", "ws://[::1]:26657/websocket"],
  ["http://host/base/KEY/", "http://host", "/base/KEY", "ws://host/base/KEY/websocket"],
  ["http://host/base?apikey=1", "http://host", "/base?apikey=1", "ws://host/base/websocket?apikey=1"],
])("the endpoint %s is read, also over WebSocket", (url, origin, path, webSocketUrl) => {
  expect(parseEndpoints([{ url }])[0]).toMatchObject({ origin, path, webSocketUrl });
});
