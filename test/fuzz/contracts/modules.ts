import { errorMessage } from "../../../src/platform/base/errors.ts";
import { VmError } from "../../../src/localnet/vm/errors.ts";
import { createVm } from "../../../src/localnet/vm/vm.ts";
import { runContract } from "../../support/vm/memory-host.ts";
import { buildContract, call, get, i32, i64, RESULT_POINTER, set } from "../../support/vm/wasm-builder.ts";
import { type CampaignBudget, type CampaignReport, cpuMs, inputNumbers } from "../campaign.ts";
import { createRandom, type Random } from "../random.ts";

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

const I32 = 0x7f;
const I64 = 0x7e;
const F64 = 0x7c;
/** Bytes of the result region, to which the generated code writes. */
const RESULT_LENGTH = 256;
const RESULT_TEXT = RESULT_POINTER + 16;
/** VM gas of a mutated module: about a million operators. */
const MUTANT_GAS = 100_000_000n;
/** Most processor time of one input, in ms. */
const MAX_INPUT_MS = 1_000;
/** Locals of the generated function: env, info and message, then these. */
const LOCALS = [
  [4, I32],
  [2, I64],
  [1, F64],
] as const;

/**
 * Contracts that a generator builds and mutates. A valid one has the results of plain V8, byte for byte; a mutated one is refused or
 * ends within its gas. What is accepted is valid for V8 too, and nothing but a `VmError` is thrown.
 */
export async function fuzzModules(seed: number, budget: CampaignBudget): Promise<CampaignReport> {
  const failures: string[] = [];
  let inputs = 0;
  for (const input of inputNumbers(budget, failures)) {
    const random = createRandom(seed + input * 7919);
    const code = generate(random);
    const startMs = cpuMs();
    const failure = input % 4 === 0 ? compareWithV8(code) : tryMutant(mutate(code, random));
    const ms = cpuMs() - startMs;
    if (failure !== undefined) failures.push(`input ${input}: ${failure}`);
    else if (ms > MAX_INPUT_MS) failures.push(`input ${input}: ${ms.toFixed(0)} ms`);
    inputs++;
  }
  return { inputs, failures };
}

/** Runs a valid contract on plain V8 and in the VM. */
function compareWithV8(code: Uint8Array): string | undefined {
  const plain = runPlain(code);
  const { result } = runContract(code, { gasLimit: 10n ** 14n });
  const here = result instanceof VmError ? trapName(result.message) : Buffer.from(result).toString("hex");
  return here === plain ? undefined : `${here} where V8 has ${plain}`;
}

function runPlain(code: Uint8Array): string {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), {});
  try {
    exports.execute(exports.allocate(0), exports.allocate(0), exports.allocate(0));
  } catch (thrown) {
    return trapName(errorMessage(thrown));
  }
  return Buffer.from(exports.memory.buffer, RESULT_TEXT, RESULT_LENGTH).toString("hex");
}

/** Texts of V8 and of the deployed VM for the same trap. */
function trapName(message: string): string {
  if (/divide by zero|remainder by zero/.test(message)) return "division by zero";
  if (/out of bounds/.test(message)) return "out of bounds";
  if (/null function|uninitialized element|type mismatch/.test(message)) return "indirect call";
  if (/overflow|unrepresentable|invalid conversion/.test(message)) return "conversion";
  return message;
}

