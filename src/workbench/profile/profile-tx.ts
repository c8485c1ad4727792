import { equalBytes, fromBase64, fromHex, fromUtf8, toHex, utf8 } from "../../platform/base/bytes.ts";
import { CodedError, errorText, unreachable } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import type * as abci from "../../localnet/chain/runtime/abci.ts";
import type { ProfileRequest } from "../../localnet/cli/gas-reports.ts";
import { ErrInvalidRequest } from "../../localnet/chain/runtime/errors.ts";
import {
  type Interrupt,
  InterruptedError,
  type GasObserver,
  observeMeter,
} from "../../localnet/chain/runtime/gas.ts";
import { errorResponse, okResponse } from "../../localnet/chain/runtime/query-router.ts";
import { type GasProfile, ProfileTooLargeError, recordCalls, GasRecorder } from "./gas-recorder.ts";
import { createDeadline } from "../../localnet/node/base/deadline.ts";
import { parseProfileRequest, PROFILE_PATH, type ProfileReport, profileReportJson } from "./profile-json.ts";
import { toRequest } from "../../localnet/node/consensus/make-block.ts";
import { validatorsAt } from "../../localnet/node/consensus/chain-state.ts";
import type { BlockStore } from "../../localnet/node/storage/block-store.ts";
import { txAt } from "../../localnet/node/storage/search.ts";
import type { NodeQueries } from "../../localnet/node/base/node-view.ts";
import type { Context } from "../../localnet/chain/runtime/context.ts";
import type { GasTracer, SpanKind } from "../../localnet/chain/runtime/gas-trace.ts";
import { GAS_MULTIPLIER } from "../../localnet/vm/gas.ts";

type ProfileErrorFacts =
  | { readonly code: "profile-no-tx"; readonly hash: string }
  | { readonly code: "profile-no-state"; readonly height: bigint }
  | { readonly code: "profile-differs"; readonly height: bigint }
  | { readonly code: "profile-too-large" }
  | { readonly code: "profile-bad-request" };

/** Thrown if a transaction, query or simulation cannot be profiled. */
export class ProfileError extends CodedError<ProfileErrorFacts> {}

/** A node's application and blocks, and the profiler that records the application's gas. */
interface ProfileDeps {
  readonly app: Pick<abci.Application, "rerun" | "simulate" | "query">;
  readonly store: BlockStore;
  /** CPU time limit for a query or simulation that is not profiled. */
  readonly queryTimeMs: number;
  readonly profiler: Profiler;
}

/**
 * Factor by which a profile's time limit exceeds a query's time limit. The factor is small, because the chain makes no blocks until
 * the profile is complete.
 */
const PROFILE_TIME = 2;

/** Profiles a transaction or query by running it again without changing any state. Throws {@link ProfileError}. */
function makeProfile(request: ProfileRequest, deps: ProfileDeps): ProfileReport {
  const { app, profiler, queryTimeMs } = deps;
  const deadline = createDeadline(PROFILE_TIME * queryTimeMs);
  try {
    switch (request.kind) {
      case "tx":
        return profileOfTx(fromHex(request.hash), deps, deadline);
      case "simulation":
        return reportOf(profileSimulation(decode(request.tx), deps, deadline), null);
      case "query": {
        const { path } = request;
        const data = decode(request.request);
        const run = (): abci.QueryResponse => app.query({ path, data, height: 0n, prove: false }, deadline);
        return reportOf(
          profiler.record("query", run, () => undefined),
          null,
        );
      }
    }
  } catch (thrown) {
    if (thrown instanceof ProfileTooLargeError || thrown instanceof InterruptedError)
      throw new ProfileError({ code: "profile-too-large" }, thrown.message);
    throw thrown;
  }
}

function decode(base64: string): Uint8Array {
  try {
    return fromBase64(base64);
  } catch (cause) {
    throw new ProfileError({ code: "profile-bad-request" }, "expected base64", { cause });
  }
}

export function profileSimulation(
  tx: Uint8Array,
  { app, profiler }: Pick<ProfileDeps, "app" | "profiler">,
  interrupt?: Interrupt,
): Profiled<abci.TxResult> {
  return profiler.record("simulation", () => app.simulate(tx, interrupt), gasOf);
}

/** Reruns a block and profiles its last transaction, or returns undefined without the state before the block or without block gas. */
export function profileLastTx(
  block: abci.FinalizeBlockRequest,
  { app, profiler }: Pick<ProfileDeps, "app" | "profiler">,
  interrupt?: Interrupt,
): Profiled<readonly abci.TxResult[]> | undefined {
  let profile: GasProfile | undefined;
  const around: abci.RunAround = (run) => {
    const recorded = profiler.record("transaction", run, gasOf);
    ({ profile } = recorded);
    return recorded.result;
  };
  const result = app.rerun(block, around, interrupt);
  return result && profile && { result, profile };
}

function gasOf({ gasUsed }: abci.TxResult): bigint {
  return gasUsed;
}

function profileOfTx(hash: Uint8Array, deps: ProfileDeps, interrupt: Interrupt): ProfileReport {
  const { store } = deps;
  const place = store.index.placeOf(hash);
  const tx = place === undefined ? undefined : txAt(store, place);
  if (tx === undefined) {
    const text = toHex(hash);
    throw new ProfileError(
      { code: "profile-no-tx", hash: text },
      `this node has no transaction with hash ${text}; its block may be pruned`,
    );
  }
  const { height, index } = tx;
  const request = blockUpTo(store, height, index);
  const profiled = request && profileLastTx(request, deps, interrupt);
  if (profiled === undefined)
    throw new ProfileError(
      { code: "profile-no-state", height },
      `the state before block ${height} is not stored: a node stores only the states of its last 1000 blocks, and none before its first block`,
    );
  requireSame(store, height, profiled.result);
  return reportOf({ ...profiled, result: tx.result }, height);
}

