import { describe, expect, it } from "vitest";
import { parseDec18 } from "../../../src/platform/base/decimal.ts";
import { compensation, createPaymentReader } from "../../../src/watchdog/payment/payment-reader.ts";
import { paymentState, paymentText } from "../../../src/watchdog/policy/payment-texts.ts";
import type { ClosedMonth } from "../../../src/watchdog/polling/closed-month.ts";
import { chainPolicy, SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import type { Payment } from "../../../src/watchdog/sources/payment-result.ts";
import type { RevenueReading, Seen } from "../../../src/watchdog/sources/observation.ts";
import { createScrape, type PageReader } from "../../../src/watchdog/sources/page-reader.ts";
import { responseField } from "../../../src/watchdog/sources/chain-rest.ts";
import { toRevenueParams } from "../../../src/watchdog/sources/revenue-reading.ts";
import { createManualClock } from "../../support/manual-clock.ts";

const OPERATOR = "neutronvaloper18zawa74y4xv6xg3zv0cstmfl9y38ecurgt4e70";
const ACCOUNT = "neutron18zawa74y4xv6xg3zv0cstmfl9y38ecurjkvqct";
const TREASURY = "neutron1k5d2e2572uf85wa6ek0yv24ezw26z6n5rnfkad";

/** The mainnet's parameters since its version 6: votes 0.02/0.95, blocks 0.005/0.95, by months. */
const PARAMS = {
  params: {
    reward_asset: "untrn",
    reward_quote: { amount: "2500", asset: "USD" },
    blocks_performance_requirement: {
      allowed_to_miss: "0.005000000000000000",
      required_at_least: "0.950000000000000000",
    },
    oracle_votes_performance_requirement: {
      allowed_to_miss: "0.020000000000000000",
      required_at_least: "0.950000000000000000",
    },
    payment_schedule_type: { monthly_payment_schedule_type: {} },
    twap_window: "604800",
  },
};
const params = toRevenueParams(responseField(JSON.stringify(PARAMS)));
const REVENUE: RevenueReading = { params };

const MONTH_END_MS = Date.UTC(2026, 10, 1);
/** The first block of November: half a second after midnight. */
const FIRST = 2_678_401n;
/** Blocks of one second, and a halt of an hour before block 2,000,000. */
const timeOf = (height: bigint): number =>
  MONTH_END_MS + 500 + Number(height - FIRST) * 1000 - (height < 2_000_000n ? 3_600_000 : 0);

interface Event {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string; readonly index: boolean }[];
}

function event(type: string, attributes: Readonly<Record<string, string>>): Event {
  const list = Object.entries(attributes).map(([key, value]) => ({ key, value, index: true }));
  return { type, attributes: list };
}

function paid(amount: string, votes: string, validator = OPERATOR): Event {
  return event("revenue_distribution", {
    validator,
    revenue_amount: amount,
    performance_rating: "1.000000000000000000",
    in_active_valset_for_blocks_in_period: "2678400",
    committed_blocks_in_period: "2678400",
    committed_oracle_votes_in_period: votes,
    total_block_in_period: "2678400",
    effective_period_progress: "1.000000000000000000",
  });
}

/** A chain, as CometBFT and the SDK answer. */
interface Chain {
  readonly events?: Readonly<Record<string, readonly Event[]>>;
  /** Heights that `block_search` finds; undefined: the node has no index. */
  readonly indexed?: readonly string[];
  readonly txs?: readonly unknown[];
  /** The state of past blocks is pruned. */
  readonly isPruned?: boolean;
  readonly noHeaders?: boolean;
  /** Numbers of the reads of headers that fail. */
  readonly failingReads?: readonly number[];
}

