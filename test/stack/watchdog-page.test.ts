import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type WatchdogPageInput, watchdogPages } from "../../src/watchdog/page/create-page.ts";
import {
  axeViolations,
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

async function show(input: WatchdogPageInput, options: Parameters<typeof openPage>[2] = {}, path = "/") {
  const state = { input };
  const server = await startPageServer({ pages: watchdogPages(() => state.input) });
  const opened = await openPage(browser, `${server.url}${path}`, options);
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
    headline: "✓ Paid in full at the current rate",
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
      expect(await axeViolations(page)).toEqual([]);
      expect([errors, outside]).toEqual([[], []]);
    },
  );
});

describe("the watchdog's page", () => {
  it("announces when a validator loses pay, and shows it without a new load", async () => {
    const { page, state } = await show(pageOf([buildValidator(HEALTHY)]));
    await untilLive(page);
    expect(await page.locator("[aria-live]").allTextContents()).toEqual([
      "✓ Paid in full at the current rate",
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
    expect(await page.getByRole("img", { name: "16.4 % of the allowance left" }).count()).toBe(1);
    expect(await page.getByRole("heading", { level: 2 }).allTextContents()).toEqual([
      "Alerts",
      "Last 24 hours",
      "2026-11",
    ]);
    await page.getByRole("link", { name: "Month", exact: true }).click();
    await page.getByRole("img", { name: /forecast: .*80 % band/ }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/validators/default/month");
  });

  it("has pages for the rest, which fit a phone and a desktop in both colours", async () => {
    for (const path of [
      "/validators/default/month",
      "/validators/default/chain",
      "/validators/default/sources",
      "/notifications",
    ])
      for (const [viewport, colorScheme] of [
        [PHONE, "dark"],
        [DESKTOP, "light"],
      ] as const) {
        const { page, errors } = await show(
          pageOf([buildValidator(TROUBLED)]),
          { viewport, colorScheme },
          path,
        );
        await untilLive(page);
        expect([path, await overflow(page)]).toEqual([path, 0]);
        expect([path, await lowContrast(page)]).toEqual([path, []]);
        expect([path, await axeViolations(page)]).toEqual([path, []]);
        expect([path, await page.locator("[aria-current=page]").count(), errors]).toEqual([path, 1, []]);
      }
  });

  it("opens an alert by keyboard, and leaves it open", async () => {
    const { page, state } = await show(pageOf([buildValidator(TROUBLED)]));
    await untilLive(page);
    const line = page.locator("#condition-default-sidecar-down details");
    await line.locator("summary").focus();
    await page.keyboard.press("Enter");
    await page.getByText("Start the sidecar").first().waitFor();
    state.input = pageOf([buildValidator({ ...TROUBLED, hour: () => 0 })]);
    await page.getByText(/(^|\D)0 bad of/).waitFor();
    expect(await line.getAttribute("open")).toBe("");
  });

  it("leads from the table to the page of a validator, by keyboard", async () => {
    const { page } = await show(fleet());
    await untilLive(page);
    expect(await tabOrder(page, 6)).toEqual([
      "Skip to content",
      "Validators",
      "Notifications",
      "gamma",
      "beta",
      "alpha",
    ]);
    await page.keyboard.press("Enter");
    await page.getByText("Paid in full at the current rate").waitFor();
    expect(new URL(page.url()).pathname).toBe("/validators/alpha");
  });

  it("is complete without a script", async () => {
    const { page } = await show(fleet(), { javaScriptEnabled: false });
    await page.getByRole("link", { name: "gamma" }).click();
    expect(await page.getByText("Lost: this month pays nothing").isVisible()).toBe(true);
  });
});
