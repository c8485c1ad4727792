import { describe, expect, it } from "vitest";
import { fromUtf8, utf8 } from "../../../src/platform/base/bytes.ts";
import { reportedText, VmError } from "../../../src/localnet/vm/errors.ts";
import { hostFunctionType } from "../../../src/localnet/vm/host-functions.ts";
import { I32, OP } from "../../../src/localnet/vm/operators.ts";
import type { HostFunctionName } from "../../../src/localnet/vm/static-checks.ts";
import { GasRecorder } from "../../../src/workbench/profile/gas-recorder.ts";
import { type CallOutcome, createVm } from "../../../src/localnet/vm/vm.ts";
import { cpuMs } from "../../fuzz/campaign.ts";
import { MemoryHost, runContract, type RunOptions } from "../../support/vm/memory-host.ts";
import {
  buildContract,
  type BuiltFunction,
  call,
  get,
  set,
  i32,
  regionBytes,
  RESULT_POINTER,
  store,
} from "../../support/vm/wasm-builder.ts";

const { block, br, brTable, drop, end, loop, unreachable } = OP;
const EMPTY = 0x40;
const EXHAUSTED =
  "Error calling the VM: Error executing Wasm: Wasmer runtime error: RuntimeError: call stack exhausted";
/**
 * Most processor time of an upload with its first call, in ms. The slowest takes a second on an idle machine, nearly all of it in V8. A time
 * that grew with the square of the code, or with what it declares, would be minutes.
 */
const MAX_MS = 10_000;

function textOf({ result }: CallOutcome): string {
  return result instanceof VmError ? reportedText(result) : fromUtf8(result);
}

/** Uploads a module and calls it. Returns the outcome of the call, or why the upload is refused. */
function uploadAndCall(code: Uint8Array, options: RunOptions = {}): string {
  const vm = createVm();
  const startMs = cpuMs();
  let text: string;
  try {
    vm.store("code", code);
    text = textOf(runContract(code, { vm, ...options }));
  } catch (thrown) {
    if (!(thrown instanceof VmError)) throw thrown;
    text = thrown.message;
  }
  expect(cpuMs() - startMs).toBeLessThan(MAX_MS);
  return text;
}

const repeat = (count: number, bytes: readonly number[]): number[] =>
  Array.from({ length: count * bytes.length }, (_, at) => bytes[at % bytes.length] ?? 0);
const functions = (count: number, one: BuiltFunction): BuiltFunction[] =>
  Array.from({ length: count }, () => one);
/** The body of a loop that never ends. */
const forever = (body: readonly number[]): number[] => [loop, EMPTY, ...body, br, 0, end];

describe("hostile code of the largest size", () => {
  it("with 100,000 functions is refused", () =>
    expect(uploadAndCall(buildContract([], { functions: functions(100_000, { body: [] }) }))).toContain(
      "Wasm contract contains more than 20000 functions",
    ));

  it("with 19,995 functions of 50,000 locals costs what its bytes cost", () => {
    const many = functions(19_995, { locals: [[50_000, I32]], body: [] });
    expect(uploadAndCall(buildContract([], { functions: many }))).toBe('{"ok":""}');
  });

  it.each([
    ["blocks", block],
    ["loops", loop],
  ])(
    "with 500,000 nested %s runs",
    (_, opcode) => {
      const body = [...repeat(500_000, [opcode, EMPTY]), ...repeat(500_000, [end])];
      expect(uploadAndCall(buildContract(call(5), { functions: [{ body }] }))).toBe('{"ok":""}');
    },
    60_000,
  );

  it("with 22 tables of branches to 60,000 of 1,000 nested blocks runs", () => {
    const targets = Array.from({ length: 60_000 }, (_, at) => at % 127);
    const table = [...i32(3), brTable, 0xe0, 0xd4, 0x03, ...targets, 0];
    const body = [...repeat(1000, [block, EMPTY]), ...repeat(22, table), ...repeat(1000, [end])];
    expect(uploadAndCall(buildContract(call(5), { functions: [{ body }] }))).toBe('{"ok":""}');
  });

  it("with 90,000 exports has no slower instances", () => {
    const exports = Array.from({ length: 90_000 }, (_, at) => [`export ${at}`, 0, at % 5] as const);
    const code = buildContract([unreachable], { exports });
    expect(instancesMs(code)).toBeLessThan(MAX_MS / 10);
  });

  it("with 100,000 names has them in its stacks", () => {
    const writeName = (at: number): number[] => [
      (at & 127) | 128,
      ((at >> 7) & 127) | 128,
      at >> 14,
      4,
      ...utf8("name"),
    ];
    const names = Array.from({ length: 100_000 }, (_, at) => writeName(at)).flat();
    const size = names.length + 3;
    const section = [
      1,
      (size & 127) | 128,
      ((size >> 7) & 127) | 128,
      size >> 14,
      0xa0,
      0x8d,
      0x06,
      ...names,
    ];
    const code = buildContract([unreachable], { custom: [["name", Uint8Array.from(section)]] });
    const { result } = runContract(code);
    expect(result instanceof VmError && result.facts.stack).toEqual([{ index: 3, name: "name" }]);
    expect(uploadAndCall(code)).toContain("unreachable");
  });

  it("with a name section of megabytes that is no list of names runs", () => {
    const code = buildContract([], { custom: [["name", new Uint8Array(2_000_000).fill(1)]] });
    expect(uploadAndCall(code)).toBe('{"ok":""}');
  });
});

