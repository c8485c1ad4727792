import { parseArgs } from "node:util";
import { errorText } from "../../src/base/errors.ts";
import { CAMPAIGNS } from "./campaigns.ts";

const USAGE = `usage: npm run fuzz -- [--seconds N] [--seed N] [CAMPAIGN…]
  --seconds N   for each campaign, default 60
  --seed N      default: drawn
  campaigns: ${Object.keys(CAMPAIGNS).join(", ")}; default: all`;

interface Options {
  readonly seconds: number;
  readonly seed: number;
  readonly names: readonly string[];
}

/** Parses the command line. Returns undefined for `--help`. Throws an error that names the wrong word. */
function parseOptions(words: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: { seconds: { type: "string" }, seed: { type: "string" }, help: { type: "boolean" } },
  });
  if (values.help === true) return undefined;
  const drawn = Math.floor(Math.random() * 2 ** 31);
  const options = {
    seconds: Number(values.seconds ?? 60),
    seed: Number(values.seed ?? drawn),
    names: positionals.length === 0 ? Object.keys(CAMPAIGNS) : positionals,
  };
  const unknown = options.names.find((name) => CAMPAIGNS[name] === undefined);
  if (unknown !== undefined) throw new Error(`there is no campaign ${unknown}`);
  if (!(options.seconds > 0)) throw new Error("--seconds must be a number above 0");
  if (!Number.isSafeInteger(options.seed)) throw new Error("--seed must be an integer");
  return options;
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

async function main(words: readonly string[]): Promise<number> {
  let options: Options | undefined;
  try {
    options = parseOptions(words);
  } catch (error) {
    process.stderr.write(`${errorText(error)}\n${USAGE}\n`);
    return 2;
  }
  if (options !== undefined) return (await runAll(options)) ? 0 : 1;
  process.stdout.write(`${USAGE}\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
