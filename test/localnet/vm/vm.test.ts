import { describe, expect, it } from "vitest";
import { fromUtf8, utf8 } from "../../../src/platform/base/bytes.ts";
import { reportedText, VmError } from "../../../src/localnet/vm/errors.ts";
import { F32, F64, I32, I64, OP } from "../../../src/localnet/vm/operators.ts";
import { type CallOutcome, createVm } from "../../../src/localnet/vm/vm.ts";
import { MemoryHost, runContract } from "../../support/vm/memory-host.ts";
import {
  buildContract,
  buildModule,
  type BuiltFunction,
  call,
  get,
  i32,
  RESULT_POINTER,
  set,
  store,
} from "../../support/vm/wasm-builder.ts";

const RUNTIME = "Error calling the VM: Error executing Wasm: Wasmer runtime error: RuntimeError: ";
const { loop, brIf, drop, end, unreachable } = OP;
const EMPTY = 0x40;

function textOf({ result }: CallOutcome): string {
  return result instanceof VmError ? reportedText(result) : fromUtf8(result);
}

/** Runs `body`, which leaves an i32 or i64, and returns its bits as hex: the result is a region over the stored value. */
function bitsOf(body: readonly number[], isWide = false): string {
  const code = buildContract(
    [...i32(RESULT_POINTER + 16), ...body, isWide ? 0x37 : 0x36, isWide ? 3 : 2, 0],
    {
      result: isWide ? "12345678" : "1234",
    },
  );
  const { result } = runContract(code);
  if (result instanceof VmError) return result.message;
  return Buffer.from(result.toReversed()).toString("hex");
}

const f32 = (bits: string): number[] => [OP.f32Const, ...Buffer.from(bits, "hex").toReversed()];
const f64 = (bits: string): number[] => [OP.f64Const, ...Buffer.from(bits, "hex").toReversed()];

/** Leaves a value and returns it from within two blocks. */
const RETURN_FROM_BLOCKS = [OP.block, EMPTY, OP.block, EMPTY, ...i32(7), OP.return, end, end, ...i32(8)];

describe("traps have the deployed texts", () => {
  it.each([
    ["unreachable", [unreachable], "unreachable"],
    ["a division by zero", [...i32(1), ...i32(0), 0x6d, drop], "integer divide by zero"],
    ["a remainder by zero", [...i32(1), ...i32(0), 0x70, drop], "integer divide by zero"],
    ["the one division that overflows", [...i32(-(2 ** 31)), ...i32(-1), 0x6d, drop], "integer overflow"],
    ["a load outside the memory", [...i32(-4), 0x28, 2, 0, drop], "out of bounds memory access"],
    [
      "an element outside the table",
      [...i32(5), OP.callIndirect, 5, 0],
      "undefined element: out of bounds table access",
    ],
    ["an empty element", [...i32(1), OP.callIndirect, 5, 0], "uninitialized element"],
    ["an element of another type", [...i32(0), OP.callIndirect, 6, 0, drop], "indirect call type mismatch"],
    ["a truncated NaN", [...f64("7ff8000000000000"), 0xaa, drop], "invalid conversion to integer"],
    ["a truncated infinity", [...f32("7f800000"), 0xa8, drop], "integer overflow"],
  ])("%s", (_, body, text) => {
    const functions: BuiltFunction[] = [{ body: [] }, { results: [I32], body: i32(1) }];
    expect(textOf(runContract(buildContract(body, { functions, table: [2, 2], elements: [5] })))).toBe(
      `${RUNTIME}${text}`,
    );
  });

  it("and the functions that were running, with the module's names", () => {
    const names = Uint8Array.of(1, 15, 2, 5, 5, ...utf8("inner"), 3, 4, ...utf8("exec"));
    const code = buildContract(call(5), { functions: [{ body: [unreachable] }], custom: [["name", names]] });
    const { result } = runContract(code);
    expect(result instanceof VmError && result.facts.stack).toEqual([
      { index: 5, name: "inner" },
      { index: 3, name: "exec" },
    ]);
  });

  it("nested, when allocate traps in a host function", () => {
    const code = buildModule({
      imports: [{ name: "db_next", params: [I32], results: [I32] }],
      memory: [1],
      functions: [
        // It traps for the 8 bytes of an empty entry only.
        {
          params: [I32],
          results: [I32],
          body: [...get(0), ...i32(8), 0x46, OP.if, EMPTY, unreachable, end, ...i32(64)],
          exportAs: "allocate",
        },
        { params: [I32], body: [], exportAs: "deallocate" },
        { params: [I32, I32, I32], results: [I32], body: [...i32(0), ...call(0)], exportAs: "execute" },
      ],
      data: [[64, Uint8Array.of(128, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0)]],
      exports: [["memory", 2, 0]],
    });
    const host = new MemoryHost();
    host.scan(undefined, undefined, false);
    expect(textOf(runContract(code, { host }))).toBe(
      `${RUNTIME}Error executing Wasm: Wasmer runtime error: RuntimeError: unreachable`,
    );
  });
});

