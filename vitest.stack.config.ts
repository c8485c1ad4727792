import { defineConfig } from "vitest/config";
import { inMemory, LongestFirst, NATIVE_MODULES } from "./vitest.config.ts";

/** Tests with programs from outside npm: `npm run test:stack`. */
export default defineConfig({
  test: {
    ...NATIVE_MODULES,
    name: "stack",
    include: ["test/stack/**/*.test.ts"],
    globalSetup: ["test/stack/programs-setup.ts", "test/e2e/build.ts"],
    // Real servers and processes, each file with its own. Most of the time they wait for alerts.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    passWithNoTests: false,
    env: inMemory,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