/** Processor time of 100 calls that fail, each of which has a new instance. */
function instancesMs(code: Uint8Array): number {
  const vm = createVm();
  vm.store("code", code);
  const startMs = cpuMs();
  for (let done = 0; done < 100; done++) runContract(code, { vm });
  return cpuMs() - startMs;
}

describe("segments of elements that overlap", () => {
  it("are written once for an instance", () => {
    const elements = { offset: 0, functions: Array.from({ length: 2500 }, () => 3) };
    const code = buildContract([unreachable], {
      table: [2500, 2500],
      segments: Array.from({ length: 600 }, () => elements),
    });
    expect(instancesMs(code)).toBeLessThan(MAX_MS / 10);
  });

  it("leave the last element of each place, and empty places", () => {
    const numbers = [10, 20, 30].map((value): BuiltFunction => ({ results: [I32], body: i32(value) }));
    const segments = [
      { offset: 1, functions: [5, 5, 5] },
      { offset: 2, functions: [6] },
      { offset: 5, functions: [7] },
      { offset: 6, functions: [] },
    ];
    const at = (index: number): string => {
      const body = [...i32(RESULT_POINTER + 16), ...i32(index), OP.callIndirect, 5, 0, ...store(0)];
      const code = buildContract(body, { functions: numbers, table: [6, 6], segments, result: "1234" });
      const { result } = runContract(code);
      return result instanceof VmError ? result.message.replace(/.*RuntimeError: /, "") : String(result[0]);
    };
    // V8 compares the types of functions by structure, as the deployed VM does.
    expect([0, 1, 2, 3, 4, 5].map(at)).toEqual([
      "uninitialized element",
      "10",
      "20",
      "10",
      "uninitialized element",
      "30",
    ]);
  });
});

describe("hostile calls end by their gas", () => {
  it.each<[string, readonly number[]]>([
    ["an endless loop", []],
    ["a loop that grows the memory", [...i32(1), OP.memoryGrow, 0, drop]],
    ["a loop that grows the memory by nothing", [...i32(0), OP.memoryGrow, 0, drop]],
    ["a loop that grows the memory by too much", [...i32(513), OP.memoryGrow, 0, drop]],
  ])("%s", (_, body) => {
    // Twenty million rounds of the last ones: V8's own growth by nothing would take seconds for them.
    const startMs = cpuMs();
    expect(textOf(runContract(buildContract(forever(body)), { gasLimit: 4n * 10n ** 10n }))).toBe(
      "Out of gas",
    );
    expect(cpuMs() - startMs).toBeLessThan(MAX_MS / 10);
  });

  it("calls of a function with 49,000 locals", () => {
    const reads = Array.from({ length: 49_000 }, (_, at) => [...get(at), drop]).flat();
    const wide: BuiltFunction = {
      params: [I32],
      locals: [[49_000, I32]],
      body: [...get(0), OP.if, EMPTY, ...reads, end],
    };
    const code = buildContract(forever([...i32(0), ...call(5)]), { functions: [wide] });
    const startMs = cpuMs();
    expect(textOf(runContract(code, { gasLimit: 10n ** 10n }))).toBe("Out of gas");
    expect(cpuMs() - startMs).toBeLessThan(MAX_MS);
  });
});

