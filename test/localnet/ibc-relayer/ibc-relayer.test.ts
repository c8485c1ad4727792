import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import { LightClientError } from "../../../src/cosmos/light-client/client-queries.ts";
import { Order, State } from "../../../src/cosmos/proto/gen/ibc/core/channel/v1/channel.ts";
import { createIbcRelayer, type IbcRelayer } from "../../../src/localnet/ibc-relayer/ibc-relayer.ts";
import { ibcRelayerHealth } from "../../../src/localnet/ibc-relayer/status.ts";
import { type Logger, silentLogger } from "../../../src/platform/base/logger.ts";
import { CHANNEL, createFakeIbcChains, type FakeIbcChain } from "../../support/localnet/fake-ibc-chain.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";

const HOUR_NS = 3_600_000_000_000n;

let a: FakeIbcChain;
let b: FakeIbcChain;
let clock: ManualClock;
let stop: AbortController;
let lines: string[];
let running: Promise<void>;

beforeEach(() => {
  [a, b] = createFakeIbcChains();
  clock = createManualClock(1_000);
  stop = new AbortController();
  lines = [];
});
afterEach(async () => {
  stop.abort(new Error("the test is over"));
  await running;
  vi.useRealTimers();
});

function start(): IbcRelayer {
  const note = (text: string): void => void lines.push(text);
  const logger: Logger = { ...silentLogger, info: note, warn: note };
  const ibcRelayer = createIbcRelayer([a.chain, b.chain], { clock, random: () => 1, logger });
  running = ibcRelayer.run(stop.signal);
  return ibcRelayer;
}

function kinds(chain: FakeIbcChain): readonly string[] {
  return chain.transactions.flat();
}

const refusal = (failedMessage: number | undefined, log = "no") => ({
  code: 5,
  codespace: "transfer",
  log:
    failedMessage === undefined ? log : `failed to execute message; message index: ${failedMessage}: ${log}`,
  failedMessage,
});
const unreachable = (): never => {
  throw new ClientError(
    { code: "timeout", endpoint: "local-1", method: "commit", afterMs: 1 },
    "local-1 is unreachable",
  );
};

