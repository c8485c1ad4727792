import { stringify } from "yaml";
import { type JsonValue, stringifyJson } from "../base/json.ts";
import type { CliContext } from "./cli-context.ts";

/** Prints a response as REST API JSON, or as YAML with sorted keys, as a Cosmos SDK binary does. */
export function printAnswer(
  answer: JsonValue,
  { json }: { readonly json?: true },
  context: CliContext,
): void {
  context.print(json ? stringifyJson(answer, 2) : toYaml(answer));
}

function toYaml(answer: JsonValue): string {
  return stringify(answer, { sortMapEntries: true, indentSeq: false, lineWidth: 0 }).trimEnd();
}
