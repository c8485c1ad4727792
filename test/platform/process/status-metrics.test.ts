import { Registry } from "prom-client";
import { expect, it } from "vitest";
import {
  gaugesOf,
  oneOf,
  type Part,
  registerStatusMetrics,
  seconds,
  type StatusMetrics,
} from "../../../src/platform/process/status-metrics.ts";

interface Status {
  readonly height: bigint | undefined;
  readonly failures: number;
}

/** Returns a function that scrapes the metrics and returns the lines with values. */
function scrapesOf<S>(
  metrics: StatusMetrics<S>,
  status: () => S | undefined,
): () => Promise<readonly string[]> {
  const registry = new Registry();
  registerStatusMetrics(registry, metrics, status);
  return async () =>
    (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

it("metrics of a status are as it is when they are scraped, and absent while it is unknown", async () => {
  let status: Status | undefined;
  const samples = scrapesOf<Status>(
    {
      x_height: { help: "a", read: ({ height }) => height },
      x_failures_total: {
        help: "b",
        type: "counter",
        by: ["reason"],
        read: ({ failures }) => [["busy", failures]],
      },
    },
    () => status,
  );
  expect(await samples()).toEqual([]);
  status = { height: 7n, failures: 2 };
  // A counter does not grow by being scraped.
  for (let scrape = 0; scrape < 2; scrape++)
    expect(await samples()).toEqual(["x_height 7", 'x_failures_total{reason="busy"} 2']);
  status = { height: undefined, failures: 3 };
  expect(await samples()).toEqual(['x_failures_total{reason="busy"} 3']);
  status = undefined;
  expect(await samples()).toEqual([]);
});

it("the question of a metric is on the metric, for the section of docs/metrics.md", () => {
  const registry = new Registry();
  registerStatusMetrics(registry, { x: { help: "a", read: () => 1 } }, () => ({}), "Is it safe?");
  expect(registry.getSingleMetric("x")).toMatchObject({ help: "a", question: "Is it safe?" });
});

it("a reading is a value, or values by one label or by several, and an undefined one is absent", async () => {
  const samples = scrapesOf(
    {
      none: { help: "a", read: () => undefined },
      yes: { help: "a", read: () => true },
      no: { help: "a", read: () => false },
      zero: {
        help: "a",
        by: ["of"],
        read: () => [
          ["a", 0n],
          ["b", undefined],
          ["c", 0.5],
        ],
      },
      nested: {
        help: "a",
        by: ["x", "y"],
        read: () => [
          ["1", [["2", 3]]],
          ["4", undefined],
          ["5", []],
        ],
      },
      pairs: { help: "a", by: ["x", "y", "z"], read: () => [[["1", "2"], [["3", 4]]]] },
      state: { help: "a", by: ["state"], read: () => oneOf(["on", "off"], "off") },
      unknown: { help: "a", by: ["state"], read: () => oneOf(["on"], undefined) },
    },
    () => ({}),
  );
  expect(await samples()).toEqual([
    "yes 1",
    "no 0",
    'zero{of="a"} 0',
    'zero{of="c"} 0.5',
    'nested{x="1",y="2"} 3',
    'pairs{x="1",y="2",z="3"} 4',
    'state{state="on"} 0',
    'state{state="off"} 1',
    'unknown{state="on"} 0',
  ]);
});

it("all series of a part have its labels before their own, and a part without a reading has no series", async () => {
  interface Chain {
    readonly id: string;
    readonly blockMs: number | undefined;
    readonly peers: readonly string[];
  }
  const ofChain = gaugesOf(["room", "chain_id"], (chains: readonly Chain[]): readonly Part<Chain>[] =>
    chains.map((chain) => [["r", chain.id], chain]),
  );
  const chains = [
    { id: "a", blockMs: 1_500, peers: ["p", "q"] },
    { id: "b", blockMs: undefined, peers: [] },
  ];
  const samples = scrapesOf(
    {
      block_seconds: ofChain("a", ({ blockMs }) => seconds(blockMs)),
      peer: ofChain("a", ({ peers }) => peers.map((peer) => [peer, true]), "peer"),
    },
    () => chains,
  );
  expect(await samples()).toEqual([
    'block_seconds{room="r",chain_id="a"} 1.5',
    'peer{room="r",chain_id="a",peer="p"} 1',
    'peer{room="r",chain_id="a",peer="q"} 1',
  ]);
});

it("parts without labels are the status itself", async () => {
  const whole = gaugesOf([], (height: number) => [[[], height]]);
  const samples = scrapesOf({ height: whole("a", (height) => height) }, () => 5);
  expect(await samples()).toEqual(["height 5"]);
});
