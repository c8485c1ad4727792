import { describe, expect, it } from "vitest";
import { VmError } from "../../../src/localnet/vm/errors.ts";
import { BEYOND, type GasNode, GasRecorder } from "../../../src/workbench/profile/gas-recorder.ts";
import { I32, OP } from "../../../src/localnet/vm/operators.ts";
import { type CallOutcome, createVm } from "../../../src/localnet/vm/vm.ts";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import { profileSum } from "../../support/contract-chain.ts";
import { MemoryHost, type RunOptions, runContract } from "../../support/vm/memory-host.ts";
import {
  buildContract,
  buildEchoContract,
  type BuiltModule,
  call,
  get,
  i32,
  set,
} from "../../support/vm/wasm-builder.ts";

const { loop, brIf, end, unreachable } = OP;
const EMPTY = 0x40;

/** A name section with the names of functions by index. */
function names(entries: Readonly<Record<number, string>>): readonly [string, Uint8Array] {
  const list = Object.entries(entries).flatMap(([index, name]) => [
    Number(index),
    name.length,
    ...utf8(name),
  ]);
  const content = [Object.keys(entries).length, ...list];
  return ["name", Uint8Array.of(1, content.length, ...content)];
}

interface Recorded {
  readonly outcome: CallOutcome;
  readonly recorder: GasRecorder;
}

/** Runs a contract without and with a profile. Both must have the same result and gas, and the profile must add up to it. */
function profile(code: Uint8Array, options: Omit<RunOptions, "host" | "recorder"> = {}): Recorded {
  const vm = createVm();
  const plain = runContract(code, { ...options, vm, host: new MemoryHost() });
  const recorder = new GasRecorder("test");
  const outcome = runContract(code, { ...options, vm, host: new MemoryHost(), recorder });
  expect(outcome.gasUsed).toBe(plain.gasUsed);
  expect(outcome.gasUsedExternally).toBe(plain.gasUsedExternally);
  if (outcome.result instanceof VmError) {
    expect(plain.result).toBeInstanceOf(VmError);
    expect(plain.result instanceof VmError && plain.result.message).toBe(outcome.result.message);
  } else {
    expect(outcome.result).toEqual(plain.result);
    expect(recorder.failures).toEqual([]);
  }
  expect(recorder.total).toBe(outcome.gasUsed);
  expect(profileSum(recorder.root)).toBe(outcome.gasUsed);
  expect(recorder.depth()).toBe(1);
  return { outcome, recorder };
}

/** Counts local 3 up to a number in a loop. */
function countTo(number: number): number[] {
  const next = [...get(3), ...i32(1), 0x6a, ...set(3), ...get(3), ...i32(number), 0x48];
  return [loop, EMPTY, ...next, brIf, 0, end];
}

function inBlock(body: readonly number[]): number[] {
  return [OP.block, EMPTY, ...body, end];
}

/** The tree as text: place, name, calls. */
function outline({ place, name, calls, children }: GasNode, indent = ""): string[] {
  return [
    `${indent}${place} ${name} ${calls}`,
    ...children.flatMap((child) => outline(child, `${indent}  `)),
  ];
}

const WRITER: BuiltModule = {
  imports: [
    { name: "db_write", params: [I32, I32] },
    { name: "db_read", params: [I32], results: [I32] },
    { name: "abort", params: [I32] },
  ],
};

