import { F32, F64, I32, I64, OP, SIGNATURE_OF } from "../../../src/localnet/vm/operators.ts";
import {
  buildContract,
  type BuiltFunction,
  call,
  get,
  i32,
  i64,
  RESULT_POINTER,
  set,
  store,
} from "../../support/vm/wasm-builder.ts";
import type { Random } from "../random.ts";

const EMPTY = 0x40;
const TYPES = [I32, I64, F32, F64] as const;
/** First saturating conversion in `SIGNATURE_OF`. Their opcode has two bytes. */
const SATURATING = 0x100;

/** A function that generated code may call. */
interface Callee {
  readonly index: number;
  readonly params: readonly number[];
  readonly result: number;
}

/** Functions of the module after those of every contract: what makes a NaN zero, helpers of all types, and the one with the statements. */
const CLEAN_F32 = 5;
const CLEAN_F64 = 6;
const HELPERS: readonly Callee[] = [
  { index: 7, params: [I32], result: I32 },
  { index: 8, params: [I32, I64], result: I64 },
  { index: 9, params: [F32, F64], result: F64 },
  { index: 10, params: [I64, F32], result: F32 },
];
const MAIN = 11;
/** Elements of the table: the first two have the type of the first helper, the third another one, and the fourth is empty. */
const ELEMENTS = [7, 7, 8];

/** Locals of the main function: of each type, and counters of loops by depth. */
const LOCALS = [
  [2, I32],
  [2, I64],
  [2, F32],
  [2, F64],
  [3, I32],
] as const;
const FIRST_COUNTER = 8;
const MAIN_LOCALS = new Map(TYPES.map((type, at) => [type as number, [2 * at, 2 * at + 1]]));
/** Where the main function writes its locals and the globals. */
const DUMP = 2048;

/** Operators with a fixed signature by the type of their result; stores have none. */
const OPERATORS = operatorsByResult();
const STORES = OPERATORS.get(undefined) ?? [];
/** Operators that show the bits of a float: reinterpretations, stores, and the sign of `copysign`. */
const SHOWS_BITS: ReadonlySet<number> = new Set([0x38, 0x39, 0x98, 0xa6, 0xbc, 0xbd]);
const TRUNCATIONS: ReadonlySet<number> = new Set([0xa8, 0xa9, 0xaa, 0xab, 0xae, 0xaf, 0xb0, 0xb1]);
const DIVISIONS: ReadonlySet<number> = new Set([0x6d, 0x6e, 0x6f, 0x70, 0x7f, 0x80, 0x81, 0x82]);

function operatorsByResult(): Map<number | undefined, number[]> {
  const byResult = new Map<number | undefined, number[]>();
  for (const [opcode, signature] of SIGNATURE_OF.entries()) {
    if (signature === undefined || (opcode >= OP.i32Const && opcode <= OP.f64Const)) continue;
    byResult.set(signature.result, [...(byResult.get(signature.result) ?? []), opcode]);
  }
  return byResult;
}

/** What a generated module has. */
interface Features {
  /** Without floats, and without memory that grows, a mutated module has the results of plain V8. */
  readonly floats: boolean;
  /** Globals of floats keep an instance from being used again. */
  readonly floatGlobals: boolean;
}

/**
 * Builds a valid contract of random statements. Its result is its whole memory but the first byte, with its locals and globals. Loops
 * count down and functions call those before them only, so that it ends soon. No bits of a NaN are in the result: V8's differ from the canonical ones.
 */
export function generateModule(random: Random, floats = random.chance(0.7)): Uint8Array {
  const features = { floats, floatGlobals: floats && random.chance(0.3) };
  const globals: [number, number[]][] = [
    [I32, i32(randomInt(random))],
    [I64, i64(randomInt(random))],
    ...(features.floatGlobals
      ? ([
          [F32, f32(random)],
          [F64, f64(random)],
        ] as [number, number[]][])
      : []),
  ];
  return buildContract([...call(MAIN)], {
    globals,
    functions: [
      ...cleaners(features),
      ...HELPERS.map((helper) => helperOf(random, features, helper)),
      mainOf(random, features),
    ],
    table: [4, 4],
    elements: ELEMENTS,
  });
}

/** Make a NaN zero. */
function cleaners({ floats }: Features): BuiltFunction[] {
  const zero = [OP.f32Const, 0, 0, 0, 0];
  const wideZero = [OP.f64Const, 0, 0, 0, 0, 0, 0, 0, 0];
  const choose = (opcode: number): number[] => [...get(0), ...get(0), opcode, OP.select];
  const body = (zeroValue: readonly number[], equal: number): number[] =>
    floats ? [...get(0), ...zeroValue, ...choose(equal)] : [OP.unreachable];
  return [
    { params: [F32], results: [F32], body: body(zero, 0x5b) },
    { params: [F64], results: [F64], body: body(wideZero, 0x61) },
  ];
}

