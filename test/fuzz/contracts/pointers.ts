import { errorMessage } from "../../../src/platform/base/errors.ts";
import { VmError } from "../../../src/localnet/vm/errors.ts";
import { hostFunctionType } from "../../../src/localnet/vm/host-functions.ts";
import { I32, OP } from "../../../src/localnet/vm/operators.ts";
import { type HostFunctionName, SUPPORTED_IMPORTS } from "../../../src/localnet/vm/static-checks.ts";
import { createVm, type Vm } from "../../../src/localnet/vm/vm.ts";
import { MemoryHost, runContract } from "../../support/vm/memory-host.ts";
import {
  allocateBody,
  buildModule,
  type BuiltFunction,
  HEAP,
  HEAP_START,
  i32,
} from "../../support/vm/wasm-builder.ts";
import { type CampaignBudget, type CampaignReport, cpuMs, inputNumbers } from "../campaign.ts";
import { createRandom, type Random } from "../random.ts";

const PAGES = 2;
const MEMORY = PAGES * 65_536;
const REGION = 12;
/** Where the message is: three arguments, of which two are empty, are allocated one after the other. */
const MESSAGE = HEAP + 3 * REGION;
/** Words of a message: what is called, its arguments, the result, what `allocate` returns afterwards (0: a region), then regions. */
const WORD = { callee: 0, firstArgument: 1, result: 5, allocated: 6, firstRegion: 7 } as const;
const REGIONS = 4;
const PAYLOAD = MESSAGE + 4 * (WORD.firstRegion + 3 * REGIONS);
const PAYLOAD_BYTES = 128;

/** Numbers of 32 bits at which an address, a length or a sum of both changes its meaning. */
const EDGES = [
  0,
  1,
  2,
  REGION - 1,
  REGION,
  ...[2 ** 31, 2 ** 32, MEMORY, HEAP].flatMap((edge) =>
    [-REGION - 1, -REGION, -REGION + 1, -2, -1, 0, 1].map((step) => edge + step),
  ),
].filter((edge) => edge < 2 ** 32);

/** Most processor time of one input, in ms. */
const MAX_INPUT_MS = 1_000;
/** Inputs after which all kinds of outcomes must have been seen. */
const ENOUGH = 2_000;
/** What some inputs must end with, so that they are not all refused for the same reason. */
const OUTCOMES = [
  "a result",
  "could not be dereferenced",
  "zero Wasm address in the offset",
  "length exceeds capacity",
  "exceeds address space",
  "Tried to access memory of region",
  "Region length too big",
  "Region too small",
  "Iterator with ID",
  "iteration order",
];

/** Message of one input. */
type Words = Uint32Array;

/**
 * A contract whose message says which host function it calls, with which arguments, what its `execute` returns, and what its `allocate`
 * returns to the host function. All are drawn from the edges of 32 bits, as are the regions that pointers lead to. Nothing but a
 * `VmError` is thrown, and it is the one that the first region deserves.
 */
export async function fuzzPointers(seed: number, budget: CampaignBudget): Promise<CampaignReport> {
  const failures: string[] = [];
  const seen = new Set<string>();
  const machine = { code: pointerContract(), vm: createVm() };
  let inputs = 0;
  let slowestMs = 0;
  let startMs = cpuMs();
  for (const input of inputNumbers(budget, failures)) {
    const failure = tryWords(drawWords(createRandom(seed + input * 7919)), machine, seen);
    const endMs = cpuMs();
    slowestMs = Math.max(slowestMs, endMs - startMs);
    if (failure !== undefined) failures.push(`input ${input}: ${failure}`);
    else if (endMs - startMs > MAX_INPUT_MS)
      failures.push(`input ${input}: ${(endMs - startMs).toFixed(0)} ms`);
    startMs = endMs;
    inputs++;
  }
  const missing = OUTCOMES.filter((outcome) => !seen.has(outcome));
  if (inputs >= ENOUGH && missing.length > 0) failures.push(`no input ended with ${missing.join(", ")}`);
  return { inputs, failures, slowestMs };
}

function drawWords(random: Random): Words {
  const edge = (): number => EDGES[random.int(EDGES.length)] ?? 0;
  const region = (): number => MESSAGE + 4 * (WORD.firstRegion + 3 * random.int(REGIONS));
  const pointer = (): number => (random.chance(0.6) ? region() : edge());
  const small = (): number => (random.chance(0.6) ? random.int(PAYLOAD_BYTES) : edge());
  return Uint32Array.from([
    random.int(SUPPORTED_IMPORTS.length),
    ...Array.from({ length: 4 }, () => (random.chance(0.1) ? random.int(4) : pointer())),
    random.chance(0.8) ? region() : edge(),
    random.chance(0.7) ? 0 : pointer(),
    ...Array.from({ length: REGIONS }, () => [
      random.chance(0.7) ? PAYLOAD : edge(),
      small(),
      small(),
    ]).flat(),
    ...Array.from({ length: PAYLOAD_BYTES / 4 }, () => random.int(2 ** 32)),
  ]);
}

