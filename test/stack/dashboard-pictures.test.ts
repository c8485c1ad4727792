import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { dashboardFiles } from "../../src/cli/generate/dashboard-files.ts";
import { DASHBOARD_SPECS } from "../../src/cli/generate/dashboards.ts";
import { ALERTS } from "../../src/cli/generate/rules.ts";
import { buildDashboardPage, type SeenPanel } from "../support/dashboards/dashboard-page.ts";
import { alertView, type Job, type Rendered, renderAll, SCREEN } from "../support/dashboards/rendered.ts";
import { openSeriesStore } from "../support/dashboards/series-store.ts";
import { FAULTS, type Situation, SITUATIONS, YOUNG_MONTH } from "../support/dashboards/situations.ts";
import { FAULT_MS } from "../support/dashboards/target.ts";
import { launchBrowser } from "../support/pages/browser.ts";
import type { StoredPrometheus } from "../support/stack/prometheus-server.ts";

/** Folder of the pictures. A person can look through it. */
const FOLDER = process.env["RELAYWATCH_PICTURES"] ?? "dist/pictures";
const WIDE = 1920;
const NARROW = SCREEN.width;
/** Pixels of the whole dashboard as it opens. */
const MOST_PIXELS = 1_600;

const panelSchema = z.looseObject({
  id: z.number(),
  type: z.string(),
  title: z.string(),
  panels: z.array(z.unknown()).default([]),
});
const json = z.looseObject({ panels: z.array(panelSchema) });
const dashboards = new Map(
  [...dashboardFiles()].flatMap(([path, text]) => {
    const name = /([\w-]+)\.json$/.exec(path)?.[1];
    return name === undefined ? [] : [[name, json.parse(JSON.parse(text))] as const];
  }),
);
/** Panels of all rows. */
function panelsIn(dashboard: string): number {
  const panels = dashboards.get(dashboard)?.panels ?? [];
  return panels.reduce((sum, { type, panels: inside }) => sum + (type === "row" ? inside.length : 1), 0);
}

/** Ids of the panels in the first row. */
function firstRow(dashboard: string): readonly number[] {
  const [, ...rest] = dashboards.get(dashboard)?.panels ?? [];
  const end = rest.findIndex(({ type }) => type === "row");
  return rest.slice(0, end === -1 ? rest.length : end).map(({ id }) => id);
}

const isByLink = (situation: string): boolean =>
  [...SITUATIONS, ...FAULTS].find(({ name }) => name === situation)?.isLinked === true;

const NOTHING = "nothing-scraped";

let browser: Browser;
let prometheus: StoredPrometheus;
let all: readonly Rendered[] = [];

/** Every situation as people open it: by the dashboard, or by the link of an alert. */
function jobsOf(
  situation: Situation,
  names: readonly string[],
  widths: readonly number[],
  isOpen: boolean,
): Job[] {
  const { name, endMs, isLinked } = situation;
  const range = isLinked ? alertView(endMs - FAULT_MS, endMs) : {};
  return names.flatMap((dashboard) => {
    const shown = dashboards.get(dashboard);
    return shown === undefined
      ? []
      : [{ situation: name, endMs, dashboard, json: shown, widths, view: { ...range, isOpen } }];
  });
}

const NAMES = [...dashboards.keys()];
/** The alert of each fault, in the list where people see it first. */
const ALERT_OF: Readonly<Record<string, string>> = {
  "sidecar-down": "sidecar-down",
  "sidecar-slow": "sidecar-slow",
  "prices-frozen": "stale-price-timestamp",
  "node-down": "cannot-see-votes",
  "prices-missing": "all-prices-missing",
  "relayer-out-of-funds": "relayer-account-empty",
  "endpoint-down": "relayer-endpoint-down",
  "remote-chain-halted": "relayer-remote-chain-halted",
  "market-full": "relayer-demand-above-market",
};

