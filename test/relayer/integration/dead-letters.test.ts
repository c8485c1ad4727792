import { expect, it, vi } from "vitest";
import { CHAINS } from "../../../src/localnet/accounts/chains.ts";
import { type RelayedLocalnet, sendMessage, startRelayedLocalnet } from "../../support/relayed-localnet.ts";

const WAIT = { timeout: 60_000, interval: 50 };

async function deadLetters(net: RelayedLocalnet): Promise<unknown> {
  const { host, port } = await net.relayer.http.ready;
  return (await fetch(`http://${host}:${port}/unsuccessful-txs`)).json();
}

/** Registers a query for transfers to alice, and sends one. */
async function sendTransfer(net: RelayedLocalnet, failure: boolean): Promise<void> {
  const recipient = net.alice.remote.address;
  await vi.waitFor(() => expect(net.relayer.status().loaded).toBe(true), WAIT);
  await net.execute(
    { set_failure: { kv: false, tx: failure } },
    { register_transfers_query: { connection_id: "connection-0", update_period: 1, recipient } },
  );
  await vi.waitFor(() => expect(net.relayer.status().queries).toHaveLength(2), WAIT);
  await net.send(net.alice.remote, sendMessage(CHAINS.remote, recipient, recipient, 5n));
}

it("a rejected transaction whose error does not match is no dead letter, and is sent again", async () => {
  const net = await startRelayedLocalnet({ relayer: 'queries: { tx_dead_letter_errors: "something else" }' });
  try {
    await sendTransfer(net, true);
    const tx = () => net.relayer.status().queries.find(({ type }) => type === "tx");
    await vi.waitFor(() => expect(tx()?.error?.code).toBe("rejected"), WAIT);
    expect(await deadLetters(net)).toEqual([]);
    await net.execute({ set_failure: { kv: false, tx: false } });
    await vi.waitFor(() => expect(tx()).toMatchObject({ results: 1, error: undefined }), WAIT);
  } finally {
    await net.stop();
  }
});

it("a transaction that no local transaction can hold is a dead letter with its size and the limit", async () => {
  const remotePowers = Array.from({ length: 100 }, () => 10n);
  const net = await startRelayedLocalnet({ remotePowers, relayer: "batch: { bytes: 10000 }" });
  try {
    await sendTransfer(net, false);
    await vi.waitFor(async () => {
      expect(await deadLetters(net)).toEqual([
        expect.objectContaining({
          message: expect.stringMatching(
            /^the result has \d{5} bytes, above the limit of 10000 per transaction$/,
          ),
        }),
      ]);
    }, WAIT);
  } finally {
    await net.stop();
  }
});
