import { Buffer } from "node:buffer";
import { vmError } from "./errors.ts";
import type { WasmModule } from "./module.ts";
import { I32, I64 } from "./operators.ts";

/**
 * Functions that contracts may import from `env`, in the deployed VM's order, each with its i32 parameter count and its result.
 */
export const HOST_FUNCTIONS = {
  abort: [1, undefined],
  db_read: [1, I32],
  db_write: [2, undefined],
  db_remove: [1, undefined],
  addr_validate: [1, I32],
  addr_canonicalize: [2, I32],
  addr_humanize: [2, I32],
  bls12_381_aggregate_g1: [2, I32],
  bls12_381_aggregate_g2: [2, I32],
  bls12_381_pairing_equality: [4, I32],
  bls12_381_hash_to_g1: [4, I32],
  bls12_381_hash_to_g2: [4, I32],
  secp256k1_verify: [3, I32],
  secp256k1_recover_pubkey: [3, I64],
  secp256r1_verify: [3, I32],
  secp256r1_recover_pubkey: [3, I64],
  ed25519_verify: [3, I32],
  ed25519_batch_verify: [3, I32],
  debug: [1, undefined],
  query_chain: [1, I32],
  db_scan: [3, I32],
  db_next: [1, I32],
  db_next_key: [1, I32],
  db_next_value: [1, I32],
} as const satisfies Readonly<Record<string, readonly [params: number, result: number | undefined]>>;

export type HostFunctionName = keyof typeof HOST_FUNCTIONS;

export const SUPPORTED_IMPORTS = Object.keys(HOST_FUNCTIONS).filter(isHostFunction);

export function isHostFunction(name: string): name is HostFunctionName {
  return Object.hasOwn(HOST_FUNCTIONS, name);
}

/** Capabilities of the deployed chain, which contracts may require. */
const AVAILABLE_CAPABILITIES: readonly string[] = [
  "iterator",
  "staking",
  "stargate",
  "neutron",
  "cosmwasm_1_1",
  "cosmwasm_1_2",
  "cosmwasm_1_3",
  "cosmwasm_1_4",
  "cosmwasm_2_0",
  "cosmwasm_2_1",
];

/** Maximum memory of a contract, in pages of 64 KiB. */
export const MAX_MEMORY_PAGES = 512;
const MAX_TABLE_SIZE = 2500;
const MAX_IMPORTS = 100;
const MAX_FUNCTIONS = 20_000;
const MAX_FUNCTION_PARAMS = 100;
const MAX_TOTAL_PARAMS = 10_000;
const REQUIRED_EXPORTS = ["allocate", "deallocate"];
const INTERFACE_VERSION = "interface_version_8";
const VERSION_PREFIX = "interface_version_";
const CAPABILITY_PREFIX = "requires_";
/** Maximum length in bytes of a list of names in an error message. */
const MAX_LIST_LENGTH = 200;

/** A rule of the chain for contracts. `problem` returns the deployed VM's message if a module violates the rule. */
export interface StaticCheck {
  readonly name: string;
  readonly problem: (module: WasmModule) => string | undefined;
}

/**
 * The chain's rules for contracts, in the deployed VM's order (cosmwasm-vm 2.1.6, `compatibility.rs`). Function bodies are checked
 * after these rules.
 */
export const STATIC_CHECKS: readonly StaticCheck[] = [
  { name: "table", problem: tableProblem },
  { name: "memory", problem: memoryProblem },
  { name: "interface version", problem: versionProblem },
  { name: "exports", problem: exportsProblem },
  { name: "imports", problem: importsProblem },
  { name: "capabilities", problem: capabilitiesProblem },
  { name: "functions", problem: functionsProblem },
];

/** Applies the chain's rules to a decoded module. Throws an error for the first violation. */
export function checkStatically(module: WasmModule): void {
  for (const { problem } of STATIC_CHECKS) {
    const text = problem(module);
    if (text !== undefined) throw vmError("static-validation", text);
  }
}

function exportedFunctions(module: WasmModule, prefix = ""): string[] {
  return module.exports
    .filter(({ kind, name }) => kind === "func" && name.startsWith(prefix))
    .map(({ name }) => name);
}

/** Returns the capabilities that a module requires with its `requires_…` exports, sorted. */
export function requiredCapabilities(module: WasmModule): string[] {
  return exportedFunctions(module, CAPABILITY_PREFIX)
    .map((name) => name.slice(CAPABILITY_PREFIX.length))
    .filter((name) => name !== "")
    .toSorted(compareBytes);
}

