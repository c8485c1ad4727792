import { describe, expect, it } from "vitest";
import { toHex, utf8 } from "../../../src/platform/base/bytes.ts";
import { reportedText, VmError } from "../../../src/localnet/vm/errors.ts";
import { F64, I32, I64, OP } from "../../../src/localnet/vm/operators.ts";
import { type CallOutcome, createVm, type Vm } from "../../../src/localnet/vm/vm.ts";
import { MemoryHost } from "../../support/vm/memory-host.ts";
import { buildModule, type BuiltModule, call, get, i32, i64, store } from "../../support/vm/wasm-builder.ts";

const { drop, end, globalGet, globalSet, memoryGrow, memorySize } = OP;
const EMPTY = 0x40;
const PAGE = 65_536;
const PAGES = 40;
/** The data is in the fourth page, so that there are zeros on both sides. */
const DATA = 3 * PAGE + 1000;
const RESULT = DATA + 100;
const load = (address: number): number[] => [...i32(address), 0x28, 2, 0];
const addTo = (address: number, value: readonly number[]): number[] => [
  ...i32(address),
  ...load(address),
  ...value,
  0x6a,
  ...store(),
];

interface LeakyContract extends Pick<BuiltModule, "imports" | "globals"> {
  /** What `allocate` does before it allocates. Its argument is local 0. */
  readonly onAllocate?: readonly number[];
  /** What `execute` does. Locals 3 and 4 are i32. */
  readonly body?: readonly number[];
  readonly pages?: number;
}

/** A contract whose result is the word at `RESULT + 12`. Global 0 is its heap; functions after the imports: allocate, deallocate. */
function leakyContract({
  onAllocate = [],
  body = [],
  globals = [],
  pages = PAGES,
  ...spec
}: LeakyContract): Uint8Array {
  const field = (offset: number, value: readonly number[]): number[] => [
    globalGet,
    0,
    ...value,
    ...store(offset),
  ];
  const fields = [...field(0, [globalGet, 0, ...i32(12), 0x6a]), ...field(4, get(0)), ...field(8, i32(0))];
  const next = [globalGet, 0, globalGet, 0, ...i32(64), 0x6a, ...get(0), 0x6a, globalSet, 0];
  const entry = { results: [I32], locals: [[2, I32]] as const, body: [...body, ...i32(RESULT)] };
  return buildModule({
    ...spec,
    globals: [4 * PAGE, ...globals],
    memory: [pages],
    functions: [
      { params: [I32], results: [I32], body: [...onAllocate, ...fields, ...next], exportAs: "allocate" },
      { params: [I32], body: [], exportAs: "deallocate" },
      { ...entry, params: [I32, I32, I32], exportAs: "execute" },
    ],
    data: [[RESULT, new Uint8Array(Uint32Array.of(RESULT + 12, 4, 4, 7).buffer)]],
    exports: [["memory", 2, 0]],
  });
}

interface CallOptions {
  readonly host?: MemoryHost;
  readonly gasLimit?: bigint;
  readonly stackLimit?: number;
  /** Bytes of the first argument. */
  readonly length?: number;
}

function callContract(vm: Vm, code: Uint8Array, options: CallOptions = {}): CallOutcome {
  const { host = new MemoryHost(), gasLimit = 10n ** 12n, length = 50, stackLimit } = options;
  return vm.call({
    checksum: "code",
    code: () => code,
    entryPoint: "execute",
    args: [new Uint8Array(length).fill(1), new Uint8Array(20).fill(2), utf8("{}")],
    gasLimit,
    host,
    ...(stackLimit !== undefined && { stackLimit }),
  });
}

function textOf({ result, gasUsed }: CallOutcome): string {
  return `${result instanceof VmError ? reportedText(result) : toHex(result)}, ${gasUsed}`;
}

/** Runs the calls on a VM that reuses instances, and each on a VM of its own, and expects equal outcomes. Returns them. */
function expectAsNew(code: Uint8Array, calls: readonly CallOptions[]): string[] {
  const vm = createVm();
  const reused = calls.map((options) => textOf(callContract(vm, code, options)));
  const fresh = calls.map((options) => textOf(callContract(createVm(), code, options)));
  expect(reused).toEqual(fresh);
  return fresh;
}

const THREE: readonly CallOptions[] = [{}, {}, {}];

