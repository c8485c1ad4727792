import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { Secret } from "../../src/platform/base/secret.ts";
import type { AlertEvent, CurrentAlert } from "../../src/watchdog/alerts/alert-event.ts";
import type { Channel } from "../../src/watchdog/notify/channels/channel.ts";
import { createChannel } from "../../src/watchdog/notify/channels/channel-kinds.ts";
import {
  type DeliveryOutcome,
  runDeadMan,
  runDelivery,
  runPushes,
} from "../../src/watchdog/notify/delivery.ts";
import { ChannelError, type JsonPost } from "../../src/watchdog/notify/channels/transport.ts";
import { type Delivery, enqueue } from "../../src/watchdog/alerts/outbox.ts";
import { openSqliteState } from "../../src/watchdog/state/sqlite-state.ts";
import { createStateKeeper, type StateKeeper } from "../../src/watchdog/state/state-keeper.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { alertEvent } from "../support/watchdog/alert-event.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const stop: (() => void | Promise<unknown>)[] = [];
afterEach(async () => {
  for (const one of stop.splice(0).toReversed()) await one();
});

/** A receiver that records batches and fails as the test says. */
interface Receiver extends Channel {
  readonly batches: (readonly string[])[];
  /** Error of the next attempts. */
  error: Error | undefined;
}

function createReceiver(name = "chat", maxEvents = 20): Receiver {
  const receiver: Receiver = {
    kind: "test",
    name,
    minSeverity: "info",
    sendReminders: true,
    sendResolved: true,
    deadlineMs: 60_000,
    maxEvents,
    batches: [],
    error: undefined,
    send: async (events) => {
      receiver.batches.push(events.map(({ id }) => id));
      if (receiver.error !== undefined) throw receiver.error;
    },
  };
  return receiver;
}

interface Running {
  readonly keeper: StateKeeper;
  readonly outcomes: string[];
  readonly add: (...events: readonly AlertEvent[]) => void;
  readonly pending: () => readonly string[];
  /** Dead letters. */
  readonly letters: () => readonly string[];
  readonly kill: () => Promise<unknown>;
}

/** Runs the delivery of some channels over one state file, or in memory. */
function start(clock: ManualClock, channels: readonly Receiver[], folder?: string, groupWaitMs = 0): Running {
  const keeper = createStateKeeper({ clock, logger: silentLogger, random: () => 0.5 });
  if (folder !== undefined) keeper.open(openSqliteState(folder));
  const end = new AbortController();
  const outcomes: string[] = [];
  const count = (channel: string, outcome: DeliveryOutcome): void =>
    void outcomes.push(`${channel} ${outcome}`);
  const deps = { outbox: keeper.outbox, clock, random: () => 0.5, logger: silentLogger, count };
  const runs = channels.map((channel) => runDelivery(channel, groupWaitMs, deps, end.signal));
  const kill = async (): Promise<void> => {
    if (end.signal.aborted) return;
    end.abort(new Error("killed"));
    await Promise.all(runs);
    keeper.close();
  };
  stop.push(kill);
  const list = (isListed: (delivery: Delivery) => boolean): readonly string[] =>
    keeper
      .current()
      .alerting.outbox.filter(isListed)
      .map(({ channel, event }) => `${channel} ${event.id}`);
  return {
    keeper,
    outcomes,
    add: (...events) => {
      const state = keeper.current();
      const outbox = enqueue(state.alerting.outbox, events, channels);
      keeper.replace({ ...state, alerting: { ...state.alerting, outbox } });
    },
    pending: () => list(({ dead }) => dead === undefined),
    letters: () => list(({ dead }) => dead !== undefined),
    kill,
  };
}

const eventAt = (atMs: number, alert: string, changes: Partial<AlertEvent> = {}): AlertEvent =>
  alertEvent({ alert, sinceMs: atMs, ...changes, atMs });