function helperOf(random: Random, features: Features, { index, params, result }: Callee): BuiltFunction {
  const isUnused = !features.floats && (result === F32 || result === F64);
  const locals = new Map(
    TYPES.map((type) => [type as number, [...params.keys()].filter((at) => params[at] === type)]),
  );
  const body = new Body(random, {
    features,
    locals,
    callees: HELPERS.filter((other) => other.index < index),
  });
  if (isUnused) body.put(OP.unreachable);
  else body.expression(result, 3);
  return { params, results: [result], body: body.bytes };
}

function mainOf(random: Random, features: Features): BuiltFunction {
  const body = new Body(random, { features, locals: MAIN_LOCALS, callees: HELPERS });
  body.statements(2 + random.int(8), 0);
  body.dump();
  return { locals: LOCALS, body: body.bytes };
}

interface Scope {
  readonly features: Features;
  /** Indices of locals by type. */
  readonly locals: ReadonlyMap<number, readonly number[]>;
  readonly callees: readonly Callee[];
}

/** A number that is often near a limit. */
function randomInt(random: Random): number {
  const limits = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 127, 255, 65_535];
  if (random.chance(0.3)) return limits[random.int(limits.length)] ?? 0;
  return random.chance(0.5) ? random.int(200) - 100 : random.int(2 ** 32) - 2 ** 31;
}

/** Bits of NaNs with a payload, infinities, zeros with a sign and the smallest number, and random ones. */
const FLOATS = ["7fc12345", "ff800001", "7f800000", "ff800000", "80000000", "00000001"];
const DOUBLES = [
  "7ff8123456789abc",
  "fff0000000000001",
  "7ff0000000000000",
  "8000000000000000",
  "0000000000000001",
];

function f32(random: Random): number[] {
  const bits = random.chance(0.3) ? FLOATS[random.int(FLOATS.length)] : undefined;
  const bytes = Buffer.alloc(4);
  if (bits === undefined) bytes.writeFloatLE(random.int(2000) / 4 - 250);
  else bytes.write(bits, "hex");
  return [OP.f32Const, ...(bits === undefined ? bytes : bytes.toReversed())];
}

function f64(random: Random): number[] {
  const bits = random.chance(0.3) ? DOUBLES[random.int(DOUBLES.length)] : undefined;
  const bytes = Buffer.alloc(8);
  if (bits === undefined) bytes.writeDoubleLE((random.int(2 ** 31) - 2 ** 30) / 2 ** random.int(30));
  else bytes.write(bits, "hex");
  return [OP.f64Const, ...(bits === undefined ? bytes : bytes.toReversed())];
}

/** Writes the operators of one function. */
class Body {
  readonly bytes: number[] = [];
  private readonly random: Random;
  private readonly scope: Scope;

  constructor(random: Random, scope: Scope) {
    this.random = random;
    this.scope = scope;
  }

  put(...bytes: readonly number[]): void {
    for (const byte of bytes) this.bytes.push(byte);
  }

  private pick<T>(values: readonly T[]): T | undefined {
    return values[this.random.int(values.length)];
  }

  private anyType(): number {
    return TYPES[this.random.int(this.scope.features.floats ? 4 : 2)] ?? I32;
  }

  statements(count: number, depth: number): void {
    for (let done = 0; done < count; done++) this.statement(depth);
  }

  private statement(depth: number): void {
    const type = this.anyType();
    switch (this.random.int(depth > 2 ? 5 : 11)) {
      case 0:
        this.expression(type, 3);
        this.put(...set(this.pick(this.scope.locals.get(type) ?? []) ?? 0));
        return;
      case 1:
      case 2:
        this.store();
        return;
      case 3:
        this.setGlobal(type);
        return;
      case 4:
        this.expression(type, 2);
        this.put(OP.drop, OP.nop);
        return;
      case 5:
        this.conditional(depth);
        return;
      case 6:
        this.block(depth);
        return;
      case 7:
        this.branchTable(depth);
        return;
      case 8:
        this.loop(depth);
        return;
      case 9:
        this.deadCode(depth);
        return;
      default:
        this.rareEnd();
    }
  }

  private store(): void {
    const opcode = this.pick(
      this.scope.features.floats ? STORES : STORES.filter((at) => !SHOWS_BITS.has(at)),
    );
    if (opcode !== undefined) this.operator(opcode, 3);
  }

