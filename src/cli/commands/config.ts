import { Command } from "commander";
import { EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { counted } from "../../platform/base/text.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { addLazyCommands, type LazyCommands } from "../../platform/cli/lazy-command.ts";
import {
  ConfigError,
  type ConfigIssue,
  formatConfigIssue,
  readConfigText,
} from "../../platform/config/config.ts";
import { withoutSecrets } from "../../platform/config/config-fields.ts";
import { type DaemonName, kindOption, readBest } from "./config-kind.ts";
import { jsonOption } from "../../platform/cli/output-options.ts";

const COMMANDS: LazyCommands = {
  validate: {
    description: "check configuration files; referenced secrets must be readable",
    load: async () => validateCommand,
  },
  show: {
    description: "print the values of all keys, and where each comes from",
    load: async () => (await import("./config-show.ts")).showCommand,
  },
  init: {
    description: "write a new configuration from what a chain's endpoints report",
    load: async () => (await import("../init/config-init.ts")).initCommand,
  },
  "from-env": {
    description: "print a relayer configuration made from the Go relayer's variables",
    load: async () => (await import("../../relayer/cli/go-relayer-commands.ts")).fromEnvCommand,
  },
};

export function configCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), COMMANDS, context);
}

interface ValidateOptions {
  readonly kind?: DaemonName;
  readonly json?: true;
  readonly secrets: boolean;
}

/** `relaywatch config validate FILE…`: prints every error in every file with its line and column. */
function validateCommand(context: CliContext): Command {
  return new Command()
    .argument("<file...>", "YAML files")
    .addOption(kindOption())
    .option(
      "--no-secrets",
      "do not read the files and variables that hold secrets; they need not exist (for CI)",
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The variables RELAYWATCH_RELAYER_…, RELAYWATCH_WATCHDOG_… and RELAYWATCH_LOCALNET_… take precedence over the files, as in the daemons.
Exits 78 when a file has an error.`,
    )
    .action((files: readonly string[], options: ValidateOptions) => validateFiles(files, options, context));
}

function validateFiles(files: readonly string[], options: ValidateOptions, context: CliContext): void {
  const check = (file: string): readonly ConfigIssue[] => errorsOf(file, options.kind);
  const checked = files.map((file) => ({
    file,
    errors: options.secrets ? check(file) : withoutSecrets(() => check(file)),
  }));
  if (options.json) context.print(stringifyJson(checked, 2));
  else for (const { file, errors } of checked) printFile(file, errors, context);
  const bad = checked.filter(({ errors }) => errors.length > 0).length;
  if (bad > 0)
    throw new CliError(EXIT.badConfig, `${bad} of ${counted(files.length, "file")} cannot be used`);
}

function printFile(file: string, errors: readonly ConfigIssue[], context: CliContext): void {
  if (errors.length === 0) context.print(`${file}: good`);
  for (const error of errors) context.print(formatConfigIssue(error));
}

function errorsOf(file: string, kind: DaemonName | undefined): readonly ConfigIssue[] {
  try {
    // Read the file once, because a pipe provides its text only once.
    readBest(readConfigText(file), kind);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.facts.errors;
    throw error;
  }
}
