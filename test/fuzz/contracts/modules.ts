import { errorMessage } from "../../../src/platform/base/errors.ts";
import { ByteReader } from "../../../src/localnet/vm/byte-reader.ts";
import { decodeModule } from "../../../src/localnet/vm/decode-module.ts";
import { VmError } from "../../../src/localnet/vm/errors.ts";
import { GAS_COSTS } from "../../../src/localnet/vm/gas.ts";
import { F32, F64, newOperator, OP, readOperator, SIGNATURE_OF } from "../../../src/localnet/vm/operators.ts";
import { readRegion, regionAt } from "../../../src/localnet/vm/regions.ts";
import { validateFunction } from "../../../src/localnet/vm/validate-function.ts";
import { type CallOutcome, createVm } from "../../../src/localnet/vm/vm.ts";
import { runContract, type RunOptions } from "../../support/vm/memory-host.ts";
import { type CampaignBudget, type CampaignReport, cpuMs, inputNumbers } from "../campaign.ts";
import { createRandom, type Random } from "../random.ts";
import { generateModule } from "./generate-module.ts";

/** Node's `WebAssembly`, which the types of this project do not include. */
declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean;
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { readonly exports: PlainExports };
};
interface PlainExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly allocate: (length: number) => number;
  readonly execute: (...args: number[]) => number;
}

/** VM gas of a valid module's code: far more than any needs. Its result is the whole memory, whose bytes cost as much again. */
const VALID_GAS = 10n ** 14n;
/** VM gas of a mutated module: about a million operators. The bytes of its result are free, so that an endless loop ends soon. */
const MUTANT_GAS = 100_000_000n;
const MUTANT_COSTS = { ...GAS_COSTS, regionByte: 0n, resultByte: 0n };
/** Most processor time of one input, in ms. */
const MAX_INPUT_MS = 1_000;
/** Inputs of one generated module: the module itself, then mutations of it. */
const INPUTS_PER_MODULE = 8;

/**
 * Contracts that a generator builds and mutates. A valid one has the results and the memory of plain V8, byte for byte, also on an
 * instance that was used, and when it can be interrupted; a mutated one is refused or ends within its gas, and if it ends well without floats, it has V8's result. What
 * is accepted is valid for V8 too, and nothing but a `VmError` is thrown.
 */
export async function fuzzModules(seed: number, budget: CampaignBudget): Promise<CampaignReport> {
  const failures: string[] = [];
  let inputs = 0;
  let slowestMs = 0;
  let code = new Uint8Array();
  let startMs = cpuMs();
  for (const input of inputNumbers(budget, failures)) {
    const random = createRandom(seed + input * 7919);
    const isValid = input % INPUTS_PER_MODULE === 0;
    if (isValid) code = generateModule(random).slice();
    const failure = isValid ? compareWithV8(code) : tryMutant(mutate(code, random));
    const endMs = cpuMs();
    slowestMs = Math.max(slowestMs, endMs - startMs);
    if (failure !== undefined) failures.push(`input ${input}: ${failure}`);
    else if (endMs - startMs > MAX_INPUT_MS)
      failures.push(`input ${input}: ${(endMs - startMs).toFixed(0)} ms`);
    startMs = endMs;
    inputs++;
  }
  return { inputs, failures, slowestMs };
}

/** Returns the opcodes of a valid module's functions, in their order. */
export function operatorsOf(code: Uint8Array): number[] {
  const module = decodeModule(code);
  const operator = newOperator();
  return module.bodies.flatMap(({ end }, at) => {
    const reader = new ByteReader(code, validateFunction(module, at).code, end);
    const opcodes: number[] = [];
    while (!reader.eof()) {
      readOperator(reader, operator);
      opcodes.push(operator.opcode);
    }
    return opcodes;
  });
}

/** Runs a valid contract on plain V8, and in the VM: twice, with interrupts, and with a start again in its middle. */
function compareWithV8(code: Uint8Array): string | undefined {
  const plain = runPlain(code);
  const vm = createVm();
  const run = (time: string, options: RunOptions) => ({
    time,
    ...runContract(code, { gasLimit: VALID_GAS, ...options }),
  });
  const first = run("first", { vm });
  const outcomes = [
    first,
    run("second", { vm }),
    run("interruptible", { vm, interrupt: () => undefined }),
    run("restarted", { coldGas: first.gasUsed / 2n }),
  ];
  for (const { time, result, gasUsed } of outcomes) {
    const difference = differenceOf(result, plain);
    if (difference !== undefined) return `${time} call: ${difference}`;
    if (gasUsed !== first.gasUsed) return `${time} call: ${gasUsed} VM gas`;
  }
  return undefined;
}

