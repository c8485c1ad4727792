import { describe, expect, it } from "vitest";
import { type FaultName, SIDECAR_FAULT_NAMES } from "../../src/localnet/sidecar/faults.ts";
import { alertsSchema } from "../../src/watchdog/conditions/alerts-config.ts";
import type { AlertEvent } from "../../src/watchdog/alerts/alert-event.ts";
import { notifySchema } from "../../src/watchdog/notify/notify-config.ts";
import { SPECIFIED_POLICY } from "../../src/watchdog/policy/assessment.ts";
import { planEvaluation } from "../../src/watchdog/polling/evaluation.ts";
import type { Observation } from "../../src/watchdog/sources/observation.ts";
import { EMPTY_STATE, type WatchdogState } from "../../src/watchdog/state/state-store.ts";
import { failed, healthyFrame, provider, START_MS, up } from "../support/watchdog/frames.ts";

const MINUTE = 60_000;
const POLL_MS = 15_000;
const MONTH_MS = Date.UTC(2026, 10, 1);

/** What a fault changes from its begin to its end. `offMs`: time since its begin. */
interface Effect {
  /** The node's calls. Default: good. */
  readonly calls?: "bad" | "none";
  readonly prices?: "refused" | "none" | "without majors" | "frozen" | "slow" | "not started";
  readonly sidecarMetrics?: "refused" | "frozen" | "silent";
  readonly node?: "refused" | "halted";
  readonly chain?: "refused" | "halted";
  readonly signs?: false;
  readonly isInSet?: false;
  readonly isJailed?: true;
  /** So many of the 19 others miss their votes too, as this validator does. */
  readonly othersMissing?: number;
}

type Fault = Effect | ((offMs: number) => Effect);

const DOWN: Effect = { calls: "bad", prices: "refused", sidecarMetrics: "refused" };
const NOTHING: Effect = {};

/** Every fault of the localnet's sidecar, as node and watchdog see it, and the pages of an outage of 3 and of 40 minutes. */
const SIDECAR: Readonly<Record<FaultName, readonly [Fault, string | undefined, string | undefined]>> = {
  "sidecar-down": [DOWN, "sidecar-down", "sidecar-down"],
  "sidecar-killed": [DOWN, "sidecar-down", "sidecar-down"],
  startup: [{ prices: "not started" }, "stale-price-timestamp", "stale-price-timestamp"],
  "market-map-empty": [{ prices: "none", sidecarMetrics: "silent" }, undefined, "all-prices-missing"],
  "all-prices-missing": [{ prices: "none" }, undefined, "all-prices-missing"],
  "pair-missing": [NOTHING, undefined, undefined],
  "major-pairs-missing": [{ prices: "without majors" }, undefined, "major-pairs-missing"],
  "malformed-price": [{ calls: "bad", prices: "refused" }, "sidecar-down", "sidecar-down"],
  slow: [{ calls: "bad", prices: "slow" }, "sidecar-too-slow", "sidecar-too-slow"],
  "http-500": [{ calls: "bad", prices: "refused" }, "sidecar-down", "sidecar-down"],
  "websocket-providers-down": [
    (offMs) => ({ sidecarMetrics: "silent", ...(offMs > 2 * MINUTE ? { prices: "none" } : {}) }),
    undefined,
    "all-prices-missing",
  ],
  "websocket-flap": [NOTHING, undefined, undefined],
  "provider-rate-limited": [NOTHING, undefined, undefined],
  "provider-blocked": [NOTHING, undefined, undefined],
  "provider-no-response": [NOTHING, undefined, undefined],
  "provider-invalid-response": [NOTHING, undefined, undefined],
  "provider-decode-error": [NOTHING, undefined, undefined],
  "timestamp-stale": [
    { prices: "frozen", sidecarMetrics: "frozen" },
    "stale-price-timestamp",
    "stale-price-timestamp",
  ],
  "v1-only": [{ calls: "bad" }, "oracle-calls-failing", "oracle-calls-failing"],
  "v2-only": [{ calls: "bad" }, "oracle-calls-failing", "oracle-calls-failing"],
};

/** Faults of node and chain. */
const OTHERS: Readonly<Record<string, readonly [Fault, string | undefined, string | undefined]>> = {
  "the chain halts": [{ node: "halted", chain: "halted" }, "chain-halted", "chain-halted"],
  "the node halts": [{ node: "halted" }, "node-halted", "node-halted"],
  "the validator does not sign": [{ signs: false }, "not-signing", "not-signing"],
  "the validator leaves the set": [
    { isInSet: false, signs: false, calls: "none" },
    "not-in-validator-set",
    "not-in-validator-set",
  ],
  "the validator is jailed": [
    { isInSet: false, isJailed: true, signs: false, calls: "none" },
    "validator-jailed",
    "validator-jailed",
  ],
  "the sidecars of many validators are down": [
    { ...DOWN, othersMissing: 14 },
    "network-votes-missing",
    "network-votes-missing",
  ],
  "the own sidecar is down, and a few others too": [
    { ...DOWN, othersMissing: 5 },
    "sidecar-down",
    "sidecar-down",
  ],
  "the node makes no call": [{ calls: "none" }, "node-not-voting", "node-not-voting"],
  "the machine is down": [
    { node: "refused", prices: "refused", sidecarMetrics: "refused", signs: false },
    "not-signing",
    "not-signing",
  ],
  "nothing can be seen": [
    { node: "refused", prices: "refused", sidecarMetrics: "refused", chain: "refused" },
    "cannot-see-votes",
    "cannot-see-votes",
  ],
};