describe("NaNs are canonical", () => {
  it.each([
    ["f32.add", [...f32("ffc12345"), ...f32("3f800000"), 0x92, 0xbc], "7fc00000"],
    ["f32.min", [...f32("7f800001"), ...f32("3f800000"), 0x96, 0xbc], "7fc00000"],
    ["f32.sqrt of a negative", [...f32("bf800000"), 0x91, 0xbc], "7fc00000"],
    ["f32.nearest", [...f32("ffc12345"), 0x90, 0xbc], "7fc00000"],
    ["f32.neg only touches the sign", [...f32("7fc12345"), 0x8c, 0xbc], "ffc12345"],
    ["f32.add of numbers", [...f32("3f800000"), ...f32("40000000"), 0x92, 0xbc], "40400000"],
    ["f32.demote_f64 keeps sign and payload", [...f64("fff8123456789abc"), 0xb6, 0xbc], "ffc091a2"],
    ["f32.demote_f64 sets the quiet bit", [...f64("7ff0000000000001"), 0xb6, 0xbc], "7fc00000"],
    ["f32.demote_f64 of a number", [...f64("3ff8000000000000"), 0xb6, 0xbc], "3fc00000"],
  ])("%s", (_, body, bits) => expect(bitsOf(body)).toBe(bits));

  it.each([
    ["f64.div", [...f64("0000000000000000"), ...f64("0000000000000000"), 0xa3, 0xbd], "7ff8000000000000"],
    ["f64.floor", [...f64("fff8123456789abc"), 0x9c, 0xbd], "7ff8000000000000"],
    [
      "f64.copysign",
      [...f64("7ff8123456789abc"), ...f64("bff0000000000000"), 0xa6, 0xbd],
      "fff8123456789abc",
    ],
    ["f64.promote_f32 keeps sign and payload", [...f32("ffc12345"), 0xbb, 0xbd], "fff82468a0000000"],
    ["f64.promote_f32 sets the quiet bit", [...f32("7f800001"), 0xbb, 0xbd], "7ff8000020000000"],
    ["f64.promote_f32 of a number", [...f32("3fc00000"), 0xbb, 0xbd], "3ff8000000000000"],
    ["saturating conversion of a NaN", [...f64("7ff8000000000000"), 0xfc, 6], "0000000000000000"],
  ])("%s", (_, body, bits) => expect(bitsOf(body, true)).toBe(bits));
});