function differenceOf(result: CallOutcome["result"], plain: Uint8Array | string): string | undefined {
  if (result instanceof VmError || typeof plain === "string") {
    const here = result instanceof VmError ? trapName(result.message) : "a result";
    const there = typeof plain === "string" ? plain : "a result";
    return here === there ? undefined : `${here} where V8 has ${there}`;
  }
  if (Buffer.compare(result, plain) === 0) return undefined;
  const at = result.findIndex((byte, index) => byte !== plain[index]);
  return `byte ${at} of ${result.length} is ${result[at]} where V8 has ${plain[at]} of ${plain.length}`;
}

/** Returns the bytes of the result region, or the trap, or why the region is none. */
function runPlain(code: Uint8Array): Uint8Array | string {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), {});
  let pointer: number;
  try {
    pointer = exports.execute(exports.allocate(0), exports.allocate(0), exports.allocate(0));
  } catch (thrown) {
    return trapName(errorMessage(thrown));
  }
  const { buffer } = exports.memory;
  try {
    return readRegion(buffer, regionAt(buffer, pointer >>> 0));
  } catch (thrown) {
    // The module has overwritten the description of its result.
    return errorMessage(thrown);
  }
}

/** Texts of V8 and of the deployed VM for the same trap. */
function trapName(message: string): string {
  if (/divide by zero|remainder by zero/.test(message)) return "division by zero";
  if (/out of bounds/.test(message)) return "out of bounds";
  if (/null function|uninitialized element|type mismatch/.test(message)) return "indirect call";
  if (/overflow|unrepresentable|invalid conversion/.test(message)) return "conversion";
  return message.endsWith("unreachable") ? "unreachable" : message;
}

/** Stores and calls a module that may be broken. */
function tryMutant(code: Uint8Array): string | undefined {
  const vm = createVm({ costs: MUTANT_COSTS });
  try {
    vm.store("code", code);
  } catch (thrown) {
    // What the checks accept, V8 compiles: it would find it invalid for no other reason.
    const isRefused = thrown instanceof VmError && thrown.facts.code !== "compile";
    return isRefused ? undefined : `store threw ${errorMessage(thrown)}`;
  }
  if (!WebAssembly.validate(code)) return "accepted, and V8 finds it invalid";
  let outcome: CallOutcome;
  try {
    outcome = runContract(code, { vm, gasLimit: MUTANT_GAS });
  } catch (thrown) {
    return `call threw ${errorMessage(thrown)}`;
  }
  const { result, gasUsed, gasUsedExternally } = outcome;
  if (gasUsed + gasUsedExternally > MUTANT_GAS * 2n) return `${gasUsed} VM gas`;
  return result instanceof VmError || !isComparable(code) ? undefined : differenceOf(result, runPlain(code));
}

/** Returns whether plain V8 has the same result: no bits of a NaN, and no memory of more than 512 pages. */
export function isComparable(code: Uint8Array): boolean {
  return operatorsOf(code).every((opcode) => {
    if (opcode === OP.memoryGrow) return false;
    const signature = SIGNATURE_OF[opcode];
    return (
      signature === undefined ||
      [...signature.params, signature.result].every((type) => type !== F32 && type !== F64)
    );
  });
}

/** Changes some bytes, or cuts, repeats or removes a part. */
function mutate(code: Uint8Array, random: Random): Uint8Array {
  const bytes = [...code];
  for (let changes = 1 + random.int(4); changes > 0; changes--) {
    const at = 8 + random.int(bytes.length - 8);
    const kind = random.int(10);
    if (kind === 0) bytes.splice(at, 1 + random.int(4));
    else if (kind === 1) bytes.splice(at, 0, ...bytes.slice(at, at + random.int(8)));
    else if (kind === 2) bytes.length = at;
    else bytes[at] = random.chance(0.5) ? random.int(256) : ((bytes[at] ?? 0) + 1) & 0xff;
    if (bytes.length < 16) break;
  }
  return Uint8Array.from(bytes);
}
