import { errorText } from "../../src/platform/base/errors.ts";
import { type Comparison, replayFile } from "../support/replay.ts";

/**
 * `npm run replay -- FILE…`: replays recorded registrations and submissions and prints what differs. Exit code 1 when
 * anything does or a file cannot be replayed, 2 without files.
 */
function main(files: readonly string[]): number {
  if (files.length === 0) {
    console.error(
      "usage: npm run replay -- FILE… (JSON lists like test/fixtures/interchainqueries/*-cases.json)",
    );
    return 2;
  }
  return files.map(replay).every(Boolean) ? 0 : 1;
}

function replay(file: string): boolean {
  try {
    const comparisons = replayFile(file);
    const different = comparisons.filter(({ differences }) => differences.length > 0);
    for (const comparison of comparisons) print(comparison);
    console.log(`${file}: ${comparisons.length} cases, ${different.length} differ`);
    return different.length === 0;
  } catch (error) {
    console.error(`${file}: ${errorText(error)}`);
    return false;
  }
}

function print({ name, differences, exception }: Comparison): void {
  if (exception !== undefined) console.log(`  ${name}: differs on purpose: ${exception}`);
  for (const difference of differences) console.log(`  ${name}: ${difference}`);
}

process.exitCode = main(process.argv.slice(2));
