import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dashboardFiles } from "../../../src/cli/generate/dashboard-generated-files.ts";
import { ROOT } from "../source-files.ts";

const files = dashboardFiles();

describe("the generated files of dashboards", () => {
  it.each([...files.keys()])("%s is the present output of npm run generate:monitoring", async (path) => {
    await expect(files.get(path)).toMatchFileSnapshot(join(ROOT, path));
  });

  it("are all files of their folders", () => {
    const present = ["dashboards/json", "dashboards/provisioning"].flatMap((folder) =>
      readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
    );
    expect(present.toSorted()).toEqual([...files.keys()].toSorted());
  });
});
