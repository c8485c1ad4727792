import { parseArgs } from "node:util";
import { CAMPAIGNS } from "./campaigns.ts";

const USAGE = `npm run fuzz -- [--seconds N] [--seed N] [CAMPAIGN…]
  --seconds N   for each campaign, default 60
  --seed N      default: drawn
  campaigns: ${Object.keys(CAMPAIGNS).join(", ")}; default: all`;

interface Options {
  readonly seconds: number;
  readonly seed: number;
  readonly names: readonly string[];
}

/** Parses the command line. Throws an error with the usage. */
function parseOptions(words: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: { seconds: { type: "string" }, seed: { type: "string" } },
  });
  const drawn = Math.floor(Math.random() * 2 ** 31);
  const options = {
    seconds: Number(values.seconds ?? 60),
    seed: Number(values.seed ?? drawn),
    names: positionals.length === 0 ? Object.keys(CAMPAIGNS) : positionals,
  };
  const isKnown = options.names.every((name) => CAMPAIGNS[name] !== undefined);
  if (options.seconds > 0 && Number.isSafeInteger(options.seed) && isKnown) return options;
  throw new Error(USAGE);
}

/** Runs the campaigns one after the other. Returns whether all found nothing. */
async function runAll({ seconds, seed, names }: Options): Promise<boolean> {
  let isClean = true;
  for (const name of names) {
    process.stdout.write(`${name}: seed ${seed}, ${seconds} s\n`);
    const report = await CAMPAIGNS[name]?.(seed, { seconds });
    if (report === undefined) continue;
    process.stdout.write(`${name}: ${report.inputs} inputs, ${report.failures.length} failures\n`);
    for (const failure of report.failures) process.stdout.write(`  ${failure}\n`);
    isClean &&= report.failures.length === 0;
  }
  return isClean;
}

process.exitCode = (await runAll(parseOptions(process.argv.slice(2)))) ? 0 : 1;
