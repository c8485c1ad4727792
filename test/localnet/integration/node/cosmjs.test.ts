import { Comet38Client, WebsocketClient } from "@cosmjs/tendermint-rpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { utf8 } from "../../../../src/platform/base/bytes.ts";
import { startTestNode, type TestNode } from "../../../support/test-node.ts";

describe("a stock Comet38Client", () => {
  let node: TestNode;

  beforeAll(async () => {
    node = await startTestNode({ powers: [10n, 5n, 3n] });
    node.view.broadcast(utf8("name=satoshi"));
    node.control.produce(3);
  });
  afterAll(() => node.stop());

  it("reads status, blocks, commits, validators and results over HTTP", async () => {
    const client = await Comet38Client.connect(node.rpcUrl);
    expect((await client.status()).syncInfo.latestBlockHeight).toBe(3);
    const { block, blockId } = await client.block(1);
    expect(block.txs).toEqual([utf8("name=satoshi")]);
    expect((await client.block(2)).block.lastCommit?.blockId.hash).toEqual(blockId.hash);
    expect((await client.commit(2)).commit.signatures).toHaveLength(3);
    expect((await client.validatorsAll(2)).validators.map((one) => one.votingPower)).toEqual([10n, 5n, 3n]);
    const results = await client.blockResults(1);
    expect(results.results.map((one) => one.code)).toEqual([0]);
    expect((await client.blockResults(2)).results).toEqual([]);
    expect((await client.blockchain(1, 3)).blockMetas).toHaveLength(3);
    client.disconnect();
  });

  it("finds transactions and blocks, with proofs", async () => {
    const client = await Comet38Client.connect(node.rpcUrl);
    const found = await client.txSearchAll({ query: "kv.key='name'", prove: true });
    expect(found.totalCount).toBe(1);
    expect(found.txs[0]?.proof?.proof.total).toBe(1);
    const tx = await client.tx({ hash: found.txs[0]?.hash ?? new Uint8Array(), prove: true });
    expect(tx.height).toBe(1);
    expect((await client.blockSearchAll({ query: "block.height >= 2" })).totalCount).toBe(2);
    client.disconnect();
  });

  it("broadcasts and waits for the block", async () => {
    const client = await Comet38Client.connect(node.rpcUrl);
    const waiting = client.broadcastTxCommit({ tx: utf8("place=moon") });
    await expect.poll(() => node.view.unconfirmed(10).count).toBe(1);
    const height = node.control.produce(1);
    expect((await waiting).height).toBe(Number(height));
    client.disconnect();
  });

  it("reads and subscribes over WebSocket", async () => {
    const socket = new WebsocketClient(node.rpcUrl.replace("http", "ws"));
    const client = Comet38Client.create(socket);
    const headers: number[] = [];
    const keys: (string | undefined)[] = [];
    const first = client
      .subscribeNewBlockHeader()
      .subscribe({ next: (header) => headers.push(header.height) });
    const second = client.subscribeTx("kv.key='colour'").subscribe({
      next: ({ result }) => keys.push(result.events[0]?.attributes[1]?.value),
    });
    expect((await client.status()).nodeInfo.network).toBe("kv-1");
    node.view.broadcast(utf8("colour=red"));
    const height = Number(node.control.produce(2));
    await expect.poll(() => headers).toEqual([height - 1, height]);
    await expect.poll(() => keys).toEqual(["red"]);
    first.unsubscribe();
    second.unsubscribe();
    client.disconnect();
  });
});
