import type { Clock } from "../../../../src/platform/base/clock.ts";
import type { Page, PageReader } from "../../../../src/watchdog/sources/page-reader.ts";
import type { ValidatorConfig } from "../../../../src/watchdog/policy/policy-config.ts";
import { SPECIFIED_POLICY } from "../../../../src/watchdog/policy/assessment.ts";
import { FIRST_HEIGHT, type MonthPlan, type NodePlan, type Period } from "./plan.ts";
import { CONNECTION_REFUSED, bodyOf } from "../../simulated-response.ts";

/** The validators of a plan, as a configuration names them. */
export function monthValidators(plan: MonthPlan): readonly ValidatorConfig[] {
  return plan.validators.map(({ name, nodes }) => ({
    target: {
      name,
      nodes: nodes.map((node) => ({
        name: node.name,
        node: `http://${name}.${node.name}:26660/metrics`,
        prices: `http://${name}.${node.name}:8080/`,
      })),
      chain: { rest: "http://chain:1317", module: "neutron", pairs: [] },
      egress: [],
    },
    policy: { policy: SPECIFIED_POLICY, fromChain: false },
  }));
}

/** Serves the pages of all nodes and of the chain at the clock's time. */
export function createMonthWorld(plan: MonthPlan, clock: Pick<Clock, "nowMs">): PageReader {
  const nodes = new Map(
    plan.validators.flatMap(({ name, nodes: own }) =>
      own.map((node): readonly [string, NodePlan] => [`${name}.${node.name}`, node]),
    ),
  );
  return async (url) => {
    const { hostname, port, pathname } = new URL(url);
    const nowMs = clock.nowMs();
    if (port === "1317") return chainPage(plan, pathname, nowMs);
    const node = nodes.get(hostname);
    if (node === undefined || isWithin(node.unreachable, nowMs)) throw CONNECTION_REFUSED;
    if (port === "8080") return page(pricesText(nowMs));
    if (isWithin(node.restarts, nowMs)) throw CONNECTION_REFUSED;
    return page(nodeText(plan, node, nowMs));
  };
}

/** The node's page. Its counters begin with its present process. */
function nodeText(plan: MonthPlan, { badBefore, restarts }: NodePlan, nowMs: number): string {
  const count = plan.blocksAt(nowMs);
  const startMs = restarts.reduce((latest, { toMs }) => (toMs <= nowMs ? toMs : latest), plan.startMs);
  const before = startMs === plan.startMs ? 0 : plan.blocksAt(startMs);
  const bad = (badBefore[count] ?? 0) - (badBefore[before] ?? 0);
  const good = count - before - bad;
  const label = 'chain_id="month-1"';
  return [
    ...(good === 0 ? [] : [`app_oracle_responses{${label},status="Success"} ${goFloat(good)}`]),
    ...(bad === 0 ? [] : [`app_oracle_responses{${label},status="Failure"} ${goFloat(bad)}`]),
    `cometbft_consensus_latest_block_height{${label}} ${goFloat(FIRST_HEIGHT + count - 1)}`,
    `process_start_time_seconds ${startMs / 1000}`,
    "",
  ].join("\n");
}

/** Go prints numbers from 1e6 on in exponent form. */
function goFloat(value: number): string {
  return value >= 1e6 ? value.toExponential() : String(value);
}

function pricesText(nowMs: number): string {
  const prices = { "BTC/USD": "9712345000", "ETH/USD": "3345670000", "NTRN/USD": "412345000" };
  return JSON.stringify({ prices, timestamp: new Date(nowMs).toISOString(), version: "v1.2.2" });
}

function chainPage(plan: MonthPlan, path: string, nowMs: number): Page {
  if (path === "/neutron/revenue/params") return page(paramsText(nowMs >= plan.paramsChangeMs));
  const name = /\/blocks\/(latest|\d+)$/.exec(path)?.[1];
  if (name === undefined) return { status: 404, body: bodyOf("Not Found") };
  const index = name === "latest" ? plan.blocksAt(nowMs) - 1 : Number(name) - FIRST_HEIGHT;
  const header = {
    chain_id: "month-1",
    height: String(FIRST_HEIGHT + index),
    time: new Date(plan.timeOf(index)).toISOString(),
  };
  return page(JSON.stringify({ block: { header, last_commit: { signatures: [] } } }));
}

function paramsText(isChanged: boolean): string {
  const requirement = (allowed: string, least: string) => ({
    allowed_to_miss: allowed,
    required_at_least: least,
  });
  return JSON.stringify({
    params: {
      reward_quote: { amount: isChanged ? "3000" : "2500", asset: "USD" },
      blocks_performance_requirement: requirement("0.005000000000000000", "0.950000000000000000"),
      oracle_votes_performance_requirement: requirement("0.020000000000000000", "0.950000000000000000"),
      payment_schedule_type: { monthly_payment_schedule_type: {} },
    },
  });
}

function isWithin(periods: readonly Period[], nowMs: number): boolean {
  return periods.some(({ fromMs, toMs }) => nowMs >= fromMs && nowMs < toMs);
}

function page(text: string): Page {
  return { status: 200, body: bodyOf(text) };
}
