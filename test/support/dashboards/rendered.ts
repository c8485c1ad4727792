import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { AROUND_ALERT_MS } from "../../../src/platform/monitoring/alerts/links.ts";
import { type DashboardPage, openDashboardPage, type SeenPanel, type View } from "./dashboard-page.ts";

/** A rendering that a test wants: a dashboard, in a situation, at some widths. */
export interface Job {
  readonly situation: string;
  /** The present of the situation. */
  readonly endMs: number;
  readonly dashboard: string;
  readonly json: unknown;
  readonly widths: readonly number[];
  readonly view: View;
}

/** What was seen. */
export interface Rendered {
  readonly situation: string;
  readonly dashboard: string;
  readonly width: number;
  readonly isOpen: boolean;
  readonly panels: readonly SeenPanel[];
  readonly errors: readonly string[];
}

/** Pixels of a small screen. */
export const SCREEN = { width: 1280, height: 720 };

/** Pages at the same time: the work is the browser's and Prometheus', and a machine has two processors at least. */
const PAGES = 2;

/** How an alert's link opens a dashboard: from some hours before it, until now or an hour after it. */
export function alertView(sinceMs: number, endMs: number): View {
  const { before, after } = AROUND_ALERT_MS;
  return { from: `${sinceMs - before}`, to: `${Math.min(endMs, sinceMs + after)}` };
}

/** Renders all jobs, and stores a picture of each in a folder. */
export async function renderAll(
  browser: Browser,
  prometheus: string,
  jobs: readonly Job[],
  folder: string,
): Promise<readonly Rendered[]> {
  mkdirSync(folder, { recursive: true });
  const left = [...jobs];
  const worker = async (): Promise<readonly Rendered[]> => {
    const page = await openDashboardPage(browser, prometheus);
    const done: Rendered[] = [];
    for (let job = left.shift(); job !== undefined; job = left.shift())
      done.push(...(await render(page, job, folder)));
    await page.close();
    return done;
  };
  return (await Promise.all(Array.from({ length: PAGES }, worker))).flat();
}

async function render(page: DashboardPage, job: Job, folder: string): Promise<readonly Rendered[]> {
  const { situation, dashboard, json, widths, endMs, view } = job;
  const isOpen = view.isOpen === true;
  await page.show(json, endMs, widths[0] ?? SCREEN.width, view);
  const done: Rendered[] = [];
  for (const width of widths) {
    const panels = await page.read(width);
    const name = join(folder, `${dashboard}-${situation}`);
    await page.picture(`${name}-${width}${isOpen ? "-open" : ""}.png`);
    // Those that are rendered at this width only are as people open them, at least in the first two rows.
    if (width === SCREEN.width && widths.length === 1)
      await page.picture(`${name}-screen.jpg`, SCREEN.height);
    done.push({ situation, dashboard, width, isOpen, panels, errors: page.takeErrors() });
  }
  return done;
}
