import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createChainReader } from "../../src/watchdog/sources/chain-reader.ts";
import { createScrape, type PageReader } from "../../src/watchdog/sources/page-reader.ts";
import { openSqliteState } from "../../src/watchdog/state/sqlite-state.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { createReceiver, type Rig, rigConfig, startRig } from "../support/watchdog/rig.ts";
import { createWorld, type World } from "../support/watchdog/world.ts";
import { bodyOf } from "../support/simulated-response.ts";

const NOON = Date.UTC(2026, 10, 21, 12);

let clock: ManualClock;
let world: World;
let folder: string;
let rig: Rig;
/** Page of the node; undefined: the page of the world. */
let nodePage: string | undefined;

beforeEach(async () => {
  clock = createManualClock(NOON);
  world = createWorld(clock);
  folder = mkdtempSync(join(tmpdir(), "relaywatch-values-"));
  nodePage = undefined;
  const read: PageReader = async (url, signal) => {
    const page = await world.read(url, signal);
    return nodePage !== undefined && new URL(url).port === "26660"
      ? { status: 200, body: bodyOf(`${nodePage}\n`) }
      : page;
  };
  rig = await startRig(rigConfig({ stateDir: folder }), clock, { ...world, read }, createReceiver());
  await clock.advance(20_000);
});

afterEach(async () => {
  await rig.stop();
  rmSync(folder, { recursive: true });
});

const CHAIN = 'chain_id="test-1"';
const SUCCESS = `app_oracle_responses{${CHAIN},status="Success"}`;
const HEIGHT = `cometbft_consensus_latest_block_height{${CHAIN}}`;
const START = "process_start_time_seconds";
const GOOD = [`${SUCCESS} 25`, `${HEIGHT} 25`, `${START} ${NOON / 1000}`];

function nodeSource() {
  return rig.watchdog.status().sources.find(({ name }) => name === "node");
}

const storedGood = (): bigint | undefined => {
  const store = openSqliteState(folder);
  const good = store.load().ledgers.get("default")?.sources.calls.rollups.months.get("2026-11")?.counts.good;
  store.close();
  return good;
};

