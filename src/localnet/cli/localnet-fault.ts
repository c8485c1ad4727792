import { Command, Option } from "commander";
import { z } from "zod";
import { EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { portsAt } from "../../platform/base/localnet-defaults.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { askDaemon } from "../../platform/cli/daemon-request.ts";
import { parseDuration, portOffsetOption } from "../../platform/cli/options.ts";
import { controlToken, controlTokenFile } from "../../platform/cli/state-home.ts";

interface Options {
  readonly for?: number;
  readonly off?: true;
  readonly json?: true;
  readonly portOffset: number;
}

const faultsReply = z.object({
  faults: z.array(
    z.object({ name: z.string(), on: z.boolean(), until: z.string().nullable(), effect: z.string() }),
  ),
});

type Faults = z.output<typeof faultsReply>["faults"];

/** `relaywatch localnet fault [NAME] [--for 2m] [--off]`: without a name, lists the faults, or switches them all off. */
export function faultCommand(context: CliContext): Command {
  return new Command()
    .argument("[name]", "the fault to switch; without it, all are listed")
    .addOption(
      new Option("--for <duration>", 'switch the fault off after this time, such as "2m"')
        .argParser(parseDuration)
        .conflicts("off"),
    )
    .option("--off", "switch the fault off; without a name, all faults")
    .option("--json", "print JSON")
    .addOption(portOffsetOption())
    .action((name: string | undefined, options: Options) => fault(name, options, context));
}

async function fault(name: string | undefined, options: Options, context: CliContext): Promise<void> {
  if (name === undefined && options.for !== undefined)
    throw new CliError(EXIT.usage, "--for needs a fault name");
  const before = await call("/faults", undefined, options, context);
  const names = name === undefined ? before.filter(({ on }) => on).map((one) => one.name) : [name];
  const isSwitching = name !== undefined || options.off === true;
  let faults = before;
  for (const one of isSwitching ? names : [])
    faults = await call(`/faults/${encodeURIComponent(one)}`, body(options), options, context);
  if (options.json) context.print(stringifyJson({ faults }, 2));
  else if (isSwitching) for (const line of switchedLines(faults, names)) context.print(line);
  else for (const one of faults) context.print(faultLine(one));
}

function body({ off, for: forMs }: Options): unknown {
  if (off) return { on: false };
  return { on: true, ...(forMs === undefined ? {} : { for: `${forMs}ms` }) };
}

async function call(
  path: string,
  sent: unknown,
  { portOffset }: Options,
  context: CliContext,
): Promise<Faults> {
  const reply = await askDaemon(
    {
      daemon: "the localnet's control API",
      url: `http://127.0.0.1:${portsAt(portOffset).control}`,
      path,
      hint: "start relaywatch up or relaywatch localnet start, or select one with --port-offset",
      tokenHint: `the one in ${controlTokenFile(portOffset)} was ${sent === undefined ? "not " : ""}sent`,
      ...(sent === undefined ? {} : { body: sent, token: controlToken(portOffset) }),
    },
    context.signal,
  );
  return faultsReply.parse(reply).faults;
}

function switchedLines(faults: Faults, names: readonly string[]): readonly string[] {
  if (names.length === 0) return ["no fault was on"];
  return faults.filter(({ name }) => names.includes(name)).map(faultLine);
}

function faultLine({ name, on, until, effect }: Faults[number]): string {
  const state = on ? `on${until === null ? "" : ` until ${until}`}` : "off";
  return `${name}  ${state}  ${effect}`;
}
