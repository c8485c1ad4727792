import { Command } from "commander";
import { EXIT } from "../../platform/base/errors.ts";
import { type JsonValue, stringifyJson } from "../../platform/base/json.ts";
import { openPreview, type Preview, servedQueries } from "../preview/open-preview.ts";
import { type KvPreview, previewKv } from "../preview/preview-kv.ts";
import { previewTx, type TxPreview } from "../preview/preview-tx.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { CliError } from "../../platform/cli/cli-error.ts";
import { kvPreviewJson, txPreviewJson } from "./preview-json.ts";
import { queryIdsOption } from "./query-ids-option.ts";
import {
  addRelayerConfigOptions,
  type RelayerConfigOptions,
  relayerContext,
  selectRelayerConfig,
} from "./relayer-config-options.ts";
import { column, formatTable } from "../../platform/cli/table.ts";

interface Options extends RelayerConfigOptions {
  readonly query?: readonly bigint[];
  readonly json?: true;
}

/** `relaywatch relayer dry-run`. */
export function dryRunCommand(context: CliContext): Command {
  return addRelayerConfigOptions(new Command())
    .addOption(queryIdsOption())
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Does everything but broadcast, so it may run beside another relayer. "before" compares with what the other one sent. For a KV
query: the last result on the chain with the remote state at its height. For a TX query: which of the transactions that are
found now the chain has received; "differs" means that it lacks one before a later one that it has. "same" means that this
relayer would have sent the same. Exits 1 when a query cannot be answered or differs.`,
    )
    .action((options: Options) => dryRun(options, context));
}

async function dryRun(options: Options, context: CliContext): Promise<void> {
  const selected = await selectRelayerConfig(options, context);
  const preview = await openPreview(selected.config, await relayerContext(selected, "error", context));
  try {
    const rows = await previewAll(preview, options.query ?? [], context.signal);
    context.print(options.json ? stringifyJson(rows, 2) : formatTable(COLUMNS, rows));
    const bad = rows.filter(
      ({ outcome, before }) => (outcome !== "accepted" && outcome !== "answered") || before === "differs",
    ).length;
    if (bad > 0)
      throw new CliError(EXIT.fatal, `${bad} of ${rows.length} queries cannot be answered or differ`);
  } finally {
    preview.close();
  }
}

const COLUMNS = [
  column("id", "id"),
  column("type", "type"),
  column("connection", "connection_id"),
  column("remote height", "remote_height"),
  column("outcome", "outcome"),
  column("results", "results"),
  column("gas", "gas"),
  column("before", "before"),
  column("reason", "reason"),
];

type Row = ReturnType<typeof kvPreviewJson> | ReturnType<typeof txPreviewJson>;

async function previewAll(
  preview: Preview,
  ids: readonly bigint[],
  signal: AbortSignal,
): Promise<readonly (Row & JsonValue)[]> {
  const rows: (Row & JsonValue)[] = [];
  for (const connection of preview.connections) {
    const queries = await servedQueries(preview, connection.id, ids, signal);
    const kv: readonly KvPreview[] = await previewKv(
      preview,
      connection,
      queries.filter(({ type }) => type === "kv"),
      signal,
    );
    rows.push(...kv.map(kvPreviewJson));
    for (const query of queries.filter(({ type }) => type === "tx")) {
      const one: TxPreview = await previewTx(preview, connection, query, signal);
      rows.push(txPreviewJson(one));
    }
  }
  return rows;
}