/** Stores and calls a module that may be broken. */
function tryMutant(code: Uint8Array): string | undefined {
  const vm = createVm();
  try {
    vm.store("code", code);
  } catch (thrown) {
    return thrown instanceof VmError ? undefined : `store threw ${errorMessage(thrown)}`;
  }
  if (!WebAssembly.validate(code)) return "accepted, and V8 finds it invalid";
  try {
    const { gasUsed, gasUsedExternally } = runContract(code, { vm, gasLimit: MUTANT_GAS });
    const isWithin = gasUsed + gasUsedExternally <= MUTANT_GAS * 2n;
    return isWithin ? undefined : `${gasUsed} VM gas`;
  } catch (thrown) {
    return `call threw ${errorMessage(thrown)}`;
  }
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

/** Builds a valid contract: two functions of random statements, a table, and results in the memory. */
function generate(random: Random): Uint8Array {
  const helper = {
    params: [I32],
    results: [I32],
    body: [...expression(random, I32, 3, [0]), ...get(0), 0x73],
  };
  return buildContract(statements(random, 3 + random.int(20), 0), {
    result: "0".repeat(RESULT_LENGTH),
    locals: LOCALS,
    functions: [helper],
    table: [4, 4],
    elements: [5, 5, 2],
  });
}

const I32_LOCALS = [3, 4, 5] as const;
/** Counts down in loops, so that each ends. */
const COUNTER = 6;

function statements(random: Random, count: number, depth: number): number[] {
  return Array.from({ length: count }, () => statement(random, depth)).flat();
}

function statement(random: Random, depth: number): number[] {
  const local = I32_LOCALS[random.int(I32_LOCALS.length)] ?? 3;
  switch (random.int(depth > 3 ? 4 : 8)) {
    case 0:
      return [...expression(random, I32, 3), ...set(local)];
    case 1:
      return [...expression(random, I64, 3), ...set(7 + random.int(2))];
    case 2:
      return [...address(random), ...expression(random, I32, 2), 0x36, 2, 0];
    case 3:
      return [...expression(random, F64, 2), ...set(9)];
    case 4:
      return [
        ...expression(random, I32, 2),
        0x04,
        0x40,
        ...statements(random, 2, depth + 1),
        0x05,
        ...statements(random, 1, depth + 1),
        0x0b,
      ];
    case 5:
      return [
        0x02,
        0x40,
        ...statements(random, 1, depth + 1),
        ...expression(random, I32, 2),
        0x0d,
        0,
        ...statements(random, 2, depth + 1),
        0x0b,
      ];
    case 6: {
      const body = depth > 0 ? [] : statements(random, 2, 4);
      const next = [...get(COUNTER), ...i32(1), 0x6b, 0x22, COUNTER, 0x0d, 0];
      return [...i32(1 + random.int(20)), ...set(COUNTER), 0x03, 0x40, ...body, ...next, 0x0b];
    }
    default:
      return [
        ...address(random),
        ...get(local),
        ...(random.chance(0.9) ? call(5) : [...i32(random.int(5)), 0x11, 5, 0]),
        0x36,
        2,
        0,
      ];
  }
}

/** An address in the result, seldom one outside of the memory. */
function address(random: Random): number[] {
  if (random.chance(0.01)) return i32(131_068 + random.int(8));
  return [...expression(random, I32, 1), ...i32(RESULT_LENGTH - 8), 0x71, ...i32(RESULT_TEXT), 0x6a];
}

/** An expression of a type. Bits of a NaN are never looked at: V8's differ from the canonical ones. */
function expression(
  random: Random,
  type: number,
  depth: number,
  locals: readonly number[] = I32_LOCALS,
): number[] {
  if (depth === 0 || random.chance(0.25)) return leaf(random, type, locals);
  const one = (of: number): number[] => expression(random, of, depth - 1, locals);
  const kind = random.int(6);
  if (type === I32) {
    if (kind === 0 && locals === I32_LOCALS) return [...one(I64), 0xa7];
    if (kind === 1 && locals === I32_LOCALS) return [...one(F64), ...one(F64), 0x61 + random.int(6)];
    // A divisor is seldom zero.
    const odd = random.chance(0.02) ? [] : [...i32(1), 0x72];
    if (kind === 2) return [...one(I32), ...one(I32), ...odd, 0x6d + random.int(4)];
    // Comparisons, or add, sub, mul and the bit operations.
    const operator = random.chance(0.3)
      ? 0x46 + random.int(10)
      : ([0x6a, 0x6b, 0x6c][random.int(9)] ?? 0x71 + random.int(8));
    return [...one(I32), ...one(I32), operator];
  }
  if (type === I64) {
    if (kind === 0) return [...one(I32), 0xac + random.int(2)];
    if (kind === 1) return [...one(F64), 0xfc, 6 + random.int(2)];
    if (kind === 2) return [...one(I64), 0x79 + random.int(3)];
    return [
      ...one(I64),
      ...one(I64),
      [0x7c, 0x7d, 0x7e, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89][random.int(10)] ?? 0x7c,
    ];
  }
  if (kind === 0) return [...one(I32), 0xb7];
  if (kind === 1) return [...one(F64), 0x99 + random.int(7)];
  return [...one(F64), ...one(F64), 0xa0 + random.int(6)];
}

function leaf(random: Random, type: number, locals: readonly number[]): number[] {
  if (type === I32)
    return random.chance(0.5)
      ? get(locals[random.int(locals.length)] ?? 0)
      : i32(random.int(2 ** 31) - 2 ** 30);
  if (type === I64) return random.chance(0.5) ? get(7 + random.int(2)) : i64(random.int(2 ** 40) - 2 ** 39);
  return random.chance(0.5) ? get(9) : [...i32(random.int(1000) - 500), 0xb7];
}