describe("NaNs with a payload become canonical", () => {
  const opcodes = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const [one, wide] = [f32("ffc12345"), f64("fff8123456789abc")];
  it.each(opcodes(0x8d, 0x91))("in the f32 operator %i", (opcode) =>
    expect(bitsOf([...one, opcode, 0xbc])).toBe("7fc00000"),
  );
  it.each(opcodes(0x92, 0x97))("in the f32 operator %i of two values", (opcode) =>
    expect(bitsOf([...one, ...one, opcode, 0xbc])).toBe("7fc00000"),
  );
  it.each(opcodes(0x9b, 0x9f))("in the f64 operator %i", (opcode) =>
    expect(bitsOf([...wide, opcode, 0xbd], true)).toBe("7ff8000000000000"),
  );
  it.each(opcodes(0xa0, 0xa5))("in the f64 operator %i of two values", (opcode) =>
    expect(bitsOf([...wide, ...wide, opcode, 0xbd], true)).toBe("7ff8000000000000"),
  );
});

describe("limits", () => {
  it("of memory: 512 pages in total", () => {
    expect(bitsOf([...i32(510), OP.memoryGrow, 0])).toBe("00000002");
    expect(bitsOf([...i32(511), OP.memoryGrow, 0])).toBe("ffffffff");
  });

  const recursion = (depth: number, locals: BuiltFunction["locals"] = []): Uint8Array =>
    buildContract([...i32(depth), ...call(5)], {
      functions: [
        {
          params: [I32],
          locals,
          body: [...get(0), OP.if, EMPTY, ...get(0), ...i32(1), 0x6b, ...call(5), end],
        },
      ],
    });

  it("of calls: a small function reaches 10,000", () =>
    expect(textOf(runContract(recursion(9_990)))).toBe('{"ok":""}'));

  it("of calls: an endless recursion ends long before its gas, at the same depth every time", () => {
    const runs = [1, 2].map(() => runContract(recursion(-1), { gasLimit: 10n ** 15n }));
    expect(runs.map(textOf)).toEqual([1, 2].map(() => `${RUNTIME}call stack exhausted`));
    expect(runs[0]?.gasUsed).toBe(runs[1]?.gasUsed);
  });

  it("of calls: frames count by their size", () => {
    const { gasUsed } = runContract(recursion(-1, [[8, I64]]), { gasLimit: 10n ** 15n });
    expect(gasUsed).toBeLessThan(runContract(recursion(-1), { gasLimit: 10n ** 15n }).gasUsed);
    expect(textOf(runContract(recursion(3, [[49_000, I64]])))).toBe(`${RUNTIME}call stack exhausted`);
  });

  it("of calls: a call within a call has what the outer one left", () =>
    expect(textOf(runContract(recursion(100), { stackLimit: 1000 }))).toBe(`${RUNTIME}call stack exhausted`));

  it("of calls: a frame that returned early is given back", () => {
    const functions: BuiltFunction[] = [
      { results: [I32], body: [...call(6), drop, ...RETURN_FROM_BLOCKS] },
      { results: [I32], body: i32(1) },
    ];
    const body = [
      ...i32(100_000),
      ...set(3),
      loop,
      EMPTY,
      ...call(5),
      drop,
      ...get(3),
      ...i32(1),
      0x6b,
      OP.localTee,
      3,
      brIf,
      0,
      end,
    ];
    expect(textOf(runContract(buildContract(body, { functions, locals: [[2, I32]] })))).toBe('{"ok":""}');
  });
});

