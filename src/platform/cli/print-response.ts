import { stringify } from "yaml";
import { type JsonValue, stringifyJson } from "../base/json.ts";
import type { CliContext } from "./cli-context.ts";

/** Prints a response as REST API JSON, or as YAML with sorted keys, as a Cosmos SDK binary does. */
export function printResponse(
  response: JsonValue,
  { json }: { readonly json?: true },
  context: CliContext,
): void {
  context.print(json ? stringifyJson(response, 2) : toYaml(response));
}

/** Formats JSON as YAML with sorted keys. */
export function toYaml(response: JsonValue): string {
  return stringify(response, { sortMapEntries: true, indentSeq: false, lineWidth: 0 }).trimEnd();
}
