import { errorText } from "../../../platform/base/errors.ts";
import { GAS_MULTIPLIER } from "../../vm/gas.ts";
import { type GasPlace, type GasProfile, GasRecorder } from "../../vm/gas-recorder.ts";
import { createBranch } from "../store/cache-store.ts";
import type { StoreView } from "../store/multi-store.ts";
import type { FinalizeBlockRequest, Profiled, TxResult } from "./abci.ts";
import { BLOCK_RECORD_STORE, readBlockRecord } from "./block-record.ts";
import type { Context } from "./context.ts";
import { type BlockRules, executeBlock } from "./execute-block.ts";
import { type GasObserver, observeMeter } from "./gas.ts";
import type { ChainModule, MessageHandler, QueryHandler } from "./module.ts";
import { runTx, type TxRules } from "./tx-runner.ts";

/** Divides the gas of a transaction by place, while it is asked to. It changes no result. */
export interface Profiler {
  /** Undefined: nothing is recorded. */
  readonly recorder: () => GasRecorder | undefined;
  /** Runs work in a place of its own. Without a recorder, it only runs. */
  readonly span: <T>(
    context: Context,
    place: GasPlace,
    name: () => string,
    work: (context: Context) => T,
  ) => T;
  /** Runs work with a recorder. `gasUsed` returns the gas to divide; undefined: what was recorded. */
  readonly record: <T>(name: string, run: () => T, gasUsed: (result: T) => bigint | undefined) => Profiled<T>;
}

/** Creates a profiler. Everything that it is given to is synchronous, so that a variable is sound. */
export function createProfiler(): Profiler {
  let recorder: GasRecorder | undefined;
  return {
    recorder: () => recorder,
    span: (context, place, name, work) =>
      recorder === undefined ? work(context) : runSpan(recorder, context, { place, name: name() }, work),
    record: (name, run, gasUsedBy) => {
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
  { place, name }: { readonly place: GasPlace; readonly name: string },
  work: (context: Context) => T,
): T {
  const depth = recorder.depth();
  recorder.enter(place, name);
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

/** Less than one unit of the chain's gas. */
const ROUNDING = "rounding of VM gas";
/** Gas without a place, or that was used and not consumed: over the gas limit of a message, or in a Go panic. */
const REST = "other";

/** Adds what is missing at `total`, so that the sum is exact. */
function balance(recorder: GasRecorder, total: bigint): void {
  const rest = total - recorder.total;
  if (rest === 0n) return;
  const isRounding = recorder.current().place === "wasm" && rest < 0n && -rest < GAS_MULTIPLIER;
  recorder.addBelow("cost", isRounding ? ROUNDING : REST, rest);
}

/** Consumption of gas that another meter has recorded already: of a call's binary code, or of work with a meter of its own. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "From limited Sub-Message",
  "Sub-Message OutOfGas panic",
  "contract sub-query",
  "consume gas from cached context",
]);

/** Kinds of store accesses by the SDK's descriptors of their costs. */
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

/** Returns rules that record the steps of a transaction. */
export function profiledRules(rules: TxRules, profiler: Profiler): TxRules {
  const { ante, post } = rules;
  return {
    ...rules,
    ante: (context, tx, environment) =>
      profiler.span(context, "step", anteName, (inner) => ante(inner, tx, environment)),
    post: (context, tx, environment) =>
      profiler.span(context, "step", postName, (inner) => post(inner, tx, environment)),
  };
}

function anteName(): string {
  return "ante handler";
}

function postName(): string {
  return "post handler: fee settlement";
}

/** Returns a module whose messages and queries are places of a profile, wherever they come from. */
export function profiledModule(module: ChainModule, profiler: Profiler): ChainModule {
  return {
    ...module,
    messages: module.messages.map((handler) => profiledMessage(handler, profiler)),
    queries: module.queries.map((handler) => profiledQuery(handler, profiler)),
  };
}

function profiledMessage(handler: MessageHandler, profiler: Profiler): MessageHandler {
  const name = (): string => handler.typeUrl.slice(1);
  return {
    ...handler,
    handle: (context, message) =>
      profiler.span(context, "message", name, (inner) => handler.handle(inner, message)),
  };
}

function profiledQuery(handler: QueryHandler, profiler: Profiler): QueryHandler {
  const name = (): string => handler.path.slice(1);
  return {
    ...handler,
    query: (context, request) =>
      profiler.span(context, "query", name, (inner) => handler.query(inner, request)),
  };
}

/** What a transaction needs to run again. */
interface BlockAgain {
  /** State before the block; undefined if it is not stored. */
  readonly view: StoreView | undefined;
  readonly chainId: string;
  readonly rules: BlockRules;
  readonly profiler: Profiler;
}

/**
 * Runs a block again on a branch that is dropped, and its last transaction with a profile. Undefined if the state before the block is not
 * stored, or if the transaction does not run because no gas of the block is left.
 */
export function profileLastTx(
  block: FinalizeBlockRequest,
  { view, chainId, rules, profiler }: BlockAgain,
): Profiled<readonly TxResult[]> | undefined {
  // The state of genesis is stored with that of the first block only.
  if (view === undefined || readBlockRecord(view.store(BLOCK_RECORD_STORE)) === undefined) return undefined;
  let profile: GasProfile | undefined;
  const run: BlockRules["run"] = (tx, txRules, scope, index) => {
    if (index < block.txs.length - 1) return runTx(tx, txRules, scope);
    const recorded = profiler.record("transaction", () => runTx(tx, txRules, scope), gasOf);
    ({ profile } = recorded);
    return recorded.result;
  };
  const request = { ...block, appHash: view.appHash };
  const { txResults } = executeBlock(request, chainId, createBranch(view.store), { ...rules, run });
  return profile && { result: txResults, profile };
}

/** The gas of a transaction, for {@link Profiler.record}. */
export function gasOf({ gasUsed }: TxResult): bigint {
  return gasUsed;
}
