import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { fromHex, fromUtf8, toHex, utf8 } from "../../src/platform/base/bytes.ts";
import { bad, good } from "../../src/platform/base/errors.ts";
import type { StartTrace } from "../../src/localnet/vm/hooks.ts";
import { GasRecorder, recordCalls } from "../../src/workbench/profile/gas-recorder.ts";
import { HostError, reportedText, VmError } from "../../src/localnet/vm/errors.ts";
import { GAS_MULTIPLIER } from "../../src/localnet/vm/gas.ts";
import { ENTRY_POINTS, type EntryPoint, type Host } from "../../src/localnet/vm/host.ts";
import type { CallOutcome, Vm } from "../../src/localnet/vm/vm.ts";

const entryPoint = z.custom<EntryPoint>(
  (name) => typeof name === "string" && Object.hasOwn(ENTRY_POINTS, name),
);

const operation = z.tuple([z.string()], z.union([z.string(), z.number(), z.null()]));
type Operation = z.infer<typeof operation>;

/** A recorded call of the deployed VM. */
const recordedCall = z.object({
  id: z.number(),
  fn: entryPoint,
  checksum: z.string(),
  env: z.unknown(),
  info: z.unknown().optional(),
  msg: z.string(),
  gas_limit: z.number(),
  ops: z.array(operation),
  result: z.unknown().optional(),
  err: z.string().optional(),
  vm_gas: z.number(),
  ext_gas: z.number(),
});
export type RecordedCall = z.infer<typeof recordedCall> & { readonly gasLimit: bigint };

/** The recorded limits exceed the integers of JSON.parse. */
const GAS_LIMIT = /"gas_limit":(\d+)/;

/** Reads the recorded calls of one sequence, a folder with `calls.jsonl.gz`. */
export function readCalls(folder: string): RecordedCall[] {
  return gunzipSync(readFileSync(join(folder, "calls.jsonl.gz")))
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => ({
      ...recordedCall.parse(JSON.parse(line)),
      gasLimit: BigInt(GAS_LIMIT.exec(line)?.[1] ?? "0"),
    }));
}

/** Returns the sequences of a folder like `real-contracts`. */
export function readSequences(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, "calls.jsonl.gz")))
    .toSorted();
}

/** Reads a binary of the folder by its checksum. */
export function readBinary(folder: string, checksum: string): Uint8Array {
  for (const ending of ["wasm", "bin"]) {
    const path = join(folder, "wasm", `${checksum}.${ending}.gz`);
    if (existsSync(path)) return new Uint8Array(gunzipSync(readFileSync(path)));
  }
  throw new Error(`${folder}/wasm has no binary ${checksum}`);
}

/** The host of a recorded call: it answers each access as recorded, and throws for one that was not recorded. */
class RecordingHost implements Host {
  private readonly call: RecordedCall;
  private at = 0;

  constructor(call: RecordedCall) {
    this.call = call;
  }

  /** Accesses that were recorded and have not happened. */
  missing(): number {
    return this.call.ops.length - this.at;
  }

  private take(...expected: readonly unknown[]): Operation {
    const found = this.call.ops[this.at++];
    if (found === undefined) throw this.end(expected);
    const [kind] = found;
    if (expected.some((value, at) => value !== found[at]))
      throw new Error(
        `access ${this.at}: ${JSON.stringify(expected)} where ${kind} ${JSON.stringify(found)} was recorded`,
      );
    return found;
  }

  /** The last access of a call that ran out of the chain's gas, or that failed in the chain, was not recorded. */
  private end(expected: readonly unknown[]): Error {
    const { err = "" } = this.call;
    if (err.includes("Ran out of gas")) return new HostError({ kind: "out-of-gas" });
    if (err.includes("Panic in FFI call")) return new HostError({ kind: "panic" });
    return new Error(`an access that was not recorded: ${JSON.stringify(expected)}`);
  }

  private static gas(value: unknown): bigint {
    return BigInt(typeof value === "number" ? value : 0) * GAS_MULTIPLIER;
  }

  get(key: Uint8Array): { value: Uint8Array | undefined; gas: bigint } {
    const [, , value, gas] = this.take("get", toHex(key));
    return { value: typeof value === "string" ? fromHex(value) : undefined, gas: RecordingHost.gas(gas) };
  }

  set(key: Uint8Array, value: Uint8Array): bigint {
    return RecordingHost.gas(this.take("set", toHex(key), toHex(value))[3]);
  }

  remove(key: Uint8Array): bigint {
    return RecordingHost.gas(this.take("del", toHex(key))[2]);
  }

