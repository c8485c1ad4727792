import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { alertsSchema } from "../../src/watchdog/conditions/alerts-config.ts";
import { statusView } from "../../src/watchdog/polling/status-json.ts";
import { createWatchdogReports } from "../../src/watchdog/report/report-source.ts";
import type { PageReader } from "../../src/watchdog/sources/page-reader.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { createReceiver, type Rig, rigConfig, startRig } from "../support/watchdog/rig.ts";
import { createWorld } from "../support/watchdog/world.ts";

const OPERATOR = "neutronvaloper18zawa74y4xv6xg3zv0cstmfl9y38ecurgt4e70";
const START_MS = Date.UTC(2026, 9, 31, 23, 50);
/** The first block of November. */
const FIRST = 600;

/** What the simulated chain shows besides its blocks of one second. */
interface Shown {
  plan: unknown;
  /** Of ETH/USD, in thousandths of the sidecar's price. */
  factor: bigint;
  isPaid: boolean;
}

/** A world with REST and RPC of its chain, and a second sidecar whose ETH/USD is 10 % higher. */
function chainWorld(clock: ManualClock, shown: Shown): PageReader {
  const world = createWorld(clock);
  const height = (): number => Math.floor((clock.nowMs() - START_MS) / 1000);
  const time = (at: number): string => new Date(START_MS + at * 1000).toISOString();
  const responses: Readonly<Record<string, (query: URLSearchParams) => unknown>> = {
    "/cosmos/base/tendermint/v1beta1/blocks/latest": () => block(height()),
    "/slinky/oracle/v1/get_prices": (query) => ({
      prices: query.getAll("currency_pair_ids").map((pair) => ({
        price: {
          price: pair === "BTC/USD" ? "9712345000" : String((3_345_670_000n * shown.factor) / 1000n),
          block_timestamp: time(height()),
          block_height: String(height()),
        },
        decimals: pair === "BTC/USD" ? "5" : "6",
      })),
    }),
    "/cosmos/upgrade/v1beta1/current_plan": () => ({ plan: shown.plan }),
    "/neutron/revenue/params": () => REVENUE,
    "/neutron/revenue/payment_info": () => ({
      base_revenue_amount: { denom: "untrn", amount: "2500000000" },
    }),
    "/header": (query) => {
      const at = Number(query.get("height"));
      return { result: { header: { height: String(at), time: time(at) } } };
    },
    "/block_results": (query) => ({
      result: {
        finalize_block_events: shown.isPaid && query.get("height") === String(FIRST) ? [PAID] : [],
      },
    }),
    "/block_search": () => ({ result: { blocks: [] } }),
  };
  const block = (at: number) => ({
    block: {
      header: { chain_id: "test-1", height: String(at), time: time(at) },
      last_commit: { signatures: [] },
    },
  });
  const respond = (path: string, query: URLSearchParams): unknown => {
    const one = /\/blocks\/(\d+)$/.exec(path)?.[1];
    return one === undefined ? responses[path]?.(query) : block(Number(one));
  };
  return async (url, signal) => {
    const { host, port, pathname, searchParams } = new URL(url);
    if (host === "other-sidecar:8080") {
      const page = await world.read("http://127.0.0.1:8080/", signal);
      return { ...page, body: replaced(page.body, "3345670000", "3680237000") };
    }
    if (port !== "1317" && port !== "26657") return world.read(url, signal);
    const body = respond(pathname, searchParams);
    return { status: body === undefined ? 404 : 200, body: bytes(JSON.stringify(body ?? {})) };
  };
}

