import { describe, expect, it } from "vitest";
import { fromUtf8, utf8 } from "../../../src/platform/base/bytes.ts";
import type { PublishedEvent } from "../../../src/localnet/node/rpc/result-json.ts";
import {
  createSubscriptions,
  DEFAULT_SUBSCRIPTION_LIMITS,
  type SubscriptionLimits,
} from "../../../src/localnet/node/rpc/subscriptions.ts";

const CANCELED = "subscription was canceled (reason: client is not pulling messages fast enough)";

/** Creates subscriptions with a scheduler and a clock that the test drives. Every message sent takes 1 ms. */
function start(limits: Partial<SubscriptionLimits> = {}) {
  const tasks: (() => void)[] = [];
  let nowMs = 0;
  const subscriptions = createSubscriptions(
    { ...DEFAULT_SUBSCRIPTION_LIMITS, ...limits },
    { monotonicMs: () => nowMs, schedule: (task) => void tasks.push(task) },
  );
  const connect = (...queries: readonly string[]) => {
    const received: string[] = [];
    let ready = true;
    const client = subscriptions.client({
      isReady: () => ready,
      send: (messages) => {
        nowMs += messages.length;
        received.push(...messages.map(fromUtf8));
      },
    });
    queries.forEach((query, id) => client.subscribe(id, query));
    const stall = (): void => {
      ready = false;
    };
    const resume = (): void => {
      ready = true;
      client.resume();
    };
    return { ...client, received, stall, resume };
  };
  const runSlice = (): boolean => {
    const task = tasks.shift();
    task?.();
    return task !== undefined;
  };
  const runAll = (): number => {
    let slices = 0;
    while (runSlice()) slices += 1;
    return slices;
  };
  return { ...subscriptions, connect, runSlice, runAll };
}

/** Creates an event and counts how often its text is made. */
function createEvent(kind: string, number: number, sizeBytes = 100) {
  const made = { tails: 0 };
  const event: PublishedEvent = {
    tags: () => new Map([["tm.event", [kind]]]),
    tail: () => {
      made.tails += 1;
      return utf8(`"data":{"n":${number}},"events":{}}}`);
    },
    sizeBytes,
  };
  return { event, made };
}

const events = (kind: string, count: number, from = 0): PublishedEvent[] =>
  Array.from({ length: count }, (_, index) => createEvent(kind, from + index).event);
const numbers = (received: readonly string[]): unknown[] =>
  received.map((text) => {
    const message: { result?: { data: { n: number } }; error?: { data: string } } = JSON.parse(text);
    return message.result?.data.n ?? message.error?.data;
  });

describe("the publication of a block", () => {
  it("sends nothing and encodes nothing until the next slice", () => {
    const { connect, publish, runAll } = start();
    const client = connect("tm.event='Tx'");
    const { event, made } = createEvent("Tx", 7);
    publish([event, ...events("NewBlock", 1)]);
    expect([client.received, made.tails]).toEqual([[], 0]);
    expect(runAll()).toBe(1);
    expect(client.received.map((text) => JSON.parse(text))).toEqual([
      { jsonrpc: "2.0", id: 0, result: { query: "tm.event='Tx'", data: { n: 7 }, events: {} } },
    ]);
  });

  it("sends in slices, so that blocks and requests go on between them", () => {
    const { connect, publish, runSlice, runAll } = start();
    const clients = Array.from({ length: 20 }, () => connect("tm.event='Tx'", "tm.event EXISTS"));
    publish(events("Tx", 100));
    runSlice();
    const sent = clients.reduce((sum, { received }) => sum + received.length, 0);
    expect(sent).toBeGreaterThan(0);
    // One turn of 32 notifications takes 32 ms on this clock, more than a slice.
    expect(sent).toBeLessThanOrEqual(33);
    expect(runAll()).toBeGreaterThan(100);
    for (const { received } of clients) expect(received).toHaveLength(200);
  });

  it("gives a client with few events its turn between those of clients with many", () => {
    const { connect, publish, runSlice } = start();
    const many = Array.from({ length: 10 }, () => connect("tm.event='Tx'"));
    const few = connect("tm.event='NewBlock'");
    publish([...events("Tx", 1_000), ...events("NewBlock", 1, 5)]);
    // Eight turns of 128 events find the event behind 1,000 others; each follows one turn of every other client.
    for (let slice = 0; few.received.length === 0; slice++) {
      expect(slice).toBeLessThan(100);
      runSlice();
    }
    expect(Math.max(...many.map(({ received }) => received.length))).toBeLessThan(400);
  });

  it("gives every client all its events in order, also those of blocks that arrive while it sends", () => {
    const { connect, publish, runSlice, runAll } = start();
    const early = connect("tm.event='Tx'");
    publish(events("Tx", 50));
    runSlice();
    const late = connect("tm.event='Tx'");
    publish(events("Tx", 50, 50));
    early.subscribe(9, "tm.event EXISTS");
    publish(events("Tx", 1, 100));
    runAll();
    const upTo = (from: number, end: number) =>
      Array.from({ length: end - from }, (_, index) => from + index);
    expect(numbers(early.received)).toEqual([...upTo(0, 101), 100]);
    expect(numbers(late.received)).toEqual(upTo(50, 101));
  });
});

