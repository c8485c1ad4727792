import { retry } from "../../platform/base/retry.ts";
import { pause, untilAborted } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { createWakeSignal, type WakeSignal } from "../../platform/base/waits.ts";
import { formatDuration } from "../../platform/base/text.ts";
import type { Lease, LeaseAttempt } from "../../platform/storage/lease.ts";
import { errorBackoff } from "../chain/relay-error.ts";

/** Values of {@link LeadershipStatus.role}, as they appear in JSON and metrics. */
export const ROLES = ["leader", "starting", "standby", "unknown"] as const;

export type LeadershipStatus = ReturnType<Leadership["status"]>;

/** Measurements of this process's connection to the local chain, in ms. */
export interface LeaderFitness {
  /** Time since the newest block; undefined before the first block. */
  readonly sinceBlockMs: () => number | undefined;
  /** Block time; undefined before the third block. */
  readonly blockMs: () => number | undefined;
  /** Time since `beginTerm` or later for which no request has reached a node; 0 if the last request reached a node. */
  readonly muteMs: () => number;
  /** Resets `muteMs`, so that failed broadcasts from an earlier term are ignored. Called before this process starts to submit. */
  readonly beginTerm: () => void;
}

/** Decides whether this process submits, and prepares the process for submitting. */
export type Leadership = ReturnType<typeof createLeadership>;

