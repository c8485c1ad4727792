import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import {
  type LocalnetDaemonOptions,
  type LocalnetPart,
} from "../../../src/localnet/network/localnet-options.ts";
import { encodeBech32 } from "../../../src/platform/base/bytes.ts";
import { type Clock, systemClock } from "../../../src/platform/base/clock.ts";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { DAY_MS } from "../../../src/platform/base/time.ts";
import {
  type ChainClockOptions,
  followChainClock,
  withItsDurations,
} from "../../../src/platform/cli/chain-clock.ts";
import { runCommand } from "../../support/cli-chain.ts";
import { startParts } from "../../support/localnet-parts.ts";
import { leasePorts, type PortLease } from "../../support/port-lease.ts";
import { collectingLogger, type LogLine } from "../../support/collecting-logger.ts";

const SOON = { timeout: 60_000 };
const BOB = "neutron1xek7j2nv3yshdf4ly3s87ddf0aysz3ckr3y3p7";
const BOTH = ["local", "remote"] as const;

let lease: PortLease;
let home: string;
const stop = new AbortController();
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  lease = await leasePorts();
  home = mkdtempSync(join(tmpdir(), "relaywatch-time-"));
  vi.stubEnv("XDG_STATE_HOME", home);
});

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

afterAll(() => {
  stop.abort();
  vi.unstubAllEnvs();
  lease.release();
  rmSync(home, { recursive: true, force: true });
});

async function start(parts: readonly LocalnetPart[] = BOTH, more: Partial<LocalnetDaemonOptions> = {}) {
  ends.push(await startParts(parts, lease.offset, more));
}

const cli = (...words: readonly string[]) =>
  runCommand([...words, "--port-offset", String(lease.offset)], stop.signal);
const localnet = (...words: readonly string[]) => cli("localnet", ...words);

async function json(...words: readonly string[]) {
  const { out, message } = await cli(...words, "-o", "json");
  expect(message).toBeUndefined();
  return JSON.parse(out);
}

async function balanceOf(
  address: string,
  denom: string,
  part: "local" | "remote" = "local",
): Promise<bigint> {
  const node = part === "local" ? [] : ["--node", `http://127.0.0.1:${portsAt(lease.offset).remoteRpc}`];
  return BigInt((await json("query", "bank", "balance", address, denom, ...node)).balance.amount);
}

async function rpc(part: "local" | "remote", path: string) {
  const { localRpc, remoteRpc } = portsAt(lease.offset);
  const reply = await fetch(`http://127.0.0.1:${part === "local" ? localRpc : remoteRpc}/${path}`);
  return JSON.parse(await reply.text()).result;
}

/** Time of the newest block, ms. */
const headMs = async (part: "local" | "remote"): Promise<number> =>
  Date.parse((await rpc(part, "status")).sync_info.latest_block_time);

/** Time of the chains as `localnet time` says it, ms. */
const nowMs = async (): Promise<number> =>
  Date.parse(JSON.parse((await localnet("time", "--json")).out).time);

