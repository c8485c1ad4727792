import { describe, expect, it } from "vitest";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import { errorMessage } from "../../../src/platform/base/errors.ts";
import { F64, I32, I64, OP } from "../../../src/localnet/vm/operators.ts";
import { createVm } from "../../../src/localnet/vm/vm.ts";
import { buildModule, type BuiltModule, type BuiltFunction, get } from "../../support/vm/wasm-builder.ts";

const STATIC = "Error during static Wasm validation: ";
const { block, end, drop, unreachable } = OP;
const EMPTY = 0x40;

const FUNCTIONS: readonly BuiltFunction[] = [
  { body: [], exportAs: "interface_version_8" },
  { params: [I32], results: [I32], body: [OP.i32Const, 8], exportAs: "allocate" },
  { params: [I32], body: [], exportAs: "deallocate" },
];

/** Returns what an upload of a contract that differs in `spec` says, or "accepted". */
function upload(spec: BuiltModule, more: readonly BuiltFunction[] = []): string {
  return uploadBytes(buildModule({ memory: [1], functions: [...FUNCTIONS, ...more], ...spec }));
}

function uploadBytes(code: Uint8Array): string {
  try {
    createVm().store("code", code);
    return "accepted";
  } catch (thrown) {
    return errorMessage(thrown).replace(STATIC, "");
  }
}

const without = (name: string): BuiltModule => ({
  functions: FUNCTIONS.filter(({ exportAs }) => exportAs !== name),
});
const wide = (length: number): number[] => Array.from({ length }, () => I32);

