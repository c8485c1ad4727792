import { ByteWriter } from "../../../src/localnet/vm/byte-reader.ts";
import { I32, OP } from "../../../src/localnet/vm/operators.ts";

/** A function of a module under test. `body` has no final `end`. */
export interface BuiltFunction {
  readonly params?: readonly number[];
  readonly results?: readonly number[];
  readonly locals?: readonly (readonly [count: number, type: number])[];
  readonly body: readonly number[];
  readonly exportAs?: string;
}

export interface BuiltModule {
  /** Imported functions of `env` by name. */
  readonly imports?: readonly {
    readonly module?: string;
    readonly name: string;
    readonly params?: readonly number[];
    readonly results?: readonly number[];
  }[];
  readonly functions?: readonly BuiltFunction[];
  readonly memory?: readonly [minimum: number, maximum?: number];
  readonly table?: readonly [minimum: number, maximum?: number];
  /** Mutable globals: a value of type i32, or a type with the code of its value. */
  readonly globals?: readonly (number | readonly [type: number, value: readonly number[]])[];
  /** Indices of functions from the table's start. */
  readonly elements?: readonly number[];
  /** Segments of the table with several offsets, instead of `elements`. */
  readonly segments?: readonly { readonly offset: number; readonly functions: readonly number[] }[];
  readonly data?: readonly (readonly [address: number, bytes: Uint8Array])[];
  readonly start?: number;
  readonly custom?: readonly (readonly [name: string, bytes: Uint8Array])[];
  /** Exports besides those of functions: kind, index. */
  readonly exports?: readonly (readonly [name: string, kind: number, index: number])[];
}

/** Encodes a signed number. */
function signed(value: number): number[] {
  const writer = new ByteWriter(16);
  writer.varSigned(value);
  return [...writer.bytes()];
}

/** Encodes an unsigned number. */
function unsigned(value: number): number[] {
  const writer = new ByteWriter(16);
  writer.varU32(value);
  return [...writer.bytes()];
}

export const i32 = (value: number): number[] => [OP.i32Const, ...signed(value)];
export const i64 = (value: number): number[] => [OP.i64Const, ...signed(value)];
export const get = (local: number): number[] => [OP.localGet, ...unsigned(local)];
export const set = (local: number): number[] => [OP.localSet, ...unsigned(local)];
export const call = (index: number): number[] => [OP.call, ...unsigned(index)];
/** `i32.store` of the value on the stack at the address below it. */
export const store = (offset = 0): number[] => [0x36, 2, ...unsigned(offset)];

