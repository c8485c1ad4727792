import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fromUtf8, utf8 } from "../../src/platform/base/bytes.ts";
import { VmError } from "../../src/localnet/vm/errors.ts";
import { createVm, type Vm } from "../../src/localnet/vm/vm.ts";
import { prepareCall, readBinary, readCalls, type RecordedCall } from "../support/contract-calls.ts";
import { MemoryHost, runContract } from "../support/vm/memory-host.ts";
import { buildContract, get, i32, set } from "../support/vm/wasm-builder.ts";
import { operatorsOf } from "../fuzz/contracts/modules.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { benchCallbacks } from "./callbacks.ts";
import { median, processorMs } from "./measure.ts";

/** A folder like `real-contracts`, with recordings and binaries. Without it, only modules made here are measured. */
const FOLDER = process.env.RELAYWATCH_CONTRACTS;
/** A folder with contracts of neutron-dev-contracts, for blocks with callbacks. */
const DEV_FOLDER = process.env.RELAYWATCH_DEV_CONTRACTS;
/** The binary `cyberpunk.wasm` of CosmWasm, which computes argon2. */
const CYBERPUNK = process.env.RELAYWATCH_CYBERPUNK;
const CW20 = "5233708c51615537941f38cf0baf70b7eceb7ca0c93fdfe69171cc0d5ef1a14d";
/** A contract of 679 kB. */
const LARGE = "c262fc5fae1c9b7b71364181fc1242474780edb2c80cd06db620b5b1c0258674";
/** Query of hackatom that hashes 1,000,000 times. */
const HASHES = Buffer.from('{"recurse":{"depth":0,"work":1000000}}').toString("hex");
const LOOPS = 3_000_000;
const MIXING_ROUNDS = 1_000_000;

/** Calls of contracts in the virtual machine, beside the reference VM (wasmvm 2.1.5, one thread, medians of six runs). */
export function benchContracts({ quick }: BenchSettings): readonly BenchRow[] {
  return [
    benchLoop(),
    benchMixing(),
    benchSmallCall(quick ? 500 : 5_000),
    ...(CYBERPUNK === undefined ? [] : [benchArgon2(readFileSync(CYBERPUNK))]),
    ...(FOLDER === undefined ? [] : benchRecorded(FOLDER, quick ? 300 : 5_000)),
    ...(DEV_FOLDER === undefined ? [] : benchCallbacks(DEV_FOLDER, quick)),
  ];
}

function benchLoop(): BenchRow {
  const code = buildContract(
    [...i32(LOOPS), ...set(3), 0x03, 0x40, ...get(3), ...i32(1), 0x6b, 0x22, 3, 0x0d, 0, 0x0b],
    { locals: [[2, 0x7f]] },
  );
  const vm = createVm();
  const run = (): number => {
    const start = processorMs();
    runContract(code, { vm, gasLimit: 10n ** 15n });
    return processorMs() - start;
  };
  const ms = median(Array.from({ length: 5 }, run));
  return {
    name: "operators of a loop",
    value: (LOOPS * 5) / ms / 1_000,
    unit: "M/s",
    note: "median of 5 runs",
  };
}

/** The mixing of argon2 (`BlaMka`) over four words of the memory, and the number of operators in a round of its loop. */
function mixingContract(): { readonly code: Uint8Array; readonly operators: number } {
  const [rounds, first] = [3, 4] as const;
  const word = (at: number): number => first + at;
  const low = (at: number): number[] => [...get(word(at)), 0x42, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x83];
  const add = (to: number, other: number): number[] =>
    [
      [...get(word(to)), ...get(word(other)), 0x7c],
      [0x42, 2, ...low(to), 0x7e, ...low(other), 0x7e, 0x7c],
      set(word(to)),
    ].flat();
  const mix = (to: number, other: number, bits: number): number[] =>
    [[...get(word(to)), ...get(word(other)), 0x85, 0x42, bits, 0x8a], set(word(to))].flat();
  const half = (one: number, other: number): number[] =>
    [add(0, 1), mix(3, 0, one), add(2, 3), mix(1, 2, other)].flat();
  const each = (write: (at: number) => number[]): number[] => [0, 1, 2, 3].flatMap(write);
  const body = [
    each((at) => [...i32(2048 + 8 * at), 0x29, 3, 0, ...set(word(at))]),
    half(32, 24),
    half(16, 63),
    each((at) => [...i32(2048 + 8 * at), ...get(word(at)), 0x37, 3, 0]),
  ].flat();
  const loop = [0x03, 0x40, ...body, ...get(rounds), ...i32(1), 0x6b, 0x22, rounds, 0x0d, 0, 0x0b];
  const locals = [
    [1, 0x7f],
    [4, 0x7e],
  ] as const;
  const code = buildContract([...i32(MIXING_ROUNDS), ...set(rounds), ...loop], { locals });
  // Two functions have the body, and the rest of the contract a few operators more.
  return { code, operators: (operatorsOf(code).length - operatorsOf(buildContract([])).length) / 2 };
}

function benchMixing(): BenchRow {
  const { code, operators } = mixingContract();
  const vm = createVm();
  const run = (): number => {
    const start = processorMs();
    const { result } = runContract(code, { vm, gasLimit: 10n ** 15n });
    if (result instanceof VmError) throw result;
    return processorMs() - start;
  };
  run();
  const ms = median(Array.from({ length: 5 }, run));
  return {
    name: "operator of argon2's mixing",
    value: (ms * 1e6) / (MIXING_ROUNDS * operators),
    unit: "ns",
    note: `${operators} operators a round, with their gas, median of 5 runs`,
    beside: "0.115 ns is what an operator of the reference VM pays for",
  };
}

