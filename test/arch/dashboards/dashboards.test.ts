import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { DASHBOARDS } from "../../../src/platform/monitoring/alerts/links.ts";
import { ALERTS, RULE_FILES } from "../../../src/cli/generate/rules.ts";
import { REAL_TIMES } from "../../../src/platform/monitoring/alerts/times.ts";
import { dashboardFiles } from "../../../src/cli/generate/dashboard-files.ts";
import { DASHBOARD_SPECS } from "../../../src/cli/generate/dashboards.ts";
import { ROOT } from "../source-files.ts";
import { dashboardExpressions, withoutVariables } from "../../support/dashboard-queries.ts";
import { knownMetrics } from "../../support/known-metrics.ts";
import { promqlSelectors } from "../../../src/cli/generate/runbook-errors.ts";

const position = z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() });
const panel = z.looseObject({
  id: z.number(),
  collapsed: z.boolean().optional(),
  panels: z.array(z.unknown()).optional(),
  type: z.string(),
  title: z.string(),
  description: z.string().optional(),
  gridPos: position,
  datasource: z.object({ uid: z.string() }).optional(),
  fieldConfig: z
    .object({
      defaults: z.object({
        unit: z.string(),
        links: z.array(z.object({ url: z.string() })).optional(),
      }),
    })
    .optional(),
  targets: z.array(z.object({ expr: z.string(), refId: z.string() })).optional(),
});
/** A panel as a person sees it: colours, words, legend. */
const look = z.looseObject({
  type: z.string(),
  title: z.string(),
  fieldConfig: z.object({
    defaults: z.object({
      unit: z.string().optional(),
      decimals: z.number().optional(),
      color: z.object({ mode: z.string() }).optional(),
      mappings: z
        .array(z.object({ type: z.string(), options: z.record(z.string(), z.unknown()) }))
        .default([]),
      thresholds: z.object({ steps: z.array(z.object({ color: z.string(), value: z.number().nullable() })) }),
    }),
  }),
  options: z.looseObject({
    legend: z.looseObject({ showLegend: z.boolean() }).optional(),
    tooltip: z.looseObject({ sort: z.string().optional() }).optional(),
  }),
  transformations: z.array(z.object({ id: z.string() })).default([]),
});

const DASHBOARD_WITHOUT_WATCHDOG = "oracle-am-i-paid-raw";
/** Lines of 38 pixels below Grafana's own bars at 1280 by 720. */
const FIRST_SCREEN = 16;
const rawPanels = z.object({ panels: z.array(z.looseObject({})) });

const dashboard = z.object({
  uid: z.string().max(40),
  title: z.string(),
  description: z.string(),
  editable: z.literal(false),
  timezone: z.literal("utc"),
  refresh: z.literal("1m"),
  id: z.null().optional(),
  time: z.object({ from: z.string(), to: z.literal("now") }),
  tags: z.tuple([z.literal("relaywatch")]),
  annotations: z.object({ list: z.array(z.object({ name: z.string(), expr: z.string() })).length(2) }),
  templating: z.object({
    list: z.array(z.object({ name: z.string(), type: z.string(), current: z.unknown().optional() })),
  }),
  panels: z.array(panel),
  links: z.array(z.object({ title: z.string(), type: z.string(), url: z.string().default("") })),
});

const all = [...dashboardFiles()]
  .filter(([path]) => path.endsWith(".json"))
  .map(([path, text]) => ({ path, json: dashboard.parse(JSON.parse(text)) }));
const records = [...RULE_FILES.values()].flat().flatMap((group) => group.records);

