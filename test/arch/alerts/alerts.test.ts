import { describe, expect, it } from "vitest";
import { inhibitRules } from "../../../src/cli/generate/alert-files.ts";
import { RELAYER_CONDITIONS } from "../../../src/relayer/monitoring/relayer-alerts.ts";
import { ALERTS, RULE_FILES } from "../../../src/cli/generate/rules.ts";
import { REAL_TIMES, SHORT_TIMES } from "../../../src/platform/monitoring/alerts/times.ts";
import { PROBLEM_CODES } from "../../../src/relayer/health/problems.ts";
import { SEVERITIES } from "../../../src/platform/monitoring/severity.ts";
import { CONDITIONS } from "../../../src/watchdog/conditions/conditions.ts";
import { knownMetrics } from "../../support/known-metrics.ts";
import { causeUrl, DASHBOARDS, panelId } from "../../../src/platform/monitoring/alerts/links.ts";
import { DASHBOARD_SPECS } from "../../../src/cli/generate/dashboards.ts";
import { withoutVariables } from "../../support/dashboard-queries.ts";
import { promqlSelectors } from "../../../src/cli/generate/runbook-errors.ts";

const records = [...RULE_FILES.values()].flat().flatMap((group) => group.records);
const names = new Set(ALERTS.map(({ name }) => name));

describe("the alerts", () => {
  it("have each condition of the watchdog once, and each problem of the relayer", () => {
    const ofWatchdog = ALERTS.filter(({ component }) => component === "oracle-watchdog");
    expect(ofWatchdog.map(({ name }) => name)).toEqual(CONDITIONS.map(({ name }) => name));
    const problems = RELAYER_CONDITIONS.flatMap((one) => one.problems ?? []);
    expect(problems.toSorted()).toEqual(PROBLEM_CODES.toSorted());
  });

  it("have unique names in each component", () => {
    const all = ALERTS.map(({ component, alert }) => `${component} ${alert}`);
    expect(new Set(all).size).toBe(all.length);
    for (const { name, alert } of ALERTS) {
      expect(name).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
      expect(alert).toMatch(/^(?:Oracle|IcqRelayer|Relaywatch)[A-Z][A-Za-z]+$/);
      expect(alert).not.toMatch(/([A-Z][a-z]+)\1/);
    }
  });

  it("have a severity, and complete sentences", () => {
    for (const { alert, severity, summary, description, impact } of ALERTS) {
      expect([alert, severity]).toEqual([
        alert,
        alert === "RelaywatchDeadMan" ? "none" : expect.toBeOneOf([...SEVERITIES]),
      ]);
      for (const text of [summary, description, impact])
        expect([alert, text]).toEqual([alert, expect.stringMatching(/^[A-Z{].*\.$/s)]);
      expect(summary).not.toContain("{{");
    }
  });

  it("say in templates only what their expression keeps", () => {
    for (const { alert, expr, description } of ALERTS) {
      for (const part of expr(REAL_TIMES).split(/^or /m)) {
        const kept = [...part.matchAll(/(?:by|on) \(([^)]*)\)/g)].flatMap(([, list = ""]) =>
          list.split(", "),
        );
        for (const [, label] of description.matchAll(/\$labels\.(\w+)/g))
          expect([alert, label, kept.length === 0 || kept.includes(label ?? "")]).toEqual([
            alert,
            label,
            true,
          ]);
      }
    }
  });

  it("inhibit alerts that exist, and never each other", () => {
    for (const { name, inhibits } of ALERTS)
      for (const other of inhibits) {
        expect(names).toContain(other);
        expect(ALERTS.find((one) => one.name === other)?.inhibits).not.toContain(name);
      }
    expect(inhibitRules().length).toBeGreaterThan(20);
  });
});

describe("the dashboard link of an alert", () => {
  /** Alerts whose metric is a result of the daemon's own: the panel shows what led to it. */
  const OWN_RESULT = /^(?:relaywatch_relayer_problems|oracle_watchdog_alert_firing|relaywatch_build_info)\b/;

  it.each(ALERTS.map((one) => [`${one.component} ${one.alert}`, one] as const))(
    "of %s opens a panel with its metric, at its place and time",
    (_name, { cause, expr, scope }) => {
      const spec = DASHBOARD_SPECS.find(({ uid }) => uid === cause.dashboard);
      const panel = spec?.rows.flatMap(({ panels }) => panels).find(({ title }) => title === cause.panel);
      expect([cause, panel?.title]).toEqual([cause, cause.panel]);
      const url = causeUrl(cause, scope);
      expect(url).toContain(`d/${cause.dashboard}?viewPanel=${panelId(cause.panel)}`);
      expect(url).toMatch(/&from=\{\{ query "\(time\(\) - 7200\) .*&to=\{\{ query "\(time\(\) \+ 3600\)/);
      // Grafana ignores variables that a dashboard does not have; Process shows all daemons.
      const known = spec?.variables.filter(({ name }) => url.includes(`&var-${name}=`)) ?? [];
      const isForAll = scope.length === 0 || cause.dashboard === DASHBOARDS.process;
      expect([cause, known.length > 0 || isForAll]).toEqual([cause, true]);
      const metrics = promqlSelectors(expr(REAL_TIMES)).filter(({ text }) => !OWN_RESULT.test(text));
      if (metrics.length === 0) return;
      const shown = (panel?.queries ?? []).flatMap((one) => promqlSelectors(withoutVariables(one.expr)));
      const both = metrics.filter(({ name, text }) =>
        shown.some((one) => one.name.source === name.source || one.name.test(text.replace(/\{.*/s, ""))),
      );
      expect([cause.panel, both]).not.toEqual([cause.panel, []]);
    },
  );
});

describe("the expressions", () => {
  const known = knownMetrics(records.map(({ record }) => record));
  const expressions = [
    ...ALERTS.map(({ component, alert, expr }) => [`${component} ${alert}`, expr] as const),
    ...records.map(({ record, expr }) => [record, expr] as const),
  ];

  it.each(expressions)("%s is PromQL, with metrics and labels that exist", (_name, expr) => {
    const selectors = promqlSelectors(expr(REAL_TIMES));
    for (const { name, labels, text } of selectors) {
      const metrics = [...known].filter(([metric]) => name.test(metric));
      expect([text, metrics.length > 0]).toEqual([text, true]);
      for (const label of labels)
        expect([text, label, metrics.some(([, has]) => has === "any" || has.includes(label))]).toEqual([
          text,
          label,
          true,
        ]);
    }
    expect(() => promqlSelectors(expr(SHORT_TIMES))).not.toThrow();
  });

  it("name an unknown metric as an error", () => {
    expect(known.has("oracle_watchdog_alert_fires")).toBe(false);
    expect(() => promqlSelectors("sum(rate(a[5m])")).toThrow("invalid PromQL");
  });
});
