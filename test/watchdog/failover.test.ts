import { describe, expect, it } from "vitest";
import { createFailoverReader } from "../../src/watchdog/polling/poller.ts";
import type { Page } from "../../src/watchdog/sources/page-reader.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { Secret } from "../../src/platform/base/secret.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createReceiver, rigConfig, startRig } from "../support/watchdog/rig.ts";
import { createWorld } from "../support/watchdog/world.ts";

const A = "http://a:26660/metrics";
const B = "http://b:26661/other";
const signal = new AbortController().signal;

async function* noBody(): AsyncGenerator<Uint8Array> {}
const page = (status = 200): Page => ({ status, body: noBody() });

/** Hosts that do not respond, and requests in their order. */
function network(deadlineMs = 1000, clock = createManualClock(0)) {
  const down = new Set<string>();
  const statuses = new Map<string, number>();
  const requests: string[] = [];
  const reader = createFailoverReader(
    [
      [{ url: A }, { url: B }],
      [{ url: "http://rest-a/" }, { url: "http://rest-b:1317/" }, { url: "http://rest-b:1317/chain?key=k" }],
    ],
    {
      clock,
      deadlineMs,
      read: async (url, ends) => {
        requests.push(url);
        const { host } = new URL(url);
        if (down.has(`${host} hangs`))
          return new Promise((_resolve, reject) => {
            ends.addEventListener("abort", () => reject(new Error("ended")));
          });
        if (down.has(host)) throw new Error(`${host} refuses`);
        return page(statuses.get(host));
      },
    },
  );
  const used = (url: string) => reader.endpointsOf(url).find(({ isUsed }) => isUsed)?.host;
  return { reader, down, statuses, requests, clock, used };
}

describe("a source with several URLs", () => {
  it("uses the first one, the next one while it fails, and the first one again", async () => {
    const { reader, down, requests, clock, used } = network();
    await reader.read(A, signal);
    expect([requests, used(A)]).toEqual([[A], "a:26660"]);
    down.add("a:26660");
    await reader.read(A, signal);
    expect([requests.splice(0), used(A)]).toEqual([[A, A, B], "b:26661"]);
    expect(reader.endpointsOf(A)).toEqual([
      { host: "a:26660", isUsed: false, isUp: false },
      { host: "b:26661", isUsed: true, isUp: true },
    ]);
    // It is not tried again at once, unless the other one fails too.
    await reader.read(A, signal);
    expect(requests.splice(0)).toEqual([B]);
    down.add("b:26661");
    await expect(reader.read(A, signal)).rejects.toThrow("a:26660 refuses");
    expect(requests.splice(0)).toEqual([B, A]);
    down.clear();
    await clock.advance(30_000);
    await reader.read(A, signal);
    expect([requests, used(A)]).toEqual([[A], "a:26660"]);
  });

  it("takes a URL as working again as soon as it responds, before the pause after its failure is over", async () => {
    const { reader, down, requests, used } = network();
    down.add("a:26660");
    await reader.read(A, signal);
    down.delete("a:26660");
    down.add("b:26661");
    await reader.read(A, signal);
    expect([requests.splice(0), used(A)]).toEqual([[A, B, B, A], "a:26660"]);
    expect(reader.endpointsOf(A).map(({ isUp }) => isUp)).toEqual([true, false]);
    await reader.read(A, signal);
    expect(requests).toEqual([A]);
  });

  it("goes on when one hangs, within the deadline of the source", async () => {
    const { reader, down, used, requests } = network(100);
    down.add("a:26660 hangs");
    expect((await reader.read(A, signal)).status).toBe(200);
    expect([requests, used(A)]).toEqual([[A, B], "b:26661"]);
  });

  it("goes on when one is not available, and takes every other status as its answer", async () => {
    const { reader, statuses, requests, clock } = network();
    for (const [status, expected] of [
      [503, 200],
      [429, 200],
      // The key is no longer valid there.
      [401, 200],
      [403, 200],
      [404, 404],
      [500, 500],
    ] as const) {
      statuses.set("rest-a", status);
      expect([status, (await reader.read("http://rest-a/x?y=1", signal)).status]).toEqual([status, expected]);
      await clock.advance(30_000);
    }
    expect(requests.slice(0, 2)).toEqual(["http://rest-a/x?y=1", "http://rest-b:1317/x?y=1"]);
  });

  it("asks the next one for the same path below its own, and tells two of one host apart", async () => {
    const { reader, down, requests } = network();
    down.add("rest-a");
    down.add("rest-b:1317");
    await expect(reader.read("http://rest-a/x?y=1", signal)).rejects.toThrow();
    expect(requests).toEqual([
      "http://rest-a/x?y=1",
      "http://rest-b:1317/x?y=1",
      "http://rest-b:1317/chain/x?key=k&y=1",
    ]);
    expect(reader.endpointsOf("http://rest-a/").map(({ host }) => host)).toEqual([
      "rest-a",
      "rest-b:1317#1",
      "rest-b:1317#2",
    ]);
  });

  it("ends with its signal, without a further attempt", async () => {
    const { reader, down, requests } = network(10_000);
    down.add("a:26660 hangs");
    const end = new AbortController();
    const read = reader.read(A, end.signal);
    end.abort(new Error("over"));
    await expect(read).rejects.toThrow();
    expect(requests).toEqual([A]);
  });
});

