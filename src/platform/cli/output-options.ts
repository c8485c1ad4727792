import { type Command, Option } from "commander";
import type { JsonValue } from "../base/json.ts";
import type { CliContext } from "./cli-context.ts";
import { printResponse } from "./print-response.ts";

/** Options of a command that prints data. */
export interface OutputOptions {
  readonly json?: true;
  /** `json` sets {@link OutputOptions.json}, too. */
  readonly output?: "json" | "text" | "yaml";
}

/** Adds `--json` and `-o, --output`. */
export function addOutputOptions(command: Command): Command {
  return command
    .option("--json", "print JSON")
    .addOption(
      new Option("-o, --output <format>", "text, the default: for people, tables if there are any")
        .choices(["text", "json", "yaml"])
        .conflicts("json"),
    )
    .hook("preAction", (_program, own) => {
      if (own.getOptionValue("output") === "json") own.setOptionValue("json", true);
    });
}

/** Prints a result: its text for people, or with the options its JSON or YAML. */
export function printResult(
  { value, text }: { readonly value: JsonValue; readonly text: string },
  options: OutputOptions,
  context: CliContext,
): void {
  if (options.json || options.output === "yaml") return printResponse(value, options, context);
  context.print(text);
}