describe("the IBC relayer", () => {
  it("relays packets in both directions, each with its acknowledgement, and reports it", async () => {
    a.send(2);
    b.send(1);
    const ibcRelayer = start();
    await clock.advance(0);
    expect(b.transactions).toEqual([["receive 1", "receive 2"], ["acknowledge 1"]]);
    expect(a.transactions).toEqual([["receive 1"], ["acknowledge 1", "acknowledge 2"]]);
    const status = ibcRelayer.status();
    expect(status.chains).toMatchObject([
      { chainId: "local-1", pending: 0, oldestPendingMs: undefined, lastDoneMs: 1_000, refusals: 0 },
      { chainId: "remote-1", pending: 0, done: { receive: 2, acknowledge: 1, time_out: 0, channel: 0 } },
    ]);
    expect(ibcRelayerHealth(status, clock.nowMs()).state).toBe("carrying");
  });

  it("says since when the oldest packet is pending", async () => {
    b.onSimulate = () => refusal(0);
    const [first = 0n] = a.send(1);
    const ibcRelayer = start();
    await clock.advance(30_000);
    a.send(1);
    await clock.advance(10_000);
    expect(ibcRelayer.status().chains[0]).toMatchObject({ pending: 2, oldestPendingMs: 1_000 });
    a.sent.delete(first);
    await clock.advance(6_000);
    const { pending, oldestPendingMs = 0 } = ibcRelayer.status().chains[0] ?? {};
    expect([pending, oldestPendingMs > 30_000 && oldestPendingMs <= 41_000]).toEqual([1, true]);
  });

  it("relays nothing that was completed after the proven state, and receives nothing twice", async () => {
    const [first = 0n, second = 0n] = a.send(2);
    const packet = a.sent.get(first);
    if (packet === undefined) throw new Error("no packet");
    for (const sequence of [first, second]) {
      a.sent.delete(sequence);
      a.completedSince.add(sequence);
    }
    b.received.set(first, packet);
    const ibcRelayer = start();
    await clock.advance(5_200);
    expect([a.transactions, b.transactions]).toEqual([[], []]);
    expect(ibcRelayer.status().chains[0]).toMatchObject({ unreadable: 0 });
  });

  it("acknowledges a packet once the proven state has it", async () => {
    const [first = 0n] = a.send(1);
    for (const packet of a.sent.values()) b.received.set(packet.sequence, packet);
    b.receivedSince.add(first);
    start();
    await clock.advance(0);
    expect([a.transactions, b.transactions]).toEqual([[], []]);
    b.receivedSince.clear();
    b.height += 1n;
    await clock.advance(200);
    expect([a.transactions, b.transactions]).toEqual([[["acknowledge 1"]], []]);
  });

  it("looks at 1,000 packets of a channel in a cycle", async () => {
    a.send(1_200);
    b.onSend = () => new Promise(() => {});
    const ibcRelayer = start();
    await clock.advance(0);
    expect([a.searches, ibcRelayer.status().chains[0]?.pending]).toEqual([[1_000], 1_200]);
  });

  it("begins a channel for transfers without a proof, so without an update of a client", async () => {
    for (const chain of [a, b]) chain.channel = { ...CHANNEL, state: State.STATE_CLOSED };
    a.client.isUpdated = false;
    const tried: (readonly string[])[] = [];
    a.onSend = (names) => {
      tried.push(names);
      return new Promise(() => {});
    };
    start();
    await clock.advance(0);
    expect([tried, b.transactions]).toEqual([[["MsgChannelOpenInit"]], []]);
  });

  it("waits for a block, at most 5 s, and never reads without a pause", async () => {
    start();
    await clock.advance(0);
    expect(a.reads).toBe(1);
    await clock.advance(4_900);
    expect(a.reads).toBe(1);
    await clock.advance(200);
    expect(a.reads).toBe(2);
    await clock.advance(100);
    b.height += 1n;
    await clock.advance(200);
    expect(a.reads).toBe(3);
  });

  it("asks a chain that is too young to prove anything five times in a second", async () => {
    b.height = 2n;
    b.send(1);
    start();
    await clock.advance(1_000);
    expect([a.transactions, b.reads]).toEqual([[], 6]);
    b.height = 3n;
    await clock.advance(200);
    expect(kinds(a)).toEqual(["receive 1"]);
  });

  it("tries a failed cycle again after pauses that grow to 10 s, and logs a reason once", async () => {
    const failedAt: number[] = [];
    const fail = async (): Promise<void> => {
      failedAt.push(clock.nowMs());
      unreachable();
    };
    const pauses = (): readonly number[] => failedAt.slice(1).map((at, index) => at - (failedAt[index] ?? 0));
    a.onRead = fail;
    const ibcRelayer = start();
    await clock.advance(36_000);
    expect(pauses()).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    expect(ibcRelayer.status()).toMatchObject({
      error: "local-1 is unreachable",
      failures: { node: 8, other: 0 },
    });
    expect(lines).toEqual(["the IBC relayer cannot relay packets"]);
    a.onRead = async () => {};
    await clock.advance(10_000);
    expect(ibcRelayer.status()).toMatchObject({
      error: undefined,
      failures: { node: 8 },
      lastCycleMs: 46_500,
    });
    expect(lines.at(-1)).toBe("the IBC relayer relays packets again");
    failedAt.length = 0;
    a.onRead = fail;
    await clock.advance(8_000);
    expect(pauses().slice(0, 2)).toEqual([500, 1_000]);
  });

  it.each([
    ["light-client", new LightClientError({ code: "no-client", connectionId: "connection-0" }, "no client")],
    ["other", new Error("a bug")],
  ] as const)("counts a failure of kind %s", async (reason, error) => {
    a.onRead = async () => {
      throw error;
    };
    const ibcRelayer = start();
    await clock.advance(0);
    expect(ibcRelayer.status().failures).toMatchObject({ [reason]: 1 });
  });

  it("gives a cycle up after two minutes", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    a.onRead = () => new Promise(() => {});
    const ibcRelayer = start();
    await vi.advanceTimersByTimeAsync(119_999);
    expect(ibcRelayer.status().error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await clock.advance(0);
    expect(ibcRelayer.status()).toMatchObject({
      error: "a cycle of the IBC relayer took longer than 120000 ms",
      failures: { deadline: 1 },
    });
  });

  it("ends immediately when its signal aborts, without an error", async () => {
    a.onRead = (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("cut")));
      });
    const ibcRelayer = start();
    await clock.advance(0);
    stop.abort(new Error("stop"));
    await running;
    expect([ibcRelayer.status().error, lines]).toEqual([undefined, []]);
  });

  it("goes on where another one was killed, and carries nothing twice", async () => {
    a.send(3);
    b.onSend = () => new Promise(() => {});
    start();
    await clock.advance(0);
    stop.abort(new Error("killed"));
    await running;
    stop = new AbortController();
    b.onSend = async () => undefined;
    start();
    await clock.advance(0);
    expect(kinds(b)).toEqual(["receive 1", "receive 2", "receive 3"]);
    expect([a.sent.size, b.received.size]).toEqual([0, 3]);
  });
});

