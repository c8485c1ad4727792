import { afterAll, beforeAll, expect, it } from "vitest";
import { CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { requireIncluded } from "../../../src/relayer/tx/tx-prover.ts";
import { findTxs, scanTxs } from "../../../src/relayer/tx/tx-finder.ts";
import { type RelayedLocalnet, sendMessage, startRelayedLocalnet } from "../../support/relayed-localnet.ts";

const signal = new AbortController().signal;
let net: RelayedLocalnet;

beforeAll(async () => {
  net = await startRelayedLocalnet();
});
afterAll(() => net.stop());

it("a scan of a node's blocks finds what its index finds, with proofs that verify against the headers", async () => {
  const { remote } = net.clients;
  const { address } = net.alice.remote;
  for (const amount of [1n, 2n, 3n]) {
    const sent = await net.send(net.alice.remote, sendMessage(CHAINS.remote, address, address, amount));
    expect(sent.kind).toBe("included");
  }
  const { latestHeight } = await remote.status(signal);
  const search = {
    conditions: [{ field: "transfer.recipient", op: "=", value: address }],
    range: { from: 1n, to: latestHeight },
    isHandled: () => false,
  } as const;
  const [indexed, scanned] = await Promise.all([
    findTxs(remote.comet, search, signal),
    scanTxs(remote, search, new Map(), signal),
  ]);
  expect(indexed.found.length).toBeGreaterThanOrEqual(3);
  const view = ({ found, upTo }: typeof indexed) => ({
    upTo,
    found: found.map(({ tx, hash, height, index, result, proof }) => ({
      tx,
      hash,
      height,
      index,
      result,
      proof: proof.proof,
    })),
  });
  expect(view(scanned)).toEqual(view(indexed));
  for (const tx of scanned.found) requireIncluded(tx, await remote.lightBlock(BigInt(tx.height), signal));
});
