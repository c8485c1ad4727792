import { parseArgs } from "node:util";
import { errorText } from "../../src/platform/base/errors.ts";
import { type CampaignBudget, runCampaign } from "./campaign.ts";
import { CAMPAIGNS } from "./campaigns.ts";

const USAGE = `usage: npm run fuzz -- [--seconds N] [--inputs N] [--seed N] [CAMPAIGN…]
  --seconds N   for each campaign, default 60; with --inputs no limit
  --inputs N    for each campaign, default: no limit
  --seed N      default: drawn
  campaigns: ${Object.keys(CAMPAIGNS).join(", ")}; default: all`;

interface Options {
  readonly budget: CampaignBudget;
  readonly seed: number;
  readonly names: readonly string[];
}

/** Parses the command line. Returns undefined for `--help`. Throws an error that names the wrong word. */
function parseOptions(words: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      seconds: { type: "string" },
      inputs: { type: "string" },
      seed: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) return undefined;
  const drawn = Math.floor(Math.random() * 2 ** 31);
  const inputs = values.inputs === undefined ? undefined : Number(values.inputs);
  const seconds = Number(values.seconds ?? (inputs === undefined ? 60 : Number.POSITIVE_INFINITY));
  const options = {
    budget: inputs === undefined ? { seconds } : { seconds, inputs },
    seed: Number(values.seed ?? drawn),
    names: positionals.length === 0 ? Object.keys(CAMPAIGNS) : positionals,
  };
  const unknown = options.names.find((name) => CAMPAIGNS[name] === undefined);
  if (unknown !== undefined) throw new Error(`there is no campaign ${unknown}`);
  if (!(seconds > 0)) throw new Error("--seconds must be a number above 0");
  if (!((inputs ?? 1) > 0)) throw new Error("--inputs must be a number above 0");
  if (!Number.isSafeInteger(options.seed)) throw new Error("--seed must be an integer");
  return options;
}

/** Runs the campaigns one after the other. Returns whether all found nothing. */
async function runAll({ budget, seed, names }: Options): Promise<boolean> {
  let isClean = true;
  for (const name of names) {
    const limit = budget.inputs === undefined ? `${budget.seconds} s` : `${budget.inputs} inputs`;
    process.stdout.write(`${name}: seed ${seed}, ${limit}\n`);
    const campaign = CAMPAIGNS[name];
    if (campaign === undefined) continue;
    const report = await runCampaign(campaign, seed, budget);
    const slowest =
      report.slowestMs === undefined ? "" : `, slowest ${report.slowestMs.toFixed(0)} ms of processor time`;
    process.stdout.write(`${name}: ${report.inputs} inputs, ${report.failures.length} failures${slowest}\n`);
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
