import { Command } from "commander";
import { counted } from "../../platform/base/text.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import { column, formatTable } from "../../platform/cli/table.ts";
import { parseEnvYaml } from "../from-env/config-from-env.ts";
import { type ImportedQuery, importLevelDb } from "../from-leveldb/import-leveldb.ts";
import {
  addRelayerConfigOptions,
  readEnvironment,
  type RelayerConfigOptions,
  relayerContext,
  secretsOf,
  selectRelayerConfig,
  yamlFromEnv,
} from "./relayer-config-options.ts";

interface ImportOptions extends RelayerConfigOptions {
  readonly json?: true;
}

export function importLevelDbCommand(context: CliContext): Command {
  return addRelayerConfigOptions(new Command())
    .argument("<dir>", "the Go relayer's RELAYER_STORAGE_PATH directory")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Stop both relayers first. Imports the progress of transaction searches, transactions in flight, and unsuccessful transactions
as dead letters. Leaves the directory unchanged, and skips queries that are already in state_dir or store, so it is safe to repeat. "relayer start --from-env" does this on its first start.`,
    )
    .action((directory: string, options: ImportOptions) => runImport(directory, options, context));
}

const IMPORT_COLUMNS = [
  column("query", "id"),
  column("searched to", "searched_to"),
  column("relayed", "relayed"),
  column("in flight", "sending"),
  column("dead letters", "dead_letters"),
  column("note", "note"),
];

async function runImport(directory: string, options: ImportOptions, context: CliContext): Promise<void> {
  const selected = await selectRelayerConfig(options, context);
  const daemon = await relayerContext(selected, "warn", context);
  const { queries, unknown } = await importLevelDb(directory, selected.config, daemon, context.signal);
  const rows = queries.map(importJson);
  if (options.json) return context.print(stringifyJson({ queries: rows, unknown_entries: unknown }, 2));
  context.print(formatTable(IMPORT_COLUMNS, rows));
  if (unknown > 0) context.print(`${counted(unknown, "entry", "entries")} damaged or from another program`);
}

function importJson({ id, searchedTo, relayed, sending, deadLetters, isKnown }: ImportedQuery) {
  return {
    id: `${id}`,
    searched_to: searchedTo === undefined ? null : `${searchedTo}`,
    relayed,
    sending,
    dead_letters: deadLetters,
    note: isKnown ? "already known, unchanged" : null,
  };
}

/** Maximum wait for the chains' endpoints to report the chain ids. */
const WAIT_MS = 10_000;

/** `relaywatch config from-env [FILE]`: prints the Go relayer's settings as YAML. */
export function fromEnvCommand(context: CliContext): Command {
  return new Command()
    .argument("[file]", ".env file with the variables; default: only the environment")
    .addHelpText(
      "after",
      `
Reads the chain ids from the endpoints. Secrets remain references. Reports unknown variables with the prefix RELAYER_
or LOGGER_ on stderr. Exits 78 if a variable is invalid or missing, and 75 if an endpoint does not respond.`,
    )
    .action((file: string | undefined) => printYaml(file, context));
}

async function printYaml(file: string | undefined, context: CliContext): Promise<void> {
  const environment = readEnvironment(file ?? true);
  const yaml = await yamlFromEnv(environment, context, WAIT_MS);
  parseEnvYaml(yaml, secretsOf(environment));
  context.print(`# Converted from neutron_query_relayer settings.\n${yaml.trimEnd()}`);
}
