import { Command, Option } from "commander";
import { EXIT } from "../../platform/base/errors.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { addOutputOptions } from "../../platform/cli/output-options.ts";
import { readConfigText } from "../../platform/config/config.ts";
import { withoutSecrets } from "../../platform/config/config-fields.ts";
import {
  type EffectiveConfig,
  effectiveJson,
  effectiveYaml,
} from "../../platform/config/effective-config.ts";
import { DAEMONS, type DaemonName, kindOption, readAs, readBest } from "./config-kind.ts";

interface ShowOptions {
  readonly config?: string;
  readonly kind?: DaemonName;
  readonly json?: true;
  readonly output?: "json" | "text" | "yaml";
  readonly origin?: true;
  readonly redacted: boolean;
}

export function showCommand(context: CliContext): Command {
  return addOutputOptions(new Command())
    .argument("[file]", "YAML file; default: environment variables only")
    .addOption(new Option("--config <file>", "the same as the argument"))
    .addOption(kindOption())
    .option("--origin", "show where each value comes from: file and line, environment variable, or default")
    .addOption(new Option("--redacted", "print secrets as [redacted]").default(true))
    .option(
      "--no-redacted",
      "print references to secrets, so that the output can be used as a configuration file",
    )
    .addHelpText(
      "after",
      `
A secret itself is never printed, and need not be readable. Without a file, --kind names the daemon whose variables
(RELAYWATCH_RELAYER_…, RELAYWATCH_WATCHDOG_…) are shown.`,
    )
    .action((file: string | undefined, options: ShowOptions) => show(file, options, context));
}

function show(argument: string | undefined, options: ShowOptions, context: CliContext): void {
  if (argument !== undefined && options.config !== undefined)
    throw new CliError(EXIT.usage, "name the file once, either as the argument or with --config");
  const file = argument ?? options.config;
  const effective = withoutSecrets(() => readShown(file, options.kind)());
  const format = { withOrigin: options.origin === true, isRedacted: options.redacted };
  const text = options.json === true ? effectiveJson(effective, format) : effectiveYaml(effective, format);
  context.print(text.trimEnd());
}

function readShown(file: string | undefined, kind: DaemonName | undefined): () => EffectiveConfig {
  if (file !== undefined) return readBest(readConfigText(file), kind);
  if (kind !== undefined) return readAs(kind);
  throw new CliError(EXIT.usage, `name a file, or the daemon with --kind ${DAEMONS.join(" or --kind ")}`);
}
