import { describe, expect, it } from "vitest";
import { isAtLeast } from "../../src/platform/monitoring/severity.ts";
import { durationText, parseDurationMs } from "../../src/platform/config/setting-texts.ts";
import { alertsSchema } from "../../src/watchdog/conditions/alerts-config.ts";
import { alertName, runbookFile } from "../../src/watchdog/conditions/condition.ts";
import { CONDITIONS } from "../../src/watchdog/conditions/conditions.ts";

const names = CONDITIONS.map(({ name }) => name);

describe("the table of conditions", () => {
  it("has unique kebab-case names", () => {
    expect(names).toContain("all-prices-missing");
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
  });

  it("has complete texts: sentences with a full stop, titles and reasons without", () => {
    for (const { name, title, when, description, impact, action } of CONDITIONS) {
      for (const text of [description, impact, action])
        expect([name, text]).toEqual([name, expect.stringMatching(/^[A-Z].*\.$/)]);
      for (const text of [title, when]) expect([name, text]).toEqual([name, expect.stringMatching(/[^.]$/)]);
    }
  });

  it("does not say that all is well while a source cannot be read", () => {
    const blind = CONDITIONS.filter(({ name }) => name.startsWith("cannot-see-"));
    expect(blind.length).toBeGreaterThan(4);
    for (const { name, description, impact } of blind)
      expect([name, `${description} ${impact}`]).toEqual([
        name,
        expect.not.stringMatching(/may be well|no known loss|no loss/i),
      ]);
  });

  it("has durations that the configuration accepts", () => {
    for (const one of CONDITIONS) {
      for (const text of [one.for, one.resolveFor]) expect(parseDurationMs(text)).toBeDefined();
      for (const { unit, initial } of Object.values(one.thresholds))
        if (unit === "duration") expect(parseDurationMs(durationText(initial))).toBe(initial);
    }
  });

  it("names other conditions as consequences, without a circle", () => {
    const inhibits = new Map(CONDITIONS.map((one) => [one.name, one.inhibits]));
    const reaches = (from: string, seen: readonly string[]): void => {
      for (const name of inhibits.get(from) ?? []) {
        expect(names).toContain(name);
        expect([...seen, name]).not.toContain(seen[0] === name ? name : undefined);
        expect(seen).not.toContain(name);
        reaches(name, [...seen, name]);
      }
    };
    for (const name of names) reaches(name, [name]);
  });

  it("names nothing graver than the cause as a consequence: a ticket keeps no page from going out", () => {
    const severities = new Map(CONDITIONS.map(({ name, severity }) => [name, severity]));
    for (const { name, severity, inhibits } of CONDITIONS)
      for (const other of inhibits)
        expect([name, other, isAtLeast(severity, severities.get(other) ?? "critical")]).toEqual([
          name,
          other,
          true,
        ]);
  });

  it("names alerts as Prometheus does, and runbooks after their condition", () => {
    expect(alertName("all-prices-missing")).toBe("OracleAllPricesMissing");
    expect(alertName("oracle-calls-failing")).toBe("OracleCallsFailing");
    for (const { name } of CONDITIONS) expect(alertName(name)).not.toMatch(/([A-Z][a-z]+)\1/);
    expect(runbookFile("all-prices-missing")).toBe("all-prices-missing.md");
  });
});

describe("the configuration of alerts", () => {
  it("has the values of the table", () => {
    const { rules } = alertsSchema.parse({});
    expect(rules.map(({ condition }) => condition)).toEqual(CONDITIONS);
    expect(rules.find(({ condition }) => condition.name === "all-prices-missing")).toMatchObject({
      severity: "critical",
      forMs: 300_000,
      resolveForMs: 30_000,
    });
    for (const { condition, limits } of rules)
      expect(limits).toEqual(
        Object.fromEntries(Object.entries(condition.thresholds).map(([key, { initial }]) => [key, initial])),
      );
  });

  it("changes values, and leaves out what is disabled", () => {
    const { rules, majorPairs, graceMs } = alertsSchema.parse({
      major_pairs: ["ATOM/USD"],
      grace: "0s",
      sidecar_down: { enabled: false },
      sidecar_slow: { severity: "critical", for: "1m", slow_after: "1500ms" },
    });
    expect(majorPairs).toEqual(["ATOM/USD"]);
    expect(graceMs).toBe(0);
    expect(rules.map(({ condition }) => condition.name)).toEqual(
      names.filter((name) => name !== "sidecar-down"),
    );
    expect(rules.find(({ condition }) => condition.name === "sidecar-slow")).toMatchObject({
      severity: "critical",
      forMs: 60_000,
      limits: { slow_after: 1500 },
    });
  });

  it("refuses unknown keys and values", () => {
    for (const file of [
      { sidecar_up: {} },
      { sidecar_down: { slow_after: "1s" } },
      { sidecar_slow: { slow_after: 500 } },
      { oracle_calls_failing: { min_failed: 101 } },
      { major_pairs: ["btc/usd"] },
      { grace: "5 blocks" },
      { sidecar_down: { severity: "page" } },
    ])
      expect(alertsSchema.safeParse(file).success).toBe(false);
  });
});
