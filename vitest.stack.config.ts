import { defineConfig } from "vitest/config";

/** Tests with programs from outside npm: `npm run test:stack`. */
export default defineConfig({
  test: {
    name: "stack",
    include: ["test/stack/**/*.test.ts"],
    globalSetup: ["test/stack/programs-setup.ts", "test/e2e/build.ts"],
    // Real servers and processes, one file after the other.
    fileParallelism: false,
    passWithNoTests: false,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
