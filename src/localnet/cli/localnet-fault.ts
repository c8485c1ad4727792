import { Command, Option } from "commander";
import { z } from "zod";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { parseDuration } from "../../platform/cli/options.ts";
import { askLocalnet, type LocalnetOptions, withLocalnetOptions } from "./control-commands.ts";

interface Options extends LocalnetOptions {
  readonly for?: number;
  readonly off?: true;
}

const faultsReply = z.object({
  faults: z.array(
    z.object({ name: z.string(), on: z.boolean(), until: z.string().nullable(), effect: z.string() }),
  ),
});

type Faults = z.output<typeof faultsReply>["faults"];

/** `relaywatch localnet fault`: switches the named fault on or off, or all faults off. Without arguments, lists the faults. */
export function faultCommand(context: CliContext): Command {
  const command = new Command()
    .argument("[name]", "the fault to switch; default: list all faults")
    .addOption(
      new Option("--for <duration>", 'switch the fault off after this time, e.g. "2m"')
        .argParser(parseDuration)
        .conflicts("off"),
    )
    .option("--off", "switch the fault off; without a fault name, switch all off")
    .action((name: string | undefined, options: Options) => fault(name, options, context));
  return withLocalnetOptions(command);
}

async function fault(name: string | undefined, options: Options, context: CliContext): Promise<void> {
  if (name === undefined && options.for !== undefined)
    throw new CliError(EXIT.usage, "--for needs a fault name");
  const call = async (path: string, sent: unknown): Promise<Faults> =>
    faultsReply.parse(await askLocalnet(path, sent, options, context)).faults;
  const before = await call("/faults", undefined);
  const names = name === undefined ? before.filter(({ on }) => on).map((one) => one.name) : [name];
  const isSwitching = name !== undefined || options.off === true;
  let faults = before;
  for (const one of isSwitching ? names : [])
    faults = await call(`/faults/${encodeURIComponent(one)}`, body(options));
  if (options.json) context.print(stringifyJson({ faults }, 2));
  else if (isSwitching) for (const line of switchedLines(faults, names)) context.print(line);
  else for (const one of faults) context.print(faultLine(one));
}

function body({ off, for: forMs }: Options): unknown {
  if (off) return { on: false };
  return { on: true, ...(forMs === undefined ? {} : { for: `${forMs}ms` }) };
}

function switchedLines(faults: Faults, names: readonly string[]): readonly string[] {
  if (names.length === 0) return ["no fault was on"];
  return faults.filter(({ name }) => names.includes(name)).map(faultLine);
}

function faultLine({ name, on, until, effect }: Faults[number]): string {
  const state = on ? `on${until === null ? "" : ` until ${until}`}` : "off";
  return `${name}  ${state}  ${effect}`;
}