describe("the dashboards", () => {
  it("have the uids that links use", () => {
    expect(all.map(({ json }) => json.uid).toSorted()).toEqual(Object.values(DASHBOARDS).toSorted());
  });

  it.each(all)("$path has complete panels that do not overlap", ({ json }) => {
    const { panels } = json;
    const shown = panels.flatMap((one) =>
      one.type === "row" ? z.array(panel).parse(one.panels ?? []) : [one],
    );
    expect(shown.length).toBeGreaterThan(5);
    const ids = new Set([...panels, ...shown].map(({ id }) => id));
    expect(ids.size).toBe(shown.length + panels.filter(({ type }) => type === "row").length);
    expect(new Set(shown.map(({ title }) => title)).size).toBe(shown.length);
    for (const { title, description, datasource, fieldConfig, targets = [] } of shown) {
      expect([title, description]).toEqual([title, expect.stringMatching(/^[A-Z0-9n].*\.$/)]);
      expect([title, datasource?.uid]).toEqual([title, "${datasource}"]);
      expect([title, fieldConfig?.defaults.unit]).toEqual([title, expect.stringMatching(/./)]);
      expect(targets.length).toBeGreaterThan(0);
    }
    for (const one of panels)
      expect(panels.filter((other) => overlaps(one.gridPos, other.gridPos))).toEqual([one]);
    for (const { gridPos } of shown) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  it.each(all)(
    "$path links to the other dashboards, to the runbooks and to the pages of what it shows",
    ({ path, json }) => {
      const links = json.links.map(({ title, type, url }) =>
        type === "dashboards" ? title : `${title} ${url}`,
      );
      const pages: Readonly<Record<string, readonly string[]>> = {
        "oracle-am-i-paid.json": ["Oracle watchdog https://watchdog.example/"],
        "oracle-fleet.json": ["Oracle watchdog https://watchdog.example/"],
        "validator-on-chain.json": ["Oracle watchdog https://watchdog.example/"],
        "overview.json": ["Oracle watchdog https://watchdog.example/", "Relayer https://relayer.example/"],
        "icq-costs.json": ["Relayer https://relayer.example/"],
        "oracle-am-i-paid-raw.json": [],
        "icq-relayer.json": ["Relayer https://relayer.example/"],
        "icq-query.json": ["Relayer https://relayer.example/"],
        "process.json": [
          "Oracle watchdog https://watchdog.example/",
          "Relayer https://relayer.example/",
          "Localnet https://localnet.example/",
        ],
      };
      expect(links).toEqual([
        "Relaywatch",
        "Runbooks https://runbooks.example/",
        ...(pages[path.replace("dashboards/json/", "")] ?? ["unknown"]),
      ]);
    },
  );

  it.each(all)("$path names no job, no address and no source of its author", ({ json }) => {
    const text = JSON.stringify(json);
    expect(text).not.toMatch(/job="|instance="|127\.0\.0\.1|__inputs/);
    expect(json.templating.list[0]).toMatchObject({ name: "datasource", type: "datasource" });
    for (const { current } of json.templating.list) expect(current ?? {}).toEqual({});
  });

  it("use each metric of the daemons in a panel or an alert", () => {
    const used = [
      ...DASHBOARD_SPECS.flatMap(dashboardExpressions).map(({ expr }) => withoutVariables(expr)),
      ...ALERTS.map(({ expr }) => expr(REAL_TIMES)),
    ].flatMap(promqlSelectors);
    const docs = readFileSync(join(ROOT, "docs/metrics.md"), "utf8");
    const exported = [...docs.matchAll(/^\| `(\w+)(?:\{[\w,]+\})?` \| (\w+) /gm)].map(
      ([, name = "", type]) => (type === "histogram" ? `${name}_bucket` : name),
    );
    expect(exported.length).toBeGreaterThan(50);
    expect(exported.filter((metric) => !used.some(({ name }) => name.test(metric)))).toEqual([]);
  });
});

describe("what a person sees", () => {
  const texts = [...dashboardFiles()].filter(([path]) => path.endsWith(".json"));
  const panels = texts.flatMap(([path, text]) =>
    rawPanels
      .parse(JSON.parse(text))
      .panels.flatMap((one) => (one["type"] === "row" ? z.array(z.unknown()).parse(one["panels"]) : [one]))
      .map((one) => ({ path, one: look.parse(one) })),
  );

  it("is red when it is bad: a timeline has a word and a colour for each of its numbers", () => {
    const timelines = panels.filter(({ one }) => one.type === "state-timeline");
    expect(timelines.length).toBeGreaterThan(6);
    for (const { path, one } of timelines) {
      const { color, mappings } = one.fieldConfig.defaults;
      expect([path, one.title, color?.mode, mappings[0]?.type]).toEqual([
        path,
        one.title,
        "thresholds",
        "value",
      ]);
    }
    const sources = timelines.find(({ one }) => one.title === "Sources")?.one.fieldConfig.defaults
      .mappings[0];
    expect(sources?.options).toMatchObject({ 0: { color: "red" }, 1: { color: "green" } });
  });

  it("has a legend with values, the highest first", () => {
    for (const { path, one } of panels.filter(({ one: { type } }) => type === "timeseries")) {
      const place = [path, one.title];
      expect([place, one.options.legend]).toEqual([
        place,
        expect.objectContaining({ showLegend: true, placement: "right", sortBy: "Last *" }),
      ]);
      expect([place, one.options.tooltip?.sort]).toEqual([place, "desc"]);
    }
  });

  it("is grey where nothing is known, and green where nobody is without pay", () => {
    for (const { path, one } of panels.filter(({ one: { type } }) => type === "stat"))
      expect([path, one.title, one.fieldConfig.defaults.mappings.at(-1)]).toMatchObject([
        path,
        one.title,
        { type: "special", options: { match: "null+nan", result: { color: "text" } } },
      ]);
    const none = panels.find(({ one: { title } }) => title === "Below full pay so far")?.one.fieldConfig
      .defaults;
    expect(none?.thresholds.steps).toEqual([
      { color: "green", value: null },
      { color: "red", value: 1 },
    ]);
  });

  it("has tables of chosen columns, and no link or annotation that a version of Grafana hides", () => {
    for (const { path, one } of panels.filter(({ one: { type } }) => type === "table"))
      expect([path, one.title, one.transformations.at(-1)?.id]).toEqual([path, one.title, "organize"]);
    for (const [path, text] of texts) expect([path, text.includes("inControlsMenu")]).toEqual([path, false]);
  });

  it("has one line for alerts while there is none, and the worst and oldest first", () => {
    const lists = DASHBOARD_SPECS.flatMap(({ rows }) => rows.flatMap(({ panels: inRow }) => inRow)).filter(
      ({ title }) => title === "Alerts",
    );
    expect(lists.length).toBeGreaterThan(6);
    for (const { queries: [first] = [], emptyText, isList } of lists) {
      expect([isList, emptyText]).toEqual([true, "No alert is firing or pending"]);
      const order = [...(first?.expr.matchAll(/sort\([^)]*\).*?state="(\w+)",severity="(\w+)"/g) ?? [])].map(
        ([, state, severity]) => `${state} ${severity}`,
      );
      expect(order.slice(0, 3)).toEqual(["firing critical", "firing warning", "firing info"]);
      expect(order.slice(-3)).toEqual(["pending critical", "pending warning", "pending info"]);
    }
    for (const { one } of panels.filter(({ one: { title } }) => title === "Alerts"))
      expect(one).toMatchObject({ transparent: true, options: { showHeader: false } });
  });

  it("has room for the longest title in every list of alerts, on a screen of 1280 pixels", () => {
    const longest = Math.max(...ALERTS.map(({ summary }) => summary.length - 1));
    const lists = DASHBOARD_SPECS.flatMap(({ rows }) =>
      rows.flatMap(({ panels: inRow }) => inRow.map(({ columns = [] }) => columns)),
    ).filter((columns) => columns.some(({ leadsTo }) => leadsTo === "runbook"));
    expect(lists.length).toBeGreaterThan(6);
    for (const columns of lists) {
      const flexible = columns.filter(({ width }) => width === undefined);
      const fixed = columns.reduce((sum, { width = 0 }) => sum + width, 0);
      // A letter has 7.2 pixels on average, and a cell a margin.
      expect((1_250 - fixed) / flexible.length, flexible.map(({ title }) => title).join()).toBeGreaterThan(
        longest * 7.2 + 12,
      );
    }
  });

  it("has days, gas with prefixes, the currency, and enough decimals on a logarithmic axis", () => {
    const unitOf = (title: string) => panels.find(({ one }) => one.title === title)?.one.fieldConfig.defaults;
    for (const title of [
      "Balance lasts for",
      "Account or fee grant empty in",
      "Uptime",
      "Time until the upgrade",
    ])
      expect([title, unitOf(title)?.unit]).toEqual([title, "suffix:days"]);
    expect(unitOf("Gas per block")?.unit).toBe("si:gas");
    expect(unitOf("Gas price")?.decimals).toBe(4);
    const pay = DASHBOARD_SPECS.flatMap(({ rows }) => rows.flatMap(({ panels: inRow }) => inRow)).find(
      ({ title }) => title === "Likely pay",
    );
    expect(pay).toMatchObject({ show: "name and value", queries: [{ legend: "reward {{currency}}" }] });
  });

  it("begins each legend with what a line is, and not with its place: the end of a long name is cut off", () => {
    const place = /\{\{(?:connection_id|chain_id|job|instance)\}\}/g;
    for (const { file, rows } of DASHBOARD_SPECS)
      for (const { kind, title, queries: lines } of rows.flatMap(({ panels: inRow }) => inRow))
        for (const { legend } of kind === "graph" ? lines : []) {
          const isLate = legend.search(place) === 0 && legend.replaceAll(place, "").trim() !== "";
          expect([file, title, legend, isLate]).toEqual([file, title, legend, false]);
        }
  });

  it("has a title for each column of a table", () => {
    const tables = DASHBOARD_SPECS.flatMap(({ rows }) => rows.flatMap(({ panels: inRow }) => inRow)).filter(
      ({ kind }) => kind === "table",
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const { title, queries, columns = [] } of tables)
      for (const { expr } of queries) {
        const labels = /\bby \(([^)]+)\)/.exec(expr)?.[1]?.split(", ") ?? ["all labels"];
        const untitled = labels.filter((label) => !columns.some((column) => column.label === label));
        expect([title, expr, untitled]).toEqual([title, expr, []]);
      }
  });

  it("shows the number of a query without the panel's unit", () => {
    const shown = texts.find(([path]) => path.endsWith("icq-query.json"))?.[1] ?? "{}";
    const latest = rawPanels.parse(JSON.parse(shown)).panels.find((one) => one["title"] === "Latest queries");
    expect(latest?.["fieldConfig"]).toMatchObject({
      defaults: { custom: { minWidth: 100 }, unit: "suffix:blocks" },
      overrides: expect.arrayContaining([
        {
          matcher: { id: "byName", options: "Query" },
          properties: expect.arrayContaining([{ id: "unit", value: "string" }]),
        },
      ]),
    });
  });

  it("shows causes of the last hours, also where the dashboard opens with the month", () => {
    for (const { file, rows, range } of DASHBOARD_SPECS.filter((spec) => spec.range === "month"))
      for (const { title, last } of rows[1]?.panels ?? [])
        expect([file, range, title, last]).toEqual([file, "month", title, "6h"]);
  });

  it("opens with two rows at most", () => {
    for (const [path, text] of texts) {
      const rows = dashboard.parse(JSON.parse(text)).panels.filter(({ type }) => type === "row");
      expect([path, rows[0]?.collapsed]).toEqual([path, false]);
      for (const { title, collapsed } of rows.slice(2))
        expect([path, title, collapsed]).toEqual([path, title, true]);
    }
  });

  it("is about 110 panels in eight dashboards, and those for people without the watchdog", () => {
    const most: Readonly<Record<string, number>> = { "oracle-am-i-paid": 19 };
    const counts = texts.map(([path]) => {
      const name = /([\w-]+)\.json$/.exec(path)?.[1] ?? path;
      return { name, count: panels.filter((one) => one.path === path).length };
    });
    for (const { name, count } of counts) expect([name, count <= (most[name] ?? 27)]).toEqual([name, true]);
    const eight = counts.filter(({ name }) => name !== DASHBOARD_WITHOUT_WATCHDOG);
    expect(eight).toHaveLength(8);
    expect(eight.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(118);
  });

  it("has its first row on a screen of 720 pixels", () => {
    for (const [path, text] of texts) {
      const [, second] = dashboard.parse(JSON.parse(text)).panels.filter(({ type }) => type === "row");
      expect([path, (second?.gridPos.y ?? 0) <= FIRST_SCREEN]).toEqual([path, true]);
    }
  });

  it("leads from tiles and tables to the details", () => {
    const [overview = ""] = texts.flatMap(([path, text]) => (path.endsWith("overview.json") ? [text] : []));
    const tiles = dashboard.parse(JSON.parse(overview)).panels.filter(({ type }) => type === "stat");
    expect(tiles).toHaveLength(10);
    for (const { title, fieldConfig } of tiles)
      expect([title, fieldConfig?.defaults.links?.[0]?.url]).toEqual([
        title,
        expect.stringMatching(/^\/d\/relaywatch-[\w-]+\?\$\{__url_time_range\}$/),
      ]);
    const leads = texts.flatMap(([, text]) => [...text.matchAll(/"\/d\/([\w-]+)\?var-(\w+)=/g)]);
    expect(leads.length).toBeGreaterThan(8);
    for (const [, uid, variable] of leads)
      expect([
        uid,
        variable,
        DASHBOARD_SPECS.find((spec) => spec.uid === uid)?.variables.some(({ name }) => name === variable),
      ]).toEqual([uid, variable, true]);
  });
});

describe("the queries", () => {
  const known = knownMetrics(records.map(({ record }) => record));
  const queries = DASHBOARD_SPECS.flatMap(dashboardExpressions);

  it.each(queries)("$place: $expr", ({ expr }) => {
    const plain = withoutVariables(expr);
    const selectors = promqlSelectors(plain);
    if (expr.includes("vector(")) return;
    expect(selectors.length).toBeGreaterThan(0);
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
  });
});

function overlaps(a: z.output<typeof position>, b: z.output<typeof position>): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}
