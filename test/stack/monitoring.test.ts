import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { inhibitRules } from "../../src/cli/generate/alert-files.ts";
import { ruleFile } from "../../src/platform/monitoring/alerts/rule-files.ts";
import { ALERTS, RULE_FILES } from "../../src/cli/generate/rules.ts";
import { SHORT_TIMES } from "../../src/platform/monitoring/alerts/times.ts";
import { DASHBOARD_SPECS } from "../../src/cli/generate/dashboards.ts";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { dashboardExpressions, withoutVariables } from "../support/dashboard-queries.ts";
import { type CliProcess, openCliHome } from "../support/e2e/cli-process.ts";
import { type AlertFeed, placeOf, startAlertFeed } from "../support/stack/alert-feed.ts";
import { type AlertmanagerServer, startAlertmanager } from "../support/stack/alertmanager-server.ts";
import { leasePort } from "../support/port-lease.ts";
import { programPath } from "../support/stack/programs.ts";
import { type PrometheusServer, startPrometheus } from "../support/stack/prometheus-server.ts";
import { readAlerts, type Shown, untilNone } from "../support/stack/shown-alerts.ts";
import { labelText, startReceiver, type Receiver } from "../support/stack/webhook-receiver.ts";

const home = await openCliHome();
const ports = portsAt(home.portOffset);
const FED = ALERTS.filter(({ example }) => example !== undefined && example.onlyPromtool === undefined);

/**
 * The alerts that nothing mutes. A name that both the watchdog and the raw metrics have stands for two situations at one place, and the
 * raw one makes further alerts fire there. Alertmanager says nothing of the end of an alert that is muted when it ends.
 */
const NEVER_MUTED = FED.filter(
  (alert) => FED.filter((other) => placeOf(other) === placeOf(alert)).length === 1,
);

let receiver: Receiver;
let alertmanager: AlertmanagerServer;
let prometheus: PrometheusServer;
let feed: AlertFeed;
let watchdogPort: number;
let watchdog: CliProcess;

async function startWatchdog(): Promise<CliProcess> {
  const file = join(home.directory, "watchdog.yaml");
  writeFileSync(
    file,
    `
http: { listen: "127.0.0.1:${watchdogPort}" }
chain_id: local-1
interval: 1s
sources:
  node: "http://127.0.0.1:${ports.localMetrics}/metrics"
  prices: "http://127.0.0.1:${ports.prices}/"
  oracle_metrics: null
  sidecar_metrics: "http://127.0.0.1:${ports.sidecarMetrics}/metrics"
notify:
  channels: [{ kind: alertmanager, name: am, urls: ["${alertmanager.url}"] }]
`,
  );
  const process = home.start("watchdog", "start", "--config", file);
  await process.printed(/oracle-watchdog +http/);
  return process;
}

beforeAll(async () => {
  receiver = await startReceiver();
  alertmanager = await startAlertmanager(receiver.url, {
    inhibitRules: inhibitRules(),
    groupBy: ["..."],
    groupWait: "6s",
  });
  watchdogPort = await leasePort();
  await home.start("up", "$PORTS").printed(/oracle-watchdog +http/);
  watchdog = await startWatchdog();
  feed = await startAlertFeed(FED);
  const validator = { validator: "default", chain_id: "local-1" };
  const at = (port: number, labels: object = {}) => ({ target: `127.0.0.1:${port}`, labels });
  const targets = {
    "oracle-watchdog": at(watchdogPort),
    "icq-relayer": at(ports.relayer),
    "oracle-node": at(ports.localMetrics, validator),
    "oracle-sidecar": at(ports.sidecarMetrics, validator),
    alertmanager: { target: new URL(alertmanager.url).host, labels: {} },
    feed: { target: feed.target, labels: {} },
  };
  prometheus = await startPrometheus(targets, {
    files: new Map([...RULE_FILES].map(([name, groups]) => [name, ruleFile(groups, SHORT_TIMES)])),
    alertmanager: new URL(alertmanager.url).host,
  });
}, 120_000);

afterAll(async () => {
  await prometheus?.close();
  await alertmanager?.close();
  await feed?.close();
  await receiver?.close();
  await home.close();
});

const vector = z.object({
  data: z.object({ result: z.array(z.object({ metric: z.record(z.string(), z.string()) })) }),
});

