import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";

const TOOL = new URL("../../../tools/dashboards/", import.meta.url).pathname;
const INSTALL = new URL("../../../tools/install.mjs", import.meta.url).pathname;
/** Nothing listens there: every request is answered here. Pages of this machine may ask for the permission to read from its servers. */
const ORIGIN = "http://localhost:3000";
const FILES = ["/", "/page.js", "/page.css"];
const ICONS = join(TOOL, "node_modules/@grafana/ui/dist/public/img/icons");

/** What is shown of a dashboard. Times are Grafana's: "now-6h", or milliseconds. */
export interface View {
  readonly from?: string;
  readonly to?: string;
  readonly isOpen?: boolean;
  readonly variables?: Readonly<Record<string, string>>;
}

/** A browser's page that renders dashboards with Grafana's packages. */
export interface DashboardPage {
  readonly page: Page;
  /** Errors of scripts, of the console, and of requests. */
  readonly errors: string[];
  /** Renders a dashboard's JSON. `nowMs` is the browser's present. */
  readonly show: (json: unknown, nowMs: number, view?: View) => Promise<void>;
  /** Changes the width of the window, and waits until all is drawn again. The window is as high as the dashboard. */
  readonly resize: (width: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Installs Grafana's packages unless they are, and bundles the page. Throws with the reason when that is not possible. */
export function buildDashboardPage(): void {
  execFileSync(process.execPath, [INSTALL, "dashboards"], { stdio: ["ignore", "inherit", "inherit"] });
  execFileSync(process.execPath, [join(TOOL, "build.mjs")], { stdio: ["ignore", "inherit", "inherit"] });
}

function iconOf(path: string): string {
  const file = join(ICONS, /\/icons\/(.+)$/.exec(path)?.[1] ?? "none");
  return existsSync(file) ? readFileSync(file, "utf8") : '<svg xmlns="http://www.w3.org/2000/svg"/>';
}

/** Opens the page over a Prometheus. */
export async function openDashboardPage(browser: Browser, prometheus: string): Promise<DashboardPage> {
  const context = await browser.newContext({ viewport: { width: 1920, height: 1080 }, reducedMotion: "reduce", permissions: ["local-network-access"] });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await context.route(`${ORIGIN}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname;
    if (FILES.includes(path)) await route.fulfill({ path: join(TOOL, "dist", path === "/" ? "index.html" : path) });
    // Grafana's server has icons, some of which are in no package, and fonts, which the page has already.
    else if (path.endsWith(".svg")) await route.fulfill({ contentType: "image/svg+xml", body: iconOf(path) });
    else await route.fulfill({ status: 204 });
  });
  await page.goto(`${ORIGIN}/`);
  await page.evaluate(`connect(${JSON.stringify(prometheus)})`);
  const resize = async (width: number): Promise<void> => {
    await page.setViewportSize({ width, height: 1080 });
    await page.evaluate("untilQuiet()");
    const height = Number(await page.evaluate("heightOf()"));
    await page.setViewportSize({ width, height });
    await page.evaluate("untilQuiet()");
  };
  return {
    page,
    errors,
    show: async (json, nowMs, view = {}) => {
      await page.clock.setFixedTime(nowMs);
      await page.evaluate(`show(${JSON.stringify(json)}, ${JSON.stringify(view)})`);
    },
    resize,
    close: () => context.close(),
  };
}