function world(chain: Chain) {
  const calls: string[] = [];
  let headers = 0;
  const rpc = (result: unknown) => json(200, { jsonrpc: "2.0", id: -1, result });
  const read: PageReader = async (url, _signal, sent = {}) => {
    const { pathname, searchParams, port } = new URL(url);
    const height = searchParams.get("height");
    const at = sent["x-cosmos-block-height"];
    calls.push(
      `${port}${pathname}${height === null ? "" : ` ${height}`}${at === undefined ? "" : ` at ${at}`}`,
    );
    switch (pathname) {
      case "/header":
        headers++;
        if (chain.noHeaders === true || chain.failingReads?.includes(headers) === true)
          return json(500, {
            error: {
              code: -32603,
              message: "Internal error",
              data: "height 1 is not available, lowest height is 2",
            },
          });
        return rpc({
          header: { height, time: new Date(timeOf(BigInt(height ?? 0))).toISOString() },
        });
      case "/block_results":
        return rpc({ height, txs_results: null, finalize_block_events: chain.events?.[height ?? ""] ?? [] });
      case "/block_search":
        return chain.indexed === undefined
          ? json(500, {
              jsonrpc: "2.0",
              id: -1,
              error: { code: -32603, message: "Internal error", data: "block indexing is disabled" },
            })
          : rpc({
              blocks: chain.indexed.map((one) => ({ block: { header: { height: one } } })),
              total_count: "1",
            });
      case "/tx_search":
        return rpc({ txs: chain.txs ?? [], total_count: "1" });
      case "/neutron/revenue/params":
        return chain.isPruned === true ? json(500, { code: 2, message: "pruned" }) : json(200, PARAMS);
      case "/neutron/revenue/payment_info":
        return json(200, { base_revenue_amount: { denom: "untrn", amount: "2500000000" } });
      case "/cosmos/bank/v1beta1/denoms_metadata/untrn":
        return json(200, {
          metadata: {
            base: "untrn",
            display: "ntrn",
            symbol: "NTRN",
            denom_units: [
              { denom: "untrn", exponent: 0, aliases: [] },
              { denom: "ntrn", exponent: 6, aliases: ["NTRN"] },
            ],
          },
        });
      default:
        return json(404, {});
    }
  };
  return { read, calls };
}

function json(status: number, body: unknown) {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode(JSON.stringify(body));
  }
  return { status, body: bytes() };
}

const CLOSED: ClosedMonth = {
  month: "2026-10",
  counts: { good: 2_678_000n, bad: 400n, unknown: 0n },
  payCents: 300_000n,
  fullCents: 300_000n,
};

interface SearchOptions {
  readonly chain: Chain;
  readonly closed?: Partial<ClosedMonth>;
  readonly payment?: { readonly payer?: string; readonly full?: string };
  /** Null: the chain has no revenue module. */
  readonly revenue?: RevenueReading | null;
  readonly polls?: number;
  /** Chain's time after the end of the month of the first poll. */
  readonly afterMs?: number;
  readonly pollMs?: number;
}

/** Polls until the search gave a payment, or so many times. */
async function search(options: SearchOptions) {
  const {
    chain,
    closed = {},
    payment,
    revenue = REVENUE,
    polls = 4,
    afterMs = 60_000,
    pollMs = 5000,
  } = options;
  const { read, calls } = world(chain);
  const target = {
    name: "v",
    nodes: [],
    egress: [],
    operatorAddress: OPERATOR,
    chain: {
      rest: "http://chain:1317",
      rpc: "http://chain:26657",
      module: "neutron",
      pairs: [],
      ...(payment === undefined ? {} : { payment }),
    },
  };
  const reader = createPaymentReader(target, read, createScrape(1000, createManualClock(0)));
  const seen: Seen<Payment>[] = [];
  for (let poll = 0; poll < polls; poll++) {
    const timeMs = MONTH_END_MS + afterMs + poll * pollMs;
    const height = FIRST + BigInt(Math.floor((timeMs - MONTH_END_MS) / 1000));
    const result = await reader?.(
      {
        head: { height, timeMs },
        closed: { ...CLOSED, ...closed },
        revenue: revenue ?? undefined,
        nowMs: timeMs,
      },
      new AbortController().signal,
    );
    if (result === undefined) throw new Error("nothing is searched");
    seen.push(result);
    if (result.state === "up") break;
  }
  const last = seen.at(-1);
  return { seen, calls, payment: last?.state === "up" ? last.value : undefined };
}

