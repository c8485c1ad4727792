import { Option } from "commander";
import { parseUint64 } from "../../platform/cli/options.ts";

/** `--query IDS`: ids of queries, separated by commas. Without it: all. */
export function queryIdsOption(): Option {
  return new Option("--query <ids>", "only these queries, separated by commas").argParser((text) =>
    text.split(",").map((part) => parseUint64(part.trim())),
  );
}
