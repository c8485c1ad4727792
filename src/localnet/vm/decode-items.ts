import type { ByteReader } from "./byte-reader.ts";
import { moduleError, type VmError } from "./errors.ts";
import * as wasm from "./module.ts";
import { I32, newOperator, OP, readOperator } from "./operators.ts";

/** Maximum number of items of each kind in a module. */
export const MAX_ITEMS = {
  types: 1_000_000,
  functions: 1_000_000,
  tables: 1,
  memories: 1,
  globals: 1_000_000,
  exports: 100_000,
  "element segments": 100_000,
  "data segments": 100_000,
} as const;
const MAX_PARAMS = 1000;
const MAX_TABLE_ENTRIES = 10_000_000;
const MAX_MEMORY_PAGES = 65_536;

export function checkCount(count: number, what: keyof typeof MAX_ITEMS, offset: number): void {
  const limit = MAX_ITEMS[what];
  if (count <= limit) return;
  throw moduleError(limit === 1 ? `multiple ${what}` : `${what} count exceeds limit of ${limit}`, offset);
}

export function unknownType(type: number, offset: number): VmError {
  return moduleError(`unknown type ${type}: type index out of bounds`, offset);
}

export function typeOfFunction(module: wasm.WasmModule, index: number, offset: number): wasm.FunctionType {
  const type = module.types[module.functions[index] ?? -1];
  if (type === undefined) throw moduleError(`unknown function ${index}: func index out of bounds`, offset);
  return type;
}

/** Reads a WebAssembly value type. Errors about disabled features report `offset`, at which the enclosing item starts. */
function readValueType(reader: ByteReader, offset: number): number {
  const byte = reader.peek();
  if (byte === 0x7b) throw moduleError("SIMD support is not enabled", offset);
  if (byte >= 0x63 && byte <= 0x73 && byte !== 0x65 && byte !== 0x66 && byte !== 0x67 && byte !== 0x68)
    throw moduleError("reference types support is not enabled", offset);
  if (!wasm.isValueType(byte)) throw moduleError("invalid value type", reader.position);
  reader.position++;
  return byte;
}

export function readFunctionType(reader: ByteReader, offset: number): wasm.FunctionType {
  const form = reader.u8();
  if (form === 0x4e) throw moduleError("rec group usage requires `gc` proposal to be enabled", offset);
  if (form !== 0x60) throw reader.errorAtLast(`invalid leading byte (0x${form.toString(16)}) for type`);
  const read = (what: string): number[] => {
    const count = reader.size(MAX_PARAMS, `function ${what}`);
    const types: number[] = [];
    for (let at = 0; at < count; at++) types.push(readValueType(reader, offset));
    return types;
  };
  return { params: read("params"), results: read("returns") };
}

export function readKind(reader: ByteReader): wasm.Kind {
  const byte = reader.u8();
  const kind = wasm.KINDS[byte];
  if (kind === undefined)
    throw reader.errorAtLast(`invalid leading byte (0x${byte.toString(16)}) for external kind`);
  return kind;
}

export function readImport(reader: ByteReader, module: wasm.WasmModule, offset: number): void {
  const from = reader.string();
  const name = reader.string();
  const kind = readKind(reader);
  let type = -1;
  switch (kind) {
    case "func":
      type = reader.varU32();
      if (module.types[type] === undefined) throw unknownType(type, offset);
      module.functions.push(type);
      module.importedFunctions++;
      checkCount(module.functions.length, "functions", offset);
      break;
    case "table":
      module.tables.push(readTableType(reader, offset));
      checkCount(module.tables.length, "tables", offset);
      break;
    case "memory":
      module.memories.push(readMemoryType(reader, offset));
      checkCount(module.memories.length, "memories", offset);
      break;
    case "global":
      module.globals.push(readGlobalType(reader, offset));
      module.importedGlobals++;
      break;
    case "tag":
      throw moduleError("exceptions proposal not enabled", offset);
  }
  module.imports.push({ module: from, name, kind, type });
}

function readLimits(reader: ByteReader, hasMaximum: boolean): wasm.Limits {
  const minimum = reader.varU32();
  return { minimum, maximum: hasMaximum ? reader.varU32() : undefined };
}

function checkLimits({ minimum, maximum }: wasm.Limits, offset: number): void {
  if (maximum !== undefined && minimum > maximum)
    throw moduleError("size minimum must not be greater than maximum", offset);
}

export function readTableType(reader: ByteReader, offset: number): wasm.Limits {
  if (reader.peek() === 0x40)
    throw moduleError("tables with expression initializers require the function-references proposal", offset);
  const element = reader.u8();
  const flags = reader.u8();
  if (flags > 1) throw reader.errorAtLast("invalid table resizable limits flags");
  const limits = readLimits(reader, flags === 1);
  if (element !== 0x70) throw moduleError("reference types support is not enabled", offset);
  checkLimits(limits, offset);
  if (limits.minimum > MAX_TABLE_ENTRIES) throw moduleError("minimum table size is out of bounds", offset);
  return limits;
}