export interface LeadershipDeps {
  /** The lease on the signing account; undefined if this process is the only one that uses the account. */
  readonly lease: { readonly lease: Lease; readonly ttlMs: number; readonly holder: string } | undefined;
  /**
   * Waits until an earlier process's transactions are final, and reads the state that the process stored. Called before the first
   * submission of a term, and again after an error.
   */
  readonly prepare: (signal: AbortSignal, onProgress: (text: string | undefined) => void) => Promise<void>;
  /** Measurements that decide whether this process can lead. A process that cannot lead gives up its lease. */
  readonly fitness: LeaderFitness;
  readonly onLead: () => void;
  /** Called when this process has lost the lease and another process may submit. */
  readonly onLoss: () => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

interface LeadershipState {
  /** The term for which this process has the lease; undefined without the lease. */
  term: bigint | undefined;
  /** The last term for which this process was prepared. */
  preparedTerm: bigint | undefined;
  /** Monotonic time until which this process's last reading of the lease is valid, ms. */
  validUntilMs: number;
  holder: string | undefined;
  leaseError: string | undefined;
  startError: string | undefined;
  progress: string | undefined;
  /** Monotonic time before which this process does not try to acquire the lease, ms. */
  retryAtMs: number;
}

/** Number of renewals per lease lifetime, which allows two consecutive renewals to fail. */
const RENEWALS = 4;

/** Creates the leadership. The process does not submit until the leadership's service runs. */
export function createLeadership(deps: LeadershipDeps) {
  const isOnly = deps.lease === undefined;
  const state: LeadershipState = {
    term: isOnly ? 0n : undefined,
    preparedTerm: undefined,
    validUntilMs: isOnly ? Number.POSITIVE_INFINITY : 0,
    holder: undefined,
    leaseError: undefined,
    startError: undefined,
    progress: undefined,
    retryAtMs: 0,
  };
  const acquired = createWakeSignal();
  return {
    service: {
      name: "leadership",
      run: async (signal: AbortSignal) => {
        await Promise.all([
          renew(deps, state, acquired, signal),
          prepareTerms(deps, state, acquired, signal),
        ]);
      },
    },
    leads: (): boolean => roleOf(state, deps.clock) === "leader",
    status: () => ({
      /**
       * - "leader": this process submits;
       * - "starting": this process has the lease, but is still reading the previous process's transactions;
       * - "standby": another process has the lease;
       * - "unknown": the lease has been unreadable for its whole lifetime, so this process sends nothing.
       */
      role: roleOf(state, deps.clock),
      /** The process that holds the lease; undefined if leases are not used or the lease has not been read. */
      holder: state.holder,
      /** The last lease error or startup error, or why this process gave up the lease; undefined if there is none. */
      error: state.leaseError ?? state.startError,
      /** Describes a starting process's current step, with a count and the remaining time; undefined if there is none. */
      progress: state.progress,
    }),
    /** Releases the lease after the last write, so that another process can take over immediately. */
    release: async (): Promise<void> => {
      state.term = undefined;
      await deps.lease?.lease.release();
    },
  };
}

function roleOf({ term, preparedTerm, validUntilMs }: LeadershipState, clock: Clock): (typeof ROLES)[number] {
  if (clock.monotonicMs() >= validUntilMs) return "unknown";
  if (term === undefined) return "standby";
  return term === preparedTerm ? "leader" : "starting";
}

/** Acquires and renews the lease until the signal aborts. Never rejects. */
async function renew(
  deps: LeadershipDeps,
  state: LeadershipState,
  acquired: WakeSignal,
  signal: AbortSignal,
): Promise<void> {
  if (deps.lease === undefined) return untilAborted(signal);
  const { lease, ttlMs } = deps.lease;
  const { clock, logger } = deps;
  let role = roleOf(state, clock);
  while (!signal.aborted) {
    // Measure the lease's lifetime from before the request, so that the lease never lasts longer here than in the database.
    const askedMs = clock.monotonicMs();
    try {
      const reason = whyUnfit(deps.fitness, state, { ttlMs, nowMs: askedMs });
      if (reason !== undefined) await giveUp(deps, state, reason, askedMs + ttlMs);
      else recordAttempt(deps, state, await lease.acquire(), askedMs + ttlMs);
      if (state.term !== undefined) acquired.wake();
    } catch (error) {
      state.leaseError = `cannot read the lease: ${errorText(error)}`;
    }
    const now = roleOf(state, clock);
    if (now !== role)
      logger.info("role of this process changed", {
        role: now,
        holder: state.holder,
        reason: state.leaseError,
      });
    role = now;
    await pause(ttlMs / RENEWALS, clock, signal);
  }
}

/** Number of lease lifetimes after which a process that cannot lead gives up the lease. */
const UNFIT_LIFETIMES = 2;
/** Minimum number of block times without a block before a process is unfit to lead, since chains occasionally pause. */
const UNFIT_BLOCKS = 3;
/**
 * Number of lease lifetimes for which a process leaves the lease to other processes after its broadcasts reached no node. The
 * process then tries again, because only a broadcast can show that a node is reachable.
 */
const MUTE_LIFETIMES = 6;

/** Returns why this process cannot lead: it sees no local blocks or cannot reach a node. Returns undefined if it can lead. */
function whyUnfit(
  { sinceBlockMs, blockMs, muteMs }: LeaderFitness,
  state: LeadershipState,
  { ttlMs, nowMs }: { readonly ttlMs: number; readonly nowMs: number },
): string | undefined {
  const mostMs = UNFIT_LIFETIMES * ttlMs;
  const blindMs = sinceBlockMs();
  if (blindMs === undefined) return "no block of the local chain has been read yet";
  if (blindMs > Math.max(mostMs, UNFIT_BLOCKS * (blockMs() ?? 0)))
    return `it has not seen a local block for ${formatDuration(blindMs)}`;
  if (state.term === undefined) return nowMs < state.retryAtMs ? state.leaseError : undefined;
  const mute = state.term === state.preparedTerm ? muteMs() : 0;
  if (mute <= mostMs) return undefined;
  state.retryAtMs = nowMs + MUTE_LIFETIMES * ttlMs;
  return `its transactions have not reached any node for ${formatDuration(mute)}`;
}

/**
 * Gives up the lease so that another process can take over. Without another process, nothing is submitted, and the relayer reports
 * late results.
 */
async function giveUp(
  deps: LeadershipDeps,
  state: LeadershipState,
  reason: string,
  validUntilMs: number,
): Promise<void> {
  const had = state.term !== undefined;
  [state.term, state.preparedTerm, state.holder, state.validUntilMs] = [
    undefined,
    undefined,
    undefined,
    validUntilMs,
  ];
  state.leaseError = reason;
  if (!had) return;
  deps.logger.warn("this process cannot lead and gives up the lease", { reason });
  deps.onLoss();
  await deps.lease?.lease.release();
}

function recordAttempt(
  deps: LeadershipDeps,
  state: LeadershipState,
  attempt: LeaseAttempt,
  validUntilMs: number,
): void {
  const before = state.term;
  state.term = attempt.acquired ? attempt.epoch : undefined;
  state.holder = attempt.acquired ? deps.lease?.holder : attempt.holder;
  state.validUntilMs = validUntilMs;
  state.leaseError =
    attempt.acquired || attempt.isOwnName
      ? undefined
      : `another instance with a different signer serves one of this process's connections: it has the lease ${attempt.name}`;
  if (before !== undefined && before !== state.term) {
    state.preparedTerm = undefined;
    deps.onLoss();
  }
}

/** Prepares this process for each term in which it has the lease, until the signal aborts. Never rejects. */
async function prepareTerms(
  deps: LeadershipDeps,
  state: LeadershipState,
  acquired: WakeSignal,
  signal: AbortSignal,
): Promise<void> {
  const tries = { failures: 0 };
  const prepareNext = async (): Promise<void> => {
    while (!signal.aborted) {
      const { term } = state;
      if (term === undefined || term === state.preparedTerm) {
        await acquired.next(signal).catch(() => undefined);
        continue;
      }
      await deps.prepare(signal, (text) => {
        state.progress = text;
      });
      state.progress = undefined;
      // Prepare again if the term has changed, because another process may have had the lease in between.
      if (state.term !== term) continue;
      deps.fitness.beginTerm();
      [state.preparedTerm, state.startError, tries.failures] = [term, undefined, 0];
      deps.logger.info("this process now submits");
      deps.onLead();
    }
  };
  const onError = (error: unknown): void => {
    state.startError = errorText(error);
    deps.logger[tries.failures === 0 ? "warn" : "debug"]("this process cannot submit yet", {
      reason: state.startError,
    });
  };
  await retry(prepareNext, { ...deps, backoff: errorBackoff, signal, tries, onError });
}