describe("a node's page with a bad value", () => {
  it.each([
    ["a count that no chain reaches", `${SUCCESS} 1e308`, "app_oracle_responses"],
    ["a count above 64 bits", `${SUCCESS} 1e20`, "app_oracle_responses"],
    ["a negative count", `${SUCCESS} -1`, "app_oracle_responses"],
    ["a count with a fraction", `${SUCCESS} 1.5`, "app_oracle_responses"],
    ["a count that is no number", `${SUCCESS} NaN`, "app_oracle_responses"],
    ["a height that no chain reaches", `${HEIGHT} 1e20`, "consensus_latest_block_height"],
    ["a height that is no number", `${HEIGHT} NaN`, "consensus_latest_block_height"],
    [
      "counts whose sum is above 64 bits",
      Array.from(
        { length: 1_100 },
        (_, index) => `app_oracle_responses{${CHAIN},status="Success",n="${index}"} 9007199254740991`,
      ).join("\n"),
      "app_oracle_responses",
    ],
    ["the same series twice", `${SUCCESS} 25\n${SUCCESS} 25`, "duplicate series app_oracle_responses"],
    [
      "the same series with its labels in another order",
      `${SUCCESS} 25\napp_oracle_responses{status="Success",${CHAIN}} 25`,
      "duplicate series app_oracle_responses",
    ],
  ])("is an error of the node: %s", async (_case, line, error) => {
    const name = line.split(/[ {]/)[0] ?? "";
    nodePage = [...GOOD.filter((good) => !good.startsWith(name)), line].join("\n");
    await clock.advance(5_000);
    expect(nodeSource()).toMatchObject({ up: false, error: expect.stringContaining(error) });
    expect(rig.watchdog.status().current.counts).toEqual({ good: 20n, bad: 0n, unknown: 0n });
    expect(rig.log.join("\n")).not.toContain("state not stored");
    // Later pages are counted and stored again.
    nodePage = GOOD.join("\n");
    await clock.advance(5_000);
    expect(nodeSource()).toMatchObject({ up: true });
    expect(await rig.stop()).toBeUndefined();
    expect(storedGood()).toBe(25n);
  });
});

describe("a node's page without metrics of the oracle", () => {
  it("is cannot see, and neither a counter that fell nor votes that are missing", async () => {
    const power = `cometbft_consensus_validator_power{${CHAIN},validator_address="AB"} 10`;
    for (let blocks = 26; blocks < 200; blocks++) {
      nodePage = [`${HEIGHT} ${blocks}`, `${START} ${NOON / 1000}`, power].join("\n");
      await clock.advance(5_000);
    }
    expect(nodeSource()).toMatchObject({
      up: false,
      error: expect.stringMatching(
        /neither app_oracle_responses .* metrics_enabled in the node's app\.toml, .* collector/,
      ),
    });
    const states = new Map(
      rig.watchdog
        .status()
        .alerts.map(({ rule, state }) => [rule.condition.name, state?.phase ?? "inactive"]),
    );
    expect(states.get("cannot-see-votes")).toBe("firing");
    for (const name of ["node-not-voting", "node-halted", "chain-halted"])
      expect([name, states.get(name)]).toEqual([name, "inactive"]);
    expect(rig.watchdog.status().current.counts).toEqual({ good: 20n, bad: 0n, unknown: 0n });
    // The same process again, with its counter: what it counted in the meantime.
    nodePage = [`${SUCCESS} 200`, `${HEIGHT} 200`, `${START} ${NOON / 1000}`, power].join("\n");
    await clock.advance(5_000);
    expect(rig.watchdog.status().current.counts).toEqual({ good: 200n, bad: 0n, unknown: 0n });
  });
});

describe("a chain id that is none", () => {
  it.each([
    ["a control character", "test\\n1"],
    ["17,000 letters", "a".repeat(17_000)],
    ["a space", "test 1"],
    ["no character", ""],
  ])("is an error of the node, and never part of a log or a notification: %s", async (_case, chain) => {
    nodePage = GOOD.join("\n").replaceAll("test-1", chain);
    await clock.advance(5_000);
    const { error } = nodeSource() ?? {};
    expect(error).toMatch(/^the chain id is ".{0,25}"( and 16980 more)?, expected 1 to 50 visible ASCII/);
    expect(error?.length).toBeLessThan(120);
    expect(rig.watchdog.status().current.counts).toEqual({ good: 20n, bad: 0n, unknown: 0n });
  });

  it("is an error of the chain's REST too", async () => {
    const block = {
      header: { chain_id: "test\n1", height: "5", time: "2026-11-21T12:00:00Z" },
      last_commit: {},
    };
    const read = createChainReader(
      { name: "v", nodes: [], egress: [], chain: { rest: "http://chain", module: "neutron", pairs: [] } },
      async () => ({ status: 200, body: bodyOf(JSON.stringify({ block })) }),
      createScrape(1000, clock),
      clock,
    );
    const { head } = await read(undefined, new AbortController().signal);
    expect(head).toMatchObject({ state: "error", failure: { code: "bad-value" } });
  });
});

describe("a start time that is none", () => {
  it.each(["-1e15", "0", "259200", "1e20", "+Inf", "NaN"])("is not used: %s", async (start) => {
    nodePage = [`${SUCCESS} 25`, `${HEIGHT} 25`, `${START} ${start}`].join("\n");
    await clock.advance(5_000);
    expect(nodeSource()).toMatchObject({ up: true });
    expect(rig.watchdog.status().current.counts).toEqual({ good: 25n, bad: 0n, unknown: 0n });
    expect(rig.watchdog.status().months).toHaveLength(1);
  });
});

describe("two nodes behind one URL", () => {
  it("are an error of the node, and neither is counted", async () => {
    const other = [`${SUCCESS} 900`, `${HEIGHT} 26`, `${START} ${NOON / 1000 - 3_600}`].join("\n");
    for (let turn = 0; turn < 10; turn++) {
      nodePage = turn % 2 === 0 ? other : undefined;
      await clock.advance(5_000);
    }
    expect(nodeSource()).toMatchObject({
      up: false,
      error: expect.stringMatching(/between two nodes, .*sources\.node/),
    });
    expect(rig.watchdog.status().current.counts).toEqual({ good: 20n, bad: 0n, unknown: 0n });
    expect(
      rig.log.filter((line) => line.includes("source scrape failed") && line.includes("two nodes")),
    ).toHaveLength(1);
    nodePage = undefined;
    await clock.advance(6 * 60_000);
    expect(nodeSource()).toMatchObject({ up: true });
    // 430 s after the start: the node's own counter says so.
    expect(rig.watchdog.status().current.counts).toEqual({ good: 430n, bad: 0n, unknown: 0n });
  });
});