describe("the payment of the revenue module", () => {
  const others = paid("2500000000untrn", "2678400", "neutronvaloper1other");

  it("is found in the first block after the month, and is the expected amount", async () => {
    const chain = { events: { [`${FIRST}`]: [others, paid("2500000000untrn", "2678000")] } };
    const { payment, calls } = await search({ chain });
    expect(payment).toEqual({
      month: "2026-10",
      outcome: "paid",
      searchedMs: expect.any(Number),
      height: FIRST,
      timeMs: MONTH_END_MS + 500,
      amount: { amount: 2_500_000_000n, denom: "untrn" },
      display: { name: "NTRN", exponent: 6 },
      counts: { blocks: 2_678_400n, votes: 2_678_000n, inActiveSet: 2_678_400n, totalBlocks: 2_678_400n },
      expected: 2_500_000_000n,
      byChain: 2_500_000_000n,
    });
    expect(payment && paymentState(payment)).toBe("equal");
    expect(payment && paymentText(payment)).toBe(
      "The chain paid 2,500 NTRN (2,500,000,000 untrn) for 2026-10: see block 2,678,401's own events, 2026-11-01 00:00:00 UTC. That is the expected amount.",
    );
    // The terms are those after the block of the payment, not those of now.
    expect(calls).toContain(`1317/neutron/revenue/payment_info at ${FIRST}`);
    expect(calls).toContain(`1317/neutron/revenue/params at ${FIRST}`);
  });

  it("differs when the chain counted other votes, and says by how much and why", async () => {
    // 3 % missed by the chain's count, and 2.5 % by the watchdog's.
    const votes = "2598048";
    const byChain = compensation(
      {
        params,
        base: 2_500_000_000n,
        progress: parseDec18("1"),
        inActiveSet: 2_678_400n,
        totalBlocks: 2_678_400n,
      },
      { good: 2_598_048n, total: 2_678_400n },
      { good: 1n, total: 1n },
    );
    const chain = { events: { [`${FIRST}`]: [paid(`${byChain}untrn`, votes)] } };
    const closed = { counts: { good: 2_611_440n, bad: 66_960n, unknown: 0n } };
    const { payment } = await search({ chain, closed });
    expect(payment).toMatchObject({ byChain, expected: 2_465_277_777n, amount: { amount: 2_361_111_111n } });
    expect(payment && paymentState(payment)).toBe("differs");
    expect(payment && paymentText(payment)).toContain(
      "That is 104.166666 NTRN (104,166,666 untrn) less than 2,465.277777 NTRN (2,465,277,777 untrn), which the watchdog expected from its own count. The chain counted 2,598,048 votes and 2,678,400 signed blocks of 2,678,400. By its own counts, the amount is right.",
    );
  });

  it("is not compared when the terms at its block cannot be read", async () => {
    const chain = { isPruned: true, events: { [`${FIRST}`]: [paid("2500000000untrn", "2678000")] } };
    const { payment } = await search({ chain });
    expect(payment).toMatchObject({
      outcome: "paid",
      note: expect.stringMatching(/cannot be read: .*HTTP 500/),
    });
    expect(payment && paymentState(payment)).toBe("not-compared");
    expect(payment && paymentText(payment)).toMatch(
      /^The chain paid 2,500 NTRN \(2,500,000,000 untrn\) for 2026-10: see .* UTC\. It is not compared with an expected amount\. .*cannot be read: /,
    );
  });

  it("failed, or nobody was paid", async () => {
    const failure = event("revenue_distribution_error", {
      validator: OPERATOR,
      revenue_amount: "2500000000untrn",
      payment_failure: "spendable balance 0untrn is smaller than 2500000000untrn: insufficient funds",
    });
    const failed = await search({ chain: { events: { [`${FIRST}`]: [failure] } } });
    expect(failed.payment && paymentText(failed.payment)).toBe(
      "The chain could not pay 2,500 NTRN (2,500,000,000 untrn) for 2026-10: see block 2,678,401's own events, 2026-11-01 00:00:00 UTC. Spendable balance 0untrn is smaller than 2500000000untrn: insufficient funds.",
    );
    const none = event("revenue_distribution_none", {
      revenue_amount: "0",
      effective_period_progress: "0.0",
    });
    const due = await search({ chain: { events: { [`${FIRST}`]: [none] } } });
    expect(due.payment && paymentText(due.payment)).toBe(
      "The chain paid nobody for 2026-10: see block 2,678,401's own events, 2026-11-01 00:00:00 UTC.",
    );
  });

  it("is found in a later block by the index, and is missing when no block has it", async () => {
    const later = FIRST + 20n;
    const chain = { indexed: [`${later}`], events: { [`${later}`]: [paid("2500000000untrn", "2678000")] } };
    expect((await search({ chain })).payment).toMatchObject({ outcome: "paid", height: later });
    const nothing = await search({ chain: { indexed: [], events: { [`${FIRST}`]: [others] } } });
    expect(nothing.payment).toMatchObject({ outcome: "missing", height: FIRST + 60n });
    expect(nothing.payment).not.toHaveProperty("note");
    expect(nothing.payment && paymentText(nothing.payment)).toMatch(
      /^The payment for 2026-10 is missing: it is not in the blocks up to 2,678,461 \(2026-11-01 \S+ UTC\)\.$/,
    );
    const noIndex = await search({ chain: { events: {} } });
    expect(noIndex.payment?.note).toBe(
      "only the next month's first block, 2678401, was searched: chain.rpc answered: Internal error block indexing is disabled",
    );
  });

  it("is searched again after a wait that grows, and not any more when it was found", async () => {
    const missing: Payment = { month: "2026-10", outcome: "missing", searchedMs: 0, height: 1n, timeMs: 0 };
    // A search gives a result every time, so the polls after the first one are in the waits.
    const { read, calls } = world({ indexed: [], events: {} });
    const target = {
      name: "v",
      nodes: [],
      egress: [],
      operatorAddress: OPERATOR,
      chain: { rest: "http://chain:1317", rpc: "http://chain:26657", module: "neutron", pairs: [] },
    };
    const reader = createPaymentReader(target, read, createScrape(1000, createManualClock(0)));
    const searched: number[] = [];
    for (let second = 60; second < 7200; second += 5) {
      const timeMs = MONTH_END_MS + second * 1000;
      const head = { height: FIRST + BigInt(second), timeMs };
      const before = calls.length;
      await reader?.(
        { head, closed: { ...CLOSED, payment: missing }, revenue: REVENUE, nowMs: timeMs },
        new AbortController().signal,
      );
      if (calls.length > before) searched.push(second);
    }
    const waits = searched.slice(1).map((at, index) => at - (searched[index] ?? 0));
    expect(waits.length).toBeGreaterThan(4);
    expect(waits.every((wait, index) => index === 0 || wait > 1.8 * (waits[index - 1] ?? 0))).toBe(true);
    const found = await search({ chain: {}, closed: { payment: { ...missing, outcome: "paid" } } });
    expect(found.calls).toEqual([]);
  });

  it("is not searched before the month is closed, or when the chain does not pay by months", async () => {
    const blocks = { ...params, schedule: "block-based" } as const;
    expect((await search({ chain: {}, revenue: { params: blocks } })).calls).toEqual([]);
    expect((await search({ chain: {}, revenue: null })).calls).toEqual([]);
  });

  it("cannot be seen while the blocks of the month's first day are pruned", async () => {
    const { seen, payment } = await search({ chain: { noHeaders: true } });
    expect(payment).toBeUndefined();
    // The failure stays while the search waits.
    expect(seen).toHaveLength(4);
    expect(seen.map((one) => one.state === "error" && one.isRepeated === true)).toEqual([
      false,
      true,
      true,
      true,
    ]);
    for (const one of seen)
      expect(one).toMatchObject({
        state: "error",
        failure: { text: expect.stringMatching(/lowest height is 2/) },
      });
  });

  it("reads few blocks, some in each poll, also when the search begins weeks later", async () => {
    const chain = { events: { [`${FIRST}`]: [paid("2500000000untrn", "2678000")] } };
    const { payment, calls, seen } = await search({ chain, afterMs: 20 * 86_400_000 + 777_000, polls: 10 });
    expect(payment?.height).toBe(FIRST);
    const headers = calls.filter((call) => call.includes("/header"));
    expect(headers.length).toBeLessThanOrEqual(6);
    expect(seen.length).toBeLessThanOrEqual(4);
  });

  it("goes on where it was when a read fails", async () => {
    const chain = {
      failingReads: [2],
      events: { [`${FIRST}`]: [paid("2500000000untrn", "2678000")] },
    };
    const { payment, calls, seen } = await search({
      chain,
      afterMs: 20 * 86_400_000 + 777_000,
      pollMs: 120_000,
      polls: 6,
    });
    expect(seen[0]?.state).toBe("error");
    expect(payment?.height).toBe(FIRST);
    const heights = calls.filter((call) => call.includes("/header"));
    // Only the read that failed is repeated.
    expect(heights.length - new Set(heights).size).toBe(1);
  });

  it("refuses an event that is not the module's", async () => {
    const broken = event("revenue_distribution", { validator: OPERATOR, revenue_amount: "much" });
    const { seen } = await search({ chain: { events: { [`${FIRST}`]: [broken] } }, polls: 1 });
    expect(seen).toMatchObject([
      {
        state: "error",
        failure: {
          code: "not-a-chain",
          text: "attribute revenue_amount of the event revenue_distribution is not an amount with its denomination",
        },
      },
    ]);
  });
});