describe("the chain's rules for contracts", () => {
  it.each<[string, BuiltModule, string]>([
    ["the smallest contract", {}, "accepted"],
    ["a table of 2500", { table: [1, 2500] }, "accepted"],
    [
      "a table of 2501",
      { table: [1, 2501] },
      "Wasm contract's first table section has a too large max limit",
    ],
    ["a table without maximum", { table: [1] }, "Wasm contract must not have unbound table section"],
    ["512 pages", { memory: [512] }, "accepted"],
    ["513 pages", { memory: [513] }, "Wasm contract memory's minimum must not exceed 512 pages."],
    [
      "a maximum of memory",
      { memory: [1, 2] },
      "Wasm contract memory's maximum must be unset. The host will set it for you.",
    ],
    [
      "no interface version",
      without("interface_version_8"),
      "Wasm contract missing a required marker export: interface_version_*",
    ],
    [
      "another interface version",
      { functions: [{ body: [], exportAs: "interface_version_7" }, ...FUNCTIONS.slice(1)] },
      "Wasm contract has unknown interface_version_* marker export (see https://github.com/CosmWasm/cosmwasm/blob/main/packages/vm/README.md)",
    ],
    [
      "two interface versions",
      { functions: [{ body: [], exportAs: "interface_version_7" }, ...FUNCTIONS] },
      "Wasm contract contains more than one marker export: interface_version_*",
    ],
    [
      "no allocate",
      without("allocate"),
      'Wasm contract doesn\'t have required export: "allocate". Exports required by VM: ["allocate", "deallocate"].',
    ],
    [
      "no deallocate",
      without("deallocate"),
      'Wasm contract doesn\'t have required export: "deallocate". Exports required by VM: ["allocate", "deallocate"].',
    ],
    [
      "every import twice",
      {
        imports: [
          { name: "debug", params: [I32] },
          { name: "debug", params: [I32] },
        ],
      },
      "accepted",
    ],
    [
      "101 imports",
      { imports: wide(101).map(() => ({ name: "debug" })) },
      "Import count exceeds limit. Imports: 101. Limit: 100.",
    ],
    ["a start function", { start: 0 }, "accepted"],
    ["data outside the memory", { data: [[70_000, utf8("x")]] }, "accepted"],
    ["a migrate version", { custom: [["cw_migrate_version", utf8("42")]] }, "accepted"],
    [
      "a migrate version as text",
      { custom: [["cw_migrate_version", utf8("v2")]] },
      "invalid digit found in string",
    ],
    [
      "an empty migrate version",
      { custom: [["cw_migrate_version", utf8("")]] },
      "cannot parse integer from empty string",
    ],
    [
      "a large migrate version",
      { custom: [["cw_migrate_version", utf8("18446744073709551616")]] },
      "number too large to fit in target type",
    ],
    [
      "a result too many",
      { functions: [...FUNCTIONS, { results: [I32, I32], body: [unreachable] }] },
      "Wasm contract contains function with more than 1 results",
    ],
    ["100 parameters", { functions: [...FUNCTIONS, { params: wide(100), body: [] }] }, "accepted"],
    [
      "101 parameters",
      { functions: [...FUNCTIONS, { params: wide(101), body: [] }] },
      "Wasm contract contains function with more than 100 parameters",
    ],
    [
      "10,001 parameters in total",
      { functions: [...FUNCTIONS, ...wide(100).map(() => ({ params: wide(100), body: [] }))] },
      "Wasm contract contains more than 10000 function parameters in total",
    ],
    [
      "20,001 functions",
      { functions: [...FUNCTIONS, ...wide(19_998).map(() => ({ body: [] }))] },
      "Wasm contract contains more than 20000 functions",
    ],
  ])("%s", (_, spec, text) => expect(upload(spec)).toBe(text));

  it("names the imports that it does not have, as many as fit", () => {
    const text = upload({
      imports: Array.from({ length: 30 }, (_, at) => ({ name: `unknown_function_${at}` })),
    });
    expect(text).toContain(
      'Wasm contract requires unsupported import: "env.unknown_function_0". Required imports: {"env.unknown_function_0", "env.unknown_function_1", "env.unknown_function_10", "env.unknown_function_11", "env.unknown_function_12", "env.unknown_function_13", "env.unknown_function_14", ... 23 more}. Available imports: ["env.abort", "env.db_read", ',
    );
    expect(upload({ imports: [{ module: "wasi", name: "db_read" }] })).toContain(
      '"wasi.db_read". Required imports: {"wasi.db_read"}.',
    );
  });

  it("names the capabilities that it does not have", () => {
    const more = (names: readonly string[]) =>
      upload(
        {},
        names.map((name) => ({ body: [], exportAs: `requires_${name}` })),
      );
    expect(more(["iterator", "neutron", "cosmwasm_2_1", ""])).toBe("accepted");
    expect(more(["zzz", "aaa"])).toBe('Wasm contract requires unavailable capabilities: {"aaa", "zzz"}');
  });

  it("are checked in the deployed order, function bodies last", () => {
    const broken = [{ body: [drop] }];
    expect(upload({ table: [1], memory: [513] }, broken)).toContain("unbound table");
    expect(upload({ memory: [513], imports: [{ name: "foo" }] }, broken)).toContain("minimum");
    expect(upload({ imports: [{ name: "foo" }] }, broken)).toContain("unsupported import");
    expect(upload({}, broken)).toContain("expected a type but nothing on stack");
  });
});