  scan(
    start: Uint8Array | undefined,
    end: Uint8Array | undefined,
    isDescending: boolean,
  ): { value: number; gas: bigint } {
    const [, id, from, to, gas] = this.take(isDescending ? "rscan" : "scan");
    if ((from ?? "") !== toHex(start ?? new Uint8Array()) || (to ?? "") !== toHex(end ?? new Uint8Array()))
      throw new Error(`access ${this.at}: another range than recorded`);
    // The recorder counts iterators from 1, and the chain from 0.
    return { value: Number(id) - 1, gas: RecordingHost.gas(gas) };
  }

  next(iterator: number): { value: readonly [Uint8Array, Uint8Array] | undefined; gas: bigint } {
    const recorded = this.call.ops[this.at];
    // After the end, nothing is charged or recorded.
    if (recorded?.[0] !== "next" || recorded[1] !== iterator + 1) return { value: undefined, gas: 0n };
    const [, , key, value, gas] = this.take("next", iterator + 1);
    if (typeof key !== "string") return { value: undefined, gas: RecordingHost.gas(gas) };
    return { value: [fromHex(key), fromHex(String(value ?? ""))], gas: RecordingHost.gas(gas) };
  }

  query(request: Uint8Array, limits: { readonly gas: bigint }): { value: Uint8Array; gas: bigint } {
    const [, recorded, response, gas, limit] = this.take("query");
    if (requestText(request) !== requestText(fromHex(String(recorded))))
      throw new Error(
        `access ${this.at}: query ${fromUtf8(request)}, recorded ${fromUtf8(fromHex(String(recorded)))}`,
      );
    // In IBC entry points, the meter is not scaled, and the recorded gas of each access is 0.
    const isScaled = !this.call.fn.startsWith("ibc_");
    if (isScaled && typeof limit === "number" && Number.isSafeInteger(limit) && BigInt(limit) !== limits.gas)
      throw new Error(`access ${this.at}: a query under ${limits.gas} VM gas, recorded ${limit}`);
    if (response === null) throw new HostError({ kind: "panic" });
    return { value: fromHex(String(response)), gas: RecordingHost.gas(gas) };
  }

  validateAddress(text: string): string | undefined {
    const [, , error] = this.take("validate", text);
    return typeof error === "string" ? error : undefined;
  }

  canonicalizeAddress(text: string): ReturnType<Host["canonicalizeAddress"]> {
    const [, , canonical, error] = this.take("canonicalize", text);
    return typeof error === "string" ? bad(error) : good(fromHex(String(canonical)));
  }

  humanizeAddress(canonical: Uint8Array): ReturnType<Host["humanizeAddress"]> {
    const [, , text, error] = this.take("humanize", toHex(canonical));
    return typeof error === "string" ? bad(error) : good(String(text));
  }
}

/** Returns a host that asks another one in the first run, and gives the same answers in the next runs, each after `rewind`. */
function rememberingHost(host: Host): { readonly host: Host; readonly rewind: () => void } {
  const rewinds: (() => void)[] = [];
  const remember = <A extends readonly unknown[], T>(ask: (...args: A) => T): ((...args: A) => T) => {
    const answers: { readonly value: T }[] = [];
    let at = 0;
    rewinds.push(() => {
      at = 0;
    });
    return (...args) => {
      const known = answers[at++];
      if (known !== undefined) return known.value;
      const value = ask(...args);
      answers.push({ value });
      return value;
    };
  };
  return {
    host: {
      get: remember((key) => host.get(key)),
      set: remember((key, value) => host.set(key, value)),
      remove: remember((key) => host.remove(key)),
      scan: remember((start, end, isDescending) => host.scan(start, end, isDescending)),
      next: remember((iterator) => host.next(iterator)),
      query: remember((request, limits) => host.query(request, limits)),
      validateAddress: remember((text) => host.validateAddress(text)),
      canonicalizeAddress: remember((text) => host.canonicalizeAddress(text)),
      humanizeAddress: remember((canonical) => host.humanizeAddress(canonical)),
    },
    rewind: () => {
      for (const rewind of rewinds) rewind();
    },
  };
}

/** Prepares a recorded call for measurements: its host takes no time. What is returned throws for gas that was not recorded. */
export function prepareCall(call: RecordedCall, code: () => Uint8Array): (vm: Vm) => void {
  const { host, rewind } = rememberingHost(new RecordingHost(call));
  const args = argumentsOf(call);
  return (vm) => {
    rewind();
    const difference = gasDifference(call, runRecorded(vm, call, { host, args, code }));
    if (difference !== undefined) throw new Error(difference);
  };
}

