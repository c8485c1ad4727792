import { Command } from "commander";
import { inspectCode, type Inspection, problemOf, readCode } from "../../localnet/cli/contract-code.ts";
import { ENTRY_POINTS } from "../../localnet/vm/host.ts";
import type { WasmModule } from "../../localnet/vm/module.ts";
import { requiredCapabilities } from "../../localnet/vm/static-checks.ts";
import { CheckExit, EXIT } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";

export function wasmCommand(context: CliContext): Command {
  const inspect = new Command("inspect")
    .description("check a contract's code as the deployed chain does; exits 1 if the chain would reject it")
    .argument("<file>", "the WebAssembly file, plain or gzip")
    .addOption(jsonOption())
    .action((file: string, { json }: { readonly json?: true }) => {
      const inspection = inspectCode(readCode(file));
      context.print(json ? stringifyJson(toJson(inspection), 2) : toText(inspection));
      if (problemOf(inspection) !== undefined) throw new CheckExit(EXIT.fatal);
    });
  return new Command().addCommand(inspect);
}

function describeModule(module: WasmModule): Readonly<Record<string, Fact>> {
  const functions = module.exports.filter(({ kind }) => kind === "func").map(({ name }) => name);
  return {
    entry_points: Object.keys(ENTRY_POINTS).filter((name) => functions.includes(name)),
    imports: module.imports.map(({ module: from, name }) => `${from}.${name}`),
    capabilities: requiredCapabilities(module),
    migrate_version: module.migrateVersion?.toString() ?? null,
    functions: module.bodies.length,
    memory_pages: module.memories[0]?.minimum ?? 0,
    table_entries: module.tables[0]?.minimum ?? 0,
    sections: Object.fromEntries(
      module.customSections.map(({ name, range }) => [name, range.end - range.start]),
    ),
    code_bytes: module.bodies.reduce((sum, { start, end }) => sum + end - start, 0),
  };
}

function toJson(inspection: Inspection) {
  const { checksum, bytes, packedBytes, module, checks, instantiation } = inspection;
  return {
    checksum,
    bytes,
    gzip_bytes: packedBytes ?? null,
    accepted: problemOf(inspection) === undefined,
    error: problemOf(inspection) ?? null,
    checks: checks.map(({ name, problem }) => ({ name, error: problem ?? null })),
    instantiation_error: instantiation ?? null,
    module: module === undefined ? null : describeModule(module),
  };
}

function toText(inspection: Inspection): string {
  const { checksum, bytes, packedBytes, module, checks } = inspection;
  const problem = problemOf(inspection);
  const size = packedBytes === undefined ? "" : `, ${packedBytes} compressed`;
  const facts = module === undefined ? [] : Object.entries(describeModule(module)).map(factLine);
  return [
    `checksum         ${checksum}`,
    `bytes            ${bytes}${size}`,
    ...facts,
    "checks",
    ...checks.map(({ name, problem: found }) => `  ${name.padEnd(17)} ${found ?? "ok"}`),
    problem === undefined
      ? "The deployed chain would accept this code."
      : `The deployed chain would reject this code: ${problem}`,
  ].join("\n");
}

type Fact = string | number | null | readonly string[] | Readonly<Record<string, number>>;

function factLine([name, value]: readonly [string, Fact]): string {
  const text = textOfFact(value);
  return `${name.replaceAll("_", " ").padEnd(16)} ${text === "" ? "none" : text}`;
}

function textOfFact(value: Fact): string {
  if (value === null) return "none";
  if (typeof value !== "object") return String(value);
  return Object.entries(value)
    .map(([key, item]) => (Array.isArray(value) ? String(item) : `${key} ${item}`))
    .join(", ");
}
