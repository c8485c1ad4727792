import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { watchdogPage, type WatchdogPageInput } from "../../src/watchdog/page/create-page.ts";
import {
  brokenNumbers,
  DESKTOP,
  launchBrowser,
  lowContrast,
  openPage,
  overflow,
  PHONE,
  tabOrder,
  untilLive,
} from "../support/pages/browser.ts";
import { startPageServer } from "../support/pages/page-server.ts";
import { buildValidator, HEALTHY, LOST, pageOf, TROUBLED } from "../support/pages/watchdog-scenes.ts";

let browser: Browser;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  browser = await launchBrowser();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(() => browser.close());

async function show(input: WatchdogPageInput, options: Parameters<typeof openPage>[2] = {}) {
  const state = { input };
  const server = await startPageServer({
    pages: [{ path: "/", content: () => watchdogPage(state.input) }],
  });
  const opened = await openPage(browser, `${server.url}/`, options);
  closing.push(server.close, opened.close);
  return { ...opened, state };
}

const fleet = () =>
  pageOf([
    buildValidator({ ...HEALTHY, name: "alpha" }),
    buildValidator({ ...TROUBLED, name: "beta" }),
    buildValidator({ ...LOST, name: "gamma" }),
  ]);

const SCENES = [
  {
    name: "is paid",
    input: () => pageOf([buildValidator(HEALTHY)]),
    headline: "✓ Paid in full at the present rate",
  },
  {
    name: "is in trouble",
    input: () => pageOf([buildValidator(TROUBLED)]),
    headline: "✕ Losing: sidecar down",
  },
  { name: "is one of several", input: fleet, headline: "✕ 1 validator of 3: lost; 1 paid in full" },
] as const;

describe.each(SCENES)("the page of a validator that $name", ({ input, headline }) => {
  it.each([
    ["desktop", DESKTOP, "light"],
    ["desktop", DESKTOP, "dark"],
    ["phone", PHONE, "light"],
    ["phone", PHONE, "dark"],
  ] as const)(
    "fits a %s, %o %s: nothing is cut off, every text can be read, nothing is loaded from elsewhere",
    async (_name, viewport, colorScheme) => {
      const { page, errors, outside } = await show(input(), { viewport, colorScheme });
      await untilLive(page);
      expect(await page.locator(".headline").first().textContent()).toBe(headline);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      expect(await brokenNumbers(page)).toEqual([]);
      expect(await lowContrast(page)).toEqual([]);
      expect([errors, outside]).toEqual([[], []]);
    },
  );
});

describe("the watchdog's page", () => {
  it("announces when a validator loses pay, and shows it without a new load", async () => {
    const { page, state } = await show(pageOf([buildValidator(HEALTHY)]));
    await untilLive(page);
    expect(await page.locator("[aria-live]").allTextContents()).toEqual([
      "✓ Paid in full at the present rate",
    ]);
    state.input = pageOf([buildValidator(TROUBLED)]);
    await page.getByText("Losing: sidecar down").waitFor();
    expect(await page.locator("[aria-live]").allTextContents()).toEqual(["✕ Losing: sidecar down"]);
    expect(await page.title()).toBe("(1) Losing: sidecar down – oracle watchdog");
    expect(await page.locator(".verdict").getAttribute("class")).toBe("verdict bad");
  });

  it("has plots with words for people who do not see them, and headings in order", async () => {
    const { page } = await show(pageOf([buildValidator(TROUBLED)]));
    expect(await page.getByRole("img", { name: /hour by hour: .* 14 hours below any pay/ }).count()).toBe(1);
    expect(await page.getByRole("img", { name: /^Last 24 hours, by quarter of an hour: / }).count()).toBe(1);
    expect(await page.getByRole("img", { name: /forecast: .*80 % band/ }).count()).toBe(1);
    expect(await page.getByRole("heading", { level: 3 }).allTextContents()).toEqual([
      "Conditions",
      "Headroom",
      "Last 24 hours and this month",
      "Sources",
      "Months",
    ]);
  });

  it("opens the details of a validator from the table, by keyboard, and leaves them open", async () => {
    const { page, state } = await show(fleet());
    await untilLive(page);
    expect(await tabOrder(page, 4)).toEqual(["Skip to the content", "gamma", "beta", "alpha"]);
    expect(await page.locator("#validator-1-details").getAttribute("open")).toBeNull();
    await page.keyboard.press("Enter");
    await page.locator("#validator-1-details[open]").waitFor();
    state.input = pageOf([
      buildValidator({ ...TROUBLED, name: "alpha" }),
      buildValidator({ ...HEALTHY, name: "beta" }),
      buildValidator({ ...LOST, name: "gamma" }),
    ]);
    await page.locator("#row-validator-1", { hasText: "losing" }).waitFor();
    expect(await page.locator("#validator-1-details").getAttribute("open")).toBe("");
  });

  it("is complete without a script", async () => {
    const { page } = await show(fleet(), { javaScriptEnabled: false });
    expect(await page.getByText("Losing: sidecar down").count()).toBe(1);
    expect(await page.getByText("Lost: this month pays nothing").isVisible()).toBe(true);
  });
});
