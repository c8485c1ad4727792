import { describe, expect, it } from "vitest";
import { createPoller } from "../../../src/watchdog/polling/poller.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { bodyOf } from "../../support/simulated-response.ts";

const OWN = "neutronvalcons1gpcqhylu99r9ym6t5akg4swjgj828a5gfcwdqk";

/** Counts of each validator by pair: votes with a price, and without a vote. */
type Reports = Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>>;

function pageOf(reports: Reports): string {
  const lines = Object.entries(reports).flatMap(([validator, pairs]) =>
    Object.entries(pairs).flatMap(([pair, [withPrice, absent]]) => [
      `app_report_status_per_validator{chain_id="c",status="with_price",ticker="${pair}",validator="${validator}"} ${withPrice}`,
      `app_report_status_per_validator{chain_id="c",status="absent",ticker="${pair}",validator="${validator}"} ${absent}`,
    ]),
  );
  return ['app_oracle_responses{chain_id="c",status="Success"} 5', ...lines, ""].join("\n");
}

/** Polls pages 10 s apart. */
async function polls(pages: readonly Reports[], consensusAddress?: string) {
  const clock = createManualClock(0);
  let page = "";
  const target = {
    name: "v",
    nodes: [{ name: "node", node: "http://node/" }],
    egress: [],
    ...(consensusAddress === undefined ? {} : { consensusAddress }),
  };
  const poll = createPoller(
    target,
    { deadlineMs: 1000, maxPageBytes: 1_000_000 },
    { clock, read: async () => ({ status: 200, body: bodyOf(page) }), reach: async (to) => ({ target: to }) },
  );
  const seen = [];
  for (const reports of pages) {
    page = pageOf(reports);
    const { nodes } = await poll({ chainId: "c", counted: undefined }, new AbortController().signal);
    const metrics = nodes[0]?.metrics;
    seen.push(metrics?.state === "up" ? metrics.value : undefined);
    await clock.advance(10_000);
  }
  return seen;
}

describe("the votes on a node's page", () => {
  const at = (own: readonly [number, number], other: readonly [number, number]): Reports => ({
    [OWN]: { "btc/usd": own, "doge/usd": [0, 0] },
    other: { "btc/usd": other, "doge/usd": [7, 0], "eth/usd": [9, 9] },
  });

  it("are compared from the third poll on, for the pair that the validator prices most", async () => {
    const [first, second, third] = await polls(
      [at([10, 0], [10, 0]), at([20, 0], [20, 0]), at([20, 10], [30, 0])],
      OWN,
    );
    expect([first?.votes, first?.sharedVotes]).toEqual([undefined, undefined]);
    expect(second?.votes?.pair).toBe("btc/usd");
    expect(second?.sharedVotes).toBeUndefined();
    expect(third?.sharedVotes).toEqual({ seen: 10, missed: 10, others: 1, missing: 0 });
    expect(third?.voteComparison).toMatchObject({ own: { good: 20n, total: 30n }, rank: 2, compared: 2 });
    expect([...(third?.votes?.byValidator.keys() ?? [])]).toEqual([OWN, "other"]);
    // The validator's own votes are those of its best pair, as before.
    expect(third?.reports?.get(OWN)).toEqual({ withPrice: 20n, absent: 10n, total: 30n });
  });

  it("are not read without the validator's address, and not compared on a page that lacks it", async () => {
    const pages = [at([10, 0], [10, 0]), at([20, 0], [20, 0]), at([30, 0], [30, 0])];
    expect((await polls(pages)).map((page) => page?.votes)).toEqual([undefined, undefined, undefined]);
    const others = pages.map(({ other = {} }) => ({ other }));
    expect((await polls(others, OWN)).map((page) => page?.sharedVotes)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("are those of the validator's own address on the page of a node that signs for several", async () => {
    const clock = createManualClock(0);
    const lines = [
      'app_oracle_responses{chain_id="c",status="Success"} 5',
      'cometbft_consensus_validator_power{chain_id="c",validator_address="FF"} 20',
      'cometbft_consensus_validator_power{chain_id="c",validator_address="40700B93FC2946526F4BA76C8AC1D2448EA3F688"} 3',
    ];
    const read = async (text: string) => {
      const poll = createPoller(
        { name: "v", nodes: [{ name: "node", node: "http://node/" }], egress: [], consensusAddress: OWN },
        { deadlineMs: 1000, maxPageBytes: 1_000_000 },
        {
          clock,
          read: async () => ({ status: 200, body: bodyOf(text) }),
          reach: async (to) => ({ target: to }),
        },
      );
      const { nodes } = await poll({ chainId: "c", counted: undefined }, new AbortController().signal);
      return nodes[0]?.metrics.state === "up" ? nodes[0].metrics.value.votingPower : "not read";
    };
    expect(await read(`${lines.join("\n")}\n`)).toBe(3n);
    expect(await read(`${lines.slice(0, 2).join("\n")}\n`)).toBe(20n);
  });
});
