import { fromUtf8 } from "../../platform/base/bytes.ts";
import { ByteReader } from "./byte-reader.ts";
import * as items from "./decode-items.ts";
import { moduleError, vmError } from "./errors.ts";
import { SECTION, WasmModule } from "./module.ts";

const MAGIC = [0x00, 0x61, 0x73, 0x6d];
/** Section ids in the required order, without custom sections, which may appear anywhere. */
const SECTION_ORDER: readonly number[] = [
  SECTION.type,
  SECTION.import,
  SECTION.function,
  SECTION.table,
  SECTION.memory,
  SECTION.tag,
  SECTION.global,
  SECTION.export,
  SECTION.start,
  SECTION.element,
  SECTION.dataCount,
  SECTION.code,
  SECTION.data,
];

/**
 * Decodes a module and checks everything except function bodies and the chain's own rules. Checks and messages match the deployed
 * VM (wasmparser 0.121 with the deployed features). Decoding takes linear time, and counts are checked before memory is allocated.
 */
export function decodeModule(bytes: Uint8Array): WasmModule {
  const module = new WasmModule(bytes);
  const reader = new ByteReader(bytes);
  readHeader(reader);
  const state: DecoderState = { module, order: -1, expectedBodies: undefined, dataCount: undefined };
  while (!reader.eof()) readSection(reader, state);
  if (state.dataCount !== undefined && state.dataCount !== module.dataSegments.length)
    throw moduleError("data count and data section have inconsistent lengths", bytes.length);
  if ((state.expectedBodies ?? 0) > 0)
    throw moduleError("function and code section have inconsistent lengths", bytes.length);
  return module;
}

interface DecoderState {
  readonly module: WasmModule;
  order: number;
  expectedBodies: number | undefined;
  dataCount: number | undefined;
}

function readHeader(reader: ByteReader): void {
  const start = reader.skip(4);
  const actual = reader.bytes.subarray(start, start + 4);
  if (MAGIC.some((byte, at) => byte !== actual[at]))
    throw moduleError(
      `magic header not detected: bad magic number - expected=${debugBytes(MAGIC)} actual=${debugBytes([...actual])}`,
      start,
    );
  const at = reader.skip(4);
  const view = new DataView(reader.bytes.buffer, reader.bytes.byteOffset + at, 4);
  const version = view.getUint16(0, true);
  const encoding = view.getUint16(2, true);
  if (encoding > 1)
    throw moduleError(
      `unknown binary version: 0x${view.getUint32(0, true).toString(16).padStart(8, "0")}`,
      4,
    );
  if (encoding === 1)
    throw moduleError(
      `unknown binary version and encoding combination: 0x${version.toString(16)} and 0x1, note: encoded as a component but the WebAssembly component model feature is not enabled - enable the feature to allow component validation`,
      0,
    );
  if (version !== 1) throw moduleError(`unknown binary version: 0x${version.toString(16)}`, 0);
}

/** Formats bytes like Rust's `{:#x?}`. */
function debugBytes(bytes: readonly number[]): string {
  return `[\n${bytes.map((byte) => `    0x${byte.toString(16)},\n`).join("")}]`;
}

function readSection(reader: ByteReader, state: DecoderState): void {
  const id = reader.u8();
  if (id >= 0x80) throw reader.errorAtLast("malformed section id");
  const length = reader.varU32();
  if (id === SECTION.code) {
    readCodeSection(reader, state, length);
    return;
  }
  const start = reader.skip(length);
  const content = new ByteReader(reader.bytes, start, reader.position);
  if (id === SECTION.custom) {
    readCustomSection(content, state.module);
    return;
  }
  if (id > SECTION.tag) throw moduleError(`malformed section id: ${id}`, start);
  if (id === SECTION.tag) throw moduleError("exceptions proposal not enabled", start);
  if (id === SECTION.start || id === SECTION.dataCount) {
    readSingleItem(content, state, id);
    return;
  }
  const count = content.varU32();
  enterSection(state, id, start);
  state.module.sections.set(id, { start, end: reader.position });
  readItems(content, state, { id, count, start });
  if (!content.eof())
    throw moduleError("section size mismatch: unexpected data at the end of the section", content.position);
}

function enterSection(state: DecoderState, id: number, offset: number): void {
  const order = SECTION_ORDER.indexOf(id);
  if (order <= state.order) throw moduleError("section out of order", offset);
  state.order = order;
}

function readSingleItem(content: ByteReader, state: DecoderState, id: number): void {
  const { module } = state;
  const offset = content.position;
  const value = content.varU32();
  if (!content.eof())
    throw moduleError(
      `unexpected content in the ${id === SECTION.start ? "start" : "data count"} section`,
      content.position,
    );
  enterSection(state, id, offset);
  if (id === SECTION.dataCount) {
    if (value > items.MAX_ITEMS["data segments"])
      throw moduleError("data count section specifies too many data segments", offset);
    state.dataCount = value;
    return;
  }
  const { params, results } = items.typeOfFunction(module, value, offset);
  if (params.length > 0 || results.length > 0) throw moduleError("invalid start function type", offset);
  module.start = value;
}

function readCustomSection(content: ByteReader, module: WasmModule): void {
  const name = content.string();
  const range = { start: content.position, end: content.end };
  module.customSections.push({ name, range });
  if (name !== "cw_migrate_version") return;
  let text: string;
  try {
    text = fromUtf8(content.bytes.subarray(range.start, range.end));
  } catch {
    throw vmError("static-validation", "invalid utf-8 sequence of 1 bytes from index 0");
  }
  module.migrateVersion = parseU64(text);
}

