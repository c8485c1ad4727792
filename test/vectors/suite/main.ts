import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { errorText } from "../../../src/platform/base/errors.ts";
import { type FileRun, runFile, type RunOptions } from "./run-file.ts";

const USAGE = `usage: npm run conformance:suite -- [OPTION]… DIR [FILE…]
  DIR                 folder of the installed suite, with the contracts in DIR/wasm
  FILE                name of a test file, such as dex_grpc; default: all that this project expects something of
  --port-offset N     added to every port of the suite; default 0
  --block-time MS     time between two blocks; default 2000, or what expected.json says for the file
  --only TEXT         only the tests with this text in their name; nothing is expected then
  --deadline MINUTES  longest time of one file; default 30
  --log DIR           folder for the logs of the chains, the relayer and the suite; default: a temporary folder
`;

const DEFAULT_BLOCK_TIME_MS = 2_000;

/**
 * What each file must pass at least, by name. `of` is the number of its tests. `block_time` replaces the default for a file whose tests
 * depend on it.
 */
const expected = z
  .record(
    z.string(),
    z.strictObject({
      row: z.enum(["modules", "others"]),
      of: z.number(),
      passed: z.number(),
      block_time: z.number().optional(),
    }),
  )
  .parse(JSON.parse(readFileSync("test/vectors/suite/expected.json", "utf8")));

/**
 * `npm run conformance:suite -- DIR FILE…`: runs files of the deployed chain's end-to-end suite, each on fresh chains. Prints `N of M` for
 * each file and the failed tests. Exits 1 when a file passes fewer tests than expected, and 130 after an interrupt.
 */
async function main(words: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...words],
    options: {
      "port-offset": { type: "string", default: "0" },
      "block-time": { type: "string" },
      deadline: { type: "string", default: "30" },
      only: { type: "string" },
      log: { type: "string" },
    },
    allowPositionals: true,
  });
  const [folder, ...names] = positionals;
  const given = values["block-time"];
  const [portOffset, minutes, blockTimeMs] = [
    values["port-offset"],
    values.deadline,
    given ?? DEFAULT_BLOCK_TIME_MS,
  ].map(Number);
  if (folder === undefined || ![portOffset, blockTimeMs, minutes].every(Number.isInteger)) {
    process.stderr.write(USAGE);
    return 2;
  }
  const dir = resolve(folder);
  const files = chosenFiles(dir, names);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const options: Omit<RunOptions, "blockTimeMs"> = {
    dir,
    portOffset: portOffset ?? 0,
    deadlineMs: (minutes ?? 0) * 60_000,
    test: values.only,
    logDir: values.log === undefined ? undefined : resolve(values.log),
    signal: stop.signal,
  };
  const results: { readonly run: FileRun; readonly isGood: boolean }[] = [];
  for (const file of files) {
    if (stop.signal.aborted) break;
    const own = given === undefined ? expected[nameOf(file)]?.block_time : undefined;
    const run = await runFile(file, { ...options, blockTimeMs: own ?? blockTimeMs ?? DEFAULT_BLOCK_TIME_MS });
    results.push({ run, isGood: print(run, values.only !== undefined) });
  }
  printTotal(results.map(({ run }) => run));
  if (stop.signal.aborted) return 130;
  return results.every(({ isGood }) => isGood) ? 0 : 1;
}

/** Returns the paths of files below `testcases`, without `.test.ts`. Throws for a name that is none of them. */
function chosenFiles(dir: string, names: readonly string[]): readonly string[] {
  const cases = resolve(dir, "suite/src/testcases");
  const all = readdirSync(cases, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .map((path) => path.slice(0, -".test.ts".length).replaceAll("\\", "/"));
  if (names.length === 0) {
    const found = Object.keys(expected).flatMap((name) => all.find((path) => nameOf(path) === name) ?? []);
    if (found.length === 0) throw new Error(`${cases} has none of the expected files`);
    return found;
  }
  return names.map((given) => {
    const name = given.replace(/\.test\.ts$/, "");
    const path = all.find((one) => one === name || nameOf(one) === name);
    if (path !== undefined) return path;
    throw new Error(`${cases} has no file ${name}: ${all.map(nameOf).toSorted().join(", ")}`);
  });
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Prints the result of a file. Returns whether it passed as many tests as expected. */
function print(run: FileRun, isPart: boolean): boolean {
  const { file, passed, total, failures, problem, seconds, cpuPerBlockMs } = run;
  const wanted = isPart ? undefined : expected[nameOf(file)];
  const of = wanted?.of ?? total;
  for (const failure of failures) process.stdout.write(`  failed: ${failure}\n`);
  if (problem !== undefined) process.stdout.write(`  ${problem}\n`);
  const least = wanted?.passed ?? 0;
  const isGood = isPart ? problem === undefined && passed > 0 : passed >= least && total > 0;
  const cost = cpuPerBlockMs === undefined ? "" : `, ${cpuPerBlockMs} ms of processor time a block`;
  const missing = isGood ? "" : `, ${least} expected`;
  process.stdout.write(`${nameOf(file)}: ${passed} of ${of} in ${seconds} s${cost}${missing}\n`);
  return isGood;
}

/** Prints the sums of the two groups of files, and that of all. */
function printTotal(runs: readonly FileRun[]): void {
  const rows = [
    ["files about the modules of the specification", runs.filter(({ file }) => rowOf(file) === "modules")],
    ["other files", runs.filter(({ file }) => rowOf(file) !== "modules")],
    ["total", runs],
  ] as const;
  for (const [name, part] of rows) {
    const sum = (numberOf: (run: FileRun) => number): number =>
      part.map(numberOf).reduce((total, value) => total + value, 0);
    if (part.length === 0 || (name !== "total" && part.length === runs.length)) continue;
    const of = sum(({ file, total }) => expected[nameOf(file)]?.of ?? total);
    process.stdout.write(`${name}: ${sum((run) => run.passed)} of ${of} in ${sum((run) => run.seconds)} s\n`);
  }
}

function rowOf(file: string): string | undefined {
  return expected[nameOf(file)]?.row;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exitCode = 2;
}