/** Returns what is wrong with the outcome of one message. */
function tryWords(
  words: Words,
  { code, vm }: { readonly code: Uint8Array; readonly vm: Vm },
  seen: Set<string>,
): string | undefined {
  const host = new MemoryHost();
  host.set(Uint8Array.of(1), Uint8Array.of(2));
  host.scan(undefined, undefined, false);
  const message = new Uint8Array(words.buffer);
  let text: string;
  try {
    const { result } = runContract(code, { vm, host, message });
    text = result instanceof VmError ? result.message : "a result";
  } catch (thrown) {
    return `${nameOf(words)}(${words.subarray(1, 5).join(", ")}) threw ${errorMessage(thrown)}`;
  }
  for (const outcome of OUTCOMES) if (text.includes(outcome)) seen.add(outcome);
  const expected = problemOfFirst(words);
  return expected === undefined || text.includes(expected)
    ? undefined
    : `${nameOf(words)}(${words.subarray(1, 5).join(", ")}) ended with "${text}" instead of "${expected}"`;
}

function nameOf(words: Words): HostFunctionName {
  return SUPPORTED_IMPORTS[words[WORD.callee] ?? 0] ?? "abort";
}

/** Host functions whose first argument is not the region that they read first. */
const READS_OTHER: ReadonlySet<HostFunctionName> = new Set([
  "debug",
  "db_next",
  "db_next_key",
  "db_next_value",
  "bls12_381_hash_to_g1",
  "bls12_381_hash_to_g2",
]);

/** Returns the words of the error that the first region deserves, computed with integers without a limit. */
function problemOfFirst(words: Words): string | undefined {
  const name = nameOf(words);
  const pointer = words[WORD.firstArgument] ?? 0;
  if (READS_OTHER.has(name) || (name === "db_scan" && pointer === 0)) return undefined;
  if (BigInt(pointer) + BigInt(REGION) > BigInt(MEMORY))
    return `The Wasm memory address ${pointer} provided by the contract could not be dereferenced`;
  const at = (pointer - MESSAGE) / 4 - WORD.firstRegion;
  if (!Number.isInteger(at / 3) || at < 0 || at >= 3 * REGIONS) return undefined;
  const [offset = 0n, capacity = 0n, length = 0n] = [
    ...words.subarray(WORD.firstRegion + at, WORD.firstRegion + at + 3),
  ].map(BigInt);
  if (offset === 0n) return "Got a zero Wasm address in the offset";
  if (length > capacity) return `Region length exceeds capacity. Length ${length}, capacity ${capacity}`;
  if (offset + capacity > 2n ** 32n - 1n) return `Region exceeds address space. Offset ${offset}`;
  return undefined;
}

const EMPTY = 0x40;
const OP_I32_EQ = 0x46;
const OP_I32_GE_U = 0x4f;
const OP_I32_ADD = 0x6a;
const load = (word: number): number[] => [...i32(MESSAGE + 4 * word), 0x28, 2, 0];

/** Calls the host function of the message's first word, and returns the pointer of its sixth. */
function dispatchBody(): number[] {
  const calls = SUPPORTED_IMPORTS.flatMap((name, at) => {
    const { params, results } = hostFunctionType(name);
    const values = params.flatMap((_, index) => load(WORD.firstArgument + index));
    const result = results.length === 0 ? [] : [OP.drop];
    return [
      ...load(WORD.callee),
      ...i32(at),
      OP_I32_EQ,
      OP.if,
      EMPTY,
      ...values,
      OP.call,
      at,
      ...result,
      OP.end,
    ];
  });
  return [...calls, ...load(WORD.result)];
}

/** Allocates the arguments as usual, and then returns the message's seventh word unless it is 0. */
function allocateWithChoice(): number[] {
  const count = [OP.globalGet, 0] as const;
  const choose = [...load(WORD.allocated), OP.if, EMPTY, ...load(WORD.allocated), OP.return, OP.end];
  return [
    ...count,
    ...i32(3),
    OP_I32_GE_U,
    OP.if,
    EMPTY,
    ...choose,
    OP.end,
    ...count,
    ...i32(1),
    OP_I32_ADD,
    OP.globalSet,
    0,
    ...allocateBody(),
  ];
}

function pointerContract(): Uint8Array {
  const functions: BuiltFunction[] = [
    { body: [], exportAs: "interface_version_8" },
    {
      params: [I32],
      results: [I32],
      locals: [[1, I32]],
      body: allocateWithChoice(),
      exportAs: "allocate",
    },
    { params: [I32], body: [], exportAs: "deallocate" },
    { params: [I32, I32, I32], results: [I32], body: dispatchBody(), exportAs: "execute" },
  ];
  return buildModule({
    imports: SUPPORTED_IMPORTS.map((name) => ({ name, ...hostFunctionType(name) })),
    memory: [PAGES],
    globals: [0],
    functions,
    data: [HEAP_START],
    exports: [["memory", 2, 0]],
  });
}
