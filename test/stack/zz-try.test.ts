import { readFileSync, mkdirSync } from "node:fs";
import { it } from "vitest";
import { FAULTS, SITUATIONS } from "../support/dashboards/situations.ts";
import { openSeriesStore } from "../support/dashboards/series-store.ts";
import { launchBrowser } from "../support/pages/browser.ts";
import { buildDashboardPage, openDashboardPage } from "../support/dashboards/dashboard-page.ts";
it("tries", { timeout: 590_000 }, async () => {
  const only = (process.env["SIT"] ?? "healthy").split(",");
  const list = [...SITUATIONS, ...FAULTS].filter(({ name }) => only.includes(name) || only[0] === "all");
  const store = await openSeriesStore(list);
  console.log("STORE");
  buildDashboardPage();
  const browser = await launchBrowser();
  const page = await openDashboardPage(browser, store.url);
  mkdirSync("dist/dash", { recursive: true });
  try {
    for (const s of list)
      for (const d of (process.env["DASH"] ?? "overview,oracle-am-i-paid").split(",")) {
        const t = performance.now();
        const isOpen = process.env["OPEN"] !== undefined;
        const link = s.historyMs < 6 * 3600_000;
        await page.show(JSON.parse(readFileSync(`dashboards/json/${d}.json`, "utf8")), s.endMs, { isOpen, ...(link ? { from: `${s.endMs - 2 * 3600_000}`, to: `${s.endMs}` } : {}) });
        const t1 = performance.now();
        for (const w of [1920, 1280]) {
          await page.resize(w);
          await page.page.screenshot({ path: `dist/dash/${s.name}-${d}-${w}.png` });
        }
        console.log("DONE", s.name, d, Math.round(t1 - t), Math.round(performance.now() - t1), page.errors.splice(0).slice(0, 4));
      }
  } finally {
    await browser.close();
    await store.close();
  }
});
