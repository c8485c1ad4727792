import { expect, it } from "vitest";
import { CONDITIONS } from "../../src/watchdog/conditions/conditions.ts";
import { EMPTY_HISTORY } from "../../src/watchdog/conditions/poll-history.ts";
import { createPoller } from "../../src/watchdog/polling/poller.ts";
import type { Page } from "../../src/watchdog/sources/page-reader.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { healthyFrame, START_MS } from "../support/watchdog/frames.ts";
import { bodyOf } from "../support/simulated-response.ts";

it("a sidecar that takes seconds does not put the node's clock behind", async () => {
  const clock = createManualClock(1_700_000_000_000);
  let respond: (page: Page) => void = () => {};
  const poll = createPoller(
    {
      name: "default",
      nodes: [{ name: "node", node: "http://node/metrics", prices: "http://sidecar/" }],
      egress: [],
    },
    { deadlineMs: 4_000, maxPageBytes: 1_000_000 },
    {
      clock,
      reach: async (target) => ({ target }),
      read: (url) =>
        url.includes("sidecar")
          ? new Promise((resolve) => {
              respond = resolve;
            })
          : Promise.resolve({
              status: 200,
              body: bodyOf('cometbft_consensus_latest_block_height{chain_id="test-1"} 9\n'),
              clockMs: clock.nowMs(),
            }),
    },
  );
  const polled = poll({ chainId: undefined, counted: undefined }, new AbortController().signal);
  await clock.advance(3_500);
  respond({ status: 200, body: bodyOf('{"prices":{},"timestamp":"2023-11-14T22:13:20Z"}') });
  const observation = await polled;
  expect(observation.atMs).toBe(1_700_000_003_500);
  const result = CONDITIONS.find(({ name }) => name === "clock-skew")?.evaluate(
    { ...healthyFrame(START_MS), observation, history: EMPTY_HISTORY, majorPairs: [] },
    () => 2_000,
  );
  expect(result).toMatchObject({ kind: "clear" });
});

it("a node's clock counts only at the polls that read the node", async () => {
  const clock = createManualClock(1_700_000_000_000);
  let isUp = true;
  const poll = createPoller(
    { name: "default", nodes: [{ name: "node", node: "http://node/metrics" }], egress: [] },
    { deadlineMs: 4_000, maxPageBytes: 1_000_000 },
    {
      clock,
      reach: async (target) => ({ target }),
      read: async () => {
        if (!isUp) throw new Error("connection refused");
        const body = bodyOf('cometbft_consensus_latest_block_height{chain_id="test-1"} 9\n');
        return { status: 200, body, clockMs: clock.nowMs() };
      },
    },
  );
  const datesOf = async () =>
    (await poll({ chainId: undefined, counted: undefined }, new AbortController().signal)).dates;
  expect(await datesOf()).toMatchObject([{ host: "node", timeMs: 1_700_000_000_000 }]);
  isUp = false;
  await clock.advance(5_000);
  expect(await datesOf()).toEqual([]);
});