describe("a payment by transaction", () => {
  const hash = "AC989A153BF7216D3AEA3DFC3E36EB55C4AA4F9FD61C425E95BD1312A713EB99";
  const transfer = (sender: string, amount: string) =>
    event("transfer", { recipient: ACCOUNT, sender, amount });
  const tx = (code: number, events: readonly Event[]) => ({
    hash,
    height: `${FIRST + 30n}`,
    tx_result: { code, events },
  });

  it("is found with its hash, and compared with what the month earned", async () => {
    const txs = [tx(5, [transfer(TREASURY, "9untrn")]), tx(0, [transfer(TREASURY, "1250000000untrn")])];
    const { payment } = await search({
      chain: { txs },
      revenue: null,
      payment: { payer: TREASURY, full: "2500000000untrn" },
      closed: { payCents: 150_000n },
    });
    expect(payment).toMatchObject({
      outcome: "paid",
      txHash: hash,
      height: FIRST + 30n,
      expected: 1_250_000_000n,
      amount: { amount: 1_250_000_000n, denom: "untrn" },
    });
    expect(payment && paymentText(payment)).toContain(`transaction ${hash} in block 2,678,431`);
  });

  it("is missing without one of the payer's", async () => {
    const { payment } = await search({
      chain: { txs: [tx(0, [transfer(ACCOUNT, "1untrn")])] },
      payment: { payer: TREASURY },
    });
    expect(payment?.outcome).toBe("missing");
  });

  it("is refused at a height that no block can have, which could not be stored", async () => {
    const paidAt = (height: string) => ({ ...tx(0, [transfer(TREASURY, "1untrn")]), height });
    const { seen } = await search({ chain: { txs: [paidAt("-5")] }, payment: { payer: TREASURY }, polls: 1 });
    expect(seen).toMatchObject([
      {
        state: "error",
        failure: { code: "not-a-chain", text: expect.stringMatching(/height is not a block height$/) },
      },
    ]);
  });
});