describe("the profile of a call", () => {
  it("has each function with its calls and its own gas", () => {
    const code = buildContract([...call(5), ...call(5), ...call(6)], {
      functions: [{ body: [...call(6)] }, { body: [] }],
      custom: [
        names({ 3: "execute", 5: "_ZN1a5outer17h0123456789abcdefE", 6: "a::inner::h0123456789abcdef" }),
      ],
    });
    const { recorder } = profile(code);
    expect(outline(recorder.root)).toEqual([
      "step test 0",
      "  function allocate 3",
      "  function execute 1",
      "    function a::outer 2",
      "      function a::inner 2",
      "    function a::inner 1",
      "  function deallocate 1",
      "  cost result decoding 1",
    ]);
    const [, execute] = recorder.root.children;
    // `call` and `end` cost 1,610 each: execute has three calls, a constant and its end; outer has a call and its end.
    expect(execute?.self).toBe(BigInt(4 * 1610 + 115));
    expect(execute?.children.map(({ self }) => self)).toEqual([BigInt(2 * 2 * 1610), 1610n]);
  });

  it("has host functions, the functions that they call, and no storage, which is the chain's", () => {
    const pointer = 2048;
    const code = buildContract(
      [...i32(pointer), ...i32(pointer), ...call(0), ...i32(pointer), ...call(1), OP.drop],
      {
        ...WRITER,
        data: [[pointer, Uint8Array.from(new Uint8Array(Uint32Array.of(pointer + 12, 4, 4).buffer))]],
      },
    );
    const { recorder } = profile(code);
    expect(outline(recorder.root)).toEqual([
      "step test 0",
      "  function allocate 3",
      "  function execute 1",
      "    host db_write 1",
      "    host db_read 1",
      "      function allocate 1",
      "  function deallocate 1",
      "  cost result decoding 1",
    ]);
    const [, execute] = recorder.root.children;
    expect(execute?.children[0]?.self).toBe(BigInt(18_000 + 2 * (200_000 + 4 * 115)));
  });

  it("returns from within blocks and loops as before", () => {
    const body = [...countTo(100), ...inBlock([...call(5), OP.drop])];
    const code = buildContract(body, {
      locals: [[1, I32]],
      functions: [{ results: [I32], body: [OP.block, EMPTY, ...i32(7), OP.return, end, ...i32(8)] }],
    });
    profile(code);
    profile(buildEchoContract(), { message: utf8('{"ok":{}}') });
  });

  it("of a failed call ends where it failed, with the functions that were running", () => {
    const inner = { functions: [{ body: [...call(6)] }, { body: [unreachable] }] };
    const named = { ...inner, custom: [names({ 5: "outer", 6: "_RNvC1a5inner" })] };
    const { recorder } = profile(buildContract(call(5), named));
    expect(recorder.failures).toEqual([
      {
        error: "Error executing Wasm: Wasmer runtime error: RuntimeError: unreachable",
        stack: ["a::inner", "outer", "execute"],
      },
    ]);
    expect(profile(buildContract(call(5), inner)).recorder.failures[0]?.stack).toEqual([
      "func[6]",
      "func[5]",
      "execute",
    ]);
  });

  it("of a contract's own panic has its text, and the host function that ended it", () => {
    const pointer = 2048;
    const text = utf8("panicked at src/contract.rs:1:2");
    const code = buildContract([...i32(pointer), ...call(2)], {
      ...WRITER,
      data: [
        [
          pointer,
          Uint8Array.from(new Uint8Array(Uint32Array.of(pointer + 12, text.length, text.length).buffer)),
        ],
        [pointer + 12, text],
      ],
    });
    expect(profile(code).recorder.failures).toEqual([
      {
        error:
          "Error executing Wasm: Wasmer runtime error: RuntimeError: Aborted: panicked at src/contract.rs:1:2",
        stack: ["abort", "execute"],
      },
    ]);
  });

  it.each([1n, 5_000n, 100_000n, 5_000_000n])("out of gas after %d has all of it", (gasLimit) => {
    const body = [loop, EMPTY, ...call(5), OP.br, 0, end];
    const { outcome } = profile(buildContract(body, { functions: [{ body: [] }] }), { gasLimit });
    expect(outcome.gasUsed).toBe(gasLimit);
  });

  it("of a recursion reaches the same depth, and adds up what is too deep for the tree", () => {
    const recursion = [...get(0), 0x45, OP.if, EMPTY, OP.return, end, ...get(0), ...i32(1), 0x6b, ...call(5)];
    const deep = (depth: number): Uint8Array =>
      buildContract([...i32(depth), ...call(5)], { functions: [{ params: [I32], body: recursion }] });
    const { outcome, recorder } = profile(deep(10_000));
    expect(outcome.result).not.toBeInstanceOf(VmError);
    expect(outline(recorder.root).filter((line) => line.includes(BEYOND))).toHaveLength(1);
    const stack = profile(deep(1_000_000)).recorder.failures[0];
    expect(stack?.error).toContain("call stack exhausted");
    expect(stack?.stack.length).toBeGreaterThan(8_000);
  });

  it("leaves nothing behind: the next call without a profile uses the plain module", () => {
    const vm = createVm();
    const code = buildContract([]);
    const recorder = new GasRecorder("test");
    runContract(code, { vm, recorder });
    const { calls } = recorder;
    expect(calls).toBeGreaterThan(0);
    runContract(code, { vm });
    expect(recorder.calls).toBe(calls);
    expect(vm.instanceBytes()).toBeGreaterThan(0);
  });
});

it("a profile has a bounded number of places, and the gas of all", () => {
  const recorder = new GasRecorder("test");
  for (let index = 0; index < 20_500; index++) {
    recorder.enter("host", `call ${index}`);
    recorder.add(3n);
    recorder.leaveTo(1);
  }
  expect(recorder.root.children).toHaveLength(20_000);
  const beyond = recorder.root.children.find(({ name }) => name === BEYOND);
  expect(beyond).toMatchObject({ calls: 501, self: 1_503n });
  expect(profileSum(recorder.root)).toBe(61_500n);
});
