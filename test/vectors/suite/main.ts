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
  --block-time MS     time between two blocks; default 2000
  --only TEXT         only the tests with this text in their name; nothing is expected then
  --deadline MINUTES  longest time of one file; default 30
  --log DIR           folder for the logs of the chains, the relayer and the suite; default: a temporary folder
`;

/** What each file must pass at least, by name. `of` is the number of its tests. */
const expected = z
  .record(
    z.string(),
    z.strictObject({ row: z.enum(["modules", "others"]), of: z.number(), passed: z.number() }),
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
      "block-time": { type: "string", default: "2000" },
      deadline: { type: "string", default: "30" },
      only: { type: "string" },
      log: { type: "string" },
    },
    allowPositionals: true,
  });
  const [folder, ...names] = positionals;
  const [portOffset, blockTimeMs, minutes] = [
    values["port-offset"],
    values["block-time"],
    values.deadline,
  ].map(Number);
  if (folder === undefined || ![portOffset, blockTimeMs, minutes].every(Number.isInteger)) {
    process.stderr.write(USAGE);
    return 2;
  }
  const dir = resolve(folder);
  const files = chosenFiles(dir, names);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const options: RunOptions = {
    dir,
    portOffset: portOffset ?? 0,
    blockTimeMs: blockTimeMs ?? 0,
    deadlineMs: (minutes ?? 0) * 60_000,
    test: values.only,
    logDir: values.log === undefined ? undefined : resolve(values.log),
    signal: stop.signal,
  };
  const results: { readonly run: FileRun; readonly isGood: boolean }[] = [];
  for (const file of files) {
    if (stop.signal.aborted) break;
    const run = await runFile(file, options);
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

function printTotal(runs: readonly FileRun[]): void {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const passed = sum(runs.map((run) => run.passed));
  const of = sum(runs.map(({ file, total }) => expected[nameOf(file)]?.of ?? total));
  const seconds = sum(runs.map((run) => run.seconds));
  process.stdout.write(`total: ${passed} of ${of} in ${seconds} s\n`);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exitCode = 2;
}
