import { Command, Option } from "commander";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { counted } from "../../platform/base/text.ts";
import {
  addOutputOptions,
  type CliContext,
  jsonOption,
  type OutputOptions,
} from "../../platform/cli/cli-context.ts";
import { addLazyCommands, type LazyCommands } from "../../platform/cli/lazy-command.ts";
import {
  ConfigError,
  type ConfigIssue,
  type ConfigText,
  formatConfigIssue,
  issuesOf,
  readConfigText,
} from "../../platform/config/config.ts";
import { withoutSecrets } from "../../platform/config/config-fields.ts";
import {
  type EffectiveConfig,
  effectiveConfig,
  effectiveJson,
  effectiveYaml,
} from "../../platform/config/effective-config.ts";
import { chainConfigKind } from "../../localnet/cli/chain-config.ts";
import { type ConfigKind, readDaemonConfig } from "../../platform/config/daemon-config.ts";
import { relayerConfigKind } from "../../relayer/config/relayer-config.ts";
import { watchdogConfigKind } from "../../watchdog/config/config.ts";

const COMMANDS: LazyCommands = {
  validate: {
    description: "check configuration files, and that the secrets they reference are readable",
    load: async () => validateCommand,
  },
  show: {
    description: "print every key's value, and optionally where it comes from",
    load: async () => showCommand,
  },
  init: {
    description: "write a new configuration based on a chain's endpoints",
    load: async () => (await import("../init/config-init.ts")).initCommand,
  },
  "from-env": {
    description: "convert the Go relayer's variables to a relayer configuration and print it",
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

/** `relaywatch config validate FILE…`: prints all errors in the files, with line and column. */
function validateCommand(context: CliContext): Command {
  return new Command()
    .argument("<file...>", "YAML files")
    .addOption(kindOption())
    .option("--no-secrets", "do not read secrets, e.g. in CI, where their files and variables need not exist")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The variables RELAYWATCH_RELAYER_…, RELAYWATCH_WATCHDOG_… and RELAYWATCH_LOCALNET_… take precedence over the files, as in the daemons.
Exits 78 if a file has an error.`,
    )
    .action((files: readonly string[], options: ValidateOptions) => validateFiles(files, options, context));
}

function validateFiles(files: readonly string[], options: ValidateOptions, context: CliContext): void {
  // Read each file only once, because a pipe cannot be read again.
  const check = (file: string): readonly ConfigIssue[] =>
    issuesOf(() => readBest(readConfigText(file), options.kind));
  const checked = files.map((file) => ({
    file,
    errors: options.secrets ? check(file) : withoutSecrets(() => check(file)),
  }));
  if (options.json) context.print(stringifyJson(checked, 2));
  else for (const { file, errors } of checked) printFile(file, errors, context);
  const bad = checked.filter(({ errors }) => errors.length > 0).length;
  if (bad > 0)
    throw new CliError(
      EXIT.badConfig,
      `${bad} of ${counted(files.length, "file")} ${bad === 1 ? "is" : "are"} invalid`,
    );
}

function printFile(file: string, errors: readonly ConfigIssue[], context: CliContext): void {
  if (errors.length === 0) context.print(`${file}: good`);
  for (const error of errors) context.print(formatConfigIssue(error));
}

interface ShowOptions extends OutputOptions {
  readonly config?: string;
  readonly kind?: DaemonName;
  readonly origin?: true;
  readonly redacted: boolean;
}

function showCommand(context: CliContext): Command {
  return addOutputOptions(new Command())
    .argument("[file]", "the YAML file; default: environment variables only")
    .addOption(new Option("--config <file>", "same as the file argument"))
    .addOption(kindOption())
    .option("--origin", "show where each value comes from: file and line, environment variable, or default")
    .addOption(new Option("--redacted", "print secrets as [redacted]").default(true))
    .option(
      "--no-redacted",
      "print each secret's reference, so that the output is a valid configuration file",
    )
    .addHelpText(
      "after",
      `
Secrets are never printed and need not be readable. Without a file, --kind selects the daemon whose variables (RELAYWATCH_RELAYER_…, RELAYWATCH_WATCHDOG_…) are shown.`,
    )
    .action((file: string | undefined, options: ShowOptions) => show(file, options, context));
}

function show(argument: string | undefined, options: ShowOptions, context: CliContext): void {
  if (argument !== undefined && options.config !== undefined)
    throw new CliError(EXIT.usage, "specify the file once, either as the argument or with --config");
  const file = argument ?? options.config;
  const effective = withoutSecrets(() => readShown(file, options.kind)());
  const format = { withOrigin: options.origin === true, isRedacted: options.redacted };
  const text = options.json === true ? effectiveJson(effective, format) : effectiveYaml(effective, format);
  context.print(text.trimEnd());
}

function readShown(file: string | undefined, kind: DaemonName | undefined): () => EffectiveConfig {
  if (file !== undefined) return readBest(readConfigText(file), kind);
  if (kind !== undefined) return readAs(kind);
  throw new CliError(EXIT.usage, `specify a file, or the daemon with --kind ${DAEMONS.join(" or --kind ")}`);
}

/** Programs that have a configuration file, which for `localnet` is the chain file. */
const DAEMONS = ["oracle-watchdog", "icq-relayer", "localnet"] as const;
type DaemonName = (typeof DAEMONS)[number];

/** Reads a configuration as the daemon would, and returns a function that computes its effective values. Throws `ConfigError`. */
function readAs(kind: DaemonName, source?: ConfigText): () => EffectiveConfig {
  if (kind === "icq-relayer") return readKind(relayerConfigKind(), source);
  if (kind === "localnet") return readKind(chainConfigKind, source);
  return readKind(watchdogConfigKind, source);
}

function readKind<Config>(kind: ConfigKind<Config>, source?: ConfigText): () => EffectiveConfig {
  const parsed = readDaemonConfig(kind, source);
  return () => effectiveConfig(kind, parsed);
}

function kindOption(): Option {
  return new Option(
    "--kind <daemon>",
    "daemon that uses the configuration; default: detected from its keys",
  ).choices(DAEMONS);
}

/** Reads a configuration as `kind` or, if undefined, as the kind that recognizes the most keys. Throws `ConfigError`. */
function readBest(source: ConfigText, kind: DaemonName | undefined): () => EffectiveConfig {
  const { result } = bestOf(source, kind === undefined ? DAEMONS : [kind]);
  if (result instanceof ConfigError) throw result;
  return result;
}

/** Returns the daemon whose schema recognizes the most keys in the file. */
export function kindOf(source: ConfigText): DaemonName {
  return bestOf(source, DAEMONS).kind;
}

interface ReadResult {
  readonly kind: DaemonName;
  readonly result: (() => EffectiveConfig) | ConfigError;
}

function bestOf(source: ConfigText, kinds: readonly DaemonName[]): ReadResult {
  const failed: { readonly kind: DaemonName; readonly result: ConfigError }[] = [];
  for (const kind of kinds) {
    try {
      return { kind, result: readAs(kind, source) };
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      failed.push({ kind, result: error });
    }
  }
  const [best] = failed.toSorted(
    (a, b) =>
      unknownKeys(a.result) - unknownKeys(b.result) ||
      a.result.facts.errors.length - b.result.facts.errors.length,
  );
  if (best === undefined) throw new Error("no kind to read the configuration as");
  return best;
}

function unknownKeys({ facts }: ConfigError): number {
  return facts.errors.filter(({ text }) => text.startsWith("unknown key")).length;
}