describe("localnet time", () => {
  it("is this machine's at first, and moves both chains", async () => {
    await start();
    expect((await localnet("time")).out).toMatch(/^20\S+Z$/);
    const added = await localnet("time", "add", "40d");
    expect(added.out).toMatch(/^20\S+Z, 40 d ahead of this machine$/);
    for (const part of BOTH)
      await expect.poll(async () => Math.round(((await headMs(part)) - Date.now()) / DAY_MS), SOON).toBe(40);
    const to = new Date(Date.now() + 50 * DAY_MS).toISOString();
    expect((await localnet("time", "set", to)).out).toContain(", 50 d ahead of this machine");
    await localnet("time", "rate", "86400");
    const before = await headMs("remote");
    await expect.poll(async () => (await headMs("remote")) - before, SOON).toBeGreaterThan(DAY_MS / 2);
    expect(JSON.parse((await localnet("time", "rate", "0", "--json")).out)).toMatchObject({ rate: 0 });
    const stopped = await nowMs();
    expect(await nowMs()).toBe(stopped);
  });

  it.each([
    [["set", "2020-01-01T00:00:00Z"], 1, "is before the chains' time"],
    [["set", "tomorrow"], 1, "a time in UTC, e.g."],
    [["add", "soon"], 2, undefined],
    [["add", "900d"], 2, undefined],
    [["rate", "fast"], 2, undefined],
    [["rate", "10000001"], 1, "from 0 to 10000000"],
  ] as const)("refuses %j", async (words, exitCode, message) => {
    await start();
    const refused = await localnet("time", ...words);
    expect(refused).toMatchObject({ exitCode, out: "" });
    if (message !== undefined) expect(refused.message).toContain(message);
    expect((await localnet("time")).out).toMatch(/^20\S+Z$/);
  });

  it("cannot move one of two chains, which would leave the other one behind", async () => {
    await start(["remote"], { home });
    await start(["local"], { home });
    const refused = await localnet("time", "add", "1d");
    expect([refused.exitCode, refused.message]).toEqual([1, expect.stringContaining("in another process")]);
    expect((await localnet("mine")).exitCode).toBe(1);
  });

  it("goes on after a restart with the state on disk", async () => {
    const state = join(home, "restarted");
    await start(BOTH, { home: state });
    await localnet("time", "add", "30d");
    await expect.poll(() => headMs("local"), SOON).toBeGreaterThan(Date.now() + 29 * DAY_MS);
    const before = await nowMs();
    await ends.pop()?.();
    await start(BOTH, { home: state });
    expect((await nowMs()) - before).toBeLessThan(60_000);
    expect(await nowMs()).toBeGreaterThan(Date.now() + 29 * DAY_MS);
  });

  it("is the time of the pages that a watchdog reads", async () => {
    await start(["local", "remote", "sidecar"]);
    await localnet("time", "add", "40d");
    const { localMetrics, prices, oracleMetrics, sidecarMetrics } = portsAt(lease.offset);
    const aheadDays = async (port: number): Promise<number> => {
      const { headers } = await fetch(`http://127.0.0.1:${port}/metrics`);
      return Math.round((Date.parse(headers.get("date") ?? "") - Date.now()) / DAY_MS);
    };
    expect(await Promise.all([localMetrics, prices, oracleMetrics, sidecarMetrics].map(aheadDays))).toEqual([
      40, 40, 40, 40,
    ]);
  });

  it("is followed by a daemon with --chain-clock, also while the localnet is down", async () => {
    await start();
    const log: LogLine[] = [];
    const context = {
      signal: stop.signal,
      logger: collectingLogger(log),
      clock: systemClock,
      random: Math.random,
      build: { name: "relaywatch", version: "0", commit: undefined, nodeVersion: "v20" },
    };
    const follow = (chainClock: ChainClockOptions["chainClock"]) =>
      followChainClock(
        { ...(chainClock === undefined ? {} : { chainClock }), portOffset: lease.offset },
        context,
      );
    const { clock } = await follow(true);
    await localnet("time", "add", "40d");
    const aheadDays = () => Math.round((clock.nowMs() - Date.now()) / DAY_MS);
    await expect.poll(aheadDays, SOON).toBe(40);
    await localnet("time", "rate", "0");
    const passedMs = async (): Promise<number> => {
      const beforeMs = clock.nowMs();
      await systemClock.sleep(50, stop.signal);
      return clock.nowMs() - beforeMs;
    };
    await expect.poll(passedMs, SOON).toBe(0);
    await localnet("time", "rate", "1");
    await expect.poll(passedMs, SOON).toBeGreaterThan(0);
    await ends.pop()?.();
    await expect
      .poll(() => log.map(({ message }) => message), SOON)
      .toEqual(["cannot read the localnet's clock; continuing from its last time"]);
    // Its durations pass as its time, so its machine's clock was not set.
    const watchdogs = withItsDurations(clock, systemClock);
    const offsetMs = (one: Clock): number => Math.round((one.nowMs() - one.monotonicMs()) / DAY_MS);
    expect([offsetMs(watchdogs), offsetMs(clock)]).toEqual([
      offsetMs(systemClock),
      offsetMs(systemClock) + 40,
    ]);
    const before = clock.nowMs();
    await expect.poll(() => clock.nowMs(), SOON).toBeGreaterThan(before);
    expect(aheadDays()).toBe(40);
    expect(await follow(undefined)).toBe(context);
    await expect(follow(true)).rejects.toThrow("--chain-clock needs a running localnet");
  });
});

