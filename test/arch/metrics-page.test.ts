import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { metricsPage } from "../support/metrics-page.ts";
import { ROOT } from "./source-files.ts";

describe("docs/metrics.md", () => {
  it("is the present output of npm run docs:metrics", async () => {
    const page = metricsPage();
    for (const title of ["Is it active?", "Is it current?", "What does it cost?", "Is it safe?"])
      expect(page).toMatch(new RegExp(`### ${title.replace("?", "\\?")}\\n\\n.*\\n.*\\n\\| \`relaywatch_`));
    expect(page).toContain("`oracle_watchdog_");
    await expect(page).toMatchFileSnapshot(join(ROOT, "docs/metrics.md"));
  });

  it("has a help text for every metric", () => {
    expect(metricsPage()).not.toMatch(/\|\s+\|$/m);
  });
});