const refused = new ChannelError({ code: "refused", status: 500 }, "HTTP 500");
const rejected = new ChannelError({ code: "rejected", status: 400 }, "HTTP 400");

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-delivery-"));
  stop.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("delivery", () => {
  it("repeats with growing pauses until the receiver accepts, which what arrives shows", async () => {
    const clock = createManualClock(NOON);
    const chat = createReceiver();
    chat.error = refused;
    const { add, outcomes, pending } = start(clock, [chat]);
    const first = eventAt(NOON, "a");
    add(first);
    await clock.advance(600_000);
    expect(chat.batches.length).toBeGreaterThan(5);
    expect(chat.batches.length).toBeLessThan(20);
    const second = eventAt(NOON + 600_000, "b");
    add(second);
    chat.error = undefined;
    await clock.advance(600_000);
    expect(chat.batches.slice(-2)).toEqual([[second.id], [first.id]]);
    expect([outcomes.at(-1), pending()]).toEqual(["chat delivered", []]);
  });

  it("ends an attempt at its deadline, whatever the receiver does, and delays no other channel", async () => {
    const clock = createManualClock(NOON);
    const hanging = {
      ...createReceiver("hanging"),
      deadlineMs: 20,
      send: () => new Promise<never>(() => {}),
    };
    const well = createReceiver("well");
    const { add, outcomes } = start(clock, [hanging, well]);
    add(eventAt(NOON, "sidecar-down"));
    await clock.advance(0);
    expect(outcomes).toEqual(["well delivered"]);
    await expect.poll(() => outcomes).toEqual(["well delivered", "hanging failed"]);
  });

  it("does not delay one channel by another, or one validator's events by their grouping", async () => {
    const clock = createManualClock(NOON);
    const broken = createReceiver("broken");
    broken.error = refused;
    const chat = createReceiver("chat");
    const { add } = start(clock, [broken, chat]);
    add(
      eventAt(NOON, "a", { validator: "one" }),
      eventAt(NOON, "b", { validator: "two" }),
      eventAt(NOON, "c", { validator: "one" }),
    );
    await clock.advance(1000);
    expect(chat.batches.map((batch) => batch.length)).toEqual([2, 1]);
  });

  it("joins events that come within the time of a group", async () => {
    const clock = createManualClock(NOON);
    const chat = createReceiver();
    const pager = createReceiver("pager", 1);
    const { add } = start(clock, [chat, pager], undefined, 10_000);
    add(eventAt(NOON, "a"));
    await clock.advance(6000);
    expect([chat.batches.length, pager.batches.length]).toEqual([0, 1]);
    add(eventAt(NOON + 6000, "b"));
    await clock.advance(4000);
    expect(chat.batches.map((batch) => batch.length)).toEqual([2]);
    expect(pager.batches).toHaveLength(2);
  });

  it("waits as long as the receiver asks", async () => {
    const clock = createManualClock(NOON);
    const chat = createReceiver();
    chat.error = new ChannelError({ code: "refused", status: 429, retryAfterMs: 120_000 }, "HTTP 429");
    const { add } = start(clock, [chat]);
    add(eventAt(NOON, "a"));
    await clock.advance(119_000);
    expect(chat.batches).toHaveLength(1);
    await clock.advance(2000);
    expect(chat.batches).toHaveLength(2);
  });

  it("gives up rejected content after five attempts, and old events after a day", async () => {
    const clock = createManualClock(NOON);
    const chat = createReceiver();
    chat.error = rejected;
    const { add, outcomes, pending } = start(clock, [chat]);
    add(eventAt(NOON, "a"));
    await clock.advance(600_000);
    expect([chat.batches.length, outcomes.at(-1), pending()]).toEqual([5, "chat rejected", []]);
    chat.error = refused;
    add(eventAt(NOON + 600_000, "b"));
    await clock.advance(24 * 3_600_000);
    expect(pending()).toHaveLength(1);
    await clock.advance(700_000);
    expect([outcomes.at(-1), pending()]).toEqual(["chat expired", []]);
  });

  /** A receiver that fails for messages with an event of these alerts. */
  function failFor(chat: Receiver, poison: readonly string[], error: Error): Receiver {
    return {
      ...chat,
      send: async (events) => {
        chat.batches.push(events.map(({ alert }) => alert));
        if (events.some(({ alert }) => poison.includes(alert))) throw error;
      },
    };
  }
  const noHeader = new ChannelError({ code: "not-sent", reason: "x" }, "UND_ERR_INVALID_ARG");

  it.each([
    ["is not sent", noHeader],
    ["is refused", refused],
    ["is rejected", rejected],
  ])(
    "makes an event a dead letter that %s while others are accepted, and keeps their order",
    async (_how, error) => {
      const folder = temporaryFolder();
      const clock = createManualClock(NOON);
      const chat = createReceiver();
      const { add, pending, letters, kill, outcomes } = start(
        clock,
        [failFor(chat, ["poison"], error)],
        folder,
      );
      add(
        eventAt(NOON, "a"),
        eventAt(NOON, "poison", { validator: "x", key: "poison" }),
        eventAt(NOON, "b", { key: "b" }),
        eventAt(NOON, "b", { id: "b-end", kind: "resolved", key: "b" }),
        eventAt(NOON, "poison", { validator: "x", key: "poison", id: "end", kind: "resolved" }),
      );
      await clock.advance(60_000);
      const accepted = () => chat.batches.filter((batch) => !batch.includes("poison")).flat();
      expect(accepted()).toEqual(["a", "b", "b"]);
      // Nothing is left beside it. What arrives now is sent within seconds.
      add(eventAt(NOON + 60_000, "c", { key: "c" }));
      await clock.advance(6000);
      expect(accepted()).toEqual(["a", "b", "b", "c"]);
      await clock.advance(25 * 3_600_000);
      const dead = [`chat ${eventAt(NOON, "poison").id}`, "chat end"];
      expect([pending(), letters()]).toEqual([[], dead]);
      expect(outcomes.filter((one) => /expired|rejected/.test(one)).length).toBeGreaterThan(0);
      await kill();
      const sent = chat.batches.length;
      const again = start(clock, [chat], folder);
      await clock.advance(600_000);
      expect([again.pending(), again.letters(), chat.batches.length]).toEqual([[], dead, sent]);
    },
  );

  it("finds the one event of a message that the receiver does not accept", async () => {
    const clock = createManualClock(NOON);
    const chat = createReceiver();
    const { add, pending, letters } = start(clock, [failFor(chat, ["poison"], noHeader)]);
    add(...["a", "poison", "b", "c"].map((alert) => eventAt(NOON, alert)));
    await clock.advance(60_000);
    expect([pending(), letters()]).toEqual([[`chat ${eventAt(NOON, "poison").id}`], []]);
    expect(chat.batches.filter((batch) => !batch.includes("poison")).flat()).toEqual(["a", "b", "c"]);
  });

  it("sends what waited for a receiver that was down in one message, and has a bound of dead letters", async () => {
    const clock = createManualClock(NOON);
    const chat = createReceiver();
    chat.error = refused;
    const { add, pending, letters } = start(clock, [chat]);
    add(eventAt(NOON, "a"), eventAt(NOON, "b"));
    await clock.advance(3_600_000);
    chat.error = undefined;
    await clock.advance(600_000);
    expect([chat.batches.at(-1)?.length, pending(), letters()]).toEqual([2, [], []]);
    chat.error = rejected;
    for (let index = 0; index < 25; index++) {
      add(eventAt(clock.nowMs(), `r-${index}`));
      await clock.advance(120_000);
    }
    expect([pending(), letters().length]).toEqual([[], 20]);
    expect(letters().at(-1)).toContain("r-24");
  });

  it("repeats an event with the same id when the process dies between acceptance and the next save", async () => {
    const folder = temporaryFolder();
    const clock = createManualClock(NOON);
    const chat = createReceiver();
    const never = new Promise<never>(() => {});
    let isAccepted = false;
    const dying: Receiver = {
      ...chat,
      send: (events) => {
        chat.batches.push(events.map(({ id }) => id));
        isAccepted = true;
        return never;
      },
    };
    const first = start(clock, [dying], folder);
    first.add(eventAt(NOON, "a"));
    await clock.advance(1000);
    expect(isAccepted).toBe(true);
    await first.kill();
    const second = start(clock, [chat], folder);
    await clock.advance(1000);
    expect(chat.batches).toEqual([[eventAt(NOON, "a").id], [eventAt(NOON, "a").id]]);
    expect(second.pending()).toEqual([]);
    await second.kill();
    start(clock, [chat], folder);
    await clock.advance(600_000);
    expect(chat.batches).toHaveLength(2);
  });

  it("loses nothing when the process dies at any attempt", async () => {
    const folder = temporaryFolder();
    const clock = createManualClock(NOON);
    const chat = createReceiver();
    const ids: string[] = [];
    for (let run = 0; run < 20; run++) {
      chat.error = run % 3 === 0 ? undefined : refused;
      const { add, kill } = start(clock, [chat], folder);
      const event = eventAt(clock.nowMs(), `a-${run}`);
      ids.push(event.id);
      add(event);
      await clock.advance((run * 777) % 2500);
      await kill();
    }
    chat.error = undefined;
    const { pending } = start(clock, [chat], folder);
    await clock.advance(600_000);
    expect(pending()).toEqual([]);
    const delivered = [...new Set(chat.batches.flat())];
    expect(delivered).toEqual(ids);
  });
});

