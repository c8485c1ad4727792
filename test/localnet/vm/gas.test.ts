import { describe, expect, it } from "vitest";
import { reportedText, VmError } from "../../../src/localnet/vm/errors.ts";
import { I32, OP } from "../../../src/localnet/vm/operators.ts";
import { runContract } from "../../support/vm/memory-host.ts";
import { buildContract, call, get, i32, i64, set } from "../../support/vm/wasm-builder.ts";

/** VM gas of a body, without that of a contract with an empty one. */
function gasOf(body: readonly number[], spec: Parameters<typeof buildContract>[1] = {}): number {
  const run = (code: readonly number[]): number => Number(runContract(buildContract(code, spec)).gasUsed);
  return run(body) - run([]);
}

const OPERATOR = 115;
const ACCOUNTING = 1610;
const { end, loop, block, br, brIf, brTable, nop, drop } = OP;
const EMPTY = 0x40;

describe("gas of operators", () => {
  it.each([
    ["nop", [nop], OPERATOR],
    ["const and drop", [...i32(1), drop], 2 * OPERATOR],
    ["a 64-bit const", [...i64(-(2 ** 40)), drop], 2 * OPERATOR],
    ["block with its end", [block, EMPTY, end], OPERATOR + ACCOUNTING],
    ["loop once", [loop, EMPTY, end], 2 * ACCOUNTING],
    ["if taken", [...i32(1), OP.if, EMPTY, nop, end], OPERATOR + ACCOUNTING + OPERATOR + ACCOUNTING],
    ["if not taken skips its end", [...i32(0), OP.if, EMPTY, nop, end], OPERATOR + ACCOUNTING],
    [
      "else taken",
      [...i32(0), OP.if, EMPTY, nop, OP.else, nop, nop, end],
      OPERATOR + ACCOUNTING + 2 * OPERATOR + ACCOUNTING,
    ],
    [
      "br skips what lies between, with that end",
      [block, EMPTY, br, 0, nop, nop, end],
      OPERATOR + ACCOUNTING,
    ],
    ["br_if not taken", [block, EMPTY, ...i32(0), brIf, 0, end], 2 * OPERATOR + 2 * ACCOUNTING],
    ["br_if taken", [block, EMPTY, ...i32(1), brIf, 0, nop, end], 2 * OPERATOR + ACCOUNTING],
    [
      "br_table whatever its length",
      [block, EMPTY, ...i32(0), brTable, 3, 0, 0, 0, 0, end],
      2 * OPERATOR + ACCOUNTING,
    ],
    ["memory.grow whatever the pages", [...i32(7), OP.memoryGrow, 0, drop], 3 * OPERATOR],
    ["memory.size", [OP.memorySize, 0, drop], 2 * OPERATOR],
    ["load", [...i32(0), 0x28, 2, 0, drop], 3 * OPERATOR],
  ])("%s", (_, body, expected) => expect(gasOf(body)).toBe(expected));

  it("of a call: the call, and the function's operators with its last end", () =>
    expect(gasOf(call(5), { functions: [{ body: [nop, nop] }] })).toBe(
      ACCOUNTING + 2 * OPERATOR + ACCOUNTING,
    ));

  it("of a return: what follows is never paid", () =>
    expect(gasOf(call(5), { functions: [{ body: [nop, OP.return, nop, nop, nop] }] })).toBe(
      ACCOUNTING + OPERATOR + ACCOUNTING,
    ));

  it("of an indirect call", () =>
    expect(
      gasOf([...i32(0), OP.callIndirect, 5, 0], {
        functions: [{ body: [] }],
        table: [1, 1],
        elements: [5],
      }),
    ).toBe(OPERATOR + 2 * ACCOUNTING));

  it.each([1, 2, 1000])("of a loop that runs %i times", (times) => {
    const body = [
      ...i32(times),
      ...set(3),
      loop,
      EMPTY,
      ...get(3),
      ...i32(1),
      0x6b,
      OP.localTee,
      3,
      brIf,
      0,
      end,
    ];
    const round = 4 * OPERATOR + ACCOUNTING;
    expect(
      gasOf(body, {
        locals: [
          [1, I32],
          [1, I32],
        ],
      }),
    ).toBe(2 * OPERATOR + ACCOUNTING + times * round + ACCOUNTING);
  });

  it("of a trap: only the blocks completed before it", () => {
    const trap = (before: readonly number[]) => runContract(buildContract([...before, OP.unreachable]));
    expect(trap([nop, nop, nop]).gasUsed).toBe(trap([]).gasUsed);
    expect(trap([block, EMPTY, end]).gasUsed - trap([]).gasUsed).toBe(BigInt(OPERATOR + ACCOUNTING));
  });

  it("is equal in a body that is large enough to pay by calls", () => {
    const nops = Array.from({ length: 70_000 }, () => nop);
    expect(gasOf([...nops, block, EMPTY, end])).toBe(70_001 * OPERATOR + ACCOUNTING);
  });
});

describe("gas of a call", () => {
  const empty = buildContract([]);
  const { gasUsed } = runContract(empty);

  it("has the allocations, the entry point, the result's region, its release and its decoding", () => {
    const allocate = 22 * OPERATOR + ACCOUNTING;
    const result = 200_000 + 115 * '{"ok":""}'.length + 140_000 * '{"ok":""}'.length;
    expect(Number(gasUsed)).toBe(3 * allocate + OPERATOR + ACCOUNTING + ACCOUNTING + result);
  });

  it("does not depend on the bytes of the message", () =>
    expect(runContract(empty, { message: new Uint8Array(1000) }).gasUsed).toBe(gasUsed));

  it("succeeds with exactly this much, and fails to decode with less by one", () => {
    expect(runContract(empty, { gasLimit: gasUsed }).result).toBeInstanceOf(Uint8Array);
    const { result } = runContract(empty, { gasLimit: gasUsed - 1n });
    expect(result instanceof VmError && reportedText(result)).toBe(
      "insufficient gas left to deserialize contract execution result (9 bytes)",
    );
  });

  it("uses up the limit when a block costs more than is left", () => {
    const endless = buildContract([loop, EMPTY, br, 0, end]);
    const { result, gasUsed: used } = runContract(endless, { gasLimit: 1_000_000n });
    expect([result instanceof VmError && reportedText(result), used]).toEqual(["Out of gas", 1_000_000n]);
  });

  it("counts under the limit of 2^64 - 1 that the end of a block has", () =>
    expect(runContract(empty, { gasLimit: 2n ** 64n - 1n }).gasUsed).toBe(gasUsed));
});