/** What the lists show of an alert. */
function titleOf(alert: string): string {
  const { summary } = ALERTS.find(({ name }) => name === alert) ?? expect.unreachable(`no alert ${alert}`);
  return summary.replace(/\.$/, "");
}

/** The panel with an alert's cause, and the dashboard that has it. */
function causeOf(situation: string): { readonly dashboard: string; readonly panel: string } {
  const alert = ALERTS.find(
    ({ name, component }) => name === ALERT_OF[situation] && component !== "oracle-raw",
  );
  const spec = DASHBOARD_SPECS.find(({ uid }) => uid === alert?.cause.dashboard);
  if (alert === undefined || spec === undefined) throw new Error(`${situation} has no alert with a cause`);
  return { dashboard: spec.file.replace(".json", ""), panel: alert.cause.panel };
}

beforeAll(async () => {
  buildDashboardPage();
  browser = await launchBrowser();
  prometheus = await openSeriesStore([...SITUATIONS, ...FAULTS, YOUNG_MONTH]);
  const [healthy] = SITUATIONS;
  if (healthy === undefined) throw new Error("no situation");
  const nothing = { ...healthy, name: NOTHING, endMs: healthy.endMs + 3 * 86_400_000 };
  all = await renderAll(
    browser,
    prometheus.url,
    [
      ...SITUATIONS.flatMap((situation) => jobsOf(situation, NAMES, [WIDE, NARROW], true)),
      ...FAULTS.flatMap((situation) =>
        jobsOf(
          situation,
          [
            ...new Set([
              ALERT_OF[situation.name]?.startsWith("relayer-") ? "icq-relayer" : "oracle-am-i-paid",
              causeOf(situation.name).dashboard,
            ]),
          ],
          [NARROW],
          true,
        ),
      ),
      ...SITUATIONS.flatMap((situation) => jobsOf(situation, NAMES, [NARROW], false)),
      ...jobsOf(YOUNG_MONTH, ["oracle-am-i-paid", "oracle-fleet", "overview"], [NARROW], false),
      ...jobsOf(nothing, NAMES, [NARROW], false),
    ],
    FOLDER,
  );
  writeFileSync(join(FOLDER, "dashboards.json"), JSON.stringify(all, null, 1));
}, 900_000);
afterAll(async () => {
  await browser?.close();
  await prometheus?.close();
});

/** Views of the four situations and of the faults, that is with data. */
const withData = (): readonly Rendered[] => all.filter(({ situation }) => situation !== NOTHING);

function view(situation: string, dashboard: string, width = NARROW): Rendered {
  const found = all
    .filter((one) => one.situation === situation && one.dashboard === dashboard && one.width === width)
    .toSorted((a, b) => b.panels.length - a.panels.length)[0];
  if (found === undefined) throw new Error(`${dashboard} was not rendered in ${situation}`);
  return found;
}

function panelOf(rendered: Rendered, title: string): SeenPanel {
  const found = rendered.panels.find((panel) => panel.title === title);
  if (found === undefined) throw new Error(`${rendered.dashboard} has no panel ${title}`);
  return found;
}

/** Each thing that is wrong, with its place. */
function findings(
  rendered: readonly Rendered[],
  find: (panel: SeenPanel, one: Rendered) => readonly string[],
): readonly string[] {
  return [
    ...new Set(
      rendered.flatMap((one) =>
        one.panels.flatMap((panel) =>
          find(panel, one).map(
            (text) => `${one.dashboard}, ${one.situation}, ${one.width}: ${panel.title}: ${text}`,
          ),
        ),
      ),
    ),
  ];
}

const colorsOf = ({ tiles, states, rows }: SeenPanel): readonly string[] =>
  [...tiles, ...states, ...rows.flat()].map(({ color }) => color);