describe("Alertmanager", () => {
  const config = {
    kind: "alertmanager",
    name: "am",
    minSeverity: "warning",
    sendReminders: false,
    sendResolved: true,
    deadlineMs: 5000,
    urls: ["http://a.example", "http://b.example"],
    resendMs: 60_000,
  } as const;

  async function startPushes(posts: JsonPost[], clock: ManualClock, alerts: () => readonly CurrentAlert[]) {
    const keeper = createStateKeeper({ clock, logger: silentLogger, random: () => 0.5 });
    const end = new AbortController();
    const deps = {
      clock,
      logger: silentLogger,
      alerts,
      changed: keeper.changed,
      count: () => {},
    };
    const channel = createChannel(config, {
      post: async (post: JsonPost) => {
        posts.push(post);
        return { status: posts.length === 1 ? 503 : 200 };
      },
      mail: async () => {},
    });
    if (channel.state === undefined) return expect.unreachable("Alertmanager gets the state of all alerts");
    const run = runPushes(channel, channel.state, deps, end.signal);
    stop.push(() => {
      end.abort(new Error("over"));
      return run;
    });
    await clock.advance(0);
    return { change: () => keeper.replace(keeper.current()) };
  }

  it("gets every firing alert from each push, with an end in the future, and the end of resolved ones", async () => {
    const clock = createManualClock(NOON);
    const posts: JsonPost[] = [];
    let alerts: readonly CurrentAlert[] = [
      { event: alertEvent() },
      { event: alertEvent({ alert: "other", severity: "info" }) },
    ];
    const { change } = await startPushes(posts, clock, () => alerts);
    expect(posts.map(({ url }) => url)).toEqual([
      "http://a.example/api/v2/alerts",
      "http://b.example/api/v2/alerts",
    ]);
    expect(posts[0]?.body).toMatchObject([
      { labels: { alertname: "OracleSidecarDown" }, endsAt: "2026-11-21T12:04:00.000Z" },
    ]);
    await clock.advance(60_000);
    expect(posts).toHaveLength(4);
    expect(posts[3]?.body).toMatchObject([{ endsAt: "2026-11-21T12:05:00.000Z" }]);
    alerts = [{ event: alertEvent(), resolvedAtMs: NOON + 61_000 }];
    await clock.advance(1000);
    change();
    await clock.advance(0);
    expect(posts).toHaveLength(6);
    expect(posts[5]?.body).toMatchObject([{ endsAt: "2026-11-21T12:01:01.000Z" }]);
    alerts = [];
    await clock.advance(120_000);
    expect(posts).toHaveLength(6);
  });
});

describe("dead-man requests", () => {
  it("are sent while the work is done; the failure URL gets them while it is not", async () => {
    const clock = createManualClock(NOON);
    const urls: string[] = [];
    const pings: number[] = [];
    let problem: string | undefined;
    let status = 200;
    const end = new AbortController();
    const run = runDeadMan(
      {
        url: new Secret("http://ok"),
        failureUrl: new Secret("http://fail"),
        intervalMs: 60_000,
        deadlineMs: 1000,
      },
      {
        clock,
        logger: silentLogger,
        work: () => ({ problem }),
        pinged: (atMs) => pings.push(atMs),
        post: async ({ url }) => {
          urls.push(url);
          return { status };
        },
      },
      end.signal,
    );
    stop.push(() => {
      end.abort(new Error("over"));
      return run;
    });
    await clock.advance(60_000);
    problem = "no node was read";
    await clock.advance(60_000);
    problem = undefined;
    status = 500;
    await clock.advance(60_000);
    expect(urls).toEqual(["http://ok", "http://ok", "http://fail", "http://ok"]);
    expect(pings).toEqual([NOON, NOON + 60_000]);
  });
});
