import { defineConfig } from "vitest/config";
import { inMemory } from "./vitest.config.ts";

/** Tests with programs from outside npm: `npm run test:stack`. */
export default defineConfig({
  test: {
    name: "stack",
    include: ["test/stack/**/*.test.ts"],
    globalSetup: ["test/stack/programs-setup.ts", "test/e2e/build.ts"],
    // Real servers and processes, one file after the other.
    fileParallelism: false,
    passWithNoTests: false,
    env: inMemory,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
