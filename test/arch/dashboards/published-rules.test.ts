import { describe, expect, it } from "vitest";
import { z } from "zod";
import { dashboardFiles } from "../../../src/cli/generate/dashboard-files.ts";
import { DASHBOARD_SPECS } from "../../../src/cli/generate/dashboards.ts";
import { ALERTS, RULE_FILES } from "../../../src/cli/generate/rules.ts";
import { promqlSelectors } from "../../../src/cli/generate/runbook-errors.ts";
import type { AlertSpec } from "../../../src/platform/monitoring/alerts/alert-spec.ts";
import { REAL_TIMES, toMinutes } from "../../../src/platform/monitoring/alerts/times.ts";
import { PROCESSES } from "../../../src/platform/monitoring/dashboards/panel-spec.ts";
import { dashboardExpressions, withoutVariables } from "../../support/dashboard-queries.ts";

// The rules that dashboard-linter and pint publish, as far as they need no server. Neither program is in a registry of npm or Debian.

/** A rule: `findings` are the places that break it, `exceptions` those that may, with the reason. */
interface Rule {
  readonly name: string;
  readonly findings: () => readonly string[];
  readonly exceptions?: readonly (readonly [place: RegExp, reason: string])[];
}

const target = z.looseObject({ expr: z.string(), refId: z.string() });
const panel = z.looseObject({
  type: z.string(),
  title: z.string().default(""),
  description: z.string().default(""),
  datasource: z.object({ uid: z.string() }).optional(),
  fieldConfig: z.looseObject({ defaults: z.looseObject({ unit: z.string().optional() }) }).optional(),
  targets: z.array(target).default([]),
});
const dashboard = z.looseObject({
  title: z.string(),
  editable: z.boolean(),
  templating: z.object({
    list: z.array(
      z.looseObject({
        name: z.string(),
        label: z.string(),
        type: z.string(),
        query: z.string(),
        datasource: z.object({ uid: z.string() }).optional(),
        multi: z.boolean().default(false),
        allValue: z.string().optional(),
        refresh: z.number().optional(),
      }),
    ),
  }),
  panels: z.array(panel.extend({ panels: z.array(panel).default([]) })),
});

const dashboards = [...dashboardFiles()]
  .filter(([path]) => path.endsWith(".json"))
  .map(([, text]) => dashboard.parse(JSON.parse(text)));
const panels = dashboards.flatMap(({ title, panels: all }) =>
  all
    .flatMap((one) => (one.type === "row" ? one.panels : [one]))
    .map((one) => ({ ...one, place: `${title} / ${one.title}` })),
);
const queries = DASHBOARD_SPECS.flatMap(dashboardExpressions);
const rules = [...RULE_FILES.values()].flat();

const ofVariables =
  (isBad: (variable: z.output<typeof dashboard>["templating"]["list"][number]) => boolean) => () =>
    dashboards.flatMap(({ title, templating: { list } }) =>
      list.filter(isBad).map(({ name }) => `${title} / $${name}`),
    );
const withoutVariable = (name: string, type: string) => () =>
  dashboards
    .filter(
      ({ templating: { list } }) =>
        !list.some(
          (one) =>
            one.name === name &&
            one.type === type &&
            (type === "datasource" ||
              (one.multi && one.allValue === ".+" && one.datasource?.uid === "${datasource}")),
        ),
    )
    .map(({ title }) => title);
const ofPanels = (isBad: (one: (typeof panels)[number]) => boolean) => () =>
  panels.filter(isBad).map(({ place }) => place);
const ofQueries = (isBad: (expr: string) => boolean) => () =>
  queries.filter(({ expr }) => isBad(expr)).map(({ place, expr }) => `${place}: ${expr}`);
const ofAlerts = (isBad: (alert: AlertSpec, expr: string) => boolean) => () =>
  ALERTS.filter((alert) => isBad(alert, alert.expr(REAL_TIMES))).map(
    ({ component, alert }) => `${component} ${alert}`,
  );

function isSyntaxError(expr: string): boolean {
  try {
    promqlSelectors(withoutVariables(expr));
    return false;
  } catch {
    return true;
  }
}