/**
 * Returns a block's request with only the transactions up to `index`, or undefined if parts of the block are not stored. Evidence
 * is never stored: if it affected the block, {@link requireSame} rejects the rerun.
 */
function blockUpTo(store: BlockStore, height: bigint, index: number): abci.FinalizeBlockRequest | undefined {
  const block = store.block(height);
  if (block === undefined) return undefined;
  // The first block has no voters, because no validator set has signed before it.
  const voters = validatorsAt(store, height - 1n)?.validators ?? [];
  return { ...toRequest(block, voters), txs: block.txs.slice(0, index + 1) };
}

/** Throws {@link ProfileError} if the rerun's results differ from the block's results, because the profile would be wrong. */
function requireSame(store: BlockStore, height: bigint, results: readonly abci.TxResult[]): void {
  const isSame = results.every((result, index) => {
    const stored = store.txResult(height, index);
    return (
      stored !== undefined &&
      stored.code === result.code &&
      stored.gasUsed === result.gasUsed &&
      equalBytes(stored.data, result.data)
    );
  });
  if (isSame) return;
  throw new ProfileError(
    { code: "profile-differs", height },
    `replaying block ${height} gave different results: the block had evidence of a double sign, or the chain was upgraded`,
  );
}

function reportOf(
  { result, profile }: Profiled<Pick<abci.TxResult, "code" | "codespace" | "log">>,
  height: bigint | null,
): ProfileReport {
  const { code, codespace, log } = result;
  return { height, code, codespace, log, ...profile };
}

/** Handles an `abci_query` on {@link PROFILE_PATH}, whose request and response are JSON. */
function queryProfile(
  { data }: abci.QueryRequest,
  profile: (request: ProfileRequest) => ProfileReport,
): abci.QueryResponse {
  const request = parseProfileRequest(readJson(data));
  if (request === undefined) return errorResponse(ErrInvalidRequest(`no request of ${PROFILE_PATH}`));
  try {
    return okResponse({ value: utf8(stringifyJson(profileReportJson(profile(request)))) });
  } catch (thrown) {
    if (!(thrown instanceof ProfileError)) throw thrown;
    return errorResponse(ErrInvalidRequest(errorText(thrown)));
  }
}

function readJson(data: Uint8Array): unknown {
  try {
    return JSON.parse(fromUtf8(data));
  } catch {
    return undefined;
  }
}

export type GasProfiles = ReturnType<typeof createGasProfiles>;

export function createGasProfiles() {
  const profiler = createProfiler();
  let node: ProfileDeps | undefined;
  const make = (request: ProfileRequest): ProfileReport =>
    makeProfile(request, node ?? unreachable("a profile before the node is ready"));
  return {
    tracer: profiler.tracer,
    /** Returns the `abci_query` path that the node must serve for profiles. Also sets the `parts` that `make` uses. */
    queries: (parts: Omit<ProfileDeps, "profiler">): NodeQueries => {
      node = { ...parts, profiler };
      return new Map([[PROFILE_PATH, (request) => queryProfile(request, make)]]);
    },
    /** Profiles a transaction or query by running it again. Throws `ProfileError`. Call `make` only once the node is ready. */
    make,
  };
}

/** Result of a transaction or query that was run again, and its gas by place. */
export interface Profiled<T> {
  readonly result: T;
  readonly profile: GasProfile;
}

/** Records a transaction's gas by place, only on request and without affecting the transaction's result. */
export type Profiler = ReturnType<typeof createProfiler>;

/** Creates a profiler. One variable holds the current recorder, which is safe because all code that uses it is synchronous. */
export function createProfiler() {
  let recorder: GasRecorder | undefined;
  return {
    /** Tracer to which the state machine reports its work. */
    tracer: {
      call: () => recorder && recordCalls(recorder),
      span: (context, kind, name, work) =>
        recorder === undefined ? work(context) : runSpan(recorder, context, { kind, name: name() }, work),
    } satisfies GasTracer,
    /** Calls `run` and records its gas. `gasUsedBy` returns the gas that the places must add up to, or undefined for the recorded gas. */
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

/** Name of the node for rounding differences, which are always less than one unit of the chain's gas. */
const ROUNDING = "rounding of VM gas";
/**
 * Name of the node for gas that belongs to no place, and for gas that was used but not consumed: above a message's gas limit, or in
 * a Go panic.
 */
const REST = "other";

/** Records the difference between `total` and the recorded gas, so that the sum is exact. */
function balance(recorder: GasRecorder, total: bigint): void {
  const rest = total - recorder.total;
  if (rest === 0n) return;
  const isRounding = recorder.current().place === "wasm" && rest < 0n && -rest < GAS_MULTIPLIER;
  recorder.addBelow("cost", isRounding ? ROUNDING : REST, rest);
}

/** Cost descriptors of gas that is already recorded elsewhere: by Wasm code in a call, or by work with its own gas meter. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "From limited Sub-Message",
  "Sub-Message OutOfGas panic",
  "contract sub-query",
  "consume gas from cached context",
]);

/** Names of store accesses, keyed by the SDK's cost descriptors. */
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
