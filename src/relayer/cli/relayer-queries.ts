import { Command, Option } from "commander";
import { isRecord, type JsonValue, stringifyJson } from "../../platform/base/json.ts";
import { QUERY_STATUSES, type QueryStatus } from "../registry/query-state.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { addRelayerApiOptions, readRelayer, type RelayerApiOptions } from "./relayer-api-options.ts";
import { cellText, column, fieldAt, formatTable } from "../../platform/cli/table.ts";

interface Options extends RelayerApiOptions {
  readonly state?: QueryStatus;
  readonly overdue?: true;
}

/** `relaywatch relayer queries`. */
export function queriesCommand(context: CliContext): Command {
  return addRelayerApiOptions(new Command())
    .addOption(new Option("--state <state>", "only queries in this state").choices(QUERY_STATUSES))
    .option("--overdue", "only queries that are overdue")
    .action((options: Options) => listQueries(options, context));
}

const COLUMNS = [
  column("id", "id"),
  column("type", "type"),
  column("connection", "connection_id"),
  column("period", "update_period"),
  column("local height", "last_local_height"),
  column("remote height", "last_remote_height"),
  column("result age", "result_age_blocks"),
  column("late", "late_blocks"),
  column("results", "results"),
  column("gas", "gas"),
  { title: "owner", cell: (row: JsonValue) => shortAddress(cellText(fieldAt(row, "owner"))) },
  column("state", "state"),
  {
    title: "error",
    cell: (row: JsonValue) =>
      fieldAt(row, "error") === null
        ? "-"
        : `${cellText(fieldAt(row, "error.code"))}: ${cellText(fieldAt(row, "error.reason"))}`,
  },
];

async function listQueries(options: Options, context: CliContext): Promise<void> {
  const answer = await readRelayer(options, "/api/queries", context.signal);
  const all = Array.isArray(answer) ? answer.filter(isJson) : [];
  const rows = all.filter(
    (row) =>
      (options.state === undefined || fieldAt(row, "state") === options.state) &&
      (options.overdue === undefined || fieldAt(row, "overdue") === true),
  );
  context.print(options.json ? stringifyJson(rows, 2) : formatTable(COLUMNS, rows));
}

function shortAddress(address: string): string {
  return address.length > 20 ? `${address.slice(0, 12)}…${address.slice(-6)}` : address;
}

function isJson(value: unknown): value is JsonValue {
  return isRecord(value);
}
