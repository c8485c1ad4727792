import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MINUTE_MS } from "../../platform/base/time.ts";
import { durationText } from "../../platform/config/setting-texts.ts";
import type { AlertSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { runbookPath } from "../../platform/monitoring/alerts/runbook-route.ts";
import type { AlertEvent } from "../../watchdog/alerts/alert-event.ts";
import { EMPTY_ALERTING, planAlerts } from "../../watchdog/alerts/plan-alerts.ts";
import {
  active,
  alertName,
  type AlertRule,
  clear,
  type Condition,
  type ConditionResult,
  type Threshold,
} from "../../watchdog/conditions/condition.ts";
import { alertsSchema } from "../../watchdog/conditions/alerts-config.ts";
import { alertMessage, messageText } from "../../watchdog/notify/channels/message.ts";
import type { Cost } from "../../watchdog/policy/cost-text.ts";
import { markdownTable } from "./marked-sections.ts";
import { ALERTS_BY_RUNBOOK, runbookPathOf } from "./runbook-files.ts";

/** An alert example's two reasons: why the alert fires, as in its runbook, and why it ends. */
export interface ExampleReasons {
  readonly firing: string;
  readonly resolved: string;
}

/**
 * Returns the reasons shown in an alert's example messages. The firing reason comes from the alert's runbook in the repository `root`,
 * or is "…" if the runbook is not yet written. The resolved reason comes from the condition.
 */
export function exampleReasons({ name, end }: Condition, root: string): ExampleReasons {
  const path = join(root, runbookPathOf(name));
  const runbook = existsSync(path) ? readFileSync(path, "utf8") : "";
  const firing = /^ *Since 2026-\d\d-\d\d \d\d:\d\d UTC: (.+)\.$/m.exec(runbook)?.[1];
  return { firing: firing ?? "…", resolved: end };
}

const RULES = alertsSchema.parse({}).rules;
const SINCE_MS = Date.UTC(2026, 10, 22, 5, 54);
const OUTAGE_MS = 40 * MINUTE_MS;
/** The alert for which the page shows complete messages. */
const EXAMPLE = "sidecar-down";

const OPTIONS = {
  channels: [],
  maintenance: [],
  graceMs: 0,
  reminders: { critical: [], warning: [], info: [] },
  runbooks: "https://runbooks.example/",
  links: { watchdog: "https://watchdog.example/", grafana: "https://grafana.example/" },
};

/** Simulates one alert for a validator: it becomes active, fires, and ends 40 minutes later. */
function eventsOf(rule: AlertRule, { firing, resolved }: ExampleReasons): readonly AlertEvent[] {
  const endMs = SINCE_MS + rule.forMs + OUTAGE_MS;
  const polls: readonly (readonly [number, ConditionResult])[] = [
    [SINCE_MS, active(firing)],
    [SINCE_MS + rule.forMs + 5_000, active(firing)],
    [endMs, clear(resolved)],
    [endMs + rule.resolveForMs, clear(resolved)],
  ];
  let state = EMPTY_ALERTING;
  return polls.flatMap(([nowMs, result]) => {
    const poll = {
      validator: "val-a",
      chainId: "neutron-1",
      nowMs,
      gapMs: OUTAGE_MS + rule.forMs,
      results: new Map([[rule.condition.name, result]]),
      costOf: () => exampleCost(Math.min(nowMs, endMs)),
    };
    const plan = planAlerts(state, poll, { ...OPTIONS, rules: [rule] });
    ({ state } = plan);
    return plan.events;
  });
}

/** Returns an example cost, assuming one block per second in a month that allows 51,840 misses and has no earlier misses. */
function exampleCost(nowMs: number): Cost {
  const sinceMs = SINCE_MS - 4_000;
  const blocks = BigInt(Math.floor((nowMs - sinceMs) / 1_000));
  return { allowed: 51_840n, payCents: 0n, currency: "USD", sinceMs, blocks };
}

/** Returns the page that lists when each alert fires and what its messages say, from the repository `root`. */
export function alertMessagesPage(root: string): string {
  const example = RULES.filter(({ condition }) => condition.name === EXAMPLE)
    .flatMap((rule) => eventsOf(rule, exampleReasons(rule.condition, root)))
    .map((event) => `\`\`\`text\n${withShortLinks(messageText(alertMessage([event]), 4_000))}\n\`\`\`\n`);
  const entries = RULES.map((rule) => ofWatchdog(rule, exampleReasons(rule.condition, root)));
  const own = new Set(RULES.map(({ condition }) => condition.name));
  const others = [...ALERTS_BY_RUNBOOK].filter(([name]) => !own.has(name)).flatMap(([, alerts]) => alerts);
  const table = markdownTable(["alert and runbook", "name", "severity", "for"], others.map(ofPrometheus));
  return [HEAD, ...example, EXPLANATION, ...entries, OTHERS_HEAD, table].join("\n");
}

function withShortLinks(message: string): string {
  return message.replaceAll(/(https:\/\/(?:watchdog|grafana)\.example\/)\S+/g, "$1…");
}

function ofWatchdog({ condition, severity }: AlertRule, { firing, resolved }: ExampleReasons): string {
  const { name, title, when, action, for: lasting, thresholds, inhibits } = condition;
  const facts: readonly (readonly [string, string])[] = [
    ["Fires when", lasting === "0s" ? when : `this condition has been true for ${lasting}: ${when}`],
    ["Thresholds:", thresholdTexts(thresholds).join(", ")],
    ["Mutes", mutedTexts(inhibits).join(", ")],
    ["Message while firing, e.g.:", firing],
    ["Do first:", action === COMMON_ACTION ? "" : action],
    ["Message when resolved, e.g.:", resolved],
  ];
  const lines = facts.filter(([, text]) => text !== "").map(([label, text]) => `- ${label} ${text}`);
  const names = `\`${name}\`, \`${alertName(name)}\``;
  return `### ${runbookLink(title, name)}\n\n${names}, ${severity}.\n\n${lines.join("\n")}\n`;
}

/** First action step that most alerts about the month share, so that the page shows this step only once. */
const COMMON_ACTION =
  RULES.find(({ condition: { name } }) => name === "full-reward-rate-low")?.condition.action ?? "";

/** Groups of alerts that many alerts mute together, under the names that {@link EXPLANATION} defines; largest group first. */
const GROUPS: readonly (readonly [string, RegExp])[] = [
  ["*month*", /-reward-(?!lost)/],
  ["*full*", /^full-reward-(?!lost)/],
];

function mutedTexts(names: readonly string[]): readonly string[] {
  const group = GROUPS.find(([, pattern]) =>
    RULES.every(({ condition: { name } }) => !pattern.test(name) || names.includes(name)),
  );
  const others = names.filter((name) => group?.[1].test(name) !== true).map((name) => `\`${name}\``);
  return group === undefined ? others : [...others, group[0]];
}

function thresholdTexts(thresholds: Condition["thresholds"]): readonly string[] {
  return Object.entries(thresholds).map(([key, threshold]) => `\`${key}\` ${valueText(threshold)}`);
}

function valueText({ unit, initial }: Threshold): string {
  if (unit === "duration") return durationText(initial);
  return unit === "percent" ? `${initial} %` : String(initial);
}

function ofPrometheus({ name, alert, severity, for: lasting, summary }: AlertSpec): readonly string[] {
  return [runbookLink(summary.slice(0, -1), name), `\`${alert}\``, severity, lasting];
}

function runbookLink(title: string, name: string): string {
  return `[${title}](../alerts/${runbookPath(name)})`;
}

const HEAD = `# Alerts

This page shows when each alert fires and what its message says. Figures are examples. An alert's title links to its runbook, which explains its cost and
what to do. Generated by \`npm run generate\`.

## Watchdog alerts

All channels show the same lines: title, problem, start and cost so far, first step, links. For example:
`;

const EXPLANATION = `Without lost blocks, the third line says "no lost block is counted yet", or only the start.

The entries below show the lines that differ: problem, first step, and what is measured when the alert ends. Entries without a
first step have this one: "${COMMON_ACTION}"

Thresholds are [configuration keys](watchdog.md#alerts). A firing alert [mutes](watchdog.md#alerts) its consequences: *full* stands for all
\`full-reward-…\` except \`full-reward-lost\`; *month* adds all \`any-reward-…\` except \`any-reward-lost\`.
`;

const OTHERS_HEAD = `## Prometheus alerts

These Prometheus rules cover the relayer, scrape targets and processes. An alert's \`description\` is the text under "Meaning" in its runbook, with names and values.
`;