/** Who has no job and no instance of the variables. */
const OTHER_PLACES: Rule["exceptions"] = [
  [/ALERTS/, "alerts about pairs of daemons have no instance"],
  [
    /validator:|side_car\|connect/,
    "recording rules and sidecars have a validator, and no instance of a node",
  ],
  [/prometheus_|alertmanager_/, "Prometheus and Alertmanager are not the daemons of the variable"],
  [/: vector\(/, "a constant"],
];

const DASHBOARD_LINTER: readonly Rule[] = [
  { name: "template-datasource", findings: withoutVariable("datasource", "datasource") },
  { name: "template-job", findings: withoutVariable("job", "query") },
  { name: "template-instance", findings: withoutVariable("instance", "query") },
  {
    name: "template-label-promql",
    findings: ofVariables(({ type, query }) => {
      const [, selector] = /^label_values\((.+), \w+\)$/.exec(query) ?? [];
      return type === "query" && (selector === undefined || isSyntaxError(selector));
    }),
  },
  {
    name: "template-on-time-change-reload",
    findings: ofVariables(({ type, refresh }) => type === "query" && refresh !== 2),
  },
  { name: "panel-datasource", findings: ofPanels(({ datasource }) => datasource?.uid !== "${datasource}") },
  {
    name: "panel-title-description",
    findings: ofPanels(({ title, description }) => title === "" || description === ""),
  },
  { name: "panel-units", findings: ofPanels(({ fieldConfig }) => fieldConfig?.defaults.unit === undefined) },
  { name: "panel-no-targets", findings: ofPanels(({ targets }) => targets.length === 0) },
  { name: "target-promql", findings: ofQueries(isSyntaxError) },
  {
    name: "target-rate-interval",
    findings: ofQueries((expr) => /\bi?rate\([^[]*\[(?!\$__rate_interval\])/.test(expr)),
  },
  {
    name: "target-job",
    findings: ofQueries((expr) => !expr.includes('job=~"$job"')),
    exceptions: OTHER_PLACES,
  },
  {
    name: "target-instance",
    findings: ofQueries((expr) => !expr.includes(PROCESSES)),
    exceptions: OTHER_PLACES,
  },
  {
    name: "target-counter-agg",
    findings: ofQueries((expr) =>
      promqlSelectors(withoutVariables(expr)).some(
        ({ text }) =>
          /^\w+_(?:total|sum|count|bucket)\b/.test(text) &&
          !new RegExp(`(?:rate|increase)\\(${escaped(text)}\\[`).test(withoutVariables(expr)),
      ),
    ),
  },
  {
    name: "uneditable-dashboard",
    findings: () => dashboards.filter(({ editable }) => editable).map(({ title }) => title),
  },
];

const PINT: readonly Rule[] = [
  {
    name: "alerts/absent: absent() needs a `for`",
    findings: ofAlerts((alert, expr) => /\babsent\(/.test(expr) && toMinutes(alert.for) < 2),
  },
  {
    name: "alerts/comparison: without a condition an alert always fires",
    findings: ofAlerts(
      (_, expr) => !/[<>]|==|!=|\bunless\b|\babsent\(/.test(expr.replaceAll(/\{[^}]*\}/g, "")),
    ),
    exceptions: [[/RelaywatchDeadMan$/, "it always fires: its end is the alarm"]],
  },
  {
    name: "alerts/template: a label of a template or scope is one of the expression's",
    findings: ofAlerts(({ description, scope }, expr) =>
      [...description.matchAll(/\$labels\.(\w+)/g), ...scope.map((label) => ["", label])].some(
        ([, label = ""]) => branches(expr).some((one) => removes(one, label)),
      ),
    ),
  },
  {
    name: "alerts/for, rule/for: a duration, at most an hour",
    findings: ofAlerts((alert) => toMinutes(alert.for) > 60),
  },
  {
    name: "promql/regexp: no anchors, and a pattern only where one is needed",
    findings: () =>
      expressions().filter((expr) =>
        [...expr.matchAll(/[=!]~"([^"]*)"/g)].some(
          ([, pattern = ""]) => /^\^|\$$/.test(pattern.replace(/^\$\w+$/, "")) || /^[\w:-]+$/.test(pattern),
        ),
      ),
  },
  {
    name: "promql/rate: only of counters, over two scrapes or more",
    findings: () =>
      expressions().filter((expr) =>
        [...expr.matchAll(/\b(?:rate|increase|irate)\(([^[]+)\[(\w+)\]/g)].some(
          ([, selector = "", range = ""]) =>
            toMinutes(range) < 0.5 ||
            /_(?:ratio|timestamp_seconds|blocks)$/.test(selector.replace(/\{.*/s, "")),
        ),
      ),
  },
  {
    name: "promql/fragile: an aggregation names its labels by what it keeps",
    findings: () => expressions().filter((expr) => /\b(?:sum|min|max|count|avg)\s+without\b/.test(expr)),
  },
  {
    name: "rule/duplicate: each rule once",
    findings: () => {
      const all = rules.flatMap(({ records, alerts }) => [
        ...records.map((one) => `${one.record} ${JSON.stringify(one.labels ?? {})}`),
        ...alerts.map(({ component, alert }) => `${component} ${alert}`),
      ]);
      return all.filter((one, index) => all.indexOf(one) !== index);
    },
  },
  {
    name: "alerts/annotation: summary, description, runbook and dashboard",
    findings: ofAlerts(({ summary, description, name, cause }) =>
      [summary, description, name, cause.panel].includes(""),
    ),
  },
];

function expressions(): readonly string[] {
  return [
    ...ALERTS.map(({ expr }) => expr(REAL_TIMES)),
    ...rules.flatMap(({ records }) => records.map(({ expr }) => expr(REAL_TIMES))),
  ];
}

/** Alternatives of an expression: each has labels of its own. */
function branches(expr: string): readonly string[] {
  return expr.split(/^or /m);
}

/** Whether every aggregation at the beginning of an expression removes a label. */
function removes(expr: string, label: string): boolean {
  if (expr.startsWith("absent(")) return !expr.includes(`${label}="`);
  const kept = /^\(*(?:sum|min|max|count|group|avg)(?: by \((?<labels>[^)]*)\))?/.exec(expr);
  return kept !== null && !(kept.groups?.["labels"] ?? "").split(", ").includes(label);
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

describe.each([
  ["dashboard-linter", DASHBOARD_LINTER],
  ["pint", PINT],
])("what %s publishes", (_program, all) => {
  it.each(all)("$name", ({ findings, exceptions = [] }) => {
    const found = findings();
    expect(found.filter((place) => !exceptions.some(([pattern]) => pattern.test(place)))).toEqual([]);
    // An exception that nothing needs any more goes.
    for (const [pattern, reason] of exceptions)
      expect([reason, found.some((place) => pattern.test(place))]).toEqual([reason, true]);
  });
});
