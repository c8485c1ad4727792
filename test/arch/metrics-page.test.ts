import { describe, expect, it } from "vitest";
import { metricsPage } from "../../src/cli/generate/metrics-page.ts";

describe("docs/metrics.md", () => {
  it("has a table for each question of the relayer, and those of the watchdog", () => {
    const page = metricsPage();
    for (const title of ["Is it active?", "Is it current?", "What does it cost?", "Is it safe?"])
      expect(page).toMatch(new RegExp(`### ${title.replace("?", "\\?")}\\n\\n.*\\n.*\\n\\| \`relaywatch_`));
    expect(page).toContain("`oracle_watchdog_");
  });

  it("has a help text for every metric", () => {
    expect(metricsPage()).not.toMatch(/\|\s+\|$/m);
  });
});
