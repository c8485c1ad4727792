import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { fromBase64, fromUtf8, utf8 } from "../../src/platform/base/bytes.ts";
import { errorMessage } from "../../src/platform/base/errors.ts";
import { reportedText, VmError } from "../../src/localnet/vm/errors.ts";
import { GAS_MULTIPLIER } from "../../src/localnet/vm/gas.ts";
import { type CallOutcome, createVm } from "../../src/localnet/vm/vm.ts";
import { MemoryHost } from "./vm/memory-host.ts";

const attributes = z.array(z.tuple([z.string(), z.string()]));
const delivered = z.object({
  code: z.number(),
  raw_log: z.string(),
  events: z.array(z.object({ type: z.string(), attributes })),
});
const gasCases = z.array(
  z.object({
    id: z.string(),
    group: z.string(),
    name: z.string(),
    msg: z.string().optional(),
    delivered: delivered.optional(),
    model: z
      .object({
        vm_gas: z.number(),
        storage_gas: z.number(),
        result_bytes: z.number(),
        trap: z.string().nullable(),
      })
      .optional(),
  }),
);
const uploadCases = z.array(
  z.object({
    id: z.string(),
    name: z.string(),
    wasm_base64: z.string().optional(),
    delivered: z.object({ code: z.number(), raw_log: z.string() }).optional(),
  }),
);

/** What was compared: how many, and how those that differ do. */
export interface ProbeOutcome {
  readonly name: string;
  readonly total: number;
  readonly differences: readonly string[];
}

/** Replays the cases of a probe contract, if the folder has them: gas of single operations, and uploads. */
export function replayProbe(folder: string): ProbeOutcome[] {
  const probe = join(folder, "..", "contracts", "probe.wasm");
  return [
    ...(existsSync(join(folder, "gas.json")) && existsSync(probe)
      ? [replayGas(join(folder, "gas.json"), new Uint8Array(readFileSync(probe)))]
      : []),
    ...(existsSync(join(folder, "uploads.json")) ? [replayUploads(join(folder, "uploads.json"))] : []),
  ];
}

function replayGas(path: string, code: Uint8Array): ProbeOutcome {
  const vm = createVm();
  const entries = new Map<string, Uint8Array>();
  // They ran in this order on one contract. The addresses are the chain's. Where the host refuses a region for its answer or an
  // empty key, the model's gas is not that of the call.
  const cases = gasCases
    .parse(JSON.parse(readFileSync(path, "utf8")))
    .filter(
      ({ id, group, model, msg }) =>
        id.startsWith("g") && group !== "addr" && model !== undefined && msg !== undefined,
    )
    .filter(
      ({ delivered: outcome }) =>
        outcome !== undefined && !/Region too small|Panic in FFI/.test(outcome.raw_log),
    );
  const differences = cases.flatMap((item) => {
    const outcome = vm.call({
      checksum: "probe",
      code: () => code,
      entryPoint: "execute",
      args: [utf8("{}"), utf8("{}"), utf8(item.msg ?? "")],
      gasLimit: 10n ** 15n,
      host: new MemoryHost(entries),
    });
    const difference = probeDifference(item, outcome);
    return difference === undefined ? [] : [`${item.id} ${item.name}: ${difference}`];
  });
  return { name: "probe gas", total: cases.length, differences };
}

function probeDifference(item: z.infer<typeof gasCases>[number], outcome: CallOutcome): string | undefined {
  const { model, delivered: recorded } = item;
  if (model === undefined || recorded === undefined) return "has no recording";
  const { result } = outcome;
  const decoding = result instanceof VmError ? 0n : BigInt(result.length) * GAS_MULTIPLIER;
  const used = outcome.gasUsed - decoding;
  if (used !== BigInt(model.vm_gas)) return `VM gas ${used}, recorded ${model.vm_gas}`;
  if (result instanceof VmError)
    return recorded.raw_log.includes(reportedText(result))
      ? undefined
      : `${reportedText(result)}, recorded ${recorded.raw_log}`;
  if (recorded.code !== 0) return undefined;
  const wanted = recorded.events.find(({ type }) => type === "wasm")?.attributes ?? [];
  return wanted
    .filter(([key]) => key === "r" || key === "o")
    .every(([key, value]) => fromUtf8(result).includes(`"${key}","value":"${value}"`))
    ? undefined
    : `${fromUtf8(result)}, recorded ${JSON.stringify(wanted)}`;
}

function replayUploads(path: string): ProbeOutcome {
  const cases = uploadCases
    .parse(JSON.parse(readFileSync(path, "utf8")))
    // Compressed code is unpacked by the chain.
    .filter(
      ({ wasm_base64, delivered: outcome, name }) =>
        wasm_base64 !== undefined && outcome !== undefined && !name.startsWith("gzip"),
    );
  const differences = cases.flatMap(({ id, name, wasm_base64 = "", delivered: outcome }) => {
    const here = upload(fromBase64(wasm_base64));
    const there = outcome?.code === 0 ? "accepted" : (outcome?.raw_log ?? "");
    return there === here || there.includes(`: ${here}: `)
      ? []
      : [`${id} ${name}: ${here}, recorded ${there}`];
  });
  return { name: "probe uploads", total: cases.length, differences };
}

function upload(code: Uint8Array): string {
  try {
    createVm().store("code", code);
    return "accepted";
  } catch (thrown) {
    return errorMessage(thrown);
  }
}
