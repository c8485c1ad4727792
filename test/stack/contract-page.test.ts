import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  axeViolations,
  brokenNumbers,
  DESKTOP,
  launchBrowser,
  lowContrast,
  openPage,
  overflow,
  PHONE,
  untilLive,
} from "../support/pages/browser.ts";
import { BAD, CONTRACT_SCENE, GOOD } from "../support/pages/contract-scenes.ts";
import { startPageServer } from "../support/pages/page-server.ts";

let browser: Browser;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  browser = await launchBrowser();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(() => browser.close());

async function open(path: string, options: Parameters<typeof openPage>[2] = {}) {
  const server = await startPageServer({
    pages: [CONTRACT_SCENE],
  });
  closing.push(server.close);
  const opened = await openPage(browser, `${server.url}${path}`, options);
  closing.push(opened.close);
  return opened;
}

describe("the page of the localnet's contracts", () => {
  it.each([
    ["desktop", DESKTOP, "light"],
    ["desktop", DESKTOP, "dark"],
    ["phone", PHONE, "light"],
    ["phone", PHONE, "dark"],
  ] as const)("fits a %s, %o %s, and every text can be read", async (_name, viewport, colorScheme) => {
    const { page, errors, outside } = await open(`/?tx=${BAD}`, { viewport, colorScheme });
    await untilLive(page);
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect(await brokenNumbers(page)).toEqual([]);
    expect(await lowContrast(page)).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    expect([errors, outside]).toEqual([[], []]);
  });

  it("lists the calls, and shows the profile of the chosen one without a new load", async () => {
    const { page, errors } = await open("/");
    await untilLive(page);
    expect(await page.locator("#calls tbody tr").count()).toBe(2);
    expect(await page.locator("#profile").textContent()).toContain("Choose a transaction");
    await page.getByRole("link", { name: GOOD.slice(0, 12) }).click();
    await page.locator("svg.flame rect").first().waitFor();
    expect(new URL(page.url()).search).toBe(`?tx=${GOOD}`);
    expect(errors).toEqual([]);
  });

  it("a click on a place shows it alone, and a link shows all again", async () => {
    const { page, errors } = await open(`/?tx=${GOOD}`);
    await untilLive(page);
    const all = await page.locator("svg.flame rect").count();
    expect(all).toBe(10);
    await page.locator("svg.flame rect.f-contract").click();
    await page.getByText("Shown is").waitFor();
    expect(await page.locator("svg.flame rect").count()).toBe(all - 3);
    await page.getByRole("link", { name: "Show all" }).click();
    await expect.poll(() => page.locator("svg.flame rect").count()).toBe(all);
    expect(errors).toEqual([]);
  });

  it("the table is the alternative of the graph, which is no stop for the keyboard or a screen reader", async () => {
    const { page } = await open(`/?tx=${GOOD}`);
    expect(await page.locator("svg.flame").getAttribute("aria-hidden")).toBe("true");
    expect(await page.locator("svg.flame a:not([tabindex='-1'])").count()).toBe(0);
    expect(await page.getByRole("rowheader", { name: "store write" }).count()).toBe(1);
  });

  it("shows the error of a failed call with the functions that were running, escaped", async () => {
    const { page } = await open(`/?tx=${BAD}`);
    expect(await page.locator(".stack li").allTextContents()).toEqual([
      "abort",
      "core::panicking::panic",
      "execute",
    ]);
    expect(await page.getByText("panicked at <src>").count()).toBe(1);
    expect(await page.getByText("<b>Aborted</b>").count()).toBe(1);
  });

  it("is complete without a script, and says why there is no profile", async () => {
    const { page } = await open(`/?tx=${"C3".repeat(32)}`, { javaScriptEnabled: false });
    expect(await page.locator("#profile").textContent()).toContain("the state is not stored");
    await page.getByRole("link", { name: GOOD.slice(0, 12) }).click();
    expect(await page.locator("svg.flame rect").count()).toBe(10);
  });
});