describe("the counts of a node that is read by two URLs", () => {
  const target = { ...rigConfig().validators[0]?.target.nodes[0], name: "node", node: A };
  const validators = rigConfig().validators.map((one) => ({
    ...one,
    target: { ...one.target, nodes: [{ ...target, fallbacks: [[{ url: A }, { url: B }]] }] },
  }));

  it("are exact when the URL changes, and not counted when it leads to another node", async () => {
    const clock = createManualClock(Date.UTC(2026, 10, 21, 12));
    const [world, other] = [createWorld(clock), createWorld(clock)];
    await clock.advance(600_000);
    other.restartNode();
    let isOther = false;
    let isDown = false;
    const read: typeof world.read = async (url, ends) => {
      const { host, pathname } = new URL(url);
      if (host === "a:26660" && isDown) throw new Error("refused");
      if (host === "b:26661") return (isOther ? other : world).read(A, ends);
      return world.read(host === "a:26660" ? A : `http://x:${new URL(url).port}${pathname}`, ends);
    };
    const rig = await startRig(
      rigConfig({ validators, token: new Secret("t") }),
      clock,
      { read },
      createReceiver(),
    );
    const countOf = () => rig.watchdog.status().current.counts;
    await clock.advance(60_000);
    isDown = true;
    await clock.advance(60_000);
    isDown = false;
    await clock.advance(60_000);
    const { good, bad } = world.actualAtScrape();
    expect(countOf()).toEqual({ good, bad, unknown: 0n });
    const metrics = await rig.registry.metrics();
    expect(metrics).toMatch(/oracle_watchdog_endpoint_used\{.*source="node",endpoint="a:26660"\} 1/);
    const sources = await fetch(`${rig.url}/validators/default/sources`);
    expect(await sources.text()).toContain("by a:26660, 1 of 2");
    // The second URL of another node: its counters are not added. Its own growth counts while it answers alone.
    isDown = true;
    isOther = true;
    await clock.advance(60_000);
    const now = countOf();
    expect(now.good - good).toBeLessThanOrEqual(60n);
    expect(now.good + now.unknown - good).toBeGreaterThanOrEqual(55n);
    isDown = false;
    await clock.advance(10_000);
    expect(rig.watchdog.status().sources.find(({ name }) => name === "node")?.error).toContain(
      "alternates between two nodes",
    );
    await clock.advance(700_000);
    const last = countOf();
    expect(last.good + last.unknown).toBe(world.actualAtScrape().good);
    // Those of two changes.
    expect(last.unknown).toBeLessThanOrEqual(15n);
    await rig.stop();
  });
});

it("one URL needs no group", async () => {
  const requests: string[] = [];
  const { read, endpointsOf } = createFailoverReader([[{ url: A }]], {
    clock: systemClock,
    deadlineMs: 1,
    read: async (url) => {
      requests.push(url);
      return page();
    },
  });
  await read(A, signal);
  expect([requests, endpointsOf(A)]).toEqual([[A], []]);
});
