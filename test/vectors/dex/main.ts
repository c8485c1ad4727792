import {
  chooseLines,
  groupByTopic,
  readVectorLines,
  type VectorLine,
} from "../../support/dex-vector-lines.ts";
import { runVectorLine } from "../../support/dex-vectors.ts";

/** `npm run vectors:dex -- FILE…`: runs vectors files, prints every failure, then passed and failed by topic. */
function main(paths: readonly string[]): number {
  if (paths.length === 0) {
    process.stderr.write("usage: npm run vectors:dex -- FILE… (JSON lines, plain or gzipped)\n");
    return 2;
  }
  const { lines, skipped } = chooseLines(readVectorLines(paths));
  const failures = new Map(lines.map((line) => [line, failureOf(line)] as const));
  for (const [{ id }, failure] of failures) if (failure !== undefined) print(`${id}: ${failure}`);
  const topics = groupByTopic(lines);
  for (const [topic, ofTopic] of topics) printCounts(topic, ofTopic, failures);
  printCounts("all", lines, failures);
  if (skipped.length > 0)
    print(`skipped: ${skipped.length} lines whose variant for the specification is in another file`);
  return [...failures.values()].every((failure) => failure === undefined) && lines.length > 0 ? 0 : 1;
}

/** An exception of a runner counts as a failure of its line. */
function failureOf(line: VectorLine): string | undefined {
  try {
    return runVectorLine(line);
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