describe("every dashboard in every situation", () => {
  it("is rendered without an error", () => {
    expect(all.length).toBeGreaterThan(dashboards.size * SITUATIONS.length * 3);
    expect(all.filter(({ errors }) => errors.length > 0)).toEqual([]);
    for (const { situation, dashboard, width, panels, isOpen } of all) {
      const place = [situation, dashboard, width];
      const shown = dashboards.get(dashboard)?.panels.filter(({ type }) => type !== "row") ?? [];
      expect([place, panels.length]).toEqual([place, isOpen ? panelsIn(dashboard) : shown.length]);
    }
  });

  it("cuts nothing off: titles, tiles, cells", () => {
    expect(findings(all, ({ clipped }) => clipped)).toEqual([]);
  });

  it("has a legend beside each graph, with names that fit on a wide screen", () => {
    const graphs = (panel: SeenPanel): boolean => panel.kind === "timeseries" && panel.empty === undefined;
    expect(
      findings(withData(), (panel) => (graphs(panel) && panel.legend.length === 0 ? ["none"] : [])),
    ).toEqual([]);
    const wide = withData().filter(({ width }) => width === WIDE);
    expect(
      findings(wide, ({ legend }) => legend.filter(({ isClipped }) => isClipped).map(({ name }) => name)),
    ).toEqual([]);
  });

  it("has the highest last value first in each legend", () => {
    const unsorted = ({ legend }: SeenPanel): readonly string[] => {
      const values = legend.map(({ values: [last = ""] }) => /^(-?[\d.,]+)(?: ?(\D+))?$/.exec(last));
      const isOneUnit = new Set(values.map((value) => value?.[2] ?? "")).size === 1;
      const numbers = values.map((value) => Number(value?.[1]?.replaceAll(",", "")));
      const isSorted = numbers.every((number, index) => index === 0 || number <= (numbers[index - 1] ?? 0));
      return isOneUnit && !isSorted ? [numbers.join(" ")] : [];
    };
    expect(findings(withData(), unsorted)).toEqual([]);
    const sorted = withData().flatMap(({ panels }) => panels.filter(({ legend }) => legend.length > 2));
    expect(sorted.length).toBeGreaterThan(100);
  });

  it("draws each graph that has data", () => {
    // Six hours of a month are too narrow to see.
    const ofHours = withData().filter(
      ({ situation, dashboard }) => !(dashboard.startsWith("oracle-am") && !isByLink(situation)),
    );
    expect(
      findings(ofHours, ({ kind, empty, isDrawn, legend }) =>
        kind === "timeseries" && empty === undefined && !isDrawn && legend.length > 0 ? ["no line"] : [],
      ),
    ).toEqual([]);
  });

  it("has no panel without data and without a sentence that says why", () => {
    expect(findings(withData(), ({ text }) => (/no data/i.test(text) ? [text] : []))).toEqual([]);
  });

  it("answers on a small screen: the first row ends there, and the open rows are short", () => {
    for (const { situation, dashboard, panels, isOpen } of all.filter(({ width }) => width === NARROW)) {
      const place = [situation, dashboard];
      const ids = firstRow(dashboard);
      const first = panels.filter(({ id }) => ids.includes(id));
      expect([place, first.length]).toEqual([place, ids.length]);
      expect([place, Math.max(...first.map(({ bottom }) => bottom)) <= SCREEN.height]).toEqual([place, true]);
      if (!isOpen)
        expect([place, Math.max(...panels.map(({ bottom }) => bottom)) <= MOST_PIXELS]).toEqual([
          place,
          true,
        ]);
    }
  });
});