export function readMemoryType(reader: ByteReader, offset: number): wasm.Limits {
  const flags = reader.u8();
  if (flags > 7) throw reader.errorAtLast("invalid memory limits flags");
  const limits = readLimits(reader, (flags & 1) !== 0);
  checkLimits(limits, offset);
  if ((flags & 4) !== 0) throw moduleError("memory64 must be enabled for 64-bit memories", offset);
  if (limits.minimum > MAX_MEMORY_PAGES || (limits.maximum ?? 0) > MAX_MEMORY_PAGES)
    throw moduleError("memory size must be at most 65536 pages (4GiB)", offset);
  if ((flags & 2) !== 0) throw moduleError("threads must be enabled for shared memories", offset);
  return limits;
}

export function readGlobalType(reader: ByteReader, offset: number): wasm.GlobalType {
  const type = readValueType(reader, offset);
  const flag = reader.u8();
  if (flag > 1) throw reader.errorAtLast("malformed mutability");
  return { type, isMutable: flag === 1 };
}

/**
 * Checks a constant expression of type `expected`. Returns an `i32.const`'s unsigned value, or undefined for any other expression.
 */
export function readConstant(
  reader: ByteReader,
  module: wasm.WasmModule,
  expected: number,
): number | undefined {
  const operator = newOperator();
  let found: number | undefined;
  let value: number | undefined;
  for (;;) {
    readOperator(reader, operator);
    const { opcode, start, index } = operator;
    if (opcode === OP.end) {
      if (found === undefined)
        throw moduleError(`type mismatch: expected ${wasm.typeName(expected)} but nothing on stack`, start);
      return value;
    }
    if (found !== undefined)
      throw moduleError("type mismatch: values remaining on stack at end of block", start);
    if (opcode === OP.globalGet) found = typeOfConstantGlobal(module, index, start);
    else if (opcode >= OP.i32Const && opcode <= OP.f64Const) found = I32 - (opcode - OP.i32Const);
    else
      throw moduleError(
        `constant expression required: non-constant operator: 0x${opcode.toString(16)}`,
        start,
      );
    if (found !== expected)
      throw moduleError(
        `type mismatch: expected ${wasm.typeName(expected)}, found ${wasm.typeName(found)}`,
        reader.position,
      );
    value = opcode === OP.i32Const ? index >>> 0 : undefined;
  }
}

function typeOfConstantGlobal(module: wasm.WasmModule, index: number, offset: number): number {
  const global = module.globals[index];
  if (global === undefined) throw moduleError(`unknown global ${index}: global index out of bounds`, offset);
  const refused = index >= module.importedGlobals ? "locally defined" : "mutable";
  if (index >= module.importedGlobals || global.isMutable)
    throw moduleError(`constant expression required: global.get of ${refused} global`, offset);
  return global.type;
}

export function readElementSegment(reader: ByteReader, module: wasm.WasmModule, offset: number): void {
  const flags = reader.varU32();
  if (flags > 7) throw reader.errorAtLast("invalid flags byte in element segment");
  if ((flags & 1) !== 0) throw moduleError("bulk memory must be enabled", offset);
  const table = (flags & 2) !== 0 ? reader.varU32() : 0;
  if (module.tables[table] === undefined)
    throw moduleError(`unknown table ${table}: table index out of bounds`, offset);
  const at = readConstant(reader, module, I32);
  if ((flags & 4) !== 0) throw moduleError("reference types support is not enabled", offset);
  if ((flags & 2) !== 0 && readKind(reader) !== "func")
    throw reader.errorAtLast("only the function external type is supported in elem segment");
  const count = reader.varU32();
  if (count > MAX_TABLE_ENTRIES) throw moduleError("number of elements is out of bounds", offset);
  const items = reader.position;
  for (let item = 0; item < count; item++) {
    const position = reader.position;
    typeOfFunction(module, reader.varU32(), position);
  }
  module.elementSegments.push({ offset: at, length: count, items });
}

export function readDataSegment(reader: ByteReader, module: wasm.WasmModule, offset: number): void {
  const flags = reader.varU32();
  if (flags > 2) throw moduleError("invalid flags byte in data segment", offset);
  let address: number | undefined;
  if (flags !== 1) {
    const memory = flags === 2 ? reader.varU32() : 0;
    if (module.memories[memory] === undefined)
      throw moduleError(`unknown memory ${memory}: memory index out of bounds`, offset);
    address = readConstant(reader, module, I32);
  }
  const length = reader.varU32();
  if (length > reader.end - reader.position)
    throw moduleError(
      "unexpected end of section or function: data segment extends past end of the section",
      reader.end,
    );
  reader.skip(length);
  // Treat a passive segment as empty, because code cannot use a passive segment while bulk memory is disabled.
  module.dataSegments.push({ offset: address ?? 0, length: flags === 1 ? 0 : length });
}
