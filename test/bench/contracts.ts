import { join } from "node:path";
import { createVm } from "../../src/localnet/vm/vm.ts";
import { readBinary, readCalls, type RecordedCall, replayCall } from "../support/contract-calls.ts";
import { MemoryHost, runContract } from "../support/vm/memory-host.ts";
import { buildContract, get, i32, set } from "../support/vm/wasm-builder.ts";
import type { BenchRow, BenchSettings } from "./bench-row.ts";
import { median, processorMs } from "./measure.ts";

/** A folder like `real-contracts`, with recordings and binaries. Without it, only modules made here are measured. */
const FOLDER = process.env.RELAYWATCH_CONTRACTS;
const CW20 = "5233708c51615537941f38cf0baf70b7eceb7ca0c93fdfe69171cc0d5ef1a14d";
/** A contract of 495 kB. */
const LARGE = "0e7c82237846b1967a4e2cf52676023261725d467776e652e287e1d250fbb2fa";
const LOOPS = 3_000_000;

/** Calls of contracts in the virtual machine, beside the reference VM (wasmvm 2.1.5, one thread, medians of six runs). */
export function benchContracts({ quick }: BenchSettings): readonly BenchRow[] {
  const rows = [benchLoop(), benchSmallCall(quick ? 500 : 5_000)];
  return FOLDER === undefined ? rows : [...rows, ...benchRecorded(FOLDER, quick ? 300 : 5_000)];
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
  const transfers = readCalls(join(folder, "cw20")).filter(
    ({ fn, err, msg, result }) =>
      fn === "execute" &&
      err === undefined &&
      Buffer.from(msg, "hex").includes('{"transfer"') &&
      isOk(result),
  );
  return [
    benchTransfers(folder, transfers, calls),
    benchUpload(
      folder,
      { name: "upload and first call, 318 kB", checksum: CW20, beside: "142 ms at the medians" },
      transfers,
    ),
    benchUpload(folder, { name: "upload, 495 kB", checksum: LARGE, beside: "184 ms at best for 679 kB" }),
  ];
}

function isOk(result: unknown): boolean {
  return typeof result === "object" && result !== null && "ok" in result;
}

function benchTransfers(folder: string, transfers: readonly RecordedCall[], calls: number): BenchRow {
  const vm = createVm();
  const code = readBinary(folder, CW20);
  const run = (count: number): number => {
    const start = processorMs();
    for (let at = 0; at < count; at++) {
      const call = transfers[at % transfers.length];
      const difference = call === undefined ? "no transfers" : replayCall(vm, call, () => code);
      if (difference !== undefined) throw new Error(difference);
    }
    return processorMs() - start;
  };
  run(calls);
  const rates = Array.from({ length: 5 }, () => (calls * 1_000) / run(calls));
  return {
    name: "cw20 transfers, warm",
    value: median(rates),
    unit: "/s",
    note: "with the recording's host",
    beside: "5,300 to 9,050/s",
  };
}

function benchUpload(
  folder: string,
  { name, checksum, beside }: { readonly name: string; readonly checksum: string; readonly beside: string },
  calls: readonly RecordedCall[] = [],
): BenchRow {
  const code = readBinary(folder, checksum);
  const run = (): number => {
    const vm = createVm();
    const start = processorMs();
    vm.store(checksum, code);
    for (const call of calls.slice(0, 1)) replayCall(vm, call, () => code);
    return processorMs() - start;
  };
  return {
    name,
    value: median(Array.from({ length: 5 }, run)),
    unit: "ms",
    note: "median of 5 runs",
    beside,
  };
}
