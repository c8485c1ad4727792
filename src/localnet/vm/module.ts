import { F64, I32 } from "./operators.ts";

/** A function type, with value types as encoded bytes (`I32` etc. in operators.ts). */
export interface FunctionType {
  readonly params: readonly number[];
  readonly results: readonly number[];
}

/** Kinds of imports and exports, indexed by their encoding. */
export const KINDS = ["func", "table", "memory", "global", "tag"] as const;
export type Kind = (typeof KINDS)[number];

export interface Limits {
  readonly minimum: number;
  readonly maximum: number | undefined;
}

export interface GlobalType {
  readonly type: number;
  readonly isMutable: boolean;
}

interface ModuleImport {
  readonly module: string;
  readonly name: string;
  readonly kind: Kind;
  /** Index of the function's type, for functions only. */
  readonly type: number;
}

interface ModuleExport {
  readonly name: string;
  readonly kind: Kind;
  readonly index: number;
}

export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** An active segment of a table or memory. */
interface Segment {
  /** First index or address of the segment, or undefined if it depends on an imported global. */
  readonly offset: number | undefined;
  readonly length: number;
}

/** A segment that stores functions in a table. */
interface ElementSegment extends Segment {
  /** Byte offset in the module at which the list of function indices starts. */
  readonly items: number;
}

/** A module decoded for the checks and the rewriter. Parts that the rewriter copies unchanged are byte ranges. */
export class WasmModule {
  readonly bytes: Uint8Array;
  readonly types: FunctionType[] = [];
  readonly imports: ModuleImport[] = [];
  /** Type index of each function, imported functions first. */
  readonly functions: number[] = [];
  importedFunctions = 0;
  readonly tables: Limits[] = [];
  readonly memories: Limits[] = [];
  /** Memories that the module defines, without imported memories. */
  readonly ownMemories: Limits[] = [];
  /** Tables that the module defines, without imported tables. */
  readonly ownTables: Limits[] = [];
  readonly globals: GlobalType[] = [];
  importedGlobals = 0;
  readonly exports: ModuleExport[] = [];
  start: number | undefined;
  readonly elementSegments: ElementSegment[] = [];
  readonly dataSegments: Segment[] = [];
  readonly bodies: ByteRange[] = [];
  /** Content of each section by id, without custom sections. */
  readonly sections = new Map<number, ByteRange>();
  /** Content of each custom section, without its name. */
  readonly customSections: { readonly name: string; readonly range: ByteRange }[] = [];
  migrateVersion: bigint | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

export const SECTION = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
  tag: 13,
} as const;

/** Returns a function's type, or undefined if the function does not exist. */
export function functionType(module: WasmModule, index: number): FunctionType | undefined {
  const type = module.functions[index];
  return type === undefined ? undefined : module.types[type];
}

const TYPE_NAMES: Readonly<Record<number, string>> = { 0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64" };

export function typeName(type: number): string {
  return TYPE_NAMES[type] ?? "unknown";
}

/** Returns true if a byte is the encoding of a WebAssembly 1.0 value type. */
export function isValueType(byte: number): boolean {
  return byte >= F64 && byte <= I32;
}
