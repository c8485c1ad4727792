import type { HostFunctionName } from "../../../src/localnet/vm/static-checks.ts";
import { hostFunctionType } from "../../../src/localnet/vm/host-functions.ts";
import { I32, OP } from "../../../src/localnet/vm/operators.ts";
import { buildContract, get, i32, regionBytes, RESULT_POINTER, set, store } from "./wasm-builder.ts";

const EMPTY = 0x40;
const OP_I32_ADD = 0x6a;
const OP_I32_LT_U = 0x49;
/** Index of the first local of all entry points: a counter. */
const COUNTER = 3;
/** A region of four bytes with the counter, and the bytes. */
const KEY = 4096;
const IMPORTS: readonly HostFunctionName[] = ["debug", "db_write", "db_scan", "db_read"];

const callHost = (name: HostFunctionName): number[] => [OP.call, IMPORTS.indexOf(name)];
const forever = (body: readonly number[]): number[] => [OP.loop, EMPTY, ...body, OP.br, 0, OP.end];
/** Writes an entry of four bytes under the next key. */
const writeNext = [
  ...get(COUNTER),
  ...i32(1),
  OP_I32_ADD,
  ...set(COUNTER),
  ...i32(KEY + 12),
  ...get(COUNTER),
  ...store(0),
  ...i32(KEY),
  ...i32(KEY),
  ...callHost("db_write"),
];
const scanAll = [...i32(0), ...i32(0), ...i32(1), ...callHost("db_scan"), OP.drop];
/** Entries of a contract from its instantiation on. */
const ENTRIES = 500;
const writeEntries = [
  OP.loop,
  EMPTY,
  ...writeNext,
  ...get(COUNTER),
  ...i32(ENTRIES),
  OP_I32_LT_U,
  OP.brIf,
  0,
  OP.end,
];

/** What each contract does whenever it is called, as code. */
const ATTACKS = {
  loop: forever([]),
  "flood of debug": forever([...i32(-1), ...callHost("debug")]),
  "small keys": forever(writeNext),
  iterators: forever(scanAll),
  "iterators between writes": forever([...writeNext, ...scanAll]),
  pointer: [...i32(-1), ...callHost("db_read"), OP.drop],
} as const;

export type Attack = keyof typeof ATTACKS;
export const ATTACK_NAMES: readonly Attack[] = [
  "loop",
  "flood of debug",
  "small keys",
  "iterators",
  "iterators between writes",
  "pointer",
];

/**
 * Returns a contract that can be instantiated, and attacks in `execute`, `query` and `sudo`. Its `debug` has no valid pointer. `result` is
 * what its instantiation returns.
 */
export function buildHostileContract(attack: Attack, result = '{"ok":{}}'): Uint8Array {
  const locals = [[1, I32]] as const;
  const entry = (params: number, body: readonly number[]) => ({
    params: Array.from({ length: params }, () => I32),
    results: [I32],
    locals: [[COUNTER - params + 1, I32]] as const,
    body: [...body, ...i32(RESULT_POINTER)],
  });
  return buildContract(ATTACKS[attack], {
    result,
    locals,
    imports: IMPORTS.map((name) => ({ name, ...hostFunctionType(name) })),
    functions: [
      { ...entry(3, writeEntries), exportAs: "instantiate" },
      { ...entry(2, ATTACKS[attack]), exportAs: "sudo" },
    ],
    data: [[KEY, regionBytes(KEY + 12, 4, 4)]],
  });
}
