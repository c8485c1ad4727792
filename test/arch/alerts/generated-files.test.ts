import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { alertFiles } from "../../../src/cli/generate/alert-generated-files.ts";
import { ROOT } from "../source-files.ts";

const files = alertFiles();

describe("the generated files of alerts", () => {
  it.each([...files.keys()])("%s is the present output of npm run generate:monitoring", async (path) => {
    await expect(files.get(path)).toMatchFileSnapshot(join(ROOT, path));
  });

  it("are all files of their folders", () => {
    const present = ["alerts/prometheus", "alerts/prometheus/tests", "alerts/alertmanager"].flatMap(
      (folder) =>
        readdirSync(join(ROOT, folder))
          .filter((name) => name.endsWith(".yaml"))
          .map((name) => `${folder}/${name}`),
    );
    expect(present.toSorted()).toEqual([...files.keys()].filter((path) => path.endsWith(".yaml")).toSorted());
  });
});