describe("calls that can be interrupted", () => {
  class Interruption extends Error {}
  const STOP = new Interruption("the time is over");
  /** Interrupts a call when it asks for the n-th time. */
  const stopAt = (count: number): (() => void) => {
    let asked = 0;
    return () => {
      asked += 1;
      if (asked === count) throw STOP;
    };
  };
  const never = (): void => undefined;
  const hostLoop = (name: HostFunctionName, args: readonly number[]): Uint8Array => {
    const { params, results } = hostFunctionType(name);
    const drops = results.length === 0 ? [] : [drop];
    const body = [...args.flatMap((value) => i32(value)), ...call(0), ...drops];
    return buildContract(forever(body), { imports: [{ name, params, results }] });
  };
  const deepRecursion: BuiltFunction = { body: call(5) };

  it.each<[string, Uint8Array]>([
    ["an endless loop", buildContract(forever([]))],
    ["a large function", buildContract(forever(repeat(40_000, [...i32(1), drop])))],
    ["a flood of debug", hostLoop("debug", [0])],
    ["a flood of iterators", hostLoop("db_scan", [0, 0, 1])],
    ["a flood of crypto", hostLoop("secp256k1_verify", [RESULT_POINTER, RESULT_POINTER, RESULT_POINTER])],
  ])("end where they are interrupted: %s", (_, code) => {
    const vm = createVm();
    expect(() => runContract(code, { vm, gasLimit: 10n ** 11n, interrupt: stopAt(3) })).toThrow(STOP);
    // The virtual machine works as before.
    expect(textOf(runContract(buildContract([]), { vm: createVm() }))).toBe('{"ok":""}');
    expect(textOf(runContract(code, { vm, gasLimit: 10n ** 8n, interrupt: never }))).toContain("gas");
  });

  it("are asked about every tenth of a millisecond of an endless loop, and never without the gas", () => {
    const asked = (gasLimit: bigint): number => {
      let count = 0;
      runContract(buildContract(forever([])), { gasLimit, interrupt: () => count++ });
      return count;
    };
    expect([asked(10n ** 8n), asked(10n ** 9n)]).toEqual([0, 9]);
  });

  it.each<[string, Uint8Array, bigint]>([
    ["an endless loop", buildContract(forever([])), 12n * 10n ** 8n],
    ["a flood of debug", hostLoop("debug", [0]), 12n * 10n ** 8n],
    ["a region that costs more than an interval", hostLoop("db_read", [20_000]), 10n ** 9n],
    ["a recursion", buildContract(call(5), { functions: [deepRecursion] }), 10n ** 10n],
    ["a contract that ends well", buildContract([]), 10n ** 9n],
  ])("have the same outcome and gas as others: %s", (_, code, gasLimit) => {
    const plain = runContract(code, { gasLimit });
    const other = runContract(code, { gasLimit, interrupt: never });
    expect(textOf(other)).toBe(textOf(plain));
    expect([other.gasUsed, other.gasUsedExternally]).toEqual([plain.gasUsed, plain.gasUsedExternally]);
  });

  it("pay for debug, which does not leave the module, what a host call costs", () => {
    const count = [...get(3), ...i32(1), 0x6a, ...set(3), ...get(3), ...i32(1000), 0x48];
    const body = [OP.loop, EMPTY, ...i32(-1), ...call(0), ...count, OP.brIf, 0, end];
    const code = buildContract(body, { imports: [{ name: "debug", params: [I32] }], locals: [[1, I32]] });
    const { gasUsed } = runContract(code);
    const recorder = new GasRecorder("call");
    expect(runContract(code, { recorder }).gasUsed).toBe(gasUsed);
    for (const options of [{}, { interrupt: never }, { recorder }]) {
      expect(textOf(runContract(code, { gasLimit: gasUsed, ...options }))).toBe('{"ok":""}');
      expect(textOf(runContract(code, { gasLimit: gasUsed - 1n, ...options }))).toContain("gas");
    }
  });

  it("get their gas to the unit, however it is divided", () => {
    const count = [...get(3), ...i32(1), 0x6a, ...set(3), ...get(3), ...i32(200_000), 0x48];
    const code = buildContract([OP.loop, EMPTY, ...count, OP.brIf, 0, end], { locals: [[1, I32]] });
    const { gasUsed } = runContract(code, { gasLimit: 10n ** 10n });
    // More than one interval, and no multiple of it.
    expect(gasUsed).toBeGreaterThan(10n ** 8n);
    for (const interrupt of [undefined, never]) {
      const outcome = (gasLimit: bigint) => runContract(code, { gasLimit, ...(interrupt && { interrupt }) });
      expect(textOf(outcome(gasUsed))).toBe('{"ok":""}');
      expect(textOf(outcome(gasUsed - 1n))).toContain("gas");
    }
    // The last interval ends with the gas, before the trap behind the loop.
    const trap = buildContract([OP.loop, EMPTY, ...count, OP.brIf, 0, end, OP.unreachable], {
      locals: [[1, I32]],
    });
    const cut = runContract(trap, { gasLimit: gasUsed - 10n ** 7n, interrupt: never });
    expect(textOf(cut)).not.toContain("unreachable");
    expect(textOf(cut)).toContain("gas");
  });

  it("are asked before each point of a long list", () => {
    const points = new Uint8Array(48 * 100).fill(0xc0);
    const { params, results } = hostFunctionType("bls12_381_aggregate_g1");
    const code = buildContract([...i32(8192), ...i32(RESULT_POINTER), ...call(0), drop], {
      imports: [{ name: "bls12_381_aggregate_g1", params, results }],
      data: [
        [8192, regionBytes(8204, points.length, points.length)],
        [8204, points],
      ],
    });
    let asked = 0;
    const { result } = runContract(code, { interrupt: () => asked++ });
    expect([asked >= 100, result instanceof VmError]).toEqual([true, true]);
  });
});

