import { withTimeout } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { RelayerStore } from "../state/store.ts";
import type { Admission, AdmissionRequest, SubmitGate } from "../submit/submit-gate.ts";
import type { Leadership, LeadershipStatus } from "./leadership.ts";
import type { Reserve, ReserveStatus } from "./reserve.ts";
import type { DailySpending, Spending, SpendingLimits } from "./spending.ts";

/** The state of the gate, for status, page and metrics. */
export interface GateStatus {
  readonly leadership: LeadershipStatus;
  readonly store: {
    readonly kind: RelayerStore["kind"];
    /** Writes that are not durable yet. */
    readonly pendingWrites: number;
    /** Attempts that were not stored since the start. */
    readonly droppedWrites: number;
    /** Why the store cannot write; undefined after a success. */
    readonly error: string | undefined;
  };
  readonly spending: DailySpending & { readonly limits: SpendingLimits };
  readonly reserve: ReserveStatus;
  /** Why the last transaction was not admitted; undefined after an admission. */
  readonly refusal: string | undefined;
}

/** The gate before broadcasts, and its state. */
export interface RelayerGate extends SubmitGate {
  readonly status: () => GateStatus;
}

export interface GateDeps {
  readonly leadership: Pick<Leadership, "leads" | "status">;
  readonly spending: Spending;
  readonly limits: SpendingLimits;
  readonly reserve: Reserve;
  readonly store: Pick<RelayerStore, "queue" | "kind">;
  readonly clock: Clock;
}

/** Longest wait of an admission for the store. Below the lifetime of a lease. */
const FLUSH_MS = 1_500;

/**
 * Creates the gate. It admits a transaction when this process leads, when the limits of spending allow it, and after all
 * earlier writes of the store have become durable. With PostgreSQL each of those writes proves in its transaction that
 * this process still has the lease: that is the fence before every broadcast. The lease may pass to another process
 * while the admitted transaction is on its way. Both have the same account, so at most one of two transactions with the
 * same sequence is included.
 */
export function createGate(deps: GateDeps): RelayerGate {
  let refusal: string | undefined;
  return {
    admit: async (request, signal) => {
      const admission = await admit(deps, request, signal);
      refusal = admission.admitted ? undefined : admission.reason;
      return admission;
    },
    status: () => {
      const { pending, dropped, error } = deps.store.queue.status();
      return {
        leadership: deps.leadership.status(),
        store: { kind: deps.store.kind, pendingWrites: pending, droppedWrites: dropped, error },
        spending: { ...deps.spending.today(), limits: deps.limits },
        reserve: deps.reserve.status(),
        refusal,
      };
    },
  };
}

async function admit(deps: GateDeps, request: AdmissionRequest, signal: AbortSignal): Promise<Admission> {
  if (!deps.leadership.leads()) return refused(standbyText(deps.leadership.status()));
  const overLimit = deps.spending.check(request);
  if (overLimit !== undefined) return { admitted: false, ...overLimit };
  const belowReserve = await deps.reserve.check(request.fee, signal);
  if (belowReserve !== undefined) return refused(belowReserve);
  const release = deps.spending.charge(request);
  const error = await flush(deps, signal);
  if (error === undefined && deps.leadership.leads()) {
    deps.reserve.pay(request.fee);
    return { admitted: true, release };
  }
  release();
  return refused(error ?? standbyText(deps.leadership.status()));
}

/** Returns why the writes are not durable. */
async function flush({ store, clock }: GateDeps, signal: AbortSignal): Promise<string | undefined> {
  try {
    const done = await withTimeout(FLUSH_MS, clock, signal, async (inner) => {
      await store.queue.flushed(inner);
      return true;
    });
    if (done === true) return undefined;
    return `the store is too slow or cannot write: ${store.queue.status().error ?? `no commit within ${FLUSH_MS} ms`}`;
  } catch (error) {
    signal.throwIfAborted();
    return `the store cannot write: ${errorText(error)}`;
  }
}

function standbyText({ role, holder, error }: LeadershipStatus): string {
  if (role === "starting")
    return `this process does not submit yet: ${error ?? "it reads what its predecessor did"}`;
  return `this process is a standby: ${error ?? (holder === undefined ? "the lease was not read yet" : `${holder} has the lease`)}`;
}

function refused(reason: string): Admission {
  return { admitted: false, reason };
}