describe("an instance is used again", () => {
  it("when a call is over", () => {
    const vm = createVm();
    const bytes = [1, 2, 3].map(() => {
      callContract(vm, leakyContract({}));
      return vm.instanceBytes();
    });
    expect(bytes[0]).toBeGreaterThan(PAGES * PAGE);
    expect(bytes).toEqual([bytes[0], bytes[0], bytes[0]]);
  });

  it("not when a call failed, or grew the memory", () => {
    for (const body of [[OP.unreachable], [...i32(1), memoryGrow, 0, drop]]) {
      const vm = createVm();
      callContract(vm, leakyContract({ body }));
      expect(vm.instanceBytes()).toBeLessThan(PAGE);
    }
  });

  it("not if its memory is large", () => {
    const vm = createVm();
    callContract(vm, leakyContract({ pages: 65 }));
    expect(vm.instanceBytes()).toBe(0);
  });

  it("not by a call within it", () => {
    const vm = createVm();
    const code = leakyContract({
      imports: [{ name: "query_chain", params: [I32], results: [I32] }],
      body: [...i32(RESULT), ...call(0), drop, ...addTo(RESULT + 12, i32(1))],
    });
    const bytes: number[] = [];
    const host = new MemoryHost();
    const inner: string[] = [];
    host.onQuery = () => {
      bytes.push(vm.instanceBytes());
      if (inner.length < 2) inner.push(textOf(callContract(vm, code, { length: 50 + inner.length })));
      return utf8("{}");
    };
    const outer = [1, 2].map(() => textOf(callContract(vm, code, { host })));
    expect(new Set([...outer, ...inner].map((text) => text.slice(0, 8)))).toEqual(new Set(["08000000"]));
    expect(bytes.at(-1)).toBeLessThan(vm.instanceBytes() - (PAGES - 1) * PAGE);
  });

  it("not beyond the bytes that may be kept", () => {
    const code = leakyContract({});
    const vm = createVm({ instanceBytes: 1000 });
    callContract(vm, code);
    expect(vm.instanceBytes()).toBe(0);
    const two = createVm({ instanceBytes: 1.5 * PAGES * PAGE });
    for (const checksum of ["a", "b"])
      two.call({
        checksum,
        code: () => code,
        entryPoint: "execute",
        args: [utf8("1"), utf8("2"), utf8("3")],
        gasLimit: 10n ** 12n,
        host: new MemoryHost(),
      });
    expect(two.instanceBytes()).toBeGreaterThan(PAGES * PAGE);
    expect(two.instanceBytes()).toBeLessThan((PAGES + 1) * PAGE);
  });

  it("not after its module left the cache", () => {
    const vm = createVm({ cacheBytes: 1 });
    callContract(vm, leakyContract({}));
    expect(vm.instanceBytes()).toBeGreaterThan(0);
    vm.store("other", buildUploaded());
    expect(vm.instanceBytes()).toBe(0);
  });

  it("with few start states, whatever lengths arguments have", () => {
    const vm = createVm();
    const code = leakyContract({});
    const after = Array.from({ length: 30 }, (_, at) => {
      callContract(vm, code, { length: at });
      return vm.instanceBytes();
    });
    expect(after[29]).toBe(after[10]);
  });
});

/** A contract that an upload accepts. */
function buildUploaded(): Uint8Array {
  return buildModule({
    memory: [1],
    functions: [
      { body: [], exportAs: "interface_version_8" },
      { params: [I32], results: [I32], body: i32(0), exportAs: "allocate" },
      { params: [I32], body: [], exportAs: "deallocate" },
    ],
    exports: [["memory", 2, 0]],
  });
}