describe("memory.grow", () => {
  const grown = (deltas: readonly number[]): string => {
    const body = deltas.flatMap((delta, at) => [
      ...i32(RESULT_POINTER + 16 + 4 * at),
      ...i32(delta),
      OP.memoryGrow,
      0,
      ...store(0),
    ]);
    const { result } = runContract(buildContract(body, { result: "1234".repeat(deltas.length) }));
    return result instanceof VmError ? result.message : String(new Int32Array(result.slice().buffer));
  };

  it("returns the pages before, and -1 beyond 512 in total", () => {
    expect(grown([0, 1, 0, 511, 509, 1, 0, -1, 65_536])).toBe("2,2,3,-1,3,-1,512,-1,-1");
    expect(grown([510, 0])).toBe("2,512");
    expect(grown([511, -(2 ** 31)])).toBe("-1,-1");
  });
});

describe("hostile results", () => {
  /** Makes a region of the result. */
  const region = (offset: number, length: number): number[] =>
    [offset, length, length].flatMap((value, at) => [
      ...i32(RESULT_POINTER),
      ...i32(value),
      ...store(4 * at),
    ]);

  it("cannot have more than 64 MiB", () => {
    const code = buildContract(region(16, 67_108_865));
    expect(textOf(runContract(code, { gasLimit: 10n ** 15n }))).toContain(
      "Region length too big. Got 67108865, limit 67108864",
    );
  });

  it("of the whole memory cost their decoding", () => {
    const length = 512 * 65_536 - 16;
    const code = buildContract(region(16, length), { memory: [512] });
    const { result, gasUsed } = runContract(code, { gasLimit: 10n ** 15n });
    expect(result instanceof VmError || result.length).toBe(length);
    expect(gasUsed).toBeGreaterThan(BigInt(length) * 140_000n);
    expect(textOf(runContract(code, { gasLimit: 10n ** 12n }))).toContain("insufficient gas left");
  });
});

describe("calls within calls", () => {
  const query = { name: "query_chain", params: [I32], results: [I32] };

  it("end by their stack when each asks for the next, whatever the depth that the chain allows", () => {
    const vm = createVm();
    const recursion: BuiltFunction = {
      params: [I32],
      body: [
        ...get(0),
        OP.if,
        EMPTY,
        ...get(0),
        ...i32(1),
        0x6b,
        ...call(6),
        OP.else,
        ...i32(RESULT_POINTER),
        ...call(0),
        drop,
        end,
      ],
    };
    // Each call goes 2,000 frames deep before it asks.
    const code = buildContract([...i32(2000), ...call(6)], { imports: [query], functions: [recursion] });
    const host = new MemoryHost();
    const texts: string[] = [];
    host.onQuery = (_, { stack, gas }) => {
      texts.push(
        textOf(runContract(code, { vm, host, entryPoint: "query", stackLimit: stack, gasLimit: gas })),
      );
      return utf8("{}");
    };
    expect(textOf(runContract(code, { vm, host }))).toBe('{"ok":""}');
    expect(texts[0]).toBe(EXHAUSTED);
    expect(texts.slice(1)).toEqual(texts.slice(1).map(() => '{"ok":""}'));
    expect(texts.length).toBeGreaterThan(2);
  });
});