function tableProblem({ ownTables }: WasmModule): string | undefined {
  const [table] = ownTables;
  if (table === undefined) return undefined;
  if (table.maximum === undefined) return "Wasm contract must not have unbound table section";
  return table.maximum > MAX_TABLE_SIZE
    ? "Wasm contract's first table section has a too large max limit"
    : undefined;
}

function memoryProblem({ ownMemories }: WasmModule): string | undefined {
  const [memory] = ownMemories;
  if (memory === undefined) return "Wasm contract must contain exactly one memory";
  if (memory.minimum > MAX_MEMORY_PAGES)
    return `Wasm contract memory's minimum must not exceed ${MAX_MEMORY_PAGES} pages.`;
  return memory.maximum === undefined
    ? undefined
    : "Wasm contract memory's maximum must be unset. The host will set it for you.";
}

function versionProblem(module: WasmModule): string | undefined {
  const versions = exportedFunctions(module, VERSION_PREFIX);
  if (versions.length === 0) return "Wasm contract missing a required marker export: interface_version_*";
  if (versions.length > 1) return "Wasm contract contains more than one marker export: interface_version_*";
  return versions[0] === INTERFACE_VERSION
    ? undefined
    : "Wasm contract has unknown interface_version_* marker export (see https://github.com/CosmWasm/cosmwasm/blob/main/packages/vm/README.md)";
}

function exportsProblem(module: WasmModule): string | undefined {
  const exported = new Set(exportedFunctions(module));
  const missing = REQUIRED_EXPORTS.find((name) => !exported.has(name));
  return missing === undefined
    ? undefined
    : `Wasm contract doesn't have required export: "${missing}". Exports required by VM: ${quotedList(REQUIRED_EXPORTS)}.`;
}

function importsProblem({ imports }: WasmModule): string | undefined {
  if (imports.length > MAX_IMPORTS)
    return `Import count exceeds limit. Imports: ${imports.length}. Limit: ${MAX_IMPORTS}.`;
  const supported: readonly string[] = SUPPORTED_IMPORTS.map((name) => `env.${name}`);
  const names = imports.map(({ module, name }) => `${module}.${name}`);
  for (const [at, name] of names.entries()) {
    if (!supported.includes(name))
      return `Wasm contract requires unsupported import: "${name}". Required imports: ${limitedSet(names)}. Available imports: ${quotedList(supported)}.`;
    if (imports[at]?.kind !== "func")
      return `Wasm contract requires non-function import: "${name}". Right now, all supported imports are functions.`;
  }
  return undefined;
}

function capabilitiesProblem(module: WasmModule): string | undefined {
  const missing = requiredCapabilities(module).filter((name) => !AVAILABLE_CAPABILITIES.includes(name));
  return missing.length === 0
    ? undefined
    : `Wasm contract requires unavailable capabilities: ${limitedSet(missing)}`;
}

function functionsProblem({ bodies, types, functions, importedFunctions }: WasmModule): string | undefined {
  if (bodies.length > MAX_FUNCTIONS) return `Wasm contract contains more than ${MAX_FUNCTIONS} functions`;
  if (types.some(({ params }) => params.length > MAX_FUNCTION_PARAMS))
    return `Wasm contract contains function with more than ${MAX_FUNCTION_PARAMS} parameters`;
  if (types.some(({ results }) => results.length > 1))
    return "Wasm contract contains function with more than 1 results";
  const total = functions
    .slice(importedFunctions)
    .reduce((sum, type) => sum + (types[type]?.params.length ?? 0), 0);
  return total > MAX_TOTAL_PARAMS
    ? `Wasm contract contains more than ${MAX_TOTAL_PARAMS} function parameters in total`
    : undefined;
}

function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function quotedList(names: readonly string[]): string {
  return `[${names.map((name) => `"${name}"`).join(", ")}]`;
}

/** Formats a sorted set of names, without the last names if the text would exceed {@link MAX_LIST_LENGTH}. */
function limitedSet(names: readonly string[]): string {
  const quoted = [...new Set(names)].toSorted(compareBytes).map((name) => `"${name}"`);
  const starts: number[] = [];
  let length = 1;
  for (const [at, name] of quoted.entries()) {
    starts.push(length);
    length += Buffer.byteLength(name) + (at === 0 ? 0 : 2);
    if (length > MAX_LIST_LENGTH) break;
  }
  if (length < MAX_LIST_LENGTH) return `{${quoted.join(", ")}}`;
  for (let shown = starts.length - 1; shown > 0; shown--) {
    const more = `, ... ${quoted.length - shown} more`;
    if ((starts[shown] ?? 0) + more.length + 1 <= MAX_LIST_LENGTH)
      return `{${quoted.slice(0, shown).join(", ")}${more}}`;
  }
  return `{... ${quoted.length} elements}`;
}