describe("a message that the chain refuses", () => {
  it("is left out, and tried again later and later", async () => {
    a.send(3);
    const tried: number[] = [];
    b.onSimulate = (names) => {
      const index = names.indexOf("receive 2");
      if (index >= 0) tried.push(clock.nowMs() - 1_000);
      return index < 0 ? undefined : refusal(index);
    };
    const ibcRelayer = start();
    await clock.advance(0);
    expect(b.transactions).toEqual([["receive 1", "receive 3"]]);
    expect(kinds(a)).toEqual(["acknowledge 1", "acknowledge 3"]);
    expect(ibcRelayer.status().chains[1]).toMatchObject({
      refusals: 1,
      refused: [{ name: "receive transfer/channel-0/2", attempts: 1, reason: expect.stringMatching(/no$/) }],
    });
    expect(ibcRelayerHealth(ibcRelayer.status(), clock.nowMs()).state).toBe("blocked");
    // Its chain may have gone back and have another packet with that number.
    expect([a.forgotten, b.forgotten]).toEqual([1, 1]);
    for (let second = 0; second < 200; second += 1) {
      a.height += 1n;
      await clock.advance(1_000);
    }
    const pauses = tried.map((at, index) => Math.round((at - (tried[index - 1] ?? 0)) / 1_000));
    expect(pauses.slice(0, 6)).toEqual([0, 2, 4, 8, 16, 32]);
    expect(pauses.slice(6).every((pause) => pause >= 60 && pause <= 62)).toBe(true);
    b.onSimulate = () => undefined;
    await clock.advance(62_000);
    expect(kinds(b)).toContain("receive 2");
    expect(ibcRelayer.status().chains[1]?.refused).toEqual([]);
  });

  it("in its block only, or by CheckTx, is treated in the same way", async () => {
    a.send(2);
    b.onSend = async (names) =>
      names.includes("receive 1") ? refusal(names.indexOf("receive 1")) : undefined;
    start();
    await clock.advance(0);
    expect(b.transactions).toEqual([["receive 2"]]);
  });

  it("because another relayer was faster is treated as done", async () => {
    a.send(1);
    b.onSend = async () => {
      for (const packet of a.sent.values()) b.received.set(packet.sequence, packet);
      return {
        code: 22,
        codespace: "channel",
        log: "packet messages are redundant",
        failedMessage: undefined,
      };
    };
    const ibcRelayer = start();
    await clock.advance(0);
    expect(kinds(a)).toEqual(["acknowledge 1"]);
    expect(ibcRelayer.status().chains[1]).toMatchObject({ done: { receive: 1 }, refused: [] });
  });

  it.each([
    ["names no message", async () => refusal(undefined, "insufficient fees")],
    ["is code 22 of another module", async () => ({ ...refusal(undefined, "x"), code: 22 })],
    ["is lost", async () => "lost" as const],
  ])("in a transaction that %s fails the cycle", async (_name, onSend) => {
    a.send(1);
    b.onSend = onSend;
    const ibcRelayer = start();
    await clock.advance(0);
    expect(ibcRelayer.status().error).toMatch(/^remote-1 rejected a transaction of the IBC relayer: /);
    expect(ibcRelayer.status().failures).toMatchObject({ transaction: 1 });
  });
});

