import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { LivePage, PageView } from "../../src/platform/web/live-page.ts";
import { relayerPages } from "../../src/relayer/page/relayer-page.ts";
import { localnetOverview } from "../../src/localnet/network/overview-page.ts";
import { watchdogPages } from "../../src/watchdog/page/create-page.ts";
import {
  axeViolations,
  brokenNumbers,
  launchBrowser,
  openPage,
  overflow,
  overlaps,
  PHONE,
  untilLive,
} from "../support/pages/browser.ts";
import { BAD, CONTRACT_SCENE } from "../support/pages/contract-scenes.ts";
import { localnetScene, NEIGHBOUR_ROUTE } from "../support/pages/localnet-scenes.ts";
import { type PageServer, startPageServer } from "../support/pages/page-server.ts";
import {
  demandAboveMarket,
  emptyRelayer,
  haltedRemote,
  healthyRelayer,
  oneLateQuery,
} from "../support/pages/relayer-scenes.ts";
import {
  buildNewMonth,
  buildValidator,
  fleetOf,
  HEALTHY,
  pageOf,
  TROUBLED,
} from "../support/pages/watchdog-scenes.ts";

/** Folder of the pictures. A person can look through it. */
const FOLDER = process.env["RELAYWATCH_PICTURES"] ?? "dist/pictures";

const SCREEN = { width: 1_440, height: 900 };

let browser: Browser;
let neighbour: PageServer;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  neighbour = await startPageServer({ pages: [], routes: [NEIGHBOUR_ROUTE] });
  mkdirSync(FOLDER, { recursive: true });
  browser = await launchBrowser();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(async () => {
  await browser.close();
  await neighbour.close();
});

/** The first page of a daemon in one situation. */
interface Situation {
  readonly name: string;
  readonly pages: () => readonly LivePage[];
  /** What the page shows: "?tx=…". Default: what it shows first. */
  readonly view?: string;
  readonly headline: string;
  /** Most pixels of its height on a screen. Default: one screen. */
  readonly maxHeight?: number;
  readonly maxWords: number;
}

const youngMonth = buildNewMonth({ good: 290, bad: 2, recent: 0.001 });

const SITUATIONS: readonly Situation[] = [
  {
    name: "relayer-healthy",
    pages: () => relayerPages(() => healthyRelayer(10)),
    headline: "✓ In order: every result is current",
    maxWords: 300,
  },
  {
    name: "relayer-one-query-late",
    pages: () => relayerPages(() => oneLateQuery(10)),
    headline: "✕ Results are overdue",
    maxWords: 340,
  },
  {
    name: "relayer-remote-chain-halted",
    pages: () => relayerPages(() => haltedRemote(10)),
    headline: "✕ A remote chain has no new block",
    maxWords: 360,
  },
  {
    name: "relayer-demand-above-market",
    pages: () => relayerPages(() => demandAboveMarket(10)),
    headline: "! Demand is above what the fee market bears",
    maxWords: 340,
  },
  {
    name: "relayer-empty",
    pages: () => relayerPages(emptyRelayer),
    headline: "✓ In order: there is no query to serve",
    maxWords: 200,
  },
  {
    name: "watchdog-healthy",
    pages: () => watchdogPages(() => pageOf([buildValidator(HEALTHY)])),
    headline: "✓ Paid in full at the current rate",
    maxWords: 240,
  },
  {
    name: "watchdog-sidecar-down",
    pages: () => watchdogPages(() => pageOf([buildValidator(TROUBLED)])),
    headline: "✕ Losing: sidecar down",
    maxWords: 300,
  },
  {
    name: "watchdog-young-month",
    pages: () =>
      watchdogPages(() => pageOf([youngMonth], { nowMs: (youngMonth.status.polledAtMs ?? 0) + 2_000 })),
    headline: "✓ Paid in full at the rate of recent days",
    maxWords: 240,
  },
  {
    name: "watchdog-30-validators",
    pages: () => watchdogPages(() => fleetOf(30)),
    headline: "✕ 2 validators of 30: lost; 25 paid in full",
    maxHeight: 1_200,
    maxWords: 560,
  },
  {
    name: "localnet-fault-on",
    pages: () => [
      localnetOverview(
        localnetScene({
          on: ["slow"],
          halted: true,
          neighbours: [{ name: "daemons", url: `${neighbour.url}/` }],
        }),
      ),
    ],
    headline: "! Look at chain remote-1: halted",
    maxWords: 260,
  },
  {
    name: "localnet-contracts",
    pages: () => [CONTRACT_SCENE],
    headline: "! 2 transactions called contracts, 1 failed",
    maxWords: 200,
  },
  {
    name: "localnet-contracts-failed-call",
    pages: () => [CONTRACT_SCENE],
    view: `?tx=${BAD}`,
    headline: "! 2 transactions called contracts, 1 failed",
    maxHeight: 1_200,
    maxWords: 260,
  },
];

async function open({ name, pages, view = "" }: Situation, options: Parameters<typeof openPage>[2]) {
  const heading = name.startsWith("relayer")
    ? "Interchain-query relayer"
    : name.startsWith("watchdog")
      ? "Oracle watchdog"
      : "Localnet";
  // A picture shows a scene in its present, so that the head has the time of the content.
  let presentMs = Number.NaN;
  const shown = pages().map((page) => ({
    ...page,
    content: async (given: PageView) => {
      const content = await page.content(given);
      presentMs = content.asOfMs;
      return content;
    },
  }));
  const clock = { ...systemClock, nowMs: () => presentMs };
  const server = await startPageServer({ pages: shown, heading, clock });
  closing.push(server.close);
  const opened = await openPage(browser, `${server.url}/${view}`, options);
  closing.push(opened.close);
  await untilLive(opened.page);
  return opened;
}

async function heightOf(page: Page): Promise<number> {
  return Number(await page.evaluate("document.documentElement.scrollHeight"));
}

describe.each(SITUATIONS)("the first page in the situation $name", (situation) => {
  it.each([
    ["light", "light"],
    ["dark", "dark"],
  ] as const)("fits one screen, in %s colours", async (_name, colorScheme) => {
    const { page, errors } = await open(situation, { viewport: SCREEN, colorScheme });
    await page.screenshot({ path: join(FOLDER, `${situation.name}-${colorScheme}.png`), fullPage: true });
    expect(await page.locator(".headline").textContent()).toBe(situation.headline);
    expect((await page.locator("main").innerText()).split(/\s+/).length).toBeLessThanOrEqual(
      situation.maxWords,
    );
    expect(await overlaps(page)).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    expect(await heightOf(page)).toBeLessThanOrEqual(situation.maxHeight ?? SCREEN.height);
    expect(errors).toEqual([]);
  });

  it("fits three screens of a phone, without scrolling sideways", async () => {
    const { page } = await open(situation, { viewport: PHONE });
    await page.screenshot({ path: join(FOLDER, `${situation.name}-phone.png`), fullPage: true });
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await brokenNumbers(page)).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    // A list of many has a line for each.
    if (situation.maxHeight === undefined) expect(await heightOf(page)).toBeLessThanOrEqual(3 * PHONE.height);
  });
});

it("a page of 30 validators has less than 60 kB", async () => {
  const server = await startPageServer({ pages: watchdogPages(() => fleetOf(30)) });
  closing.push(server.close);
  const { page, close } = await openPage(browser, `${server.url}/`);
  closing.push(close);
  expect((await (await page.request.get(`${server.url}/`)).body()).length).toBeLessThan(60_000);
});
