import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/platform/base/clock.ts";
import { silentLogger } from "../../../../src/platform/base/logger.ts";
import type { ChainNotice, ChainSubscription } from "../../../../src/cosmos/client/events/subscription.ts";
import {
  createWebSocketSubscription,
  type SubscriptionLimits,
} from "../../../../src/cosmos/client/events/websocket-subscription.ts";
import {
  type EventServer,
  type EventServerOptions,
  headerEvent,
  startEventServer,
} from "../../../support/client/event-server.ts";

const NEW_BLOCK_HEADER = "tendermint/event/NewBlockHeader";
const QUERIES = ["tm.event='NewBlockHeader'", "tm.event='Tx' AND neutron.module='interchainqueries'"];
const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function serve(options: EventServerOptions = {}): Promise<EventServer> {
  const server = await startEventServer(options);
  stops.push(server.close);
  return server;
}

interface Follower extends ChainSubscription {
  /** Takes `count` notices and returns each as a short text. */
  readonly take: (count: number) => Promise<readonly string[]>;
}

function follow(
  urls: readonly string[],
  limits: Partial<SubscriptionLimits> = {},
  order?: () => readonly string[],
): Follower {
  const stop = new AbortController();
  const subscription = createWebSocketSubscription(
    {
      endpoints: urls.map((url) => ({ url })),
      chainId: "test-1",
      ...(order === undefined ? {} : { order }),
      queries: QUERIES,
      limits: {
        pingIntervalMs: 20,
        readDeadlineMs: 200,
        deadlineMs: 200,
        backoff: { minMs: 1, baseMs: 2, maxMs: 20 },
        ...limits,
      },
    },
    { clock: systemClock, random: Math.random, logger: silentLogger },
  );
  const done = subscription.run(stop.signal);
  stops.push(() => {
    stop.abort(new Error("test over"));
    return done;
  });
  const take = async (count: number): Promise<readonly string[]> => {
    const texts: string[] = [];
    while (texts.length < count) texts.push(shortText(await subscription.next(stop.signal)));
    return texts;
  };
  return { ...subscription, take };
}

function shortText(notice: ChainNotice): string {
  if (notice.kind === "missed") return `missed: ${notice.reason}`;
  return notice.kind === "connected" ? "connected" : `${notice.kind} ${notice.height}`;
}