describe("function bodies are checked in the deployed words", () => {
  const deserialization = (text: string): string =>
    `Wasm bytecode could not be deserialized. Deserialization error: "${text} (at offset `;
  it.each<[string, readonly number[], string]>([
    ["too few values", [drop], "type mismatch: expected a type but nothing on stack"],
    ["a value of another type", [0x42, 1, 0x45, drop], "type mismatch: expected i32, found i64"],
    ["a value too many", [OP.i32Const, 1], "type mismatch: values remaining on stack at end of block"],
    [
      "a value too many in a block",
      [block, EMPTY, OP.i32Const, 1, end],
      "type mismatch: values remaining on stack at end of block",
    ],
    [
      "an if with result and no else",
      [OP.i32Const, 1, OP.if, I32, OP.i32Const, 1, end, drop],
      "type mismatch: expected i32 but nothing on stack",
    ],
    ["else without if", [block, EMPTY, OP.else, end], "else found outside of an `if` block"],
    ["a label too deep", [OP.br, 1], "unknown label: branch depth too large"],
    ["a local too many", [OP.localGet, 0, drop], "unknown local 0: local index out of bounds"],
    ["an unknown global", [OP.globalGet, 0, drop], "unknown global: global index out of bounds"],
    ["an unknown function", [OP.call, 99], "unknown function 99: function index out of bounds"],
    [
      "an indirect call without table",
      [OP.i32Const, 0, OP.callIndirect, 0, 0],
      "unknown table: table index out of bounds",
    ],
    ["a large alignment", [OP.i32Const, 0, 0x28, 3, 0, drop], "alignment must not be larger than natural"],
    [
      "select of two types",
      [OP.i32Const, 0, 0x42, 0, OP.i32Const, 0, OP.select, drop],
      "type mismatch: select operands have different types",
    ],
    [
      "labels with different results",
      [block, I32, block, EMPTY, OP.i32Const, 0, OP.brTable, 1, 0, 1, end, OP.i32Const, 0, end, drop],
      "type mismatch: br_table target labels have different number of types",
    ],
    ["code after the end", [end, OP.nop], "operators remaining after end of function"],
    ["a missing end", [block, EMPTY], "control frames remain at end of function: END opcode expected"],
    ["an unknown opcode", [0xff], "illegal opcode: 0xff"],
    ["SIMD", [0xfd, 12], "SIMD support is not enabled"],
    ["bulk memory", [0xfc, 11, 0], "bulk memory support is not enabled"],
    ["threads", [0xfe, 3, 0], "threads support is not enabled"],
    ["reference types", [0xd0, 0x70, drop], "reference types support is not enabled"],
    [
      "a table index of reference types",
      [OP.i32Const, 0, OP.callIndirect, 0, 0x80, 0],
      "reference-types not enabled: zero byte expected",
    ],
    ["tail calls", [0x12, 0], "tail calls support is not enabled"],
    ["exceptions", [0x06, EMPTY, end], "exceptions support is not enabled"],
    [
      "an integer too long",
      [OP.i32Const, 0x80, 0x80, 0x80, 0x80, 0x80, 0, drop],
      "invalid var_i32: integer representation too long",
    ],
    [
      "an integer too large",
      [OP.i32Const, 0x80, 0x80, 0x80, 0x80, 0x10, drop],
      "invalid var_i32: integer too large",
    ],
  ])("%s", (_, body, text) => expect(upload({}, [{ body }])).toContain(deserialization(text)));

  it.each<[string, readonly number[]]>([
    ["any value in code that is never reached", [unreachable, 0x6a, drop, OP.br, 0, OP.select, drop]],
    [
      "labels of two types in code that is never reached",
      [block, I32, block, I64, unreachable, OP.brTable, 1, 0, 1, end, drop, OP.i32Const, 1, end, drop],
    ],
    [
      "sign extension and saturating conversion",
      [OP.i32Const, 1, 0xc0, drop, 0x43, 0, 0, 0, 0, 0xfc, 0, drop],
    ],
  ])("%s is accepted", (_, body) => expect(upload({}, [{ body }])).toBe("accepted"));

  it("locals have the type of their group, however many are before them", () => {
    const locals = [
      [300, I32],
      [0, I64],
      [300, I64],
      [1, F64],
    ] as const;
    const test = (index: number, isZero: number): string =>
      upload({}, [{ locals, body: [...get(index), isZero, drop] }]);
    const [ofI32, ofI64] = [0x45, 0x50];
    expect([test(0, ofI32), test(299, ofI32), test(300, ofI64), test(599, ofI64)]).toEqual(
      Array.from({ length: 4 }, () => "accepted"),
    );
    expect(test(299, ofI64)).toContain("type mismatch: expected i64, found i32");
    expect(test(300, ofI32)).toContain("type mismatch: expected i32, found i64");
    expect(test(600, ofI32)).toContain("type mismatch: expected i32, found f64");
    expect(test(601, ofI32)).toContain("unknown local 601: local index out of bounds");
  });

  it("locals of proposals that the chain has not enabled are refused by name", () => {
    const problem = (type: number): string => upload({}, [{ locals: [[1, type]], body: [] }]);
    const references = "reference types support is not enabled";
    expect(problem(0x7b)).toContain("SIMD support is not enabled");
    for (const type of [0x63, 0x6f, 0x70, 0x73]) expect(problem(type)).toContain(references);
    for (const type of [0x62, 0x74, 0x40]) expect(problem(type)).toContain("invalid value type");
    for (const type of [I32, I64, F64]) expect(problem(type)).toBe("accepted");
  });

  it("50,001 locals are too many", () => {
    const locals = (count: number) => upload({}, [{ locals: [[count, I32]], body: [] }]);
    expect(locals(50_000)).toBe("accepted");
    expect(locals(50_001)).toContain("too many locals: locals exceed maximum");
  });
});

