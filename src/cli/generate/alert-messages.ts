import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MINUTE_MS } from "../../platform/base/time.ts";
import type { AlertSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { runbookPath, withoutTemplates } from "../../platform/monitoring/alerts/runbook-route.ts";
import type { AlertEvent } from "../../watchdog/alerts/alert-event.ts";
import { isSymptom } from "../../watchdog/alerts/miss-causes.ts";
import { EMPTY_ALERTING, planAlerts } from "../../watchdog/alerts/plan-alerts.ts";
import {
  active,
  type AlertRule,
  clear,
  type Condition,
  type ConditionResult,
} from "../../watchdog/conditions/condition.ts";
import { alertsSchema } from "../../watchdog/conditions/alerts-config.ts";
import { alertMessage, messageText } from "../../watchdog/notify/channels/message.ts";
import type { Cost } from "../../watchdog/policy/cost-text.ts";
import { ALERTS_BY_RUNBOOK, runbookPathOf } from "./runbook-files.ts";

/** The measurements in an alert's example: when it fires, as its runbook states, and when it ends. */
export interface ExampleReasons {
  readonly firing: string;
  readonly resolved: string;
}

/**
 * Returns the reasons in an alert's example. The first comes from the alert's runbook in the repository `root`; "…" if the runbook
 * is yet to be written. The last comes from the condition.
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
/** Alerts during which the node counts lost blocks. */
const COUNTED =
  /^(?:sidecar-down|sidecar-too-slow|oracle-calls-failing|websocket-providers-failing|network-votes-missing)$/;

const OPTIONS = {
  channels: [],
  maintenance: [],
  graceMs: 0,
  reminders: { critical: [], warning: [], info: [] },
  runbooks: "https://runbooks.example/",
  links: { watchdog: "https://watchdog.example/", grafana: "https://grafana.example/" },
};

/** Simulates one alert for a validator. The alert begins, lasts 40 minutes longer than it takes to fire, and ends. */
function eventsOf(rule: AlertRule, { firing, resolved }: ExampleReasons): readonly AlertEvent[] {
  const { name } = rule.condition;
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
      results: new Map([[name, result]]),
      costOf: () => exampleCost(name, Math.min(nowMs, endMs)),
    };
    const plan = planAlerts(state, poll, { ...OPTIONS, rules: [rule] });
    ({ state } = plan);
    return plan.events;
  });
}

/** Assumes one block per second, in a month that allows 51,840 misses and has no other misses. */
function exampleCost(alert: string, nowMs: number): Cost | undefined {
  if (isSymptom(alert)) return undefined;
  const month = { allowed: 51_840n, payCents: 0n, currency: "USD" };
  if (!COUNTED.test(alert)) return { ...month, blocks: 0n };
  const sinceMs = SINCE_MS - (alert === "oracle-calls-failing" ? 92_000 : 4_000);
  return { ...month, sinceMs, blocks: BigInt(Math.floor((nowMs - sinceMs) / 1_000)) };
}

/** Returns the page with every alert's messages. `root` is the repository. */
export function alertMessagesPage(root: string): string {
  const entries = RULES.map((rule) => {
    const { condition, severity } = rule;
    const { name, title } = condition;
    const messages = eventsOf(rule, exampleReasons(condition, root)).map(
      (event) => `\`\`\`text\n${withoutLinks(messageText(alertMessage([event]), 4_000))}\n\`\`\``,
    );
    return [
      `### ${title}`,
      `\`${name}\`, ${severity}, after ${condition.for}. [Runbook](../alerts/${runbookPath(name)}).`,
      ...messages,
    ].join("\n\n");
  });
  const own = new Set(RULES.map(({ condition }) => condition.name));
  const others = [...ALERTS_BY_RUNBOOK].filter(([name]) => !own.has(name)).flatMap(([, alerts]) => alerts);
  return `${HEAD}\n${entries.join("\n\n")}\n\n${OTHERS_HEAD}\n${others.map(ofPrometheus).join("\n\n")}\n`;
}

/** The last line is the same in all messages but for the alert's name. The page shows it once. */
function withoutLinks(message: string): string {
  return message.replace(/\nPage: .*$/, "");
}

function ofPrometheus({ name, alert, severity, for: lasting, summary, description }: AlertSpec): string {
  return [
    `### ${summary.slice(0, -1)}`,
    `\`${alert}\`, ${severity}, after ${lasting}. [Runbook](../alerts/${runbookPath(name)}).`,
    `\`\`\`text\n${withoutTemplates(description).replaceAll("`", "")}\n\`\`\``,
  ].join("\n\n");
}

const HEAD = `# Alert messages

The notifications when an alert fires and when it ends. The figures are examples. An alert's runbook says what it means and what it
costs. Generated by \`npm run generate\`.

## Watchdog alerts

As sent by e-mail, Telegram and the generic webhook. Every channel shows the same lines: title, problem, start and cost so far,
first step, links. The examples leave out the last line, which links to the alert on the watchdog's page, its runbook and its
dashboard:

\`\`\`text
Page: https://watchdog.example/… · Runbook: https://runbooks.example/sidecar-down.md · Dashboard: https://grafana.example/…
\`\`\`
`;

const OTHERS_HEAD = `## Prometheus alerts

The \`description\` annotations of the rules about relayer, targets and programs, with names and values in place of templates.
`;
