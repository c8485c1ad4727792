import { ByteReader } from "./byte-reader.ts";
import { moduleError } from "./errors.ts";
import { type FunctionType, functionType, isValueType, typeName, type WasmModule } from "./module.ts";
import * as operators from "./operators.ts";

const MAX_LOCALS = 50_000;
/**
 * Number of locals whose types are stored in a list. The types of all other locals are looked up in groups, because a few bytes can
 * declare 50,000 locals.
 */
const LISTED_LOCALS = 256;

/** Properties of a validated function that the rewriter needs. */
export interface FunctionShape {
  /** Offset of the function's first operator in the module. */
  readonly code: number;
  /** Number of parameters and locals. */
  readonly locals: number;
  /** Maximum height of the operand stack, in values. */
  readonly height: number;
  /** True if the function calls any other function or itself, and may therefore be part of a recursion. */
  readonly calls: boolean;
  /** Maximum number of parameters among the functions that this function calls. */
  readonly arguments: number;
}

interface Frame {
  readonly kind: number;
  readonly params: readonly number[];
  readonly results: readonly number[];
  /** Height of the operand stack below which the block must not pop. */
  readonly height: number;
  isUnreachable: boolean;
}

const NO_TYPES: readonly number[] = [];
const ONE_TYPE: Readonly<Record<number, readonly number[]>> = {
  0x7f: [0x7f],
  0x7e: [0x7e],
  0x7d: [0x7d],
  0x7c: [0x7c],
};

/**
 * Checks a function body's operand types, labels and indices. Errors have the deployed VM's messages and offsets. Memory use is
 * linear in the size of the body.
 */
export function validateFunction(module: WasmModule, bodyIndex: number): FunctionShape {
  const range = module.bodies[bodyIndex];
  const type = functionType(module, module.importedFunctions + bodyIndex);
  if (range === undefined || type === undefined)
    throw moduleError("code section entry exceeds number of functions", 0);
  const reader = new ByteReader(module.bytes, range.start, range.end);
  return new FunctionValidator(module, reader, type).run();
}

class FunctionValidator {
  private readonly module: WasmModule;
  private readonly reader: ByteReader;
  /** Types of parameters and of the first locals. */
  private readonly locals: number[];
  /** Groups of locals with the same type, each with the index after its last local. */
  private readonly groups: { readonly end: number; readonly type: number }[] = [];
  private localCount: number;
  private readonly operands: number[] = [];
  private readonly frames: Frame[] = [];
  private readonly operator: operators.Operator = operators.newOperator();
  private height = 0;
  private calls = false;
  private arguments = 0;

  constructor(module: WasmModule, reader: ByteReader, type: FunctionType) {
    this.module = module;
    this.reader = reader;
    this.locals = [...type.params];
    this.localCount = type.params.length;
    this.frames.push({
      kind: operators.OP.block,
      params: NO_TYPES,
      results: type.results,
      height: 0,
      isUnreachable: false,
    });
  }

  run(): FunctionShape {
    this.readLocals();
    const { reader, operator, frames } = this;
    const code = reader.position;
    let ended = -1;
    while (!reader.eof()) {
      operators.readOperator(reader, operator);
      if (frames.length === 0) throw this.error("operators remaining after end of function");
      this.check(operator);
      if (frames.length === 0) ended = reader.position;
      if (this.operands.length > this.height) this.height = this.operands.length;
    }
    if (frames.length > 0)
      throw moduleError("control frames remain at end of function: END opcode expected", reader.position);
    if (ended !== reader.position)
      throw moduleError("operators remaining after end of function", reader.position);
    return {
      code,
      locals: this.localCount,
      height: this.height,
      calls: this.calls,
      arguments: this.arguments,
    };
  }

  private error(message: string): Error {
    return moduleError(message, this.operator.start);
  }

  private readLocals(): void {
    const { reader, locals } = this;
    for (let left = reader.varU32(); left > 0; left--) {
      const offset = reader.position;
      const count = reader.varU32();
      const type = reader.peek();
      if (type === 0x7b) throw moduleError("SIMD support is not enabled", offset);
      if (type >= 0x63 && type <= 0x73) throw moduleError("reference types support is not enabled", offset);
      if (!isValueType(type)) throw moduleError("invalid value type", reader.position);
      reader.position++;
      if (this.localCount + count > MAX_LOCALS)
        throw moduleError("too many locals: locals exceed maximum", offset);
      this.localCount += count;
      if (count > 0) this.groups.push({ end: this.localCount, type });
      while (locals.length < Math.min(this.localCount, LISTED_LOCALS)) locals.push(type);
    }
  }

