import { existsSync, statfsSync } from "node:fs";
import { register } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { WORKER_FLAGS } from "./test/support/v8-flags.ts";

const excluded = ["test/bench/**", "node_modules/**", "dist/**"];
const SIMULATION = "test/fuzz/relayer/simulation.test.ts";

/**
 * Environment of all tests: temporary files are in memory where the system offers that. Stores write through to the disk
 * before they go on, tens of thousands of times in all, and no test removes the power.
 */
export const inMemory = { TMPDIR: hasMemoryFolder("/dev/shm") ? "/dev/shm" : tmpdir() };

function hasMemoryFolder(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= 2 ** 30;
}

const TYPESCRIPT_MODULES = new URL("test/support/typescript-modules.mjs", import.meta.url).href;
// For the global setups, which run in this process.
register(TYPESCRIPT_MODULES);

/**
 * Node loads what the tests import, and Vitest only the tests. Modules of Vitest find each import in an object at each use, which took an
 * eighth of the processor time, and transforming and loading them another tenth. Vitest does not see when such a module changes, so
 * `npm run test:watch` is without.
 */
export const NATIVE_MODULES = {
  execArgv: ["--import", TYPESCRIPT_MODULES],
  server: { deps: { external: [/\/(src|daemons|test)\/(?!.*\.test\.ts$).*\.ts$/] } },
  // As Node does it. The proxies that Vitest puts before modules with a default export cost more than their functions.
  deps: { interopDefault: false },
};

/**
 * The longest files start first, so that no worker is left with one at the end, and files that mostly wait run beside files that
 * compute. Files with real processes stay together, because a worker that changes between them and the others loads the shared modules
 * again.
 */
const FIRST = [
  "test/relayer/integration/faults",
  "test/fuzz/campaigns",
  SIMULATION,
  "test/stack/first-page",
  "test/stack/afternoon-of-faults",
  "test/stack/half-hour-of-health",
  "test/stack/relayer-alerts",
  "test/stack/watchdog-alerts",
  "test/stack/monitoring",
  "test/stack/afternoon",
  "test/stack/package-install",
  "test/stack/two-relayers",
  "test/stack/rule-files",
  "test/stack/container",
  "test/stack/prometheus",
  "test/stack/shards",
  "test/e2e/sidecar-restart",
  "test/e2e/ibc-relayer",
  "test/e2e/",
  "test/relayer/integration/endpoints",
  "test/relayer/integration/compatibility",
  "test/watchdog/month",
  "test/fuzz/relayer/fee-market",
  "test/relayer/integration/",
  "test/fuzz/",
  "test/localnet/integration/network/hostile-contracts",
  "test/cli/integration/",
  "test/vectors/dex/",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = FIRST.findIndex((part) => moduleId.includes(part));
      return found < 0 ? FIRST.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    // They end what hangs. A slow machine fails no test: none measures time.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 90_000 } },
    passWithNoTests: false,
    env: inMemory,
    ...NATIVE_MODULES,
    execArgv: [...WORKER_FLAGS, ...NATIVE_MODULES.execArgv],
    // Half of the time, tests wait for blocks, deadlines and other processes: more workers than cores.
    maxWorkers: Math.max(5, availableParallelism()),
    sequence: { sequencer: LongestFirst },
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
        },
      },
      {
        // It watches the warnings of its process, so no other file may share it.
        extends: true,
        test: { name: "simulation", include: [SIMULATION], exclude: excluded },
      },
      {
        // Real processes of the built program. Each file has its own, on ports of its own. Those of one worker share its modules.
        extends: true,
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          exclude: excluded,
          globalSetup: "test/e2e/build.ts",
          isolate: false,
        },
      },
    ],
  },
});
