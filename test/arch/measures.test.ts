import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ROOT } from "./source-files.ts";

const figures = z
  .object({
    files: z.number(),
    depth: z.number(),
    mutualFolders: z.number(),
    importPercent: z.number(),
    oncePercent: z.number(),
    medianLines: z.number(),
    largestLines: z.number(),
    roomImports: z.number(),
  })
  .parse(
    JSON.parse(
      execFileSync(process.execPath, ["test/arch/measure.mjs", "--json"], { cwd: ROOT, encoding: "utf8" }),
    ),
  );

describe("the measures of the sources", () => {
  it("were taken of the whole program", () => expect(figures.files).toBeGreaterThan(300));

  it("meet their marks", () => {
    expect(figures.mutualFolders).toBeLessThanOrEqual(0);
    expect(figures.medianLines).toBeGreaterThanOrEqual(100);
    expect(figures.medianLines).toBeLessThanOrEqual(200);
    expect(figures.largestLines).toBeLessThanOrEqual(400);
    expect(figures.roomImports).toBeLessThanOrEqual(20);
    expect(figures.depth).toBeLessThanOrEqual(12);
    expect(figures.importPercent).toBeLessThanOrEqual(6.5);
    expect(figures.oncePercent).toBeLessThanOrEqual(22);
  });
});