describe("the formula of the revenue module", () => {
  // The module's own examples: test vectors of x/revenue v9.1.3.
  it.each([
    { signed: 1000n, votes: 1000n, total: 1000n, progress: "1", amount: 2_500_000_000n },
    { signed: 0n, votes: 0n, total: 1000n, progress: "1", amount: 0n },
    { signed: 500n, votes: 500n, total: 500n, progress: "0.5", amount: 1_250_000_000n },
  ])(
    "pays $signed signed blocks and $votes votes of $total at progress $progress with $amount",
    ({ signed, votes, total, progress, amount }) => {
      const terms = {
        params,
        base: 2_500_000_000n,
        progress: parseDec18(progress),
        inActiveSet: total,
        totalBlocks: total,
      };
      expect(compensation(terms, { good: votes, total }, { good: signed, total })).toBe(amount);
    },
  );

  it("pays in proportion to the blocks in the set, and rates as the policy does", () => {
    const terms = {
      params,
      base: 2_500_000_000n,
      progress: parseDec18("1"),
      inActiveSet: 700n,
      totalBlocks: 1000n,
    };
    const all = { good: 700n, total: 700n };
    expect(compensation(terms, all, all)).toBe(1_750_000_000n);
    // 3.5 % of the votes missed: a rating of 0.875.
    const half = { ...terms, inActiveSet: 1000n };
    expect(compensation(half, { good: 965n, total: 1000n }, all)).toBe(2_187_500_000n);
    expect(compensation(half, { good: 949n, total: 1000n }, all)).toBe(0n);
    expect(compensation({ ...half, totalBlocks: 0n }, all, all)).toBe(0n);
    expect(chainPolicy(params, SPECIFIED_POLICY).curve).toBe("revenue-quadratic");
  });
});