async function* replaced(body: AsyncIterable<Uint8Array>, from: string, to: string) {
  for await (const chunk of body)
    yield new TextEncoder().encode(new TextDecoder().decode(chunk).replace(from, to));
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

const REVENUE = {
  params: {
    reward_quote: { amount: "2500", asset: "USD" },
    blocks_performance_requirement: { allowed_to_miss: "0.005", required_at_least: "0.95" },
    oracle_votes_performance_requirement: { allowed_to_miss: "0.02", required_at_least: "0.95" },
    payment_schedule_type: { monthly_payment_schedule_type: {} },
  },
};

const PAID = {
  type: "revenue_distribution",
  attributes: Object.entries({
    validator: OPERATOR,
    revenue_amount: "2500000000untrn",
    in_active_valset_for_blocks_in_period: "600",
    committed_blocks_in_period: "600",
    committed_oracle_votes_in_period: "600",
    total_block_in_period: "600",
    effective_period_progress: "1.000000000000000000",
  }).map(([key, value]) => ({ key, value, index: true })),
};

describe("a watchdog over the end of a month", () => {
  const clock = createManualClock(START_MS);
  const shown: Shown = { plan: null, factor: 1000n, isPaid: false };
  let rig: Rig;
  beforeEach(async () => {
    const [validator = expect.unreachable()] = rigConfig().validators;
    const chain = {
      rest: "http://chain:1317",
      rpc: "http://chain:26657",
      module: "neutron",
      pairs: ["BTC/USD", "ETH/USD"],
    };
    const { target } = validator;
    const other = target.nodes.map((node) => ({
      ...node,
      prices: "http://other-sidecar:8080/connect/oracle/v2/prices",
    }));
    const config = rigConfig({
      validators: [
        { ...validator, target: { ...target, name: "alpha", operatorAddress: OPERATOR, chain } },
        { ...validator, target: { ...target, name: "beta", nodes: other } },
      ],
      alerts: alertsSchema.parse({ major_pairs: ["BTC/USD"], upgrade_planned: { lead: "1h" } }),
    });
    rig = await startRig(config, clock, { read: chainWorld(clock, shown) }, createReceiver());
  });
  afterEach(() => rig.stop());

  const status = (name: string) =>
    rig.watchdog.statuses().find(({ validator }) => validator === name) ?? expect.unreachable();
  const phaseOf = (name: string, alert: string): string | undefined =>
    status(name).alerts.find(({ rule }) => rule.condition.name === alert)?.state?.phase;

  it("shows prices, upgrade and payment in status, metrics and alerts", async () => {
    // Each sidecar is compared with the other validator's; alpha also with the chain.
    await clock.advance(400_000);
    expect(phaseOf("alpha", "prices-differ-from-chain")).toBeUndefined();
    expect([
      phaseOf("alpha", "prices-differ-from-sidecars"),
      phaseOf("beta", "prices-differ-from-sidecars"),
    ]).toEqual(["firing", undefined]);
    expect(await rig.registry.metrics()).toContain(
      'oracle_watchdog_price_deviation_ratio{validator="alpha",chain_id="test-1",node="node",pair="ETH/USD",reference="sidecars"} 0.0909',
    );
    // A plan, which is done at its height.
    shown.plan = { name: "v10", height: "900", info: "" };
    shown.factor = 900n;
    await clock.advance(10_000);
    expect(status("alpha").upgrade).toMatchObject({ plan: { name: "v10" }, remainingBlocks: 490n });
    expect([phaseOf("alpha", "upgrade-planned"), phaseOf("alpha", "upgrade-imminent")]).toEqual([
      "firing",
      "firing",
    ]);
    expect(await rig.registry.metrics()).toContain(
      'oracle_watchdog_upgrade_remaining_blocks{validator="alpha",chain_id="test-1",upgrade="v10"} 490',
    );
    // The month ends at block 600, and the payment is not there yet.
    await clock.advance(300_000);
    expect(phaseOf("alpha", "prices-differ-from-chain")).toBe("firing");
    expect(status("alpha").payments).toMatchObject([{ month: "2026-10", outcome: "missing" }]);
    expect(phaseOf("alpha", "payment-missing")).toBeUndefined();
    shown.isPaid = true;
    shown.plan = null;
    shown.factor = 1000n;
    await clock.advance(300_000);
    // Cancelled before its height.
    expect(status("alpha").upgrade).toBeUndefined();
    expect(statusView.json(status("alpha"))["payments"]).toMatchObject([
      {
        month: "2026-10",
        state: "equal",
        height: "600",
        time: "2026-11-01T00:00:00.000Z",
        tx_hash: null,
        amount: { amount: "2500000000", denom: "untrn" },
        expected_amount: "2500000000",
      },
    ]);
    expect(await rig.registry.metrics()).toContain(
      'oracle_watchdog_payment_state{validator="alpha",chain_id="test-1",state="equal"} 1',
    );
    expect(status("beta").payments).toBeUndefined();
    const reports = createWatchdogReports(() => rig.watchdog, undefined, clock.nowMs);
    const reported = reports.validators().find(({ ledger }) => ledger.validator === "alpha")?.chain;
    expect(reported?.payments).toMatchObject([{ month: "2026-10", outcome: "paid" }]);
    expect(reported?.compared.comparisons.length).toBeGreaterThan(0);
    reports.close();
    const page = await (await fetch(`${rig.url}/validators/alpha/chain`)).text();
    expect(page).toContain("The chain paid 2,500,000,000 untrn for 2026-10");
    expect(page).toContain("Prices compared");
  });
});