/** Encodes a module. Each function has a type of its own, in the order imports, functions. */
export function buildModule(spec: BuiltModule): Uint8Array {
  const { imports = [], functions = [] } = spec;
  const out = new ByteWriter(1024);
  out.copy(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
  const section = (id: number, write: (writer: ByteWriter) => void): void => {
    const writer = new ByteWriter(256);
    write(writer);
    out.u8(id);
    out.nested(writer);
  };
  const list = <T>(
    id: number,
    items: readonly T[],
    write: (writer: ByteWriter, item: T, at: number) => void,
  ): void => {
    if (items.length === 0) return;
    section(id, (writer) => {
      writer.varU32(items.length);
      for (const [at, item] of items.entries()) write(writer, item, at);
    });
  };
  list(1, [...imports, ...functions], (writer, { params = [], results = [] }) => {
    writer.u8(0x60);
    for (const types of [params, results]) {
      writer.varU32(types.length);
      for (const type of types) writer.u8(type);
    }
  });
  list(2, imports, (writer, { module = "env", name }, at) => {
    text(writer, module);
    text(writer, name);
    writer.u8(0);
    writer.varU32(at);
  });
  list(3, functions, (writer, _, at) => writer.varU32(imports.length + at));
  if (spec.table !== undefined) list(4, [spec.table], (writer, limit) => limits(writer, limit, 0x70));
  if (spec.memory !== undefined) list(5, [spec.memory], (writer, limit) => limits(writer, limit));
  list(6, spec.globals ?? [], (writer, global) => {
    const [type, value] = typeof global === "number" ? [I32, i32(global)] : global;
    writer.copy(Uint8Array.of(type, 1, ...value, OP.end));
  });
  list(7, exportsOf(spec), (writer, [name, kind, index]) => {
    text(writer, name);
    writer.u8(kind);
    writer.varU32(index);
  });
  if (spec.start !== undefined) section(8, (writer) => writer.varU32(spec.start ?? 0));
  const segments = spec.elements === undefined ? [] : [{ offset: 0, functions: spec.elements }];
  list(9, spec.segments ?? segments, (writer, { offset, functions: indices }) => {
    writer.copy(Uint8Array.of(0, ...i32(offset), OP.end));
    writer.varU32(indices.length);
    for (const index of indices) writer.varU32(index);
  });
  list(10, functions, (writer, { locals = [], body }) => {
    const content = new ByteWriter(body.length + 16);
    content.varU32(locals.length);
    for (const [count, type] of locals) {
      content.varU32(count);
      content.u8(type);
    }
    content.copy(Uint8Array.from(body));
    content.u8(OP.end);
    writer.nested(content);
  });
  list(11, spec.data ?? [], (writer, [address, bytes]) => {
    writer.copy(Uint8Array.of(0, ...i32(address), OP.end));
    writer.varU32(bytes.length);
    writer.copy(bytes);
  });
  for (const [name, bytes] of spec.custom ?? [])
    section(0, (writer) => {
      text(writer, name);
      writer.copy(bytes);
    });
  return out.bytes().slice();
}

function exportsOf({
  imports = [],
  functions = [],
  exports = [],
}: BuiltModule): (readonly [string, number, number])[] {
  const own = functions.flatMap(({ exportAs }, at) =>
    exportAs === undefined ? [] : [[exportAs, 0, imports.length + at] as const],
  );
  return [...own, ...exports];
}

function text(writer: ByteWriter, value: string): void {
  const bytes = new TextEncoder().encode(value);
  writer.varU32(bytes.length);
  writer.copy(bytes);
}

function limits(writer: ByteWriter, [minimum, maximum]: readonly [number, number?], element?: number): void {
  if (element !== undefined) writer.u8(element);
  writer.u8(maximum === undefined ? 0 : 1);
  writer.varU32(minimum);
  if (maximum !== undefined) writer.varU32(maximum);
}

/** Where the result region of {@link buildContract} and its text are. */
export const RESULT_POINTER = 1024;
const RESULT_TEXT = 1040;
/** First address that `allocate` of a built contract gives out. */
export const HEAP = 65_536;

/** Region at a pointer: offset, capacity, length, little endian. */
export function regionBytes(offset: number, capacity: number, length: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(offset, capacity, length).buffer);
}

/** What every contract has: a version, `allocate`, which never frees, and `deallocate`. */
const BASICS: readonly BuiltFunction[] = [
  { body: [], exportAs: "interface_version_8" },
  { params: [I32], results: [I32], locals: [[1, I32]], body: allocateBody(), exportAs: "allocate" },
  { params: [I32], body: [], exportAs: "deallocate" },
];
/** The start of the heap, which `allocate` reads at address 0. */
export const HEAP_START = [0, regionBytes(HEAP, 0, 0).subarray(0, 4)] as const;

/** Code of an `allocate` that never frees: one parameter, one local. */
export function allocateBody(): readonly number[] {
  const pointer = [...i32(0), 0x28, 2, 0];
  const region = [...pointer, ...set(1), ...get(1), ...get(1), ...i32(12), 0x6a, ...store(0)];
  const sizes = [...get(1), ...get(0), ...store(4), ...get(1), ...i32(0), ...store(8)];
  const heap = [...i32(0), ...get(1), ...i32(12), 0x6a, ...get(0), 0x6a, ...store(0), ...get(1)];
  return [...region, ...sizes, ...heap];
}

/**
 * A contract whose `execute` and `query` run `body` and return `result`. Functions of the module, after the imports: 0
 * interface_version_8, 1 allocate (never frees), 2 deallocate, 3 execute, 4 query, then `spec.functions`.
 */
export function buildContract(
  body: readonly number[],
  spec: BuiltModule & { readonly result?: string; readonly locals?: BuiltFunction["locals"] } = {},
): Uint8Array {
  const result = new TextEncoder().encode(spec.result ?? '{"ok":""}');
  const three = [I32, I32, I32];
  const common = { results: [I32], locals: spec.locals ?? [], body: [...body, ...i32(RESULT_POINTER)] };
  return buildModule({
    ...spec,
    memory: spec.memory ?? [2],
    functions: [
      ...BASICS,
      { ...common, params: three, exportAs: "execute" },
      // With a local in place of info, the indices are those of execute.
      { ...common, params: three.slice(1), locals: [[1, I32], ...common.locals], exportAs: "query" },
      ...(spec.functions ?? []),
    ],
    data: [
      HEAP_START,
      [RESULT_POINTER, regionBytes(RESULT_TEXT, result.length, result.length)],
      [RESULT_TEXT, result],
      ...(spec.data ?? []),
    ],
    exports: [["memory", 2, 0], ...(spec.exports ?? [])],
  });
}