describe("localnet mine", () => {
  it("makes blocks at once, also on halted chains", async () => {
    await start();
    expect((await localnet("halt")).out).toMatch(
      /^local-1 is halted at height \d+\nremote-1 is halted at height \d+$/,
    );
    const [before] = JSON.parse((await localnet("halt", "--json")).out).chains;
    const mined = await localnet("mine", "3");
    expect(mined.out).toContain(`local-1 is at height ${Number(before.height) + 3}\n`);
    expect((await localnet("resume", "local-1")).out).toMatch(
      /^local-1 makes blocks .*\nremote-1 is halted /,
    );
    expect((await localnet("halt", "other-1")).message).toContain("unknown chain other-1");
  });

  it("makes blocks that are an interval apart", async () => {
    await start();
    await localnet("halt");
    await localnet("mine", "5", "--interval", "6s");
    expect(JSON.parse((await localnet("time", "--json")).out)).toMatchObject({ rate: 1 });
    for (const part of BOTH) {
      const { blocks } = await rpc(part, 'block_search?query="block.height>0"&order_by="desc"&per_page=4');
      const times = blocks.map((one: { block: { header: { time: string } } }) =>
        Date.parse(one.block.header.time),
      );
      expect(times.slice(1).map((ms: number, index: number) => times[index] - ms)).toEqual([
        6_000, 6_000, 6_000,
      ]);
    }
  });

  it("makes blocks of one request at a time, and moves no time between them", async () => {
    await start();
    const beforeMs = await nowMs();
    const mining = localnet("mine", "1000", "--interval", "6s");
    await expect.poll(nowMs, SOON).toBeGreaterThan(beforeMs + 60_000);
    for (const words of [["mine"], ["time", "rate", "2"]])
      expect((await localnet(...words)).message).toContain("try again later");
    expect((await mining).message).toBeUndefined();
    expect(JSON.parse((await localnet("time", "--json")).out)).toMatchObject({ rate: 1 });
  });

  it.each(["0", "1001", "many"])("refuses %s blocks", async (count) => {
    expect((await localnet("mine", count)).exitCode).toBe(2);
  });
});

describe("localnet snapshot and revert", () => {
  it("take both chains and their time back, with everything that came after", async () => {
    await start();
    await localnet("mine");
    await localnet("halt");
    expect((await localnet("snapshot", "list")).out).toBe("no snapshots");
    const place = /snapshot 1: local-1 at height (\d+), remote-1 at height (\d+), 20\S+Z$/;
    const taken = (await localnet("snapshot")).out;
    expect(taken).toMatch(place);
    await localnet("faucet", BOB, "1234");
    await localnet("time", "add", "40d");
    await localnet("mine", "3");
    expect((await localnet("revert", "1")).out).toBe(`back at ${taken}`);
    const heights = JSON.parse((await localnet("halt", "--json")).out).chains;
    expect(heights.map(({ height }: { height: string }) => height)).toEqual(place.exec(taken)?.slice(1));
    expect((await localnet("time")).out).toMatch(/^20\S+Z$/);
    await localnet("mine", "2");
    expect(Math.abs((await headMs("local")) - Date.now())).toBeLessThan(DAY_MS);
    expect((await localnet("snapshot", "list")).out).toBe(taken);
    expect((await localnet("snapshot", "remove", "1")).out).toBe("no snapshots");
    const refused = await localnet("revert", "1");
    expect([refused.exitCode, refused.message]).toEqual([1, expect.stringContaining("no snapshot 1")]);
    expect((await localnet("revert", "x")).exitCode).toBe(2);
  });

  it("keep a WebSocket's subscription, which sees lower heights", async () => {
    await start();
    await localnet("mine");
    const { localRpc } = portsAt(lease.offset);
    const socket = new WebSocket(`ws://127.0.0.1:${localRpc}/websocket`);
    const heights: number[] = [];
    socket.on("message", (data: Buffer) => {
      const height = JSON.parse(data.toString("utf8")).result?.data?.value?.block?.header?.height;
      if (height !== undefined) heights.push(Number(height));
    });
    await once(socket, "open");
    socket.send(
      JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "subscribe",
        params: { query: "tm.event='NewBlock'" },
      }),
    );
    await expect.poll(() => heights.length, SOON).toBeGreaterThan(0);
    await localnet("snapshot");
    await localnet("mine", "30");
    await localnet("revert", "1");
    const wentBack = (): boolean => heights.some((height, index) => height < (heights[index - 1] ?? 0));
    await expect.poll(wentBack, SOON).toBe(true);
    const before = heights.length;
    await expect.poll(() => heights.length, SOON).toBeGreaterThan(before);
    socket.close();
  });

  it("need both chains", async () => {
    await start(["remote"], { home });
    await start(["local"], { home });
    expect((await localnet("snapshot")).message).toContain("in another process");
  });
});

