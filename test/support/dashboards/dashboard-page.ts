import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { z } from "zod";

const TOOL = new URL("../../../tools/dashboards/", import.meta.url).pathname;
const INSTALL = new URL("../../../tools/install.mjs", import.meta.url).pathname;
/** Nothing listens there: every request is answered here. Pages of this machine may ask for the permission to read from its servers. */
const ORIGIN = "http://localhost:3000";
const FILES = ["/", "/page.js", "/page.css"];
const ICONS = join(TOOL, "node_modules/@grafana/ui/dist/public/img/icons");
/** Pixels of a line of the grid, of what is above the grid with its controls in two lines, and of a margin below it. */
const LINE = 38;
const ABOVE = 150;
const BELOW = 30;

/** What is shown of a dashboard. Times are Grafana's: "now-6h", or milliseconds. */
export interface View {
  readonly from?: string;
  readonly to?: string;
  /** Rows that are closed are open. */
  readonly isOpen?: boolean;
}

const cell = z.object({ text: z.string(), color: z.string(), link: z.string().optional() });
const panels = z.array(
  z.object({
    id: z.number(),
    kind: z.string(),
    title: z.string(),
    text: z.string(),
    bottom: z.number(),
    clipped: z.array(z.string()),
    empty: z.string().optional(),
    tiles: z.array(cell),
    rows: z.array(z.array(cell)),
    legend: z.array(z.object({ name: z.string(), isClipped: z.boolean(), values: z.array(z.string()) })),
    states: z.array(z.object({ name: z.string(), state: z.string(), color: z.string() })),
    marks: z.number(),
    isDrawn: z.boolean(),
  }),
);
/** What a person sees of a panel (`tools/dashboards/page/read.ts`). */
export type SeenPanel = z.output<typeof panels>[number];

const shown = z.object({
  panels: z.array(
    z.object({
      type: z.string(),
      gridPos: z.object({ y: z.number(), h: z.number() }),
      panels: z.array(z.object({ gridPos: z.object({ h: z.number(), y: z.number() }) })).default([]),
    }),
  ),
});

/** A browser's page that renders dashboards with Grafana's packages. */
export interface DashboardPage {
  /** Renders a dashboard's JSON in a window of this width that is high enough for all of it. `nowMs` is the browser's present. */
  readonly show: (json: unknown, nowMs: number, width: number, view: View) => Promise<void>;
  /** Changes the width of the window, and reads the panels when all is drawn again. */
  readonly read: (width: number) => Promise<readonly SeenPanel[]>;
  readonly picture: (path: string, height?: number) => Promise<void>;
  /** Returns the errors of scripts, of the console and of requests since the last call. */
  readonly takeErrors: () => readonly string[];
  readonly close: () => Promise<void>;
}

/** Installs Grafana's packages unless they are, and bundles the page. Throws with the reason when that is not possible. */
export function buildDashboardPage(): void {
  for (const script of [[INSTALL, "dashboards"], [join(TOOL, "build.mjs")]])
    execFileSync(process.execPath, script, { stdio: ["ignore", "ignore", "inherit"] });
}

/** Opens the page over a Prometheus. */
export async function openDashboardPage(browser: Browser, prometheus: string): Promise<DashboardPage> {
  const context = await browser.newContext({
    viewport: { width: 1920, height: 1080 },
    reducedMotion: "reduce",
    permissions: ["local-network-access"],
  });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await context.route(`${ORIGIN}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname;
    if (FILES.includes(path))
      await route.fulfill({ path: join(TOOL, "dist", path === "/" ? "index.html" : path) });
    // Grafana's server has icons, some of which are in no package, and fonts, which the page has already.
    else if (path.endsWith(".svg")) await route.fulfill({ contentType: "image/svg+xml", body: iconOf(path) });
    else await route.fulfill({ status: 204 });
  });
  await page.goto(`${ORIGIN}/`);
  await page.evaluate(`connect(${JSON.stringify(prometheus)})`);
  let height = 1080;
  return {
    show: async (json, nowMs, width, view) => {
      height = ABOVE + linesOf(json, view.isOpen === true) * LINE + BELOW;
      await page.clock.setFixedTime(nowMs);
      await page.setViewportSize({ width, height });
      await page.evaluate(`show(${JSON.stringify(json)}, ${JSON.stringify(view)})`);
    },
    read: async (width) => {
      if (page.viewportSize()?.width !== width) {
        await page.setViewportSize({ width, height });
        await page.evaluate("untilQuiet()");
      }
      return panels.parse(await page.evaluate("readPanels()"));
    },
    picture: async (path, most = height) => {
      const width = page.viewportSize()?.width ?? 1920;
      // Tiles have gradients, which PNG does not compress.
      const quality = path.endsWith(".jpg") ? { quality: 85 } : {};
      await page.screenshot({
        path,
        ...quality,
        clip: { x: 0, y: 0, width, height: Math.min(height, most) },
      });
    },
    takeErrors: () => errors.splice(0),
    close: () => context.close(),
  };
}

function iconOf(path: string): string {
  const file = join(ICONS, /\/icons\/(.+)$/.exec(path)?.[1] ?? "none");
  return existsSync(file) ? readFileSync(file, "utf8") : '<svg xmlns="http://www.w3.org/2000/svg"/>';
}

/** Lines of a dashboard's grid. */
function linesOf(json: unknown, isOpen: boolean): number {
  const all = shown.parse(json).panels;
  const lowest = Math.max(...all.map(({ gridPos }) => gridPos.y + gridPos.h));
  const closed = all.map(({ gridPos, panels: inside }) =>
    Math.max(0, ...inside.map((one) => one.gridPos.y + one.gridPos.h - gridPos.y - 1)),
  );
  return isOpen ? lowest + closed.reduce((sum, lines) => sum + lines, 0) : lowest;
}