/** The recorder read requests and wrote them again, without nulls and in an order of its own. */
function requestText(request: Uint8Array): string {
  return JSON.stringify(withoutEmpty(JSON.parse(fromUtf8(request))));
}

function argumentsOf({ env, info, msg }: RecordedCall): Uint8Array[] {
  const json = (value: unknown): Uint8Array => utf8(JSON.stringify(value));
  return [json(env), ...(info === undefined ? [] : [json(info)]), fromHex(msg)];
}

function runRecorded(
  vm: Vm,
  { checksum, fn, gasLimit }: RecordedCall,
  rest: {
    readonly host: Host;
    readonly args: readonly Uint8Array[];
    readonly code: () => Uint8Array;
    readonly trace?: StartTrace;
  },
): CallOutcome {
  return vm.call({ checksum, entryPoint: fn, gasLimit, ...rest });
}

/** Replays a recorded call with a profile. Returns how it differs from the recording, or how the profile's sum does. */
export function replayProfiled(vm: Vm, call: RecordedCall, code: () => Uint8Array): string | undefined {
  const recorder = new GasRecorder(call.fn);
  const difference = replayCall(vm, call, code, recorder);
  if (difference !== undefined) return `with a profile: ${difference}`;
  const total = recorder.total < 0n ? 0n : recorder.total;
  return total === BigInt(call.vm_gas) ? undefined : `the profile adds up to ${total}, not ${call.vm_gas}`;
}

/** Replays a recorded call. Returns how it differs from the recording, or undefined. */
export function replayCall(
  vm: Vm,
  call: RecordedCall,
  code: () => Uint8Array,
  recorder?: GasRecorder,
): string | undefined {
  const host = new RecordingHost(call);
  let outcome: CallOutcome;
  try {
    outcome = runRecorded(vm, call, {
      host,
      args: argumentsOf(call),
      code,
      ...(recorder !== undefined && { trace: recordCalls(recorder) }),
    });
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
  if (host.missing() > 0) return `${host.missing()} recorded accesses did not happen: ${resultText(outcome)}`;
  return gasDifference(call, outcome) ?? resultDifference(call, outcome);
}

function gasDifference(
  call: RecordedCall,
  { gasUsed, gasUsedExternally, result }: CallOutcome,
): string | undefined {
  if (gasUsed !== BigInt(call.vm_gas))
    return `VM gas ${gasUsed}, recorded ${call.vm_gas} (${gasUsed - BigInt(call.vm_gas)}): ${resultText({ result })}`;
  const external = BigInt(call.ext_gas) * GAS_MULTIPLIER;
  // An access that fails in the chain has its part of the gas there only.
  const hasFailedAccess = /Ran out of gas|Panic in FFI call/.test(call.err ?? "");
  return gasUsedExternally === external || hasFailedAccess
    ? undefined
    : `external gas ${gasUsedExternally}, recorded ${external}`;
}

function resultText({ result }: Pick<CallOutcome, "result">): string {
  return (result instanceof VmError ? reportedText(result) : fromUtf8(result)).slice(0, 300);
}

function resultDifference(
  { err, result: recorded }: RecordedCall,
  { result }: CallOutcome,
): string | undefined {
  if (result instanceof VmError)
    return reportedText(result) === err
      ? undefined
      : `${reportedText(result)}, recorded ${err ?? "a result"}`;
  let parsed: unknown;
  try {
    parsed = JSON.parse(fromUtf8(result));
  } catch {
    // The chain fails to decode the result after the call.
    return err?.startsWith("invalid character") === true ? undefined : "the result is not JSON";
  }
  if (err !== undefined) return `a result, recorded ${err}`;
  const [here, there] = [withoutEmpty(parsed), withoutEmpty(recorded)].map((value) => JSON.stringify(value));
  return here === there ? undefined : `result ${here}, recorded ${there}`;
}

/** Fields that the chain reads under two names and writes under one. */
const RENAMED: Readonly<Record<string, string>> = { stargate: "any" };

/** Removes what the chain's structures leave out or fill in: nulls, empty values and the order of fields. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => withoutEmpty(item));
  if (typeof value !== "object" || value === null) return value === null || value === "" ? undefined : value;
  const entries = Object.entries(value)
    .map(([key, item]) => [RENAMED[key] ?? key, withoutEmpty(item)] as const)
    .filter(([, item]) => item !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
