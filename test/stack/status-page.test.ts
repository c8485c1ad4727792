import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { openRouteServer } from "../../src/platform/http/route-server.ts";
import { createStatusPage } from "../../src/watchdog/status-page/status-page.ts";
import { createManualClock } from "../support/manual-clock.ts";
import {
  axeViolations,
  brokenNumbers,
  DESKTOP,
  launchBrowser,
  lowContrast,
  openPage,
  overflow,
  PHONE,
} from "../support/pages/browser.ts";
import { EVENTFUL, EVENTFUL_ALERTS, ledgerScene } from "../support/pages/status-page-scenes.ts";
import {
  buildValidator,
  HEALTHY,
  SCENE_MS,
  TROUBLED,
  type ValidatorScene,
} from "../support/pages/watchdog-scenes.ts";

let browser: Browser;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  browser = await launchBrowser();
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(() => browser.close());

/** Opens the page as its server sends it. `pollMs` decides from when on it is old. */
async function show(scene: ValidatorScene, options: Parameters<typeof openPage>[2] = {}, pollMs = 1e12) {
  const page = createStatusPage(
    {
      listen: { host: "127.0.0.1", port: 0 },
      title: "Example & Sons",
      validators: [{ name: "default", title: "A validator", components: ["prices", "votes"] }],
      hasAmounts: true,
    },
    {
      clock: createManualClock(SCENE_MS),
      logger: silentLogger,
      ledger: () => ledgerScene(EVENTFUL),
      storedLedger: () => ledgerScene(EVENTFUL),
      alertHistory: () => EVENTFUL_ALERTS,
      pollMs,
      intervalMs: 5_000,
    },
  );
  page.update(buildValidator(scene).status);
  const server = await openRouteServer(
    { name: "page", listen: { host: "127.0.0.1", port: 0 }, portOption: "none", routes: page.routes },
    { logger: silentLogger },
  );
  const opened = await openPage(browser, `http://127.0.0.1:${server.address.port}/`, options);
  closing.push(server.close, opened.close);
  return opened;
}

describe.each([
  ["is operational", HEALTHY, "✓ Operational"],
  ["has an outage", TROUBLED, "✕ The price service did not respond"],
] as const)("the status page of a validator that %s", (_name, scene, headline) => {
  it.each([
    ["desktop", DESKTOP, "light"],
    ["desktop", DESKTOP, "dark"],
    ["phone", PHONE, "light"],
    ["phone", PHONE, "dark"],
  ] as const)(
    "fits a %s, %o %s: nothing is cut off, every text can be read, nothing is loaded from elsewhere",
    async (_device, viewport, colorScheme) => {
      const { page, errors, outside } = await show(scene, { viewport, colorScheme });
      expect(await page.locator(".headline").textContent()).toBe(headline);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      expect(await brokenNumbers(page)).toEqual([]);
      expect(await lowContrast(page)).toEqual([]);
      expect(await axeViolations(page)).toEqual([]);
      expect([errors, outside]).toEqual([[], []]);
    },
  );
});

describe("the status page", () => {
  it("has bars with words for people who do not see them", async () => {
    const { page } = await show(HEALTHY);
    const bars = page.getByRole("img", {
      name: /A validator, Price requests, last 90 days: .* 2026-09-13: 91.6666 %/,
    });
    expect(await bars.count()).toBe(1);
    expect(await bars.locator("title").count()).toBe(90);
    expect(
      await page.getByRole("img", { name: /Oracle votes in blocks, last 90 days: 0 good/ }).count(),
    ).toBe(1);
  });

  it("loads itself again while nobody uses it", async () => {
    const { page } = await show(HEALTHY);
    await page.clock.install();
    await page.reload();
    const loads: string[] = [];
    page.on("load", () => loads.push("load"));
    await page.locator("#main").focus();
    await page.clock.runFor(61_000);
    expect(loads).toEqual([]);
    await page.evaluate("document.activeElement.blur()");
    await page.clock.runFor(60_000);
    await expect.poll(() => loads, { timeout: 90_000 }).toEqual(["load"]);
  });

  it("says that it is old, in an open tab and in a cache", async () => {
    const { page } = await show(HEALTHY, {}, 18_000);
    await page.getByText("This page is old and says nothing about the present.").waitFor();
    expect(await page.title()).toBe("(old) Operational – Example & Sons");
    expect(await page.locator("html").getAttribute("class")).toBe("stale");
  });
});
