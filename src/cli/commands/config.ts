import { Command, Option } from "commander";
import { EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { counted } from "../../platform/base/text.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { addLazyCommands, type LazyCommand } from "../../platform/cli/lazy-command.ts";
import {
  ConfigError,
  type ConfigIssue,
  type ConfigText,
  formatConfigIssue,
  parseConfig,
  readConfigText,
} from "../../platform/config/config.ts";
import { relayerConfigSchema } from "../../relayer/config/relayer-config.ts";
import { watchdogConfigSchema } from "../../watchdog/config/config.ts";

const COMMANDS: readonly LazyCommand[] = [
  {
    name: "validate",
    description: "check configuration files; referenced secrets must be readable",
    load: async () => validateCommand,
  },
  {
    name: "from-env",
    description: "print the relayer's configuration from the Go relayer's variables",
    load: async () => (await import("../../relayer/cli/go-relayer-commands.ts")).fromEnvCommand,
  },
];

/** `relaywatch config`. */
export function configCommand(context: CliContext): Promise<Command> {
  return addLazyCommands(new Command(), COMMANDS, context);
}

const KINDS = ["oracle-watchdog", "icq-relayer"] as const;
type Kind = (typeof KINDS)[number];

interface Options {
  readonly kind?: Kind;
  readonly json?: true;
}

/** `relaywatch config validate FILE…`: prints every error in every file with its line and column. */
function validateCommand(context: CliContext): Command {
  return new Command()
    .argument("<file...>", "YAML files")
    .addOption(
      new Option("--kind <daemon>", "the daemon; default: the one that knows the keys").choices(KINDS),
    )
    .option("--json", "print JSON")
    .addHelpText("after", "\nExits 78 when a file has an error.")
    .action((files: readonly string[], options: Options) => validateFiles(files, options, context));
}

function validateFiles(files: readonly string[], options: Options, context: CliContext): void {
  const checked = files.map((file) => ({ file, errors: errorsOf(file, options.kind) }));
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

/** Without a kind, returns the errors of the one whose schema knows most of the keys. */
function errorsOf(file: string, kind: Kind | undefined): readonly ConfigIssue[] {
  return issuesOf(() => {
    // Read once: a pipe has its text only once.
    const source = readConfigText(file);
    const results = (kind === undefined ? KINDS : [kind]).map((one) => checkAs(source, one));
    const [best = []] = results.toSorted((a, b) => unknownKeys(a) - unknownKeys(b) || a.length - b.length);
    return best;
  });
}

function checkAs(source: ConfigText, kind: Kind): readonly ConfigIssue[] {
  return issuesOf(() => {
    parseConfig(source, kind === "icq-relayer" ? relayerConfigSchema() : watchdogConfigSchema);
    return [];
  });
}

function unknownKeys(errors: readonly ConfigIssue[]): number {
  return errors.filter(({ text }) => text.startsWith("unknown key")).length;
}

function issuesOf(check: () => readonly ConfigIssue[]): readonly ConfigIssue[] {
  try {
    return check();
  } catch (error) {
    if (error instanceof ConfigError) return error.facts.errors;
    throw error;
  }
}
