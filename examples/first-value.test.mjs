// A test of one's own against two chains, relayer and watchdog, in its process: `node --test first-value.test.mjs`, after
// `npm install --save-dev relaywatch`. Any test runner does.
// @ts-check
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createProofVerifier, parseSignedHeader } from "relaywatch/proofs";
import { startLocalnet } from "relaywatch/testing";

/** @type {import("relaywatch/testing").TestLocalnet} */
let net;
before(async () => {
  net = await startLocalnet();
});
after(() => net.stop());

/** @param {string} url */
const get = async (url) => (await fetch(url)).json();

test("the relayer brings a value, which the chain has proven", async () => {
  await net.mineUntil(() => net.results(1n) > 0);
  const { result } = await get(`${net.local.rest}/neutron/interchainqueries/query_result?query_id=1`);
  assert.ok(BigInt(result.height) > 0n);
});

test("three weeks pass in a moment, and are taken back", async () => {
  const [snapshot, before] = [net.snapshot(), net.now()];
  await net.mine(3, 7 * 24 * 3_600_000);
  assert.equal(net.now() - before, 21 * 24 * 3_600_000);
  net.revert(snapshot);
  assert.ok(net.now() - before < 60_000);
});

test("a value of the remote chain is verified without trust in its node", async () => {
  await net.mine();
  const { remote } = net.heights();
  // The balance of an account that has none: its absence is proven.
  const key = `0214${"00".repeat(20)}7561746f6d`;
  const query = `${net.remote.rpc}/abci_query?path="store/bank/key"&data=0x${key}&height=${remote - 1n}&prove=true`;
  const { result } = await get(query);
  const { result: commit } = await get(`${net.remote.rpc}/commit?height=${remote}`);
  const operations = result.response.proofOps.ops.map((/** @type {{ data: string }} */ { data }) =>
    Buffer.from(data, "base64"),
  );
  const { appHash } = parseSignedHeader(commit.signed_header).header;
  const item = { store: "bank", key: Buffer.from(key, "hex"), value: undefined, operations };
  assert.deepEqual(createProofVerifier().verify(appHash, item).ok, true);
  assert.equal(createProofVerifier().verify(new Uint8Array(32), item).ok, false);
});
