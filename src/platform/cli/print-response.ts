import { stringify } from "yaml";
import { type JsonValue, parseJson, stringifyJson } from "../base/json.ts";

/** The part of a command's context that prints results. */
interface Output {
  readonly print: (line: string) => void;
}

/** Prints a response as REST API JSON, or as YAML with sorted keys, like a Cosmos SDK binary. */
export function printResponse(response: JsonValue, { json }: { readonly json?: true }, output: Output): void {
  output.print(json ? stringifyJson(response, 2) : toYaml(response));
}

export function toYaml(response: JsonValue): string {
  return stringify(response, { sortMapEntries: true, indentSeq: false, lineWidth: 0 }).trimEnd();
}

/** Converts a line of JSON to YAML, and returns any other line unchanged, such as a daemon's address. */
export function jsonToYaml(text: string): string {
  const value = parseJson(text);
  return isJsonValue(value) ? toYaml(value) : text;
}

function isJsonValue(value: unknown): value is JsonValue {
  return value !== undefined;
}

/** Prints a result as text for people, or as JSON or YAML if the options request it. */
export function printResult(
  { value, text }: { readonly value: JsonValue; readonly text: string },
  options: { readonly json?: true; readonly output?: string },
  output: Output,
): void {
  if (options.json || options.output === "yaml") return printResponse(value, options, output);
  output.print(text);
}