describe("a client that does not read", () => {
  it("gets what it missed when it reads again", () => {
    const { connect, publish, runAll } = start();
    const [slow, quick] = [connect("tm.event='Tx'"), connect("tm.event='Tx'")];
    slow.stall();
    publish(events("Tx", 3));
    runAll();
    publish(events("Tx", 2, 3));
    runAll();
    expect([slow.received.length, quick.received.length]).toEqual([0, 5]);
    slow.resume();
    runAll();
    expect(numbers(slow.received)).toEqual([0, 1, 2, 3, 4]);
  });

  it("loses its subscriptions with the reason when too many events are pending for it", () => {
    const { connect, publish, runAll, count } = start({ maxPendingEvents: 5 });
    const [slow, quick] = [connect("tm.event='Tx'", "tm.event EXISTS"), connect("tm.event='Tx'")];
    slow.stall();
    publish(events("Tx", 3));
    runAll();
    publish(events("Tx", 2, 3));
    runAll();
    expect(count()).toBe(3);
    publish(events("Tx", 1, 5));
    expect(count()).toBe(1);
    expect(slow.received.map((text) => JSON.parse(text))).toEqual(
      [0, 1].map((id) => ({
        jsonrpc: "2.0",
        id,
        error: { code: -32_000, message: "Server error", data: CANCELED },
      })),
    );
    runAll();
    expect(numbers(quick.received)).toEqual([0, 1, 2, 3, 4, 5]);
    // It can subscribe again, and gets later events only.
    slow.resume();
    slow.subscribe(7, "tm.event='Tx'");
    publish(events("Tx", 1, 6));
    runAll();
    expect(numbers(slow.received.slice(2))).toEqual([6]);
  });

  it("loses its subscriptions when the pending events are too large, but never for one block alone", () => {
    const { connect, publish, runAll, count } = start({ maxPendingBytes: 1_000 });
    const slow = connect("tm.event='Tx'");
    publish([createEvent("Tx", 0, 5_000).event]);
    expect(count()).toBe(1);
    runAll();
    expect(numbers(slow.received)).toEqual([0]);
    slow.stall();
    publish([createEvent("Tx", 1, 600).event]);
    publish([createEvent("Tx", 2, 400).event]);
    expect(count()).toBe(1);
    publish([createEvent("Tx", 3, 1).event]);
    expect(count()).toBe(0);
  });

  it("is not behind when it had no subscription", () => {
    const { connect, publish, runAll, count } = start({ maxPendingEvents: 10 });
    const quick = connect("tm.event='Tx'");
    const silent = connect();
    for (let block = 0; block < 100; block++) {
      publish(events("Tx", 9, block * 9));
      runAll();
    }
    silent.subscribe(1, "tm.event='Tx'");
    expect([count(), quick.received.length]).toEqual([2, 900]);
    publish(events("Tx", 1, 900));
    runAll();
    expect(numbers(silent.received)).toEqual([900]);
  });
});

describe("subscriptions", () => {
  it("end when the client leaves", () => {
    const { connect, publish, runAll, count } = start({ maxClients: 1 });
    const client = connect("tm.event='Tx'");
    expect(() => connect("tm.event='Tx'")).toThrow("max_subscription_clients 1 reached");
    publish(events("Tx", 1));
    client.drop();
    runAll();
    expect([count(), client.received]).toEqual([0, []]);
    expect(() => connect("tm.event='Tx'")).not.toThrow();
  });
});