/** Counters of the simulated validator, in blocks. */
interface Counters {
  height: bigint;
  chainHeight: bigint;
  signed: bigint;
  good: bigint;
  bad: bigint;
  reads: bigint;
  /** Of the signing window. */
  missed: bigint;
}

const BLOCKS = BigInt(POLL_MS / 1000);

/** Advances the counters by one poll. */
function advance(counters: Counters, effect: Effect): void {
  if (effect.chain !== "halted") counters.chainHeight += BLOCKS;
  if (effect.signs === false) counters.missed += BLOCKS;
  if (effect.sidecarMetrics === undefined) counters.reads += BLOCKS;
  if (effect.node === "halted") return;
  counters.height = counters.chainHeight;
  if (effect.signs !== false) counters.signed = counters.height;
  if (effect.calls === undefined) counters.good += BLOCKS;
  if (effect.calls === "bad") counters.bad += BLOCKS;
}

function observe(atMs: number, tickMs: number, counters: Counters, effect: Effect): Observation {
  const { observation } = healthyFrame(atMs);
  const [node = expect.unreachable("no node")] = observation.nodes;
  const { metrics, prices, sidecar } = node;
  if (metrics.state !== "up" || prices.state !== "up" || sidecar.state !== "up")
    throw new Error("not healthy");
  const {
    height,
    good: success,
    bad: failure,
    signed: lastSignedHeight,
    chainHeight,
    reads,
    missed,
  } = counters;
  const isIn = effect.isInSet !== false;
  const { slashing } = observation.chain;
  if (slashing?.state !== "up" || slashing.value.info === undefined) throw new Error("no signing window");
  const growth = { missed: effect.signs === false ? BLOCKS : 0n, blocks: BLOCKS };
  const sharedVotes = {
    seen: 30,
    missed: effect.othersMissing === undefined ? 0 : 30,
    others: 19,
    missing: effect.othersMissing ?? 0,
  };
  const page = {
    ...metrics.value,
    sharedVotes,
    success,
    failure,
    height,
    lastSignedHeight,
    processStartMs: MONTH_MS,
  };
  const pairsOf: Readonly<Partial<Record<string, readonly string[]>>> = {
    none: [],
    "not started": [],
    "without majors": ["USDT/USD"],
  };
  const kind = effect.prices ?? "all";
  const pairs = pairsOf[kind] ?? prices.value.pairs;
  const tickedAtMs = kind === "not started" ? undefined : effect.prices === "frozen" ? tickMs : atMs - 100;
  const { oracleLatency: _, ...withoutLatency } = page;
  return {
    ...observation,
    nodes: [
      {
        ...node,
        metrics:
          effect.node === "refused" ? failed() : up({ ...withoutLatency, votingPower: isIn ? 10n : 0n }),
        prices:
          effect.prices === "refused"
            ? failed()
            : up({ ...prices.value, pairs, tickedAtMs }, effect.prices === "slow" ? 3000 : 5),
        sidecar:
          effect.sidecarMetrics === "refused"
            ? failed()
            : up({ ...sidecar.value, providers: new Map([["okx_ws", provider("websockets", reads)]]) }),
      },
    ],
    chain:
      effect.chain === "refused"
        ? { head: failed(), validator: failed(), prices: failed(), revenue: failed(), slashing: failed() }
        : {
            ...observation.chain,
            head: up({ chainId: "test-1", height: chainHeight, blockTimeMs: atMs - 1000 }),
            validator: up({
              size: 20,
              isInSet: isIn,
              votingPower: isIn ? 10n : 0n,
              signedLatest: effect.signs !== false,
            }),
            slashing: up({
              ...slashing.value,
              info: { ...slashing.value.info, missedBlocks: missed },
              growth,
              isJailed: effect.isJailed === true,
            }),
          },
  };
}

const { channels: _, reminders, runbooks } = notifySchema.parse({});
const OPTIONS = {
  alerts: {
    ...alertsSchema.parse({}),
    channels: [],
    maintenance: [],
    reminders,
    runbooks,
    intervalMs: POLL_MS,
  },
  intervalMs: POLL_MS,
  policy: { policy: SPECIFIED_POLICY, fromChain: false },
  isFirst: false,
};

