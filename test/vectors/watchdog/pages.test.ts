import { parsePrometheusText } from "../../support/watchdog/prometheus-page.ts";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const FIXTURES = new URL("../../fixtures/", import.meta.url);

/** Samples and families of every recorded (`metrics`) and constructed (`samples`) page. */
const PAGES: Readonly<Record<string, readonly [samples: number, families: number]>> = {
  "metrics/node-26660-after-restart-of-sidecar.prom": [621, 147],
  "metrics/node-26660-healthy.prom": [619, 147],
  "metrics/node-26660-sidecar-down.prom": [621, 147],
  "metrics/sidecar-8002.prom": [149, 55],
  "samples/node-26660.prom": [129, 27],
  "samples/oracle-8001.prom": [117, 16],
  "samples/sidecar-8002.prom": [164, 25],
  "samples/sidecar-8002.spec-connect-prefix.prom": [42, 1],
};

describe("recorded and constructed pages", () => {
  it("are all listed here", () => {
    const found = ["metrics", "samples"].flatMap((folder) =>
      readdirSync(new URL(folder, FIXTURES))
        .filter((name) => name.endsWith(".prom"))
        .map((name) => `${folder}/${name}`),
    );
    expect(found.toSorted()).toEqual(Object.keys(PAGES).toSorted());
    expect(found).toHaveLength(8);
  });

  it.each(Object.entries(PAGES))("%s", (name, [samples, families]) => {
    const bytes = readFileSync(new URL(name, FIXTURES));
    const page = parsePrometheusText(bytes);
    expect([page.samples.length, page.types.size]).toEqual([samples, families]);
    const lines = bytes.toString("utf8").split("\n");
    expect(page.samples).toHaveLength(lines.filter((line) => line !== "" && !line.startsWith("#")).length);
  });
});
