import { parseArgs } from "node:util";
import { profileNamed } from "../../../src/localnet/chain/deviations/profile-named.ts";
import { PROFILE_NAMES, type Profile } from "../../../src/localnet/chain/deviations/deviations.ts";
import {
  chooseLines,
  groupByTopic,
  readVectorLines,
  type VectorLine,
} from "../../support/dex-vector-lines.ts";
import { runVectorLine } from "../../support/dex-vectors.ts";

/**
 * `npm run vectors:dex -- [--profile NAME] FILE…`: runs vectors files on chains of a profile, prints every failure, then passed and failed by
 * topic.
 */
function main(words: readonly string[]): number {
  const { values, positionals: paths } = parseArgs({
    args: [...words],
    options: { profile: { type: "string", default: "specification" } },
    allowPositionals: true,
  });
  const name = PROFILE_NAMES.find((one) => one === values.profile);
  if (paths.length === 0 || name === undefined) {
    process.stderr.write(
      `usage: npm run vectors:dex -- [--profile ${PROFILE_NAMES.join("|")}] FILE… (JSON lines, plain or gzipped)\n`,
    );
    return 2;
  }
  const { lines, skipped } = chooseLines(readVectorLines(paths), name);
  const profile = profileNamed(name);
  const failures = new Map(lines.map((line) => [line, failureOf(line, profile)] as const));
  for (const [{ id }, failure] of failures) if (failure !== undefined) print(`${id}: ${failure}`);
  const topics = groupByTopic(lines);
  for (const [topic, ofTopic] of topics) printCounts(topic, ofTopic, failures);
  printCounts("all", lines, failures);
  if (skipped.length > 0)
    print(`skipped: ${skipped.length} lines whose variant for the specification is in another file`);
  return [...failures.values()].every((failure) => failure === undefined) && lines.length > 0 ? 0 : 1;
}

/** An exception of a runner counts as a failure of its line. */
function failureOf(line: VectorLine, profile: Profile): string | undefined {
  try {
    return runVectorLine(line, profile);
  } catch (thrown) {
    return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  }
}

function printCounts(
  name: string,
  lines: readonly VectorLine[],
  failures: ReadonlyMap<VectorLine, string | undefined>,
): void {
  const failed = lines.filter((line) => failures.get(line) !== undefined).length;
  print(`${name.padEnd(20)} passed ${String(lines.length - failed).padStart(4)}  failed ${failed}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.exitCode = main(process.argv.slice(2));