/** Ends of alerts in the state of the watchdog, by name, and all events of one outage in the middle of a healthy month. */
function play(fault: Fault, outageMs: number) {
  const since = BigInt((START_MS - MONTH_MS) / 1000);
  const counters: Counters = {
    height: since,
    chainHeight: since,
    signed: since,
    good: since,
    bad: 0n,
    reads: 0n,
    missed: 0n,
  };
  const beginMs = START_MS + 10 * MINUTE;
  const endMs = beginMs + outageMs;
  const events: AlertEvent[] = [];
  let state: WatchdogState = EMPTY_STATE;
  for (let atMs = START_MS; atMs < endMs + 30 * MINUTE; atMs += POLL_MS) {
    const isOn = atMs >= beginMs && atMs < endMs;
    const effect = !isOn ? NOTHING : typeof fault === "function" ? fault(atMs - beginMs) : fault;
    advance(counters, effect);
    const evaluation = planEvaluation(state, observe(atMs, beginMs, counters, effect), OPTIONS);
    state = evaluation.state;
    events.push(...evaluation.events);
  }
  return { events, endMs, history: state.alerting.history };
}

const ALL = { ...SIDECAR, ...OTHERS };

/** The specification gives prices five minutes to come back. A halt of the chain costs no block. */
const MISSING_PRICES = /^(?:all-prices|major-pairs)-missing$/;

describe("an outage of one cause", () => {
  it("has every fault of the localnet's sidecar", () => {
    expect(Object.keys(SIDECAR).toSorted()).toEqual([...SIDECAR_FAULT_NAMES].toSorted());
  });

  it.each(Object.entries(ALL))(
    "%s: one page for what loses votes, within two minutes, and none after recovery",
    (_name, row) => {
      const [fault, short, long] = row;
      for (const [outageMs, page] of [
        [3 * MINUTE, short],
        [40 * MINUTE, long],
      ] as const) {
        const { events, endMs, history } = play(fault, outageMs);
        const begun = events.filter(({ kind }) => kind === "firing");
        const pages = begun.filter(({ severity }) => severity === "critical").map(({ alert }) => alert);
        expect([outageMs / MINUTE, pages]).toEqual([outageMs / MINUTE, page === undefined ? [] : [page]]);
        expect(begun.filter(({ atMs }) => atMs >= endMs)).toEqual([]);
        // Without providers, prices disappear after two minutes.
        const graceMs = MISSING_PRICES.test(page ?? "") ? (typeof fault === "function" ? 7 : 5) * MINUTE : 0;
        const limitMs = page === "chain-halted" ? Infinity : 2 * MINUTE + graceMs;
        for (const { alert, atMs } of begun.filter((one) => one.alert === page))
          expect([alert, atMs - (endMs - outageMs)]).toEqual([
            alert,
            expect.toSatisfy((ms: number) => ms <= limitMs),
          ]);
        const cause = history.find(({ alert }) => alert === page);
        for (const { alert, quietReason, resolvedAtMs = Infinity } of history)
          if (quietReason === `muted by ${page}`)
            expect([alert, resolvedAtMs <= (cause?.resolvedAtMs ?? Number.NaN)]).toEqual([alert, true]);
      }
    },
  );

  it.each([
    ["timestamp-stale", { prices: "frozen", sidecarMetrics: "frozen" }, "stale-price-timestamp"],
    ["slow", { calls: "bad", prices: "slow" }, "sidecar-too-slow"],
    ["sidecar-down again", DOWN, "sidecar-down"],
  ] as const)("%s a minute after the end of another outage pages within two minutes", (_name, next, page) => {
    const beginsMs = 4 * MINUTE;
    const { events, endMs } = play(
      (offMs) => (offMs < 3 * MINUTE ? DOWN : offMs < beginsMs ? NOTHING : next),
      8 * MINUTE,
    );
    const begun = events.filter(({ kind, severity }) => kind === "firing" && severity === "critical");
    expect(begun.map(({ alert }) => alert)).toEqual(["sidecar-down", page]);
    const [, second = expect.unreachable("no second page")] = begun;
    expect(second.atMs - (endMs - 8 * MINUTE + beginsMs)).toBeLessThanOrEqual(2 * MINUTE);
  });

  it("lasts until the node has connected to its sidecar again, and the end names all lost blocks", () => {
    const { events, endMs } = play((offMs) => (offMs < 3 * MINUTE ? DOWN : { calls: "bad" }), 270_000);
    expect(events.map(({ alert, kind }) => [alert, kind])).toEqual([
      ["sidecar-down", "firing"],
      ["sidecar-down", "resolved"],
    ]);
    expect(events[1]?.atMs).toBeGreaterThanOrEqual(endMs);
    expect(events[1]?.cost?.blocks).toBe(270n);
  });
});