/** Argon2 as the contract `cyberpunk` computes it. */
function benchArgon2(code: Uint8Array): BenchRow {
  const vm = createVm();
  const args = [
    { block: { height: 1, time: "1", chain_id: "local-1" }, contract: { address: "addr1" } },
    { sender: "addr2", funds: [] },
    { argon2: { mem_cost: 256, time_cost: 3 } },
  ].map((value) => utf8(JSON.stringify(value)));
  const run = (): { readonly ms: number; readonly gas: bigint } => {
    const start = processorMs();
    const { result, gasUsed } = runContract(code, { vm, gasLimit: 10n ** 15n, args });
    if (result instanceof VmError) throw result;
    if (!fromUtf8(result).startsWith('{"ok"')) throw new Error(fromUtf8(result));
    return { ms: processorMs() - start, gas: gasUsed };
  };
  const { gas } = run();
  return {
    name: "argon2 of a contract, 256 KiB, 3 passes",
    value: median(Array.from({ length: 15 }, () => run().ms)),
    unit: "ms",
    note: `${gas} VM gas, median of 15 runs`,
    beside: "6.1 ms: cosmwasm-vm 2.2.2 on the same machine",
  };
}

function benchSmallCall(calls: number): BenchRow {
  const code = buildContract([]);
  const vm = createVm();
  const host = new MemoryHost();
  runContract(code, { vm, host });
  const start = processorMs();
  for (let call = 0; call < calls; call++) runContract(code, { vm, host });
  return { name: "calls of an empty contract", value: (calls * 1_000) / (processorMs() - start), unit: "/s" };
}

function benchRecorded(folder: string, calls: number): BenchRow[] {
  const cw20 = readCalls(join(folder, "cw20")).filter(({ checksum }) => checksum === CW20);
  const transfers = succeeding(cw20, "execute", "transfer");
  const warm = (
    name: string,
    ofKind: readonly RecordedCall[],
    beside?: string,
    vm = createVm(),
  ): BenchRow => ({
    name,
    value: callsPerSecond(folder, vm, ofKind, calls),
    unit: "/s",
    note: "median of 5 runs",
    ...(beside !== undefined && { beside }),
  });
  const large = readCalls(join(folder, "dao")).filter(({ checksum }) => checksum === LARGE);
  const hashes = readCalls(join(folder, "hackatom")).filter(({ msg }) => msg === HASHES);
  return [
    warm("cw20 transfers, warm", transfers, "5,300 to 9,050/s"),
    warm("cw20 transfers, an instance for each", transfers, undefined, createVm({ instanceBytes: 0 })),
    warm("cw20 instantiations, warm", succeeding(cw20, "instantiate", "name"), "5,500 to 10,900/s"),
    warm("cw20 balances, warm", succeeding(cw20, "query", "balance"), "7,100 to 11,900/s"),
    benchUpload(folder, "318 kB", transfers, "upload 100 ms, first call 2.5 ms at best"),
    benchUpload(folder, "679 kB", large, "upload 184 ms at best"),
    benchHashes(folder, hashes),
  ];
}

function succeeding(
  calls: readonly RecordedCall[],
  entryPoint: RecordedCall["fn"],
  message: string,
): RecordedCall[] {
  const prefix = Buffer.from(`{"${message}"`).toString("hex");
  return calls.filter(
    ({ fn, msg, result, err }) =>
      fn === entryPoint &&
      msg.startsWith(prefix) &&
      err === undefined &&
      JSON.stringify(result).startsWith('{"ok"'),
  );
}

/** Repeats calls whose host answers as recorded, without a look at the requests. Returns the calls in one second of processor time. */
function callsPerSecond(folder: string, vm: Vm, recorded: readonly RecordedCall[], calls: number): number {
  const prepared = recorded.map((call) => prepareCall(call, () => readBinary(folder, call.checksum)));
  const run = (): number => {
    const start = processorMs();
    for (let at = 0; at < calls; at++) prepared[at % prepared.length]?.(vm);
    return (calls * 1_000) / (processorMs() - start);
  };
  run();
  return median(Array.from({ length: 5 }, run));
}

function benchUpload(folder: string, size: string, calls: readonly RecordedCall[], beside: string): BenchRow {
  const [first] = calls;
  if (first === undefined) throw new Error("the recordings have no call of this contract");
  const code = readBinary(folder, first.checksum);
  const call = prepareCall(first, () => code);
  const run = (): number => {
    const vm = createVm();
    const start = processorMs();
    vm.store(first.checksum, code);
    call(vm);
    return processorMs() - start;
  };
  return {
    name: `upload and first call, ${size}`,
    value: median(Array.from({ length: 5 }, run)),
    unit: "ms",
    note: "median of 5 runs",
    beside,
  };
}

/** A contract that computes: the queries of 1,000,000 hashes with SHA-256. */
function benchHashes(folder: string, calls: readonly RecordedCall[]): BenchRow {
  const vm = createVm();
  const rate = callsPerSecond(folder, vm, calls, 1);
  const [first] = calls;
  return {
    name: "VM gas of a contract that hashes",
    value: (rate * (first?.vm_gas ?? 0)) / 1e9,
    unit: "G/s",
    note: "SHA-256, 1,000,000 times",
    beside: "1,000 G/s: the gas of the reference VM is made for 1,000,000 each microsecond",
  };
}
