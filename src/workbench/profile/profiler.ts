import { type GasObserver, observeMeter } from "../../localnet/chain/runtime/gas.ts";
import type { Context } from "../../localnet/chain/runtime/context.ts";
import type { GasTracer, SpanKind } from "../../localnet/chain/runtime/gas-trace.ts";
import { GAS_MULTIPLIER } from "../../localnet/vm/gas.ts";
import { errorText } from "../../platform/base/errors.ts";
import { recordCalls } from "./gas-recorder.ts";
import { type GasProfile, GasRecorder } from "./gas-recorder.ts";

/** The result of a rerun transaction or query, and its gas by place. */
export interface Profiled<T> {
  readonly result: T;
  readonly profile: GasProfile;
}

/** Breaks down a transaction's gas by place, on request. It changes no result. */
export type Profiler = ReturnType<typeof createProfiler>;

/** Creates a profiler. All code that uses it is synchronous, so a single variable for the recorder is safe. */
export function createProfiler() {
  let recorder: GasRecorder | undefined;
  return {
    /** The tracer to which the state machine reports. */
    tracer: {
      call: () => recorder && recordCalls(recorder),
      span: (context, kind, name, work) =>
        recorder === undefined ? work(context) : runSpan(recorder, context, { kind, name: name() }, work),
    } satisfies GasTracer,
    /** Runs work with a recorder. `gasUsedBy` returns the gas to break down; undefined means the recorded gas. */
    record: <T>(name: string, run: () => T, gasUsedBy: (result: T) => bigint | undefined): Profiled<T> => {
      const outer = recorder;
      const own = new GasRecorder(name);
      recorder = own;
      try {
        const result = run();
        own.leaveTo(1);
        const gasUsed = gasUsedBy(result) ?? own.total / GAS_MULTIPLIER;
        balance(own, gasUsed * GAS_MULTIPLIER);
        const { root, failures } = own;
        return { result, profile: { gasUsed, root, failures } };
      } finally {
        recorder = outer;
      }
    },
  };
}

function runSpan<T>(
  recorder: GasRecorder,
  context: Context,
  { kind, name }: { readonly kind: SpanKind; readonly name: string },
  work: (context: Context) => T,
): T {
  const depth = recorder.depth();
  recorder.enter(kind, name);
  const node = recorder.current();
  const { total } = recorder;
  const used = context.gas.used();
  try {
    return work(observed(recorder, context));
  } catch (thrown) {
    node.error ??= errorText(thrown);
    throw thrown;
  } finally {
    recorder.leaveTo(depth + 1);
    balance(recorder, total + (context.gas.used() - used) * GAS_MULTIPLIER);
    recorder.leaveTo(depth);
  }
}

/** Always less than one unit of the chain's gas. */
const ROUNDING = "rounding of VM gas";
/** Gas without a place, or used but not consumed: above a message's gas limit, or in a Go panic. */
const REST = "other";

/** Adds the difference between `total` and the recorded gas, so that the sum is exact. */
function balance(recorder: GasRecorder, total: bigint): void {
  const rest = total - recorder.total;
  if (rest === 0n) return;
  const isRounding = recorder.current().place === "wasm" && rest < 0n && -rest < GAS_MULTIPLIER;
  recorder.addBelow("cost", isRounding ? ROUNDING : REST, rest);
}

/** Gas that another meter has already recorded when it is consumed: by Wasm code in a call, or by work with its own meter. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "From limited Sub-Message",
  "Sub-Message OutOfGas panic",
  "contract sub-query",
  "consume gas from cached context",
]);

/** Kinds of store access, keyed by the SDK's cost descriptors. */
const STORAGE: Readonly<Record<string, string>> = {
  ReadFlat: "store read",
  ReadPerByte: "store read",
  Has: "store has",
  WriteFlat: "store write",
  WritePerByte: "store write",
  Delete: "store delete",
  IterNextFlat: "store iteration",
  ValuePerByte: "store iteration",
};

function observed(recorder: GasRecorder, context: Context): Context {
  if (context.gas.observer !== undefined) return context;
  return context.withGas(observeMeter(context.gas, createObserver(recorder)));
}

function createObserver(recorder: GasRecorder): GasObserver {
  return (amount, location) => {
    if (amount === 0n || ELSEWHERE.has(location)) return;
    if (location === "wasm contract" && recorder.current().place === "wasm") return;
    const storage = STORAGE[location];
    if (storage === undefined) recorder.addBelow("cost", location, amount * GAS_MULTIPLIER);
    else recorder.addBelow("storage", storage, amount * GAS_MULTIPLIER);
  };
}
