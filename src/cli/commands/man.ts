import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { CliError, EXIT } from "../../platform/base/errors.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { ALL_COMMANDS, visibleCommands } from "../../platform/cli/lazy-command.ts";
import { examplesOf, shellText } from "../examples.ts";

type CreateProgram = (context: CliContext) => Promise<Command>;

export function manCommand(context: CliContext, createProgram: CreateProgram): Command {
  return new Command()
    .argument("[command...]", "command to document; default: the whole program")
    .option("--dir <folder>", "write all commands' pages to this folder")
    .action(async (path: readonly string[], { dir }: { readonly dir?: string }) => {
      const program = await createProgram({ ...context, words: ALL_COMMANDS });
      if (dir === undefined) return context.print(manPage(commandAt(program, path), path));
      mkdirSync(dir, { recursive: true });
      for (const page of pages(program, []))
        writeFileSync(join(dir, `${pageName(page.path)}.1`), `${manPage(page.command, page.path)}\n`);
    });
}

function commandAt(program: Command, path: readonly string[]): Command {
  let command = program;
  for (const name of path) {
    const inner = command.commands.find((one) => one.name() === name);
    if (inner === undefined) throw new CliError(EXIT.usage, `unknown command ${path.join(" ")}`);
    command = inner;
  }
  return command;
}

interface Page {
  readonly command: Command;
  readonly path: readonly string[];
}

function pages(command: Command, path: readonly string[]): readonly Page[] {
  const inner = visibleCommands(command).flatMap((one) => pages(one, [...path, one.name()]));
  return [{ command, path }, ...inner];
}

function pageName(path: readonly string[]): string {
  return ["relaywatch", ...path].join("-");
}

/** Formats a command's manual page as roff. */
export function manPage(command: Command, path: readonly string[]): string {
  const help = command.createHelp();
  const inner = visibleCommands(command);
  const name = ["relaywatch", ...path].join(" ");
  const sections = [
    [`.TH ${pageName(path).toUpperCase()} 1 "" "" "Relaywatch"`],
    [".SH NAME", `${roff(pageName(path))} \\- ${roff(command.description())}`],
    [".SH SYNOPSIS", `.B ${roff(name)}`, roff(inner.length > 0 ? "COMMAND" : command.usage())],
    list(
      "COMMANDS",
      inner.map((one) => [one.name(), one.description()]),
    ),
    list(
      "ARGUMENTS",
      help.visibleArguments(command).map((one) => [one.name(), help.argumentDescription(one)]),
    ),
    list(
      "OPTIONS",
      help.visibleOptions(command).map((one) => [one.flags, help.optionDescription(one)]),
    ),
    inner.length > 0
      ? []
      : [
          ".SH EXAMPLES",
          ".nf",
          ...examplesOf(command, path).map((words) => roff(shellText("relaywatch", words))),
          ".fi",
        ],
    list("EXIT STATUS", [
      ["0", "done, or a daemon stopped on request"],
      ["1", "a fatal error, or an interrupt"],
      ["2", "wrong command line"],
      ["75", "a temporary failure: try again later"],
      ["78", "an invalid configuration"],
    ]),
    path.length === 0 ? [] : [".SH SEE ALSO", `.BR ${roff(pageName(path.slice(0, -1)))} (1)`],
  ];
  return sections.flat().join("\n");
}

function list(title: string, entries: readonly (readonly [string, string])[]): readonly string[] {
  if (entries.length === 0) return [];
  return [`.SH ${title}`, ...entries.flatMap(([term, text]) => [".TP", `.B ${roff(term)}`, roff(text)])];
}

function roff(text: string): string {
  const line = text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll(/\s*\n\s*/g, " ");
  return /^[.']/.test(line) ? `\\&${line}` : line;
}