  private setGlobal(type: number): void {
    const index = TYPES.findIndex((other) => other === type);
    const at = index < (this.scope.features.floatGlobals ? 4 : 2) ? index : 0;
    this.expression(TYPES[at] ?? I32, 2);
    this.put(OP.globalSet, at);
  }

  private conditional(depth: number): void {
    this.expression(I32, 2);
    this.put(OP.if, EMPTY);
    this.statements(2, depth + 1);
    if (this.random.chance(0.6)) {
      this.put(OP.else);
      this.statements(1, depth + 1);
    }
    this.put(OP.end);
  }

  private block(depth: number): void {
    this.put(OP.block, EMPTY);
    this.statements(1, depth + 1);
    this.expression(I32, 2);
    this.put(OP.brIf, 0);
    this.statements(1, depth + 1);
    this.put(OP.end);
  }

  private branchTable(depth: number): void {
    this.put(OP.block, EMPTY, OP.block, EMPTY, OP.block, EMPTY);
    this.expression(I32, 2);
    this.put(...i32(3), 0x71, OP.brTable, 3, 0, 1, 2, this.random.int(3), OP.end);
    this.statements(1, depth + 1);
    if (this.random.chance(0.5)) this.put(OP.br, 1);
    this.put(OP.end);
    this.statements(1, depth + 1);
    this.put(OP.end);
  }

  private loop(depth: number): void {
    const counter = FIRST_COUNTER + depth;
    this.put(...i32(1 + this.random.int(6)), ...set(counter), OP.loop, EMPTY);
    this.statements(1, depth + 1);
    this.put(...get(counter), ...i32(1), 0x6b, OP.localTee, counter, OP.brIf, 0, OP.end);
  }

  /** A branch, and code behind it that takes values of any type from an empty stack. */
  private deadCode(depth: number): void {
    this.put(OP.block, EMPTY);
    this.statements(1, depth + 1);
    this.put(OP.br, 0);
    if (this.random.chance(0.5)) this.put(0x6a, OP.drop, OP.select, OP.drop);
    else this.statements(1, depth + 1);
    this.put(OP.end);
  }

  /** Ends the function, seldom, so that its results are not always those of its end. */
  private rareEnd(): void {
    this.expression(I32, 2);
    this.put(
      ...i32(63),
      0x71,
      0x45,
      OP.if,
      EMPTY,
      this.random.chance(0.8) ? OP.return : OP.unreachable,
      OP.end,
    );
  }

  expression(type: number, depth: number): void {
    const { random } = this;
    if (depth <= 0 || random.chance(0.15)) this.leaf(type);
    else if (random.chance(0.7)) this.operator(this.operatorFor(type), depth);
    else this.structure(type, depth - 1);
  }

  private operatorFor(type: number): number {
    for (;;) {
      const opcode = this.pick(OPERATORS.get(type) ?? []) ?? 0;
      const usesFloats =
        SIGNATURE_OF[opcode]?.params.some((param) => param === F32 || param === F64) === true;
      if (this.scope.features.floats || !usesFloats) return opcode;
    }
  }

  private leaf(type: number): void {
    const local = this.pick(this.scope.locals.get(type) ?? []);
    const global = TYPES.findIndex((other) => other === type);
    if (local !== undefined && this.random.chance(0.5)) this.put(...get(local));
    else if (this.random.chance(0.2) && global < (this.scope.features.floatGlobals ? 4 : 2))
      this.put(OP.globalGet, global);
    else if (type === I32) this.put(...i32(randomInt(this.random)));
    else if (type === I64) this.put(...i64(randomInt(this.random)));
    else this.put(...(type === F32 ? f32 : f64)(this.random));
  }

  /** An operator with its operands. Divisors are seldom zero, truncations seldom out of range, and addresses seldom out of bounds. */
  private operator(opcode: number, depth: number): void {
    const { params = [] } = SIGNATURE_OF[opcode] ?? {};
    const isMemory = opcode >= 0x28 && opcode <= 0x3e;
    for (const [at, type] of params.entries()) {
      const isTame = this.random.chance(0.98);
      if (isMemory && at === 0) this.address(depth - 1);
      else if (TRUNCATIONS.has(opcode) && isTame) this.smallFloat(type, depth - 1);
      else this.expression(type, depth - 1);
      if (DIVISIONS.has(opcode) && at === 1 && isTame)
        this.put(...(type === I32 ? i32(1) : i64(1)), type === I32 ? 0x72 : 0x84);
      if (SHOWS_BITS.has(opcode) && (type === F32 || type === F64))
        this.put(...call(type === F32 ? CLEAN_F32 : CLEAN_F64));
    }
    if (opcode >= SATURATING) this.put(0xfc, opcode - SATURATING);
    else this.put(opcode);
    if (isMemory) this.put(0, this.random.int(100));
  }

