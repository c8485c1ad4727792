import { Command } from "commander";
import { counted } from "../../platform/base/text.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import type { ImportedQuery } from "../from-leveldb/import-go-storage.ts";
import { importLevelDb } from "../from-leveldb/import-leveldb.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import {
  addRelayerConfigOptions,
  type RelayerConfigOptions,
  relayerContext,
  selectRelayerConfig,
} from "./relayer-config-options.ts";
import { column, formatTable } from "../../platform/cli/table.ts";

interface Options extends RelayerConfigOptions {
  readonly json?: true;
}

/** `relaywatch relayer import-leveldb DIR`. */
export function importLevelDbCommand(context: CliContext): Command {
  return addRelayerConfigOptions(new Command())
    .argument("<dir>", "directory of RELAYER_STORAGE_PATH")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Stop both relayers first. Takes over how far the searches for transactions have come, what was on its way, and unsuccessful
transactions as dead letters. The directory stays as it is. A query that state_dir or store knows stays as it is too, so a
repetition changes nothing. "relayer start --from-env" does this at its first start.`,
    )
    .action((directory: string, options: Options) => runImport(directory, options, context));
}

const COLUMNS = [
  column("query", "id"),
  column("searched to", "searched_to"),
  column("relayed", "relayed"),
  column("on their way", "sending"),
  column("dead letters", "dead_letters"),
  column("note", "note"),
];

async function runImport(directory: string, options: Options, context: CliContext): Promise<void> {
  const selected = await selectRelayerConfig(options, context);
  const daemon = await relayerContext(selected, "warn", context);
  const { queries, unknown } = await importLevelDb(directory, selected.config, daemon, context.signal);
  const rows = queries.map(toJson);
  if (options.json) return context.print(stringifyJson({ queries: rows, unknown_entries: unknown }, 2));
  context.print(formatTable(COLUMNS, rows));
  if (unknown > 0) context.print(`${counted(unknown, "entry", "entries")} of another program or damaged`);
}

function toJson({ id, searchedTo, relayed, sending, deadLetters, isKnown }: ImportedQuery) {
  return {
    id: `${id}`,
    searched_to: searchedTo === undefined ? null : `${searchedTo}`,
    relayed,
    sending,
    dead_letters: deadLetters,
    note: isKnown ? "known already, left as it is" : null,
  };
}