/** Parses a number like Rust's `str::parse::<u64>`. */
function parseU64(text: string): bigint {
  if (text === "") throw vmError("static-validation", "cannot parse integer from empty string");
  if (!/^\+?[0-9]+$/.test(text)) throw vmError("static-validation", "invalid digit found in string");
  const value = text.length > 100_000 ? 1n << 64n : BigInt(text.replace("+", ""));
  if (value >= 1n << 64n) throw vmError("static-validation", "number too large to fit in target type");
  return value;
}

interface SectionHead {
  readonly id: number;
  readonly count: number;
  readonly start: number;
}

function readItems(reader: ByteReader, state: DecoderState, head: SectionHead): void {
  const { module } = state;
  const { id, count, start } = head;
  const limit = (present: number, what: keyof typeof items.MAX_ITEMS): void =>
    items.checkCount(present + count, what, start);
  const each = (read: (offset: number) => void): void => {
    for (let at = 0; at < count; at++) read(reader.position);
  };
  switch (id) {
    case SECTION.type:
      limit(module.types.length, "types");
      each((offset) => module.types.push(items.readFunctionType(reader, offset)));
      return;
    case SECTION.import:
      each((offset) => items.readImport(reader, module, offset));
      return;
    case SECTION.function:
      limit(module.functions.length, "functions");
      state.expectedBodies = count;
      each((offset) => {
        const type = reader.varU32();
        if (module.types[type] === undefined) throw items.unknownType(type, offset);
        module.functions.push(type);
      });
      return;
    case SECTION.table:
      limit(module.tables.length, "tables");
      each((offset) => {
        const table = items.readTableType(reader, offset);
        module.tables.push(table);
        module.ownTables.push(table);
      });
      return;
    case SECTION.memory:
      limit(module.memories.length, "memories");
      each((offset) => {
        const memory = items.readMemoryType(reader, offset);
        module.memories.push(memory);
        module.ownMemories.push(memory);
      });
      return;
    case SECTION.global:
      limit(module.globals.length, "globals");
      each((offset) => {
        const type = items.readGlobalType(reader, offset);
        items.readConstant(reader, module, type.type);
        module.globals.push(type);
      });
      return;
    case SECTION.export:
      readExports(reader, module, head);
      return;
    case SECTION.element:
      limit(module.elementSegments.length, "element segments");
      each((offset) => items.readElementSegment(reader, module, offset));
      return;
    case SECTION.data:
      limit(0, "data segments");
      each((offset) => items.readDataSegment(reader, module, offset));
      return;
    default:
      throw moduleError(`malformed section id: ${id}`, start);
  }
}

function readExports(reader: ByteReader, module: WasmModule, { count, start }: SectionHead): void {
  items.checkCount(module.exports.length + count, "exports", start);
  const names = new Set<string>();
  for (let at = 0; at < count; at++) {
    const offset = reader.position;
    const name = reader.string();
    const kind = items.readKind(reader);
    const index = reader.varU32();
    const spaces = {
      func: ["function", module.functions.length],
      table: ["table", module.tables.length],
      memory: ["memory", module.memories.length],
      global: ["global", module.globals.length],
      tag: ["tag", 0],
    } as const;
    const [what, size] = spaces[kind];
    if (index >= size)
      throw moduleError(`unknown ${what} ${index}: exported ${what} index out of bounds`, offset);
    if (names.has(name)) throw moduleError(`duplicate export name \`${name}\` already defined`, offset);
    names.add(name);
    module.exports.push({ name, kind, index });
  }
}

function readCodeSection(reader: ByteReader, state: DecoderState, length: number): void {
  const start = reader.position;
  const end = start + length;
  const count = reader.varU32();
  if (reader.position > end) throw moduleError("unexpected end-of-file", start);
  enterSection(state, SECTION.code, start);
  if (state.expectedBodies === undefined && count > 0)
    throw moduleError("code section without function section", start);
  if ((state.expectedBodies ?? 0) !== count)
    throw moduleError("function and code section have inconsistent lengths", start);
  state.expectedBodies = undefined;
  for (let at = 0; at < count; at++) {
    const head = reader.position;
    const size = reader.varU32();
    const body = reader.skip(size);
    if (reader.position > end) throw moduleError("unexpected end-of-file", head);
    state.module.bodies.push({ start: body, end: reader.position });
  }
  if (reader.position !== end) throw moduleError("trailing bytes at end of section", reader.position);
  state.module.sections.set(SECTION.code, { start, end });
}

/** Maximum size of a name section in bytes. A larger name section is ignored, so that error stacks lack function names. */
const MAX_NAMES = 4 * 1024 * 1024;

/** Returns a function that looks up function names in the custom section `name`, which is decoded on first use. */
export function createNames({ customSections, bytes }: WasmModule): (index: number) => string | undefined {
  const range = customSections.find(({ name }) => name === "name")?.range;
  // Copy the name section, so that the module's other bytes need not stay in memory.
  const content =
    range === undefined || range.end - range.start > MAX_NAMES
      ? new Uint8Array()
      : bytes.slice(range.start, range.end);
  let names: Map<number, string> | undefined;
  return (index) => {
    names ??= readNames(content);
    return names.get(index);
  };
}

/**
 * Reads function names. If the section is malformed, returns only the names before the error, because no check depends on names.
 */
function readNames(content: Uint8Array): Map<number, string> {
  const names = new Map<number, string>();
  const reader = new ByteReader(content);
  try {
    while (!reader.eof()) {
      const id = reader.u8();
      const end = reader.varU32() + reader.position;
      if (id === 1)
        for (let count = reader.varU32(); count > 0; count--) {
          const index = reader.varU32();
          const length = reader.varU32();
          const start = reader.skip(length);
          names.set(index, fromUtf8(content.subarray(start, start + length)));
        }
      reader.position = end;
    }
  } catch {
    return names;
  }
  return names;
}