describe("colours", () => {
  it("are green in health, and nothing is red", () => {
    const healthy = all.filter(({ situation }) => situation === "healthy");
    expect(findings(healthy, (panel) => colorsOf(panel).filter((color) => color === "red"))).toEqual([]);
    const tiles = view("healthy", "overview").panels.flatMap((panel) => panel.tiles);
    expect(tiles.filter(({ color }) => color === "green").length).toBeGreaterThan(6);
  });

  it("are grey where nothing is known", () => {
    const nothing = all.filter(({ situation }) => situation === NOTHING);
    expect(nothing).toHaveLength(dashboards.size);
    const tiles = findings(nothing, ({ tiles: shown }) =>
      shown
        .filter(({ color, text }) => !["grey", "none"].includes(color) || text === "")
        .map(({ color, text }) => `${color} ${text}`),
    );
    expect(tiles).toEqual([]);
  });

  it.each<[situation: string, dashboard: string, panel: string, seen: Readonly<Record<string, string>>]>([
    ["healthy", "oracle-am-i-paid", "Tier so far", { full: "green" }],
    [
      "healthy",
      "oracle-am-i-paid",
      "Sources",
      {
        "node node: readable": "green",
        "node prices: readable": "green",
        "node oracle-metrics: not served": "grey",
      },
    ],
    [
      "sidecar-down",
      "oracle-am-i-paid",
      "Sources",
      {
        "node node: readable": "green",
        "node prices: cannot be read": "red",
        "node sidecar-metrics: cannot be read": "red",
      },
    ],
    ["sidecar-down", "oracle-am-i-paid", "Burn, 1 h", { "full 33.3": "red", "none 13.3": "yellow" }],
    ["node-down", "oracle-am-i-paid", "Burn, 1 h", { "not seen": "grey" }],
    ["node-down", "oracle-am-i-paid", "Node seen", { "40 mins": "red" }],
    ["healthy", "oracle-am-i-paid", "Node seen", { "2 s": "green" }],
    ["sidecar-down", "overview", "Targets down", { 1: "red" }],
    ["sidecar-down", "overview", "Relayers ready", { ready: "green" }],
    [
      "sidecar-down",
      "process",
      "Targets",
      { "oracle-sidecar node:8002: down": "red", "icq-relayer relayer:9999: up": "green" },
    ],
    ["market-full", "overview", "Firing alerts", { 1: "red" }],
    [
      "market-full",
      "icq-costs",
      "Budget phase",
      { "demand relayer:9999: more demand than the market bears": "orange" },
    ],
    ["two-relayers-three-validators", "overview", "Below full pay so far", { 2: "red" }],
    ["young-month", "overview", "Below full pay so far", { 0: "green" }],
    ["young-month", "oracle-fleet", "Validators", { "too early": "blue" }],
    ["young-month", "oracle-am-i-paid", "Tier so far", { "too early": "blue" }],
    ["young-month", "oracle-am-i-paid", "Forecast", { "Forecast none yet": "none" }],
    ["young-month", "oracle-am-i-paid", "Likely pay", { "Likely pay none yet": "none" }],
    [
      "two-relayers-three-validators",
      "oracle-fleet",
      "Validators",
      { none: "red", proportional: "yellow", full: "green" },
    ],
    [
      "two-relayers-three-validators",
      "icq-relayer",
      "Role, gate, subscription, light clients, store",
      { "role relayer-a:9999: leader": "green", "role relayer-b:9999: standby": "blue" },
    ],
  ])("%s, %s, %s", (situation, dashboard, title, seen) => {
    const { tiles, states, rows } = panelOf(view(situation, dashboard), title);
    const seenTexts = [
      ...tiles.map(({ text, color }) => [text, color]),
      ...states.map(({ name, state, color }) => [`${name}: ${state}`, color]),
      ...rows.flat().map(({ text, color }) => [text, color]),
    ];
    expect(Object.fromEntries(seenTexts)).toMatchObject(seen);
  });
});

it.each(["Forecast of the month's end", "Pay"])(
  "%s has a line for each estimate of the forecast",
  (title) => {
    const names = panelOf(view("healthy", "oracle-am-i-paid"), title).legend.map(({ name }) => name);
    for (const estimate of ["low", "middle", "high"])
      expect(names.filter((name) => name.startsWith(estimate))).toHaveLength(1);
  },
);