describe("malformed modules", () => {
  const code = buildModule({ memory: [1], functions: FUNCTIONS });
  const error = (bytes: Uint8Array): string =>
    uploadBytes(bytes).replace("Wasm bytecode could not be deserialized. Deserialization error: ", "");

  it("that are cut anywhere are refused", () => {
    for (let length = 0; length < code.length; length++)
      expect(error(code.subarray(0, length))).not.toBe("accepted");
    expect(error(code.subarray(0, 4))).toBe('"unexpected end-of-file (at offset 0x4)"');
    expect(error(code.subarray(0, 8))).toBe("Wasm contract must contain exactly one memory");
  });

  it("without magic or of another version are refused", () => {
    expect(error(utf8("hello"))).toBe(
      '"magic header not detected: bad magic number - expected=[\n    0x0,\n    0x61,\n    0x73,\n    0x6d,\n] actual=[\n    0x68,\n    0x65,\n    0x6c,\n    0x6c,\n] (at offset 0x0)"',
    );
    const version = code.slice();
    version[4] = 2;
    expect(error(version)).toBe('"unknown binary version: 0x2 (at offset 0x0)"');
  });

  it("with counts of millions and no items cost nothing", () => {
    for (const section of [1, 2, 3, 4, 5, 6, 7, 9, 11])
      expect(error(Uint8Array.of(...code.subarray(0, 8), section, 5, 0xff, 0xff, 0xff, 0xff, 0x0f))).not.toBe(
        "accepted",
      );
    const locals = buildModule({ memory: [1], functions: [...FUNCTIONS, { body: [] }] });
    locals.set([1, 0xff], locals.length - 2);
    expect(error(locals)).not.toBe("accepted");
  });

  it("with sections twice or out of order are refused", () => {
    const memory = [5, 3, 1, 0, 1];
    expect(error(Uint8Array.of(...code.subarray(0, 8), ...memory, ...memory))).toContain(
      "section out of order",
    );
    expect(error(Uint8Array.of(...code.subarray(0, 8), 5, 5, 2, 0, 1, 0, 1))).toContain("multiple memories");
    expect(error(Uint8Array.of(...code.subarray(0, 8), 4, 7, 2, 0x70, 0, 1, 0x70, 0, 1))).toContain(
      "multiple tables",
    );
    expect(error(Uint8Array.of(...code.subarray(0, 8), 13, 1, 0))).toContain(
      "exceptions proposal not enabled",
    );
    expect(error(Uint8Array.of(...code.subarray(0, 8), 20, 1, 0))).toContain("malformed section id: 20");
  });
});