  private address(depth: number): void {
    this.expression(I32, Math.min(depth, 1));
    this.put(...i32(this.random.chance(0.99) ? 0xffff : 0x3ffff), 0x71);
  }

  private smallFloat(type: number, depth: number): void {
    this.expression(I32, depth);
    this.put(...i32(0xffff), 0x71, type === F32 ? 0xb2 : 0xb7);
  }

  /** A value of control operators, calls, and accesses of memory and locals. */
  private structure(type: number, depth: number): void {
    switch (this.random.int(8)) {
      case 0:
        this.expression(type, depth);
        this.expression(type, depth);
        this.expression(I32, depth);
        this.put(OP.select);
        return;
      case 1:
        this.expression(I32, depth);
        this.put(OP.if, type);
        this.expression(type, depth);
        this.put(OP.else);
        this.expression(type, depth);
        this.put(OP.end);
        return;
      case 2:
        this.put(OP.block, type);
        this.expression(type, depth);
        this.expression(I32, depth);
        this.put(OP.brIf, 0, OP.drop);
        this.expression(type, depth);
        this.put(OP.end);
        return;
      case 3:
        this.put(OP.block, type, OP.loop, type, OP.block, type);
        this.expression(type, depth);
        this.expression(I32, depth);
        // The label of the loop has no parameters, so that it cannot be a target.
        this.put(OP.brTable, 2, 0, 2, 0, OP.end, OP.end, OP.end);
        return;
      case 4:
        this.expression(type, depth);
        this.tee(type);
        return;
      case 5:
        this.callOne(type, depth);
        return;
      default:
        if (type === I32) this.integer(depth);
        else this.callOne(type, depth);
    }
  }

  private tee(type: number): void {
    const local = this.pick(this.scope.locals.get(type) ?? []);
    if (local !== undefined) this.put(OP.localTee, local);
  }

  private callOne(type: number, depth: number): void {
    const callee = this.pick(this.scope.callees.filter(({ result }) => result === type));
    if (callee === undefined) {
      this.leaf(type);
      return;
    }
    if (!this.scope.features.floats && callee.params.some((param) => param === F32 || param === F64)) {
      this.leaf(type);
      return;
    }
    for (const param of callee.params) this.expression(param, depth - 1);
    this.put(...call(callee.index));
  }

  /** Calls by the table, the memory's size, and blocks with parameters. */
  private integer(depth: number): void {
    const kind = this.random.int(4);
    if (kind === 0) this.put(OP.memorySize, 0);
    else if (kind === 1 && this.scope.features.floats) {
      // By one page up to eight, or by more than any memory has.
      this.expression(I32, 0);
      if (this.random.chance(0.3)) this.put(...i32(-65_536), 0x71);
      else this.put(OP.memorySize, 0, ...i32(8), 0x49, 0x71);
      this.put(OP.memoryGrow, 0);
    } else if (kind === 2 && this.scope.callees.length > 0) {
      this.expression(I32, depth);
      this.expression(I32, 0);
      this.put(...i32(this.random.chance(0.95) ? 1 : 7), 0x71, OP.callIndirect, 7, 0);
    } else {
      this.expression(I32, depth);
      // A type with one parameter and one result.
      this.put(OP.block, 7, 0x45, OP.end);
    }
  }

  /** Writes locals and globals to the memory, and makes all of it the result. */
  dump(): void {
    let address = DUMP;
    const add = (type: number, value: readonly number[]): void => {
      this.put(...i32(address), ...value);
      if (type === F32 || type === F64) this.put(...call(type === F32 ? CLEAN_F32 : CLEAN_F64));
      this.put({ [I32]: 0x36, [I64]: 0x37, [F32]: 0x38 }[type] ?? 0x39, 0, 0);
      address += 8;
    };
    const types: readonly number[] = this.scope.features.floats ? TYPES : [I32, I64];
    for (const type of types) for (const local of this.scope.locals.get(type) ?? []) add(type, get(local));
    for (const [at, type] of TYPES.slice(0, this.scope.features.floatGlobals ? 4 : 2).entries())
      add(type, [OP.globalGet, at]);
    const size = [OP.memorySize, 0, ...i32(16), 0x74, ...i32(1), 0x6b];
    this.put(...i32(RESULT_POINTER), ...i32(1), ...store(0));
    for (const field of [4, 8]) this.put(...i32(RESULT_POINTER), ...size, ...store(field));
  }
}