describe("what a person reads first", () => {
  it.each<[situation: string, dashboard: string, panel: string, row: readonly string[]]>([
    ["sidecar-down", "oracle-am-i-paid", "Alerts", ["firing", "critical", titleOf("sidecar-down")]],
    ["sidecar-down", "overview", "Alerts", ["firing", "critical", titleOf("relaywatch-target-down")]],
    ["sidecar-slow", "oracle-am-i-paid", "Alerts", ["firing", "warning", titleOf("sidecar-slow")]],
    ["prices-frozen", "oracle-am-i-paid", "Alerts", ["firing", "critical", "Prices are frozen"]],
    ["node-down", "oracle-am-i-paid", "Alerts", ["firing", "critical", titleOf("cannot-see-votes")]],
    ["prices-missing", "oracle-am-i-paid", "Alerts", ["firing", "critical", titleOf("all-prices-missing")]],
    [
      "relayer-out-of-funds",
      "icq-relayer",
      "Alerts",
      ["firing", "critical", titleOf("relayer-account-empty")],
    ],
    ["relayer-out-of-funds", "icq-relayer", "Problems", ["account-cannot-pay"]],
    [
      "endpoint-down",
      "icq-relayer",
      "Alerts",
      ["firing", "warning", titleOf("relayer-endpoint-down"), "rpc.cosmos.example"],
    ],
    [
      "remote-chain-halted",
      "icq-relayer",
      "Alerts",
      ["firing", "warning", titleOf("relayer-remote-chain-halted"), "connection-9"],
    ],
    ["market-full", "overview", "Alerts", ["firing", "warning", titleOf("relayer-demand-above-market")]],
    ["two-relayers-three-validators", "oracle-fleet", "Validators", ["val-singapore", "neutron-1", "none"]],
  ])("%s, %s: the first line of %s", (situation, dashboard, title, row) => {
    const [, first = []] = panelOf(view(situation, dashboard), title).rows;
    expect(first.slice(0, row.length).map(({ text }) => text)).toEqual(row);
  });

  it("the watchdog's alerts are below their cause, and the overview leaves them out", () => {
    const { rows } = panelOf(view("sidecar-down", "oracle-am-i-paid"), "Alerts");
    const states = rows.slice(1).map(([state]) => state?.text);
    expect(states.slice(0, 4)).toEqual(["firing", "muted", "muted", "muted"]);
    const shown = panelOf(view("sidecar-down", "overview"), "Alerts").rows.flat();
    expect(shown.map(({ text }) => text)).toContain(titleOf("sidecar-down"));
    expect(shown.map(({ text }) => text)).not.toContain(titleOf("oracle-calls-failing"));
  });

  it("an alert's title leads to its runbook", () => {
    const [, first = []] = panelOf(view("sidecar-down", "oracle-am-i-paid"), "Alerts").rows;
    expect(first[2]?.link).toMatch(/\/sidecar-down\.md$/);
  });

  it.each(Object.keys(ALERT_OF))(
    "the link of the alert about %s opens a panel that shows it",
    (situation) => {
      const { dashboard, panel: title } = causeOf(situation);
      const { kind, empty, states, isDrawn, marks } = panelOf(view(situation, dashboard), title);
      expect(empty).toBeUndefined();
      if (kind === "state-timeline")
        expect(states.some(({ color }) => ["red", "orange"].includes(color))).toBe(true);
      else expect([isDrawn, marks > 0]).toEqual([true, true]);
    },
  );

  it("alerts are marked in the graphs at their time", () => {
    const graphs = view("sidecar-down", "oracle-am-i-paid").panels.filter(
      ({ kind }) => kind === "timeseries",
    );
    expect(graphs.length).toBeGreaterThan(2);
    for (const { title, marks } of graphs) expect([title, marks > 0]).toEqual([title, true]);
    expect(view("healthy", "oracle-am-i-paid").panels.every(({ marks }) => marks === 0)).toBe(true);
  });
});
