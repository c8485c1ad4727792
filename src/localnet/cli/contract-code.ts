import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { CliError, errorMessage, EXIT } from "../../platform/base/errors.ts";
import { isRecord } from "../../platform/base/json.ts";
import { MAX_CODE_BYTES } from "../chain/modules/wasm/code-store.ts";
import { decodeModule } from "../vm/decode-module.ts";
import type { WasmModule } from "../vm/module.ts";
import { STATIC_CHECKS } from "../vm/static-checks.ts";
import { createVm } from "../vm/vm.ts";

/** Maximum size of a code file in bytes. The limit prevents the command from reading a huge file that was given by mistake. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

interface Check {
  readonly name: string;
  /** The reason why the code fails the check, in the deployed chain's words, or undefined if the code passes the check. */
  readonly problem: string | undefined;
}

/** Results of checking a contract's code statically, i.e. without running the contract. */
export interface Inspection {
  readonly checksum: string;
  readonly bytes: number;
  readonly packedBytes: number | undefined;
  readonly module: WasmModule | undefined;
  readonly checks: readonly Check[];
  /** The reason why the code could be stored but not instantiated, or undefined if the code can be instantiated. */
  readonly instantiation: string | undefined;
}

/** Reads a contract's code from a file, which may be gzipped. Throws a `CliError` with the reason if the chain would reject the code. */
export function readContract(file: string): Uint8Array {
  const inspection = inspectCode(readCode(file));
  const problem = problemOf(inspection);
  if (problem === undefined && inspection.module !== undefined) return inspection.module.bytes;
  throw new CliError(EXIT.badConfig, `${file}: the chain would reject this code: ${problem ?? "no module"}`);
}

/** Reads a contract's code file. Throws `CliError` if the file does not exist, cannot be read or is too large. */
export function readCode(file: string): Uint8Array {
  try {
    if (statSync(file).size > MAX_FILE_BYTES) throw new Error(`it exceeds ${MAX_FILE_BYTES} bytes`);
    return new Uint8Array(readFileSync(file));
  } catch (cause) {
    if (isRecord(cause) && cause["code"] === "ENOENT")
      throw new CliError(EXIT.badConfig, `${file}: file not found`);
    throw new CliError(EXIT.badConfig, `cannot read ${file}`, { cause });
  }
}

/** Checks plain or gzipped code, and returns the problems that it finds instead of throwing. */
export function inspectCode(file: Uint8Array): Inspection {
  const isPacked = file[0] === 0x1f && file[1] === 0x8b;
  let code = file;
  const checks: Check[] = [];
  if (isPacked) {
    const problem = attempt(() => {
      code = new Uint8Array(gunzipSync(file, { maxOutputLength: MAX_FILE_BYTES }));
    });
    checks.push({ name: "gzip", problem });
  }
  checks.push({
    name: "size",
    problem: code.length > MAX_CODE_BYTES ? `${code.length} bytes, at most ${MAX_CODE_BYTES}` : undefined,
  });
  let module: WasmModule | undefined;
  const decoding = attempt(() => {
    module = decodeModule(code);
  });
  checks.push({ name: "module", problem: decoding });
  const { instantiation, more } = module === undefined ? NOTHING_MORE : checkModule(module, code);
  return {
    checksum: createHash("sha256").update(code).digest("hex"),
    bytes: code.length,
    packedBytes: isPacked ? file.length : undefined,
    module,
    checks: [...checks, ...more],
    instantiation,
  };
}

const NOTHING_MORE = { instantiation: undefined, more: [] } as const;

function checkModule(
  module: WasmModule,
  code: Uint8Array,
): { readonly instantiation: string | undefined; readonly more: readonly Check[] } {
  const rules = STATIC_CHECKS.map(({ name, problem }) => ({ name, problem: problem(module) }));
  if (rules.some(({ problem }) => problem !== undefined)) return { instantiation: undefined, more: rules };
  const vm = createVm();
  const bodies = attempt(() => vm.store("inspected", code));
  return {
    instantiation: bodies === undefined ? vm.instantiationProblem("inspected") : undefined,
    more: [...rules, { name: "function bodies", problem: bodies }],
  };
}

function attempt(action: () => void): string | undefined {
  try {
    action();
    return undefined;
  } catch (thrown) {
    return errorMessage(thrown);
  }
}

/** Returns the first reason why the chain would reject or could not instantiate the code, or undefined if both are possible. */
export function problemOf({ checks, instantiation }: Inspection): string | undefined {
  return checks.find(({ problem }) => problem !== undefined)?.problem ?? instantiation;
}