async function query(expr: string) {
  const response = await fetch(`${prometheus.url}/api/v1/query`, {
    method: "POST",
    body: new URLSearchParams({ query: expr }),
  });
  if (!response.ok) throw new Error(`${expr}: ${await response.text()}`);
  return vector.parse(await response.json()).data.result;
}

const alertsNow = (): Promise<readonly Shown[]> => readAlerts(alertmanager.url);

const isAt =
  (place: string) =>
  ({ labels }: Shown): boolean =>
    [labels["chain_id"], labels["job"], labels["instance"]].includes(place);
const isOf =
  (alert: (typeof ALERTS)[number]) =>
  (shown: Shown): boolean =>
    isAt(placeOf(alert))(shown) &&
    shown.labels["alertname"] === alert.alert &&
    shown.labels["component"] === alert.component;

// First, because some of the situations last for a minute only.
describe("the situations of the alerts, fed as metrics", () => {
  it("fire in Prometheus and arrive at Alertmanager, with their texts", { timeout: 150_000 }, async () => {
    // A scrape that a busy machine misses ends an alert for a moment, so not all need to be there at one time.
    const seen = new Set<(typeof ALERTS)[number]>();
    await untilNone(async () => {
      const shown = await alertsNow();
      for (const alert of FED) if (shown.some(isOf(alert))) seen.add(alert);
      return FED.filter((alert) => !seen.has(alert)).map(({ component, alert }) => `${component} ${alert}`);
    }, 120_000);
    for (const { labels, annotations } of await alertsNow()) {
      expect(JSON.stringify(annotations)).not.toMatch(/error expanding|\{\{|<no value>/);
      expect([labels, annotations["runbook_url"]]).toEqual([labels, expect.stringMatching(/\.md$/)]);
    }
  });

  it("inhibit what the table says, and nothing else", { timeout: 240_000 }, async () => {
    const wrong = async () => {
      const shown = await alertsNow();
      const states = shown.map(({ status }) => status.state);
      const count = (state: string): number => states.filter((one) => one === state).length;
      if (count("suppressed") <= 10 || count("active") <= 50) return [`too few alerts: ${states.length}`];
      return shown
        .filter(({ labels }) => Object.values(labels).some((label) => label.startsWith("feed-")))
        .filter(
          (target) =>
            (target.status.state === "suppressed") !== shown.some((source) => inhibits(source, target)),
        )
        .map(({ labels, status }) => `${JSON.stringify(labels)} ${status.state}`);
    };
    await untilNone(wrong, 40_000);
  });

  it("notify once, and once of their end", { timeout: 150_000 }, async () => {
    const activeNow = async () =>
      (await alertsNow())
        .filter((shown) => shown.status.state === "active" && NEVER_MUTED.some((alert) => isOf(alert)(shown)))
        .map(({ labels }) => labelText(labels));
    let active: readonly string[] = [];
    await untilNone(async () => {
      active = await activeNow();
      return active.length > 40 ? [] : [`${active.length} active alerts`];
    }, 240_000);
    await untilNone(async () => active.filter((key) => receiver.count(key, "firing") === 0), 60_000);
    feed.clear();
    await untilNone(
      async () =>
        (await alertsNow())
          .filter((shown) => FED.some((alert) => isOf(alert)(shown)))
          .map(({ labels }) => JSON.stringify(labels)),
      120_000,
    );
    // A scrape that a busy machine misses ends an alert and begins it again: each time with one message, but an end and a begin within
    // the wait of its group are none.
    await untilNone(async () => {
      const counts = active.map((key) => ({
        key,
        began: receiver.count(key, "firing"),
        ended: receiver.count(key, "resolved"),
      }));
      return counts
        .filter(({ began, ended }) => ended === 0 || Math.abs(began - ended) > 1)
        .map(({ key, began, ended }) => `${key}: began ${began} times, ended ${ended} times`);
    }, 240_000);
  });
});

/** Whether one alert of Alertmanager mutes another, by the rules of the example. */
function inhibits(source: Shown, target: Shown): boolean {
  return inhibitRules().some(
    ({ source_matchers, target_matchers, equal }) =>
      matches(source, source_matchers) &&
      matches(target, target_matchers) &&
      equal.every((label) => source.labels[label] === target.labels[label]),
  );
}

function matches({ labels }: Shown, matchers: readonly string[]): boolean {
  return matchers.every((matcher) => {
    const [, label = "", operator, value = ""] = /^(\w+) (=~?) "(.*)"$/.exec(matcher) ?? [];
    return operator === "="
      ? labels[label] === value
      : new RegExp(`^(?:${value})$`).test(labels[label] ?? "");
  });
}

/**
 * Queries without data on this localnet: no limit, no fallback and no escalation is configured, no loss goes on, no fee is granted, no
 * forecast is made within ten minutes, the month is too young for a forecast (`dashboard-pictures` has it), and the watchdog does not
 * read the chain.
 */
const WITHOUT_DATA = new RegExp(
  [
    "daily_fee_limit|urgent_fees|daily_gas_per_owner_limit|month_budget_fees|month_forecast_fees|empty_seconds|fee_grant_",
    "oracle_watchdog_forecast_(?:success_ratio|reward)",
    "boundary_loss_seconds|endpoint_used|endpoint_up|escalation_steps",
    "oracle_watchdog_(?:upgrade|payment|jail|slashing|others|comparison)_|price_deviation_ratio|jailed_until|signed_ratio",
    "oracle_watchdog_(?:rank|percentile_ratio|own_ratio|others|compared_validators)\\b",
  ].join("|"),
);

describe("a healthy localnet with both daemons", () => {
  it("has metrics that promtool accepts", async () => {
    for (const port of [watchdogPort, ports.relayer]) {
      const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(
        execFileSync(programPath("promtool"), ["check", "metrics"], { input: page, encoding: "utf8" }),
      ).toBe("");
    }
  });

  it("gives data to every query of every dashboard", { timeout: 150_000 }, async () => {
    const queries = DASHBOARD_SPECS.flatMap(dashboardExpressions).filter(
      ({ expr }) => !WITHOUT_DATA.test(expr),
    );
    expect(queries.length).toBeGreaterThan(100);
    await untilNone(async () => {
      const empty: string[] = [];
      for (const { place, expr, mayBeEmpty } of queries) {
        const result = await query(withoutVariables(expr, "15s"));
        if (result.length === 0 && !mayBeEmpty) empty.push(`${place}: ${expr}`);
      }
      return empty;
    }, 120_000);
  });

  it("lets every rule be evaluated", async () => {
    const rule = z.object({ name: z.string(), health: z.string(), lastError: z.string().optional() });
    const groups = z.object({ data: z.object({ groups: z.array(z.object({ rules: z.array(rule) })) }) });
    const { data } = groups.parse(await (await fetch(`${prometheus.url}/api/v1/rules`)).json());
    const rules = data.groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(ALERTS.length);
    expect(rules.filter(({ health }) => health === "err")).toEqual([]);
  });
});

describe("targets", () => {
  it("a watchdog that is killed is a target that is down, until it is back", {
    timeout: 150_000,
  }, async () => {
    const isIt = ({ labels }: Shown): boolean =>
      labels["alertname"] === "RelaywatchTargetDown" && labels["instance"] === `127.0.0.1:${watchdogPort}`;
    watchdog.kill("SIGKILL");
    await watchdog.exited;
    await untilNone(async () => ((await alertsNow()).some(isIt) ? [] : ["down"]), 60_000);
    watchdog = await startWatchdog();
    await untilNone(async () => ((await alertsNow()).some(isIt) ? ["back"] : []), 60_000);
  });

  it("that are no longer configured are missing, until they are again", { timeout: 150_000 }, async () => {
    const target = `127.0.0.1:${ports.relayer}`;
    const isLabelled = (labels: Shown["labels"]): boolean =>
      labels["alertname"] === "RelaywatchTargetMissing" && labels["instance"] === target;
    const isIt = ({ labels }: Shown): boolean => isLabelled(labels);
    const counts = () => receiver.counts(isLabelled);
    prometheus.leaveOut("icq-relayer");
    await untilNone(async () => ((await alertsNow()).some(isIt) ? [] : ["missing"]), 60_000);
    await untilNone(async () => (counts().firing === 1 ? [] : ["a message"]), 60_000);
    prometheus.leaveOut(undefined);
    await untilNone(async () => ((await alertsNow()).some(isIt) ? ["back"] : []), 60_000);
    await untilNone(async () => (counts().resolved === 1 ? [] : ["a message about the end"]), 60_000);
  });
});