describe("an instance", () => {
  const problem = (spec: Parameters<typeof buildContract>[1]): string =>
    textOf(runContract(buildContract([], spec)));
  const PREFIX = "Error calling the VM: Error instantiating a Wasm module: Error instantiating module: ";

  it("is refused for an import of another type", () =>
    expect(problem({ imports: [{ name: "debug", params: [I64] }] })).toBe(
      `${PREFIX}Error while importing "env"."debug": incompatible import type. Expected Function(FunctionType { params: [I64], results: [] }) but received Function(FunctionType { params: [I32], results: [] })`,
    ));

  it("is refused for a start function, which has no gas", () =>
    expect(problem({ start: 0 })).toBe(`${PREFIX}RuntimeError: unreachable`));

  it("is refused for data outside the memory, and elements outside the table", () => {
    expect(problem({ data: [[131_071, utf8("ab")]] })).toBe(
      `${PREFIX}RuntimeError: out of bounds memory access`,
    );
    expect(problem({ table: [1, 1], elements: [0, 1] })).toBe(
      `${PREFIX}RuntimeError: undefined element: out of bounds table access`,
    );
  });

  it("is fresh for each call", () => {
    const grow = [...i32(1), OP.memoryGrow, 0, drop, OP.globalGet, 0, ...i32(1), 0x6a, OP.globalSet, 0];
    const body = [...grow, ...i32(RESULT_POINTER + 16), OP.globalGet, 0, OP.memorySize, 0, 0x6a, ...store(0)];
    const code = buildContract(body, { globals: [5], result: "1234" });
    const vm = createVm();
    const run = () => runContract(code, { vm }).result;
    expect(run()).toEqual(Uint8Array.of(9, 0, 0, 0));
    expect(run()).toEqual(Uint8Array.of(9, 0, 0, 0));
  });

  it("needs the entry point that is called, after the arguments were allocated", () => {
    const code = buildContract([]);
    const outcome = runContract(code, { entryPoint: "sudo" });
    expect(textOf(outcome)).toBe(
      "Error calling the VM: Error resolving Wasm function: Could not get export: Missing export sudo",
    );
    expect(outcome.gasUsed).toBe(2n * (22n * 115n + 1610n));
  });

  it.each([
    [
      "that is no function",
      { exports: [["sudo", 2, 0]] as const },
      "sudo",
      "Error resolving Wasm function: Could not get export: Incompatible Export Type",
    ],
    ...[I64, F32, F64].map(
      (type) =>
        [
          `with a parameter of type ${type}`,
          { functions: [{ params: [I32, type], results: [I32], body: i32(0), exportAs: "sudo" }] },
          "sudo",
          "Error executing Wasm: Wasmer runtime error: RuntimeError: Parameters of type [I32, I32] did not match signature",
        ] as const,
    ),
    [
      "without result",
      { functions: [{ params: [I32, I32], body: [], exportAs: "sudo" }] },
      "sudo",
      "Unexpected number of result values when calling 'sudo'. Expected: 1, actual: 0.",
    ],
  ] as const)("refuses an entry point %s", (_, spec, entryPoint, text) =>
    expect(textOf(runContract(buildContract([], spec), { entryPoint }))).toBe(
      `Error calling the VM: ${text}`,
    ),
  );

  it("that returns a null pointer or one outside the memory is refused", () => {
    const returning = (pointer: number) => runContract(buildContract([...i32(pointer), OP.return]));
    expect(textOf(returning(131_070))).toContain(
      "Error calling the VM: Error in guest/host communication: The Wasm memory address 131070",
    );
    expect(textOf(returning(4))).toContain("Got an invalid region: Got a zero Wasm address in the offset");
  });
});

describe("the cache of compiled modules", () => {
  it("keeps within its bytes, and compiles again what left", () => {
    const vm = createVm({ cacheBytes: 1500 });
    let compiled = 0;
    const run = (checksum: string) =>
      vm.call({
        checksum,
        code: () => {
          compiled++;
          return buildContract([]);
        },
        entryPoint: "query",
        args: [new Uint8Array(), new Uint8Array()],
        gasLimit: 10n ** 12n,
        host: new MemoryHost(),
      });
    for (const checksum of ["a", "a", "b", "c", "d", "a"]) run(checksum);
    expect(compiled).toBe(5);
    expect(vm.cachedBytes()).toBeLessThanOrEqual(1500);
  });
});

describe("blocks", () => {
  it("have values of all types as parameters of a block", () => {
    const functions: BuiltFunction[] = [{ params: [I32, F32, F64], results: [I64], body: [0x42, 1] }];
    const body = [
      ...i32(1),
      ...f32("00000000"),
      ...f64("0000000000000000"),
      OP.block,
      5,
      drop,
      drop,
      drop,
      0x42,
      1,
      end,
      drop,
    ];
    expect(textOf(runContract(buildContract(body, { functions })))).toBe('{"ok":""}');
  });
});
