import { defineConfig } from "vitest/config";

const excluded = ["test/bench/**", "node_modules/**", "dist/**"];
const SIMULATION = "test/fuzz/relayer/simulation.test.ts";

export default defineConfig({
  test: {
    // They end what hangs. A slow machine fails no test: none measures time.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 30_000 } },
    passWithNoTests: false,
    projects: [
      {
        // The files of one worker share one module graph: loading it for each file took longer than the tests. So a test
        // restores what it changes outside of its own objects.
        extends: true,
        test: {
          name: "in process",
          include: ["test/**/*.test.ts"],
          exclude: [...excluded, SIMULATION, "test/e2e/**", "test/stack/**"],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // It watches the warnings of its process, so no other file may share it.
        extends: true,
        test: {
          name: "simulation",
          include: [SIMULATION],
          exclude: excluded,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Real processes of the built program, one file after the other: they need the machine for themselves.
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          exclude: excluded,
          globalSetup: "test/e2e/build.ts",
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