describe("localnet faucet", () => {
  it("pays on the chain of the address, and finds a wrong letter before it asks", async () => {
    await start();
    const bobs = [
      ["local", BOB, "untrn"],
      ["remote", "cosmos1xek7j2nv3yshdf4ly3s87ddf0aysz3ck8wdnme", "uatom"],
    ] as const;
    await localnet("mine");
    for (const [part, address, denom] of bobs) {
      const before = await balanceOf(address, denom, part);
      expect((await localnet("faucet", address, "1234")).out).toMatch(
        new RegExp(`^1234${denom} to ${address} on ${part}-1, transaction [0-9A-F]{64}$`),
      );
      await localnet("mine");
      expect(await balanceOf(address, denom, part)).toBe(before + 1234n);
    }
    const wrong = await localnet("faucet", BOB.replace("x", "y"), "1");
    expect([wrong.exitCode, wrong.usage]).toEqual([2, expect.stringContaining("a letter may be wrong")]);
    const foreign = await localnet("faucet", encodeBech32("osmo", new Uint8Array(20)), "1");
    expect([foreign.exitCode, foreign.message]).toEqual([2, expect.stringContaining("neutron or cosmos")]);
    expect((await localnet("faucet", BOB, "a")).message).toContain("an integer in quotes");
  });
});

describe("what takes weeks", () => {
  it("an unbonding of 21 days ends", async () => {
    await start();
    await localnet("mine");
    const { validators } = await json("query", "staking", "validators");
    const send = async (...words: readonly string[]) => {
      const sent = await cli("tx", "staking", ...words, "--from", "bob", "--fees", "100000untrn", "--yes");
      expect(sent.message).toBeUndefined();
    };
    await send("delegate", validators[0].operator_address, "5000000untrn");
    const delegated = await balanceOf(BOB, "untrn");
    await send("unbond", validators[0].operator_address, "5000000untrn");
    await localnet("time", "add", "20d23h");
    await localnet("mine", "3");
    expect(await balanceOf(BOB, "untrn")).toBe(delegated - 100_000n);
    await localnet("time", "add", "2h");
    await localnet("mine", "3");
    expect(await balanceOf(BOB, "untrn")).toBe(delegated - 100_000n + 5_000_000n);
  });

  it("a light client expires after its trusting period", async () => {
    await start();
    const status = async (): Promise<string> =>
      (await json("query", "ibc", "client", "status", "07-tendermint-0")).status;
    await localnet("mine");
    await localnet("time", "add", "13d");
    await localnet("mine", "3");
    expect(await status()).toBe("Active");
    await localnet("time", "add", "2d");
    await localnet("mine", "3");
    expect(await status()).toBe("Expired");
  });
});
