import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { toBase64, utf8 } from "../../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../../src/platform/base/json.ts";
import { shapeDifferences, shapeOf } from "../../../support/json-shape.ts";
import { testValidatorSeed } from "../../../../src/localnet/node/consensus/validators.ts";
import { DEFAULT_WEBSOCKET, type WebSocketOptions } from "../../../../src/localnet/node/rpc/websocket-rpc.ts";
import { startTestNode, type TestNode } from "../../../support/test-node.ts";

interface Frame {
  readonly dir: "in" | "out";
  readonly frame: Readonly<Record<string, unknown>>;
}

const frames: readonly Frame[] = readFileSync(
  new URL("../../../fixtures/websocket.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

/** Connects a WebSocket that collects incoming messages. */
async function connect(url: string) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/websocket`);
  const received: Record<string, unknown>[] = [];
  let closed = false;
  socket.on("message", (data: Buffer) => received.push(JSON.parse(data.toString("utf8"))));
  socket.on("close", () => {
    closed = true;
  });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  const call = async (id: number, method: string, params: unknown) => {
    const from = received.length;
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    await expect.poll(() => received.length).toBeGreaterThan(from);
    return received[from];
  };
  return { socket, received, call, isClosed: () => closed };
}

/** The kind of a notification: "tendermint/event/Tx". */
function kindOf(frame: Readonly<Record<string, unknown>>): unknown {
  const { result } = frame;
  return isRecord(result) && isRecord(result["data"]) ? result["data"]["type"] : undefined;
}

describe("the WebSocket", () => {
  let node: TestNode;
  beforeAll(async () => {
    node = await startTestNode({ subscriptions: { maxClients: 2, maxPerClient: 3 } });
  });
  afterAll(() => node.stop());

  it("replies to every recorded request as recorded", async () => {
    const requests = frames.filter((one) => one.dir === "out");
    expect(frames).toHaveLength(24);
    expect(requests).toHaveLength(7);
    const sessions = [requests.slice(0, 3), requests.slice(3)];
    const answers = frames
      .filter((one) => one.dir === "in" && kindOf(one.frame) === undefined)
      .map((one) => one.frame);
    expect(answers).toHaveLength(7);
    for (const session of sessions) {
      const { socket, call } = await connect(node.rpcUrl);
      for (const { frame } of session) {
        const answer = await call(Number(frame["id"]), String(frame["method"]), frame["params"]);
        const recorded = answers.shift();
        // The recording made room for five subscriptions, this test's node for three.
        if (JSON.stringify(answer).includes("max_subscriptions_per_client 3 reached")) continue;
        expect(answer).toEqual(recorded);
      }
      socket.close();
    }
    const { socket, call } = await connect(node.rpcUrl);
    expect(await call(4, "subscribe", { query: "tm.event = 'Tx' AND broken" })).toEqual(frames[22]?.frame);
    socket.close();
  });

  it("sends notifications of the recorded shape", async () => {
    const { socket, received, call } = await connect(node.rpcUrl);
    await call(1, "subscribe", { query: "tm.event='Tx' AND kv.key='colour'" });
    await call(3, "subscribe", { query: "tm.event='NewBlockHeader'" });
    await call(4, "subscribe", { query: "tm.event='NewBlock'" });
    for (const tx of ["other=1", "colour=red"]) node.view.broadcast(utf8(tx));
    node.control.produce(1);
    await expect.poll(() => received.filter((one) => kindOf(one) !== undefined)).toHaveLength(3);
    for (const kind of ["Tx", "NewBlockHeader", "NewBlock"].map((name) => `tendermint/event/${name}`)) {
      const recorded = frames.find(({ frame }) => kindOf(frame) === kind)?.frame;
      const ours = received.find((one) => kindOf(one) === kind);
      const differences = shapeDifferences(shapeOf(recorded), shapeOf(ours)).filter(
        // The tags depend on the events of the application, which emits some in each block.
        (one) =>
          !one.startsWith(".result.events.") &&
          !one.startsWith(".result.data.value.result_finalize_block.events"),
      );
      expect(differences, kind).toEqual([]);
    }
    socket.close();
  });

  it("notifies of changes of the validator set and of the events of a block", async () => {
    const { socket, received, call } = await connect(node.rpcUrl);
    await call(1, "subscribe", { query: "tm.event='ValidatorSetUpdates'" });
    await call(2, "subscribe", { query: "tm.event='NewBlockEvents' AND begin.mode='BeginBlock'" });
    node.control.setValidator(testValidatorSeed("kv-1", 3), 7n);
    const height = node.control.produce(1);
    await expect.poll(() => received.filter((one) => kindOf(one) !== undefined)).toHaveLength(2);
    const valueOf = (kind: string) => received.find((one) => kindOf(one) === `tendermint/event/${kind}`);
    expect(valueOf("ValidatorSetUpdates")).toMatchObject({
      id: 1,
      result: { data: { value: { validator_updates: [{ voting_power: "7", proposer_priority: "0" }] } } },
    });
    expect(valueOf("NewBlockEvents")).toMatchObject({
      id: 2,
      result: { data: { value: { height: height.toString(), num_txs: "0", events: [{ type: "begin" }] } } },
    });
    socket.close();
  });

  it("enforces the bounds of subscriptions and cancels subscriptions", async () => {
    const one = await connect(node.rpcUrl);
    const errorOf = (answer: unknown) =>
      isRecord(answer) && isRecord(answer["error"]) ? answer["error"]["data"] : undefined;
    const query = (kind: string) => ({ query: `tm.event='${kind}'` });
    expect(errorOf(await one.call(1, "subscribe", query("Tx")))).toBeUndefined();
    expect(errorOf(await one.call(2, "subscribe", query("Tx")))).toBe("already subscribed");
    expect(errorOf(await one.call(3, "subscribe", { query: "x".repeat(513) }))).toBe(
      "maximum query length exceeded",
    );
    await one.call(4, "subscribe", query("NewBlock"));
    await one.call(5, "subscribe", query("NewBlockHeader"));
    expect(errorOf(await one.call(6, "subscribe", query("NewBlockEvents")))).toBe(
      "max_subscriptions_per_client 3 reached",
    );
    expect(await one.call(7, "unsubscribe", query("Tx"))).toEqual({ jsonrpc: "2.0", id: 7, result: {} });
    expect(errorOf(await one.call(8, "unsubscribe", query("Tx")))).toBe("subscription not found");
    const two = await connect(node.rpcUrl);
    await two.call(1, "subscribe", query("Tx"));
    const three = await connect(node.rpcUrl);
    expect(errorOf(await three.call(1, "subscribe", query("Tx")))).toBe("max_subscription_clients 2 reached");
    expect(await one.call(9, "unsubscribe_all", {})).toEqual({ jsonrpc: "2.0", id: 9, result: {} });
    expect(errorOf(await one.call(10, "unsubscribe_all", {}))).toBe("subscription not found");
    for (const { socket } of [one, two, three]) socket.close();
  });

  it("replies to calls, and reports bad ones", async () => {
    const { socket, received, call } = await connect(node.rpcUrl);
    expect(await call(1, "health", {})).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
    expect(await call(2, "nope", {})).toEqual({
      jsonrpc: "2.0",
      id: 2,
      error: { code: -32601, message: "Method not found" },
    });
    expect(await call(3, "block", { height: 5 })).toEqual({
      jsonrpc: "2.0",
      id: 3,
      error: {
        code: -32603,
        message: "Internal error",
        data: 'error converting json params to arguments: invalid 64-bit integer encoding "5", expected string',
      },
    });
    socket.send("{");
    await expect.poll(() => received.at(-1)).toMatchObject({ error: { code: -32700 } });
    expect(received.at(-1)).not.toHaveProperty("id");
    socket.close();
  });

  it("counts only requests without a response towards the bound of pending requests", async () => {
    const small = await startTestNode({ websocket: { ...DEFAULT_WEBSOCKET, maxPendingRequests: 2 } });
    const { socket, call, isClosed } = await connect(small.rpcUrl);
    for (let id = 1; id <= 5; id++) expect(await call(id, "health", {})).toMatchObject({ id, result: {} });
    for (let id = 6; id <= 9; id++) socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "health" }));
    await expect.poll(isClosed).toBe(true);
    await small.stop();
  });

  it("replies to more requests than may be pending, sent together and one after the other", async () => {
    const { socket, received } = await connect(node.rpcUrl);
    const count = 6_000;
    const ask = (id: number): void => socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "health" }));
    for (let id = 0; id < count; id++) ask(id);
    await expect.poll(() => received.length, { timeout: 60_000 }).toBe(count);
    for (let id = count; id < count + 1_500; id++) {
      ask(id);
      if (id % 500 === 0) await expect.poll(() => received.length).toBe(id + 1);
    }
    await expect.poll(() => received.length).toBe(count + 1_500);
    expect(received.map(({ id }) => id)).toEqual(Array.from({ length: count + 1_500 }, (_, id) => id));
    socket.close();
  });

  it("answers no further requests of a client that does not read, and replies to others", async () => {
    const big = await startTestNode();
    const tx = Buffer.alloc(900_000, "x").toString("base64");
    big.view.broadcast(Buffer.from(`big=${tx.slice(0, 900_000)}`));
    const height = big.control.produce(1);
    const slow = await connect(big.rpcUrl);
    slow.socket.pause();
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    const call = { jsonrpc: "2.0", id: 1, method: "block", params: { height: height.toString() } };
    for (let index = 0; index < 1_000; index++) slow.socket.send(JSON.stringify(call));
    const quick = await connect(big.rpcUrl);
    expect(await quick.call(1, "health", {})).toMatchObject({ id: 1, result: {} });
    for (let index = 0; index < 20_000; index++) slow.socket.ping("x".repeat(100));
    await new Promise((resolve) => setTimeout(resolve, 500));
    const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    expect(after - before).toBeLessThan(200_000_000);
    slow.socket.terminate();
    quick.socket.close();
    await big.stop();
  });

  it("waits for a client that does not read, then cancels its subscriptions with the reason", async () => {
    const small = await startTestNode({ subscriptions: { maxPendingEvents: 25 } });
    const [slow, quick] = [await connect(small.rpcUrl), await connect(small.rpcUrl)];
    const query = { query: "tm.event='Tx'" };
    for (const { call } of [slow, quick]) await call(1, "subscribe", query);
    const hashes = ({ received }: typeof slow): number => received.length - 1;
    /** Makes a block whose notifications exceed the buffers of a socket. */
    const produce = (name: string): void => {
      for (let index = 0; index < 20; index++)
        small.view.broadcast(utf8(`${name}${index}=`.padEnd(150_000, "x")));
      small.control.produce(1);
    };
    slow.socket.pause();
    produce("a");
    await expect.poll(() => hashes(quick)).toBe(20);
    slow.socket.resume();
    await expect.poll(() => hashes(slow)).toBe(20);
    slow.socket.pause();
    // The system's buffers take the first of these blocks: some megabytes, and more after a fast reader.
    const names = ["b", "c", "d", "e", "f"];
    for (const [index, name] of names.entries()) {
      produce(name);
      await expect.poll(() => hashes(quick)).toBe(40 + 20 * index);
    }
    slow.socket.resume();
    const data = "subscription was canceled (reason: client is not pulling messages fast enough)";
    await expect.poll(() => slow.received.at(-1)).toMatchObject({ id: 1, error: { code: -32_000, data } });
    expect(hashes(slow)).toBeLessThan(20 + 20 * names.length);
    expect(await slow.call(1, "subscribe", query)).toMatchObject({ result: {} });
    for (const { socket } of [slow, quick]) socket.close();
    await small.stop();
  });

  it("cuts the clients with the most unanswered requests when all together have too many, and no other", async () => {
    const small = await startTestNode({
      commitTimeoutMs: 60_000,
      websocket: { ...DEFAULT_WEBSOCKET, maxPendingInTotal: 40 },
    });
    const subscriber = await connect(small.rpcUrl);
    await subscriber.call(1, "subscribe", { query: "tm.event='NewBlockHeader'" });
    const call = (method: string, params: object): string =>
      JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
    const hogs = await Promise.all(Array.from({ length: 4 }, () => connect(small.rpcUrl)));
    for (const [index, { socket }] of hogs.entries()) {
      // The requests behind a wait for a block stay unanswered.
      socket.send(call("broadcast_tx_commit", { tx: toBase64(utf8(`hog${index}=1`)) }));
      for (let sent = 0; sent < 15; sent++) socket.send(call("health", {}));
    }
    await expect.poll(() => hogs.filter(({ isClosed }) => isClosed()).length).toBeGreaterThan(0);
    for (let id = 2; id < 30; id++) expect(await subscriber.call(id, "health", {})).toMatchObject({ id });
    small.control.produce(1);
    await expect.poll(() => subscriber.received.some((one) => kindOf(one) !== undefined)).toBe(true);
    expect(subscriber.isClosed()).toBe(false);
    expect(hogs.filter(({ isClosed }) => isClosed()).length).toBeLessThan(4);
    for (const { socket } of [subscriber, ...hogs]) socket.close();
    await small.stop();
  });

  const SMALL: WebSocketOptions = {
    maxMessageBytes: 1000,
    maxConnections: 1,
    maxBufferedBytes: 1000,
    maxPendingRequests: 10,
    maxPendingInTotal: 100,
    pingIntervalMs: 60_000,
    readTimeoutMs: 300,
  };

  it("stays open for a client whose pong arrived while a block took longer than the time for it", async () => {
    const small = await startTestNode({ websocket: { ...SMALL, pingIntervalMs: 200 } });
    const client = await connect(small.rpcUrl);
    let pings = 0;
    client.socket.on("ping", () => (pings += 1));
    for (let block = 1; block <= 3; block += 1) {
      await expect.poll(() => pings, { interval: 5 }).toBeGreaterThanOrEqual(block);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    }
    const before = pings;
    await expect.poll(() => pings).toBeGreaterThan(before);
    expect(client.isClosed()).toBe(false);
    client.socket.close();
    await small.stop();
  });

  it("cuts a client that sends too large a message, and one that is silent", async () => {
    const small = await startTestNode({ websocket: SMALL });
    const first = await connect(small.rpcUrl);
    await expect(connect(small.rpcUrl)).rejects.toThrow("503");
    first.socket.send("x".repeat(2000));
    await expect.poll(first.isClosed).toBe(true);
    const second = await connect(small.rpcUrl);
    await expect.poll(second.isClosed).toBe(true);
    await small.stop();
  });
});