describe("a WebSocket subscription", () => {
  it("subscribes every query, reports the connection, and returns notices in order", async () => {
    const server = await serve();
    const follower = follow([server.url]);
    expect(await follower.take(1)).toEqual(["connected"]);
    expect(follower.isConnected()).toBe(true);
    expect(server.subscribed).toEqual(QUERIES);
    for (const height of [5, 6, 7]) server.publish(NEW_BLOCK_HEADER, headerEvent(height));
    server.publish("tendermint/event/NewBlockEvents", {
      height: "8",
      events: [{ type: "a", attributes: [] }],
    });
    expect(await follower.take(4)).toEqual(["block 5", "block 6", "block 7", "block-events 8"]);
  });

  it.each([
    ["the node closes the connection", (server: EventServer) => server.sockets()[0]?.close(1000)],
    ["the connection breaks", (server: EventServer) => server.sockets()[0]?.terminate()],
    ["a frame is not JSON", (server: EventServer) => server.sendRaw("<html>")],
  ])("reconnects when %s, subscribes again, and reports missed events", async (_name, cut) => {
    const server = await serve();
    const follower = follow([server.url]);
    await follower.take(1);
    cut(server);
    expect(await follower.take(2)).toEqual(["missed: the event stream was interrupted", "connected"]);
    expect(server.subscribed).toEqual([...QUERIES, ...QUERIES]);
    server.publish(NEW_BLOCK_HEADER, headerEvent(9));
    expect(await follower.take(1)).toEqual(["block 9"]);
  });

  it("reconnects to a restarted node", async () => {
    const first = await startEventServer();
    const follower = follow([first.url]);
    await follower.take(1);
    await first.close();
    while (follower.isConnected()) await new Promise((resolve) => setTimeout(resolve, 5));
    await serve({ port: first.port });
    expect(await follower.take(2)).toEqual(["missed: the event stream was interrupted", "connected"]);
  });

  it("uses the next endpoint when a node responds to nothing, not even to pings", async () => {
    const mute = await serve({ mute: true });
    const alive = await serve();
    const follower = follow([mute.url, alive.url]);
    expect(await follower.take(1)).toEqual(["connected"]);
    expect([mute.connections(), alive.connections()]).toEqual([1, 1]);
  });

  it("reconnects when no frame arrives within the read deadline", async () => {
    const server = await serve();
    const follower = follow([server.url]);
    await follower.take(1);
    for (const socket of server.sockets()) socket.pause();
    expect(await follower.take(2)).toEqual(["missed: the event stream was interrupted", "connected"]);
  });

  it("reconnects when no event arrives within the event deadline", async () => {
    const server = await serve();
    const follower = follow([server.url], { eventDeadlineMs: 60 });
    await follower.take(1);
    expect(await follower.take(2)).toEqual(["missed: the event stream was interrupted", "connected"]);
  });

  it("uses the next endpoint when a node serves another chain", async () => {
    const foreign = await serve({ chainId: "other-9" });
    const right = await serve();
    const follower = follow([foreign.url, right.url]);
    expect(await follower.take(1)).toEqual(["connected"]);
    expect(foreign.subscribed).toEqual([]);
    expect(right.subscribed).toEqual(QUERIES);
  });

  it("reports missed when an event cannot be decoded, and goes on", async () => {
    const server = await serve();
    const follower = follow([server.url]);
    await follower.take(1);
    server.publish(NEW_BLOCK_HEADER, { header: 1 });
    server.publish(NEW_BLOCK_HEADER, headerEvent(9));
    const [missed, next] = await follower.take(2);
    expect(missed).toMatch(/^missed: an event could not be decoded: .*event\.data\.value\.header/);
    expect([next, server.connections()]).toEqual(["block 9", 1]);
  });

  it("renews a subscription that the node cancelled because we were slow", async () => {
    const server = await serve();
    const follower = follow([server.url]);
    await follower.take(1);
    const reason = "subscription was canceled (reason: client is not pulling messages fast enough)";
    server.sendRaw(
      JSON.stringify({
        jsonrpc: "2.0",
        id: 2,
        error: { code: -32000, message: "Server error", data: reason },
      }),
    );
    expect(await follower.take(1)).toEqual([`missed: the node cancelled a subscription: ${reason}`]);
    expect(server.subscribed).toEqual([...QUERIES, QUERIES[1]]);
    expect(server.connections()).toBe(1);
  });

  it("accepts the error for a subscription that exists already", async () => {
    const server = await serve({ refuse: () => "failed to subscribe: already subscribed" });
    expect(await follow([server.url]).take(1)).toEqual(["connected"]);
  });

  it("tries again when the node has too many subscribers", async () => {
    const refuse = (_query: string, attempt: number): string | undefined =>
      attempt <= 4 ? "max_subscription_clients 100 reached" : undefined;
    const server = await serve({ refuse });
    const follower = follow([server.url]);
    expect(await follower.take(1)).toEqual(["connected"]);
  });

  it("replaces the notices that a slow reader misses by one `missed`", async () => {
    const server = await serve();
    const follower = follow([server.url], { queueCapacity: 3 });
    await follower.take(1);
    for (let height = 1; height <= 10; height++) server.publish(NEW_BLOCK_HEADER, headerEvent(height));
    // The pong shows that the frames before it were read.
    const [socket] = server.sockets();
    await new Promise((resolve) => socket?.once("pong", resolve).ping());
    expect(await follower.take(4)).toEqual([
      "block 1",
      "block 2",
      "block 3",
      "missed: the reader was too slow, events were dropped",
    ]);
    server.publish(NEW_BLOCK_HEADER, headerEvent(11));
    expect(await follower.take(1)).toEqual(["block 11"]);
  });

  it("stops when the signal aborts, connected or not", async () => {
    const stop = new AbortController();
    const subscription = createWebSocketSubscription(
      { endpoints: [{ url: "http://127.0.0.1:1" }], chainId: undefined, queries: QUERIES },
      { clock: systemClock, random: Math.random, logger: silentLogger },
    );
    const done = subscription.run(stop.signal);
    stop.abort(new Error("asked to stop"));
    await expect(done).resolves.toBeUndefined();
    await expect(subscription.next(stop.signal)).rejects.toThrow("asked to stop");
  });

  it("connects to the best endpoint, and moves to another one that has become better for a while", async () => {
    const [first, second, third] = [await serve(), await serve(), await serve()];
    const nameOf = ({ port }: EventServer): string => `127.0.0.1:${port}`;
    let order = [second, first, third].map(nameOf);
    const follower = follow(
      [first, second, third].map(({ url }) => url),
      { moveAfterMs: 20 },
      () => order,
    );
    expect(await follower.take(1)).toEqual(["connected"]);
    expect([first, second, third].map((server) => server.connections())).toEqual([0, 1, 0]);
    order = [first, second, third].map(nameOf);
    expect(await follower.take(2)).toEqual(["missed: the event stream was interrupted", "connected"]);
    order = [second, first, third].map(nameOf);
    expect(await follower.take(2)).toEqual(["missed: the event stream was interrupted", "connected"]);
    expect([first, second, third].map((server) => server.connections())).toEqual([1, 2, 0]);
    // A move is no failure.
    // When the best one is gone, the next best one follows.
    await second.close();
    await follower.take(2);
    expect(first.connections()).toBe(2);
  });
});