function entry(
  name: string,
  params: number,
  body: readonly number[],
  locals: BuiltFunction["locals"] = [],
): BuiltFunction {
  return { params: Array.from({ length: params }, () => I32), results: [I32], locals, body, exportAs: name };
}

/** A region with a text behind it. */
function regionOf(pointer: number, content: string): (readonly [address: number, bytes: Uint8Array])[] {
  const bytes = new TextEncoder().encode(content);
  const address = pointer + 12;
  return [
    [pointer, regionBytes(address, bytes.length, bytes.length)],
    [address, bytes],
  ];
}

/**
 * A contract that answers each call but `sudo` and `reply` with its message: the caller writes the response. `execute` stores env, info and
 * message under `env`, `info`, `msg`; `reply` stores its message under `reply`. `sudo` sends its message to the chain as a query and
 * stores the response under `msg`. Both answer with the attribute `called`. `migrateVersion`: of the section `cw_migrate_version`.
 */
export function buildEchoContract(migrateVersion?: string): Uint8Array {
  const texts = ["env", "info", "msg", "reply", '{"ok":{"attributes":[{"key":"called","value":"yes"}]}}'];
  const pointerOf = (index: number): number => RESULT_POINTER + 128 * index;
  const write = (key: number, value: readonly number[]): number[] => [
    ...i32(pointerOf(key)),
    ...value,
    ...call(0),
  ];
  return buildModule({
    imports: [
      { name: "db_write", params: [I32, I32] },
      { name: "query_chain", params: [I32], results: [I32] },
    ],
    memory: [2],
    functions: [
      ...BASICS,
      entry("instantiate", 3, get(2)),
      entry("execute", 3, [...[0, 1, 2].flatMap((at) => write(at, get(at))), ...get(2)]),
      entry("migrate", 2, get(1)),
      entry("sudo", 2, [...write(2, [...get(1), ...call(1)]), ...i32(pointerOf(4))]),
      entry("reply", 2, [...write(3, get(1)), ...i32(pointerOf(4))]),
      entry("query", 2, get(1)),
    ],
    data: [HEAP_START, ...texts.flatMap((content, at) => regionOf(pointerOf(at), content))],
    exports: [["memory", 2, 0]],
    custom:
      migrateVersion === undefined ? [] : [["cw_migrate_version", new TextEncoder().encode(migrateVersion)]],
  });
}

/** Entry points of {@link buildIbcContract}, with what they answer unless the contract's entry `answer:<name>` says otherwise. */
const IBC_ANSWERS = {
  ibc_channel_open: '{"ok":null}',
  ibc_channel_connect: '{"ok":{}}',
  ibc_channel_close: '{"ok":{}}',
  ibc_packet_receive: '{"ok":{"acknowledgement":"eyJyZXN1bHQiOiJBUT09In0="}}',
  ibc_packet_ack: '{"ok":{}}',
  ibc_packet_timeout: '{"ok":{}}',
};

/**
 * A contract with the entry points of IBC. Each stores its message under its name and answers with `answer:<name>` of its state.
 * `instantiate`, `execute`, `migrate`, `reply` and `query` answer with their message, `reply` from `answer:reply`.
 */
export function buildIbcContract(): Uint8Array {
  const names = Object.entries({ ...IBC_ANSWERS, reply: '{"ok":{}}' });
  const texts = names.flatMap(([name, answer]) => [name, `answer:${name}`, answer]);
  const pointerOf = (index: number): number => RESULT_POINTER + 256 * index;
  const keep = (at: number): number[] => [...i32(pointerOf(at)), ...get(1), ...call(0)];
  const load = (at: number): number[] => [...i32(pointerOf(at + 1)), ...call(1), ...set(2)];
  const choose = (at: number): number[] => [...get(2), ...i32(pointerOf(at + 2)), ...get(2), OP.select];
  const bodyOf = (at: number): number[] => [...keep(at), ...load(at), ...choose(at)];
  return buildModule({
    imports: [
      { name: "db_write", params: [I32, I32] },
      { name: "db_read", params: [I32], results: [I32] },
    ],
    memory: [2],
    functions: [
      ...BASICS,
      entry("instantiate", 3, get(2)),
      entry("execute", 3, get(2)),
      entry("migrate", 2, get(1)),
      entry("query", 2, get(1)),
      ...names.map(([name], at) => entry(name, 2, bodyOf(3 * at), [[1, I32]])),
    ],
    data: [HEAP_START, ...texts.flatMap((content, at) => regionOf(pointerOf(at), content))],
    exports: [["memory", 2, 0]],
  });
}