describe("no state survives a call", () => {
  it.each([
    ["at the start", 0],
    ["far below the data", PAGE + 8],
    ["just below the data", DATA - 4],
    ["in the data", RESULT + 12],
    ["in a part of the data that is zero", DATA + 40],
    ["after the arguments", 4 * PAGE + 500],
    ["at the end", PAGES * PAGE - 4],
  ])("in the memory %s", (_, address) => {
    const code = leakyContract({
      body: [...addTo(address, i32(1)), ...i32(RESULT + 12), ...load(address), ...store()],
    });
    const [first, ...others] = expectAsNew(code, THREE);
    expect(others).toEqual([first, first]);
  });

  it("in the size of the memory", () => {
    const size = [...i32(RESULT + 12), memorySize, 0, ...store()];
    expectAsNew(leakyContract({ body: [...size, ...i32(1), memoryGrow, 0, drop] }), THREE);
    const grows = [...get(0), ...i32(50), 0x4f, OP.if, EMPTY, ...i32(1), memoryGrow, 0, drop, end];
    const calls = [{}, {}, { length: 10 }, {}, { length: 10 }, { length: 10 }, {}];
    const texts = expectAsNew(leakyContract({ onAllocate: grows, body: size }), calls);
    expect(texts.map((text) => text.slice(0, 2))).toEqual(["29", "29", "28", "29", "28", "28", "29"]);
  });

  it("in a memory that grew behind the start state", () => {
    const body = [
      ...i32(1),
      memoryGrow,
      0,
      drop,
      ...addTo(PAGES * PAGE + 100, i32(1)),
      ...i32(RESULT + 12),
      ...load(PAGES * PAGE + 100),
      ...store(),
    ];
    expectAsNew(leakyContract({ body }), THREE);
  });

  it("in a global", () => {
    const body = [globalGet, 1, ...i32(5), 0x6a, globalSet, 1, ...i32(RESULT + 12), globalGet, 1, ...store()];
    const [first, ...others] = expectAsNew(leakyContract({ globals: [3], body }), THREE);
    expect([first?.slice(0, 2), ...others]).toEqual(["08", first, first]);
  });

  it("in a global of 64 bits", () => {
    const add = [globalGet, 1, ...i64(2 ** 40), 0x7c, globalSet, 1];
    const body = [...add, ...i32(RESULT + 12), globalGet, 1, ...i64(32), 0x88, 0xa7, ...store()];
    const [first, ...others] = expectAsNew(leakyContract({ globals: [[I64, i64(2 ** 33)]], body }), THREE);
    expect([first?.slice(0, 4), ...others]).toEqual(["0201", first, first]);
  });

  it("in a float, whose NaN has bits that JavaScript may change, or in very many globals", () => {
    const nan = [F64, [OP.f64Const, 0, 0, 0, 0, 0, 0, 0xf4, 0x7f]] as const;
    for (const globals of [[nan], Array.from({ length: 100 }, (_, at) => at)]) {
      const vm = createVm();
      callContract(vm, leakyContract({ globals }));
      expect(vm.instanceBytes()).toBe(0);
    }
  });

  it("in the heap of the first allocation, whose length differs", () => {
    const body = [...i32(RESULT + 12), globalGet, 0, ...store()];
    const calls = [10, 50, 10, 50, 11, 11, 10].map((length) => ({ length }));
    expectAsNew(leakyContract({ body }), calls);
  });

  it("after a trap or the end of the gas", () => {
    const trap = [...load(RESULT + 12), ...i32(7), 0x47, OP.if, EMPTY, OP.unreachable, end];
    const body = [...trap, ...addTo(RESULT + 12, i32(1)), ...get(0), ...i32(0), 0x28, 2, 0, drop, drop];
    const loop = [
      OP.loop,
      EMPTY,
      ...get(3),
      ...i32(1),
      0x6a,
      OP.localTee,
      3,
      ...i32(1000),
      0x49,
      OP.brIf,
      0,
      end,
    ];
    const calls = [{}, { gasLimit: 1_000_000n }, {}, { gasLimit: 2_500_000n }, {}];
    expectAsNew(leakyContract({ body: [...body, ...loop] }), calls);
  });
});

describe("the first allocation of a call", () => {
  it("is recorded again with less stack, and not with more", () => {
    const vm = createVm();
    const code = leakyContract({
      imports: [{ name: "query_chain", params: [I32], results: [I32] }],
      body: [...i32(RESULT), ...call(0), drop],
    });
    const run = (stackLimit: number, inside: () => void): void => {
      const host = new MemoryHost();
      host.onQuery = () => {
        inside();
        return utf8("{}");
      };
      callContract(vm, code, { host, stackLimit });
    };
    const nothing = (): void => undefined;
    const expectReuse = (stackLimit: number): void => {
      const before = vm.instanceBytes();
      run(stackLimit, () => expect(vm.instanceBytes()).toBe(before - PAGES * PAGE));
    };
    run(50_000, nothing);
    run(100_000, () => run(100_000, nothing));
    expectReuse(50_000);
    run(40_000, nothing);
    expectReuse(40_000);
  });

  const imports = [{ name: "db_read", params: [I32], results: [I32] }] as const;

  it("runs each time if it calls the host", () => {
    const reads = [...i32(RESULT), ...call(0), OP.if, EMPTY, ...addTo(RESULT + 12, i32(1)), end];
    const code = leakyContract({
      imports,
      // The first allocation only: the others would be the host's own.
      onAllocate: [globalGet, 1, 0x45, OP.if, EMPTY, ...i32(1), globalSet, 1, ...reads, end],
      globals: [0],
    });
    const vm = createVm();
    const values = [undefined, utf8("value"), undefined].map((value) => {
      const host = new MemoryHost(new Map(value === undefined ? [] : [["07000000", value]]));
      return textOf(callContract(vm, code, { host })).slice(0, 2);
    });
    expect(values).toEqual(["07", "08", "07"]);
    expect(vm.instanceBytes()).toBe(0);
  });

  it("costs its gas each time, also if that is more than the limit", () => {
    const code = leakyContract({});
    const allocation = (18n + 0n) * 115n + 1_610n;
    const calls = [
      {},
      ...[allocation, allocation - 1n, 0n, allocation + 1n].map((gasLimit) => ({ gasLimit })),
    ];
    const texts = expectAsNew(code, calls);
    expect(texts.slice(1).every((text) => text.startsWith("Out of gas"))).toBe(true);
  });

  it("has the stack that it needs", () => {
    const recursion = [...get(0), OP.if, EMPTY, ...get(0), ...i32(1), 0x6b, ...call(0), drop, end];
    const code = leakyContract({ onAllocate: recursion });
    const calls = [840_000, 840_000, 2_000, 840_000, 500, 2_500].map((stackLimit) => ({
      stackLimit,
      length: 20,
    }));
    const texts = expectAsNew(code, calls);
    expect(texts.map((text) => text.includes("call stack exhausted"))).toEqual([
      false,
      false,
      false,
      false,
      true,
      false,
    ]);
  });
});