describe("a transaction", () => {
  it("has at most 100 messages", async () => {
    a.send(250);
    start();
    await clock.advance(0);
    expect(b.transactions.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(a.transactions.flat().length).toBe(250);
    // That of the simulation and of the fee, and three tenths more.
    expect(b.gasLimits).toEqual([40_300n, 40_300n, 40_300n]);
  });

  it("has at most 600 kB, but a single message may have more", async () => {
    a.send(1, { data: new Uint8Array(700_000) });
    a.send(3, { data: new Uint8Array(250_000) });
    start();
    await clock.advance(0);
    expect(b.transactions).toEqual([["receive 1"], ["receive 2", "receive 3"], ["receive 4"]]);
  });

  it("to one chain is finished also when that to the other one fails", async () => {
    a.send(1);
    b.send(1);
    let isFinished = false;
    a.onSend = async () => unreachable();
    b.onSend = async () => {
      await clock.sleep(5_000, stop.signal);
      isFinished = true;
      return undefined;
    };
    const ibcRelayer = start();
    await clock.advance(4_999);
    expect([ibcRelayer.status().error, a.reads]).toEqual([undefined, 1]);
    await clock.advance(1);
    expect([ibcRelayer.status().error, isFinished]).toEqual(["local-1 is unreachable", true]);
  });

  it("begins with the update of the light client that its proofs need", async () => {
    a.send(1);
    b.client.isUpdated = false;
    start();
    await clock.advance(0);
    expect(b.transactions).toEqual([["MsgUpdateClient", "receive 1"]]);
  });

  it("whose client update is refused is not attributed to a packet", async () => {
    a.send(1);
    b.client.isUpdated = false;
    b.onSimulate = () => refusal(0, "client is frozen");
    const ibcRelayer = start();
    await clock.advance(0);
    expect(ibcRelayer.status()).toMatchObject({
      error: expect.stringContaining("client is frozen"),
      chains: [{}, { refused: [] }],
    });
  });
});

describe("a light client that no packet updates", () => {
  it("is updated after a third of its trusting period", async () => {
    a.client.isUpdated = false;
    a.client.timeNs = b.timeNs - HOUR_NS / 3n + 1n;
    start();
    await clock.advance(0);
    expect(a.transactions).toEqual([]);
    b.timeNs += 1n;
    await clock.advance(5_200);
    expect([a.transactions, b.transactions]).toEqual([[["MsgUpdateClient"]], []]);
  });

  it("is updated on each of the two chains", async () => {
    for (const chain of [a, b]) {
      chain.client.isUpdated = false;
      chain.client.timeNs = chain.timeNs - HOUR_NS / 3n;
    }
    start();
    await clock.advance(0);
    expect([a.transactions, b.transactions]).toEqual([[["MsgUpdateClient"]], [["MsgUpdateClient"]]]);
  });

  it("whose update is refused fails the cycle", async () => {
    a.client.isUpdated = false;
    a.client.timeNs = b.timeNs - HOUR_NS / 3n;
    a.onSend = async () => refusal(0, "client is expired");
    const ibcRelayer = start();
    await clock.advance(0);
    expect(ibcRelayer.status()).toMatchObject({
      error:
        "local-1 rejected the update of 07-tendermint-0: failed to execute message; message index: 0: client is expired",
      failures: { transaction: 1 },
    });
  });
});

describe("packets that cannot be received", () => {
  it("time out once their time is over, with a proof", async () => {
    a.send(2, { timeoutTimestamp: HOUR_NS + 5n });
    b.channel = { ...CHANNEL, state: State.STATE_INIT };
    start();
    await clock.advance(0);
    expect([a.transactions, b.transactions]).toEqual([[], []]);
    b.timeNs += 5n;
    await clock.advance(5_200);
    expect([a.transactions, b.transactions]).toEqual([[["time-out 1", "time-out 2"]], []]);
  });

  it("whose blocks are pruned do not stop the others, and are not called well", async () => {
    a.send(3);
    a.pruned.add("send 2");
    b.pruned.add("acknowledge 3");
    const ibcRelayer = start();
    await clock.advance(0);
    expect(kinds(b)).toEqual(["receive 1", "receive 3"]);
    expect(kinds(a)).toEqual(["acknowledge 1"]);
    expect(ibcRelayer.status().chains[0]).toMatchObject({ pending: 2, unreadable: 2 });
    expect(ibcRelayerHealth(ibcRelayer.status(), clock.nowMs())).toEqual({
      state: "blocked",
      reason: "the blocks of 2 packets from local-1, or of their acknowledgements, are pruned",
    });
  });

  it("stop those after them on an ordered channel, in both directions", async () => {
    for (const chain of [a, b]) chain.channel = { ...CHANNEL, ordering: Order.ORDER_ORDERED };
    a.send(4);
    a.pruned.add("send 3");
    b.pruned.add("acknowledge 1");
    start();
    await clock.advance(0);
    expect([kinds(b), kinds(a)]).toEqual([["receive 1", "receive 2"], []]);
  });

  it("of an ordered channel stop those after them also when they time out or wait", async () => {
    for (const chain of [a, b]) chain.channel = { ...CHANNEL, ordering: Order.ORDER_ORDERED };
    a.send(1, { timeoutTimestamp: HOUR_NS });
    a.send(1);
    const tried: string[] = [];
    a.onSend = (names) => {
      tried.push(...names);
      return new Promise(() => {});
    };
    start();
    await clock.advance(0);
    expect([tried, b.transactions]).toEqual([["time-out 1"], []]);
  });
});