  private frame(): Frame {
    const frame = this.frames[this.frames.length - 1];
    if (frame === undefined) throw this.error("operators remaining after end of function");
    return frame;
  }

  /** Pops an operand of type `expected` (or any type, if `UNKNOWN`) and returns its type, which may be `UNKNOWN` in unreachable code. */
  private pop(expected: number): number {
    const { operands } = this;
    const frame = this.frame();
    if (operands.length === frame.height) {
      if (frame.isUnreachable) return operators.UNKNOWN;
      const wanted = expected === operators.UNKNOWN ? "a type" : typeName(expected);
      throw this.error(`type mismatch: expected ${wanted} but nothing on stack`);
    }
    const actual = operands.pop() ?? operators.UNKNOWN;
    if (actual !== expected && actual !== operators.UNKNOWN && expected !== operators.UNKNOWN)
      throw this.error(`type mismatch: expected ${typeName(expected)}, found ${typeName(actual)}`);
    return actual;
  }

  private popAll(types: readonly number[]): void {
    for (let at = types.length - 1; at >= 0; at--) this.pop(types[at] ?? operators.UNKNOWN);
  }

  private pushAll(types: readonly number[]): void {
    for (const type of types) this.operands.push(type);
  }

  /**
   * Marks code up to the end of the block as unreachable. In unreachable code, popping from the empty stack yields any expected
   * type.
   */
  private leave(): void {
    const frame = this.frame();
    frame.isUnreachable = true;
    this.operands.length = frame.height;
  }

  private enter(kind: number, params: readonly number[], results: readonly number[]): void {
    this.frames.push({ kind, params, results, height: this.operands.length, isUnreachable: false });
    this.pushAll(params);
  }

  private popFrame(): Frame {
    const frame = this.frame();
    this.popAll(frame.results);
    if (this.operands.length !== frame.height)
      throw this.error("type mismatch: values remaining on stack at end of block");
    this.frames.pop();
    return frame;
  }

  private labelTypes(depth: number): readonly number[] {
    const frame = this.frames[this.frames.length - 1 - depth];
    if (frame === undefined) throw this.error("unknown label: branch depth too large");
    return frame.kind === operators.OP.loop ? frame.params : frame.results;
  }

  private check(operator: operators.Operator): void {
    const { opcode } = operator;
    const signature = operators.SIGNATURE_OF[opcode];
    if (signature === undefined) {
      this.checkOther(operator);
      return;
    }
    if (opcode <= 0x3e && this.module.memories.length === 0) throw this.error("unknown memory 0");
    this.popAll(signature.params);
    if (signature.result !== undefined) this.operands.push(signature.result);
  }

  private checkOther(operator: operators.Operator): void {
    switch (operator.opcode) {
      case operators.OP.nop:
        return;
      case operators.OP.unreachable:
        this.leave();
        return;
      case operators.OP.drop:
        this.pop(operators.UNKNOWN);
        return;
      case operators.OP.select:
        this.checkSelect();
        return;
      case operators.OP.localGet:
      case operators.OP.localSet:
      case operators.OP.localTee:
        this.checkLocal(operator);
        return;
      case operators.OP.globalGet:
      case operators.OP.globalSet:
        this.checkGlobal(operator);
        return;
      case operators.OP.memorySize:
      case operators.OP.memoryGrow:
        if (this.module.memories.length === 0) throw this.error("unknown memory 0");
        if (operator.opcode === operators.OP.memoryGrow) this.pop(operators.I32);
        this.operands.push(operators.I32);
        return;
      case operators.OP.call:
      case operators.OP.callIndirect:
        this.checkCall(operator);
        return;
      default:
        this.checkControl(operator);
    }
  }

  private checkSelect(): void {
    this.pop(operators.I32);
    const second = this.pop(operators.UNKNOWN);
    const first = this.pop(operators.UNKNOWN);
    if (first !== second && first !== operators.UNKNOWN && second !== operators.UNKNOWN)
      throw this.error("type mismatch: select operands have different types");
    this.operands.push(first === operators.UNKNOWN ? second : first);
  }

  private checkLocal({ opcode, index }: operators.Operator): void {
    const type = this.locals[index] ?? this.typeOfFarLocal(index);
    if (type === undefined) throw this.error(`unknown local ${index}: local index out of bounds`);
    if (opcode !== operators.OP.localGet) this.pop(type);
    if (opcode !== operators.OP.localSet) this.operands.push(type);
  }

