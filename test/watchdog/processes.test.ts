import { describe, expect, it } from "vitest";
import { followProcesses, type Processes } from "../../src/watchdog/ledger/ledger-events.ts";
import { countObservation, EMPTY_LEDGER } from "../../src/watchdog/ledger/ledger.ts";
import type { SidecarReading } from "../../src/watchdog/sources/observation.ts";
import { nodePage, observationOf, up } from "../support/watchdog/observations.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;

function sidecar(processStartMs: number, version?: string): SidecarReading {
  return {
    processStartMs,
    ...(version === undefined ? {} : { version }),
    systemUpdates: 1n,
    tickerUpdates: new Map(),
    marketProviders: new Map(),
    providers: new Map(),
  };
}

/** What one poll shows. `undefined`: the page cannot be read. */
interface Poll {
  readonly sidecar?: SidecarReading;
  readonly node?: string;
  readonly prices?: string;
}

/** Polls once a minute; returns the events as "minute kind: text". */
function play(polls: readonly Poll[]): readonly string[] {
  let known: ReadonlyMap<string, Processes> = new Map();
  return polls.flatMap((poll, index) => {
    const prices = { pairs: [], prices: new Map(), tickedAtMs: undefined, url: "" };
    const { processes, events } = followProcesses(
      known,
      observationOf(NOON + index * MINUTE, [
        {
          ...(poll.sidecar === undefined ? {} : { sidecar: up(poll.sidecar) }),
          ...(poll.node === undefined ? {} : { metrics: up(nodePage(0n, 0n, { version: poll.node })) }),
          ...(poll.prices === undefined ? {} : { prices: up({ ...prices, version: poll.prices }) }),
        },
      ]),
    );
    known = processes;
    return events.map(
      ({ kind, node, fromMs, toMs, text }) =>
        `${index} ${kind} ${node} ${(fromMs - NOON) / 1000}-${(toMs - NOON) / 1000}: ${text}`,
    );
  });
}

describe("the processes of a node and its sidecar", () => {
  it("a restart of the sidecar is an event, from its last page to its new start", () => {
    const [before, after] = [sidecar(NOON - MINUTE), sidecar(NOON + 100_000)];
    expect(play([{ sidecar: before }, {}, { sidecar: after }, { sidecar: after }])).toEqual([
      "2 sidecar-restart node 0-100: the sidecar restarted",
    ]);
  });

  it("a start that moves with the clock is no restart", () => {
    expect(play([{ sidecar: sidecar(NOON) }, { sidecar: sidecar(NOON + 2000) }])).toEqual([]);
  });

  it("two sidecars at one URL do not restart", () => {
    const [first, second] = [sidecar(NOON - MINUTE), sidecar(NOON - 30_000)];
    expect(play([{ sidecar: first }, { sidecar: second }, { sidecar: first }, { sidecar: second }])).toEqual(
      [],
    );
  });

  it("another version is an event, also one that only the prices show", () => {
    const page = (version: string) => ({ sidecar: sidecar(NOON, version) });
    expect(play([page("v1.2.2"), {}, page("v1.3.1")])).toEqual([
      "2 version-change node 120-120: the sidecar's version changed from v1.2.2 to v1.3.1",
    ]);
    expect(play([{ prices: "v1" }, { prices: "" }, { ...page(""), prices: "v2" }])).toEqual([
      "2 version-change node 120-120: the sidecar's version changed from v1 to v2",
    ]);
    expect(play([{ node: "go1.23" }, {}, { node: "go1.24" }])).toEqual([
      "2 version-change node 120-120: the node's version changed from go1.23 to go1.24",
    ]);
  });

  it("a version that is absent for a while, or new, is no change", () => {
    const both = { node: "0.50.9, go1.24" };
    expect(play([both, { node: "go1.24" }, { node: "go1.24" }, both, { node: "0.50.9" }])).toEqual([]);
    expect(play([both, { node: "go1.24" }, { node: "0.50.10, go1.24" }])).toEqual([
      "2 version-change node 120-120: the node's version changed from 0.50.9, go1.24 to 0.50.10, go1.24",
    ]);
    expect(play([both, { node: "go1.25" }])).toHaveLength(1);
    const long = "v".repeat(17_000);
    expect(play([{ prices: "v1" }, { prices: long }, { sidecar: sidecar(NOON, long) }])).toEqual([]);
  });

  it("versions that change at each poll are one event in ten minutes", () => {
    const polls = Array.from({ length: 15 }, (_, index) => ({ node: index % 2 === 0 ? "a" : "b" }));
    expect(play(polls).map((text) => text.split(" ")[0])).toEqual(["1"]);
    // Each later change extends the time.
    expect(
      play([...polls, ...Array.from({ length: 11 }, () => ({ node: "a" })), { node: "c" }]),
    ).toHaveLength(2);
  });

  it("are in the ledger, with their events", () => {
    const poll = (minute: number, page: SidecarReading) =>
      observationOf(NOON + minute * MINUTE, [{ sidecar: up(page) }]);
    const options = { intervalMs: MINUTE };
    const first = countObservation(EMPTY_LEDGER, poll(0, sidecar(NOON - MINUTE, "v1")), options);
    const second = countObservation(first.ledger, poll(1, sidecar(NOON + 1000, "v2")), options);
    expect(second.ledger.events.recent.map(({ kind }) => kind)).toEqual([
      "sidecar-restart",
      "version-change",
    ]);
    expect(second.ledger.processes.get("node")).toMatchObject({ sidecarVersion: "v2" });
  });
});