  /** Returns the type of a local beyond the first {@link LISTED_LOCALS}, found by binary search in the groups. */
  private typeOfFarLocal(index: number): number | undefined {
    const { groups } = this;
    let low = 0;
    let high = groups.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((groups[middle]?.end ?? 0) > index) high = middle;
      else low = middle + 1;
    }
    return groups[low]?.type;
  }

  private checkGlobal({ opcode, index }: operators.Operator): void {
    const global = this.module.globals[index];
    if (global === undefined) throw this.error("unknown global: global index out of bounds");
    if (opcode === operators.OP.globalGet) {
      this.operands.push(global.type);
      return;
    }
    if (!global.isMutable) throw this.error("global is immutable: cannot modify it with `global.set`");
    this.pop(global.type);
  }

  private checkCall({ opcode, index }: operators.Operator): void {
    const { module } = this;
    if (opcode === operators.OP.callIndirect && module.tables.length === 0)
      throw this.error("unknown table: table index out of bounds");
    const type = opcode === operators.OP.call ? functionType(module, index) : module.types[index];
    if (type === undefined)
      throw this.error(
        opcode === operators.OP.call
          ? `unknown function ${index}: function index out of bounds`
          : "unknown type: type index out of bounds",
      );
    if (opcode === operators.OP.callIndirect) this.pop(operators.I32);
    this.popAll(type.params);
    this.pushAll(type.results);
    this.calls = true;
    if (type.params.length > this.arguments) this.arguments = type.params.length;
  }

  private checkControl(operator: operators.Operator): void {
    switch (operator.opcode) {
      case operators.OP.block:
      case operators.OP.loop:
      case operators.OP.if:
        this.checkBlock(operator);
        return;
      case operators.OP.else: {
        const frame = this.popFrame();
        if (frame.kind !== operators.OP.if) throw this.error("else found outside of an `if` block");
        this.enter(operators.OP.else, frame.params, frame.results);
        return;
      }
      case operators.OP.end:
        this.checkEnd();
        return;
      case operators.OP.br:
        this.popAll(this.labelTypes(operator.index));
        this.leave();
        return;
      case operators.OP.brIf: {
        this.pop(operators.I32);
        const types = this.labelTypes(operator.index);
        this.popAll(types);
        this.pushAll(types);
        return;
      }
      case operators.OP.brTable:
        this.checkBranchTable(operator);
        return;
      case operators.OP.return:
        this.popAll(this.frames[0]?.results ?? NO_TYPES);
        this.leave();
        return;
      default:
        throw this.error(`illegal opcode: 0x${operator.opcode.toString(16)}`);
    }
  }

  private checkBlock({ opcode, index, blockType }: operators.Operator): void {
    const type = index < 0 ? undefined : this.module.types[index];
    if (index >= 0 && type === undefined) throw this.error("unknown type: type index out of bounds");
    if (opcode === operators.OP.if) this.pop(operators.I32);
    const params = type?.params ?? NO_TYPES;
    this.popAll(params);
    const result = blockType === operators.EMPTY_BLOCK ? NO_TYPES : (ONE_TYPE[blockType] ?? NO_TYPES);
    this.enter(opcode, params, type?.results ?? result);
  }

  private checkEnd(): void {
    let frame = this.popFrame();
    if (frame.kind === operators.OP.if) {
      // Without `else`, the parameters of an `if` must equal its results.
      this.enter(operators.OP.else, frame.params, frame.results);
      frame = this.popFrame();
    }
    this.pushAll(frame.results);
  }

  private checkBranchTable({ index, targets }: operators.Operator): void {
    this.pop(operators.I32);
    const defaults = this.labelTypes(index);
    // Check identical label types only once, because a table may contain 131,072 of them.
    const checked = new Set<readonly number[]>();
    for (const target of targets) {
      const types = this.labelTypes(target);
      if (checked.has(types)) continue;
      checked.add(types);
      if (types.length !== defaults.length)
        throw this.error("type mismatch: br_table target labels have different number of types");
      const popped = types.map((_, at) => this.pop(types[types.length - 1 - at] ?? operators.UNKNOWN));
      this.pushAll(popped.toReversed());
    }
    this.popAll(defaults);
    this.leave();
  }
}

/** Size in bytes of the fixed part of a V8 frame, such as return address and frame pointer, without locals and operands. */
const FRAME_OVERHEAD = 48;

/**
 * Returns the maximum size of a function's frame on the native stack. In V8, locals and operands take at most 8 bytes each, and
 * about the first four arguments are passed in registers.
 */
export function frameSize(shape: FunctionShape): number {
  return FRAME_OVERHEAD + 8 * (shape.locals + shape.height + Math.max(0, shape.arguments - 4));
}
