import { retry } from "../../platform/base/retry.ts";
import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { TxBody, TxRaw } from "../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgSubmitQueryResult } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { pause, raceAbort, untilAborted } from "../../platform/base/abort.ts";
import { sha256, toHex } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import { createWakeSignal, type WakeSignal } from "../../platform/base/waits.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import type { Lease, LeaseAttempt } from "../../platform/storage/lease.ts";
import { errorBackoff } from "../chain/relay-error.ts";
import type { Journal } from "../state/journal.ts";

/** Values of {@link LeadershipStatus.role}, as in JSON and metrics. */
export const ROLES = ["leader", "starting", "standby", "unknown"] as const;

/** The role of this process. */
export interface LeadershipStatus {
  /**
   * - "leader": it submits;
   * - "starting": only this process may submit, and it is still reading what the previous process did;
   * - "standby": another process has the lease;
   * - "unknown": the lease was not read for its lifetime, so this process sends nothing, and perhaps nobody does.
   */
  readonly role: (typeof ROLES)[number];
  /** The process that has the lease; undefined without a lease, and before the first read. */
  readonly holder: string | undefined;
  /** The last error of the lease or of the start, or why this process gave the lease up; undefined without one. */
  readonly error: string | undefined;
  /** What a process that is starting waits for, with number and remaining time; undefined when it waits for nothing in particular. */
  readonly progress: string | undefined;
}

/** What this process sees of the local chain, and whether it reaches it. Durations in ms. */
export interface LeaderFitness {
  /** Time since the newest block; undefined before the first one. */
  readonly sinceBlockMs: () => number | undefined;
  /** Block time; undefined before the third block. */
  readonly blockMs: () => number | undefined;
  /** Time for which every broadcast since `beginTerm` has failed to reach a node; 0 unless the last one did. */
  readonly muteMs: () => number;
  /** Called before this process starts to submit: what it failed to send in an earlier term says nothing. */
  readonly beginTerm: () => void;
}

/** Decides whether this process submits, and prepares it for that. */
export interface Leadership {
  readonly service: Service;
  /** Whether this process may submit now. */
  readonly leads: () => boolean;
  readonly status: () => LeadershipStatus;
  /** Releases the lease, so that another process can take over immediately. Call it after the last write. */
  readonly release: () => Promise<void>;
}

export interface LeadershipDeps {
  /** Undefined when this process is the only one. */
  readonly lease: { readonly lease: Lease; readonly ttlMs: number; readonly holder: string } | undefined;
  /**
   * Reads everything that an earlier process did, and waits until its transactions are final. Called before this process
   * submits for the first time in a term, and again after an error.
   */
  readonly prepare: (signal: AbortSignal, onProgress: (text: string | undefined) => void) => Promise<void>;
  /** With a lease: a process that cannot lead gives it up. */
  readonly fitness: LeaderFitness;
  /** Called when this process starts to submit. */
  readonly onLead: () => void;
  /** Called when this process has lost the lease, so another one may submit. */
  readonly onLoss: () => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

interface LeadershipState {
  /** The term in which this process has the lease; undefined without the lease. */
  term: bigint | undefined;
  /** The last term for which this process was prepared. */
  preparedTerm: bigint | undefined;
  /** Monotonic time until which it is certain whether this process has the lease, ms. */
  validUntilMs: number;
  holder: string | undefined;
  leaseError: string | undefined;
  startError: string | undefined;
  progress: string | undefined;
  /** The lease is not acquired before this time, monotonic ms. */
  retryAtMs: number;
}

/** Renewals within the lifetime of a lease. Two in a row may fail. */
const RENEWALS = 4;

/** Creates the leadership. The process does not submit before its service runs. */
export function createLeadership(deps: LeadershipDeps): Leadership {
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
      run: async (signal) => {
        await Promise.all([
          renew(deps, state, acquired, signal),
          prepareTerms(deps, state, acquired, signal),
        ]);
      },
    },
    leads: () => roleOf(state, deps.clock) === "leader",
    status: () => ({
      role: roleOf(state, deps.clock),
      holder: state.holder,
      error: state.leaseError ?? state.startError,
      progress: state.progress,
    }),
    release: async () => {
      state.term = undefined;
      await deps.lease?.lease.release();
    },
  };
}

function roleOf(
  { term, preparedTerm, validUntilMs }: LeadershipState,
  clock: Clock,
): LeadershipStatus["role"] {
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
    // The lifetime starts before the request, so the lease never lasts longer here than in the database.
    const askedMs = clock.monotonicMs();
    try {
      const reason = whyUnfit(deps.fitness, state, { ttlMs, nowMs: askedMs });
      if (reason !== undefined) await giveUp(deps, state, reason, askedMs + ttlMs);
      else recordAttempt(deps, state, await lease.acquire(), askedMs + ttlMs);
      if (state.term !== undefined) acquired.wake();
    } catch (error) {
      state.leaseError = `the lease cannot be read: ${errorText(error)}`;
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

/** Lifetimes of the lease after which a process that cannot lead gives it up. */
const UNFIT_LIFETIMES = 2;
/** A chain makes no block for a while now and then. */
const UNFIT_BLOCKS = 3;
/**
 * Lifetimes for which a process that reached no node with its broadcasts leaves the lease to others. Only a broadcast shows that it
 * reaches one again, so it tries after that when nobody has taken the lease.
 */
const MUTE_LIFETIMES = 6;

/** Returns why this process cannot lead: it does not see the local chain, or does not reach it. undefined when it can. */
function whyUnfit(
  { sinceBlockMs, blockMs, muteMs }: LeaderFitness,
  state: LeadershipState,
  { ttlMs, nowMs }: { readonly ttlMs: number; readonly nowMs: number },
): string | undefined {
  const mostMs = UNFIT_LIFETIMES * ttlMs;
  const blindMs = sinceBlockMs();
  if (blindMs === undefined) return "no block of the local chain was read yet";
  if (blindMs > Math.max(mostMs, UNFIT_BLOCKS * (blockMs() ?? 0)))
    return `it has seen no block of the local chain for ${formatDuration(blindMs)}`;
  if (state.term === undefined) return nowMs < state.retryAtMs ? state.leaseError : undefined;
  const mute = state.term === state.preparedTerm ? muteMs() : 0;
  if (mute <= mostMs) return undefined;
  state.retryAtMs = nowMs + MUTE_LIFETIMES * ttlMs;
  return `its transactions have reached no node for ${formatDuration(mute)}`;
}

/** Leaves the lease to another process. Without one, nobody submits: results that are late show it. */
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
  deps.logger.warn("this process cannot lead and gives the lease up", { reason });
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
      : `the lease ${attempt.name} has a connection of this one: two instances with different signers serve it`;
  if (before !== undefined && before !== state.term) {
    state.preparedTerm = undefined;
    deps.onLoss();
  }
}

/** Prepares each term of this process until the signal aborts. Never rejects. */
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
      // Another process may have had the lease in between.
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

/** One page of a transaction search. */
interface FoundTransactions {
  readonly txs: readonly { readonly tx: Uint8Array; readonly result: { readonly code: number } }[];
  readonly totalCount: number;
}

export interface PredecessorDeps {
  /** Returns the number of the account's transactions in the mempool. */
  readonly countPending: (signal: AbortSignal) => Promise<bigint>;
  readonly comet: {
    readonly txSearch: (
      search: Parameters<ChainClient["comet"]["txSearch"]>[0],
    ) => Promise<FoundTransactions>;
  };
  /** Bech32 address of the account. */
  readonly address: string;
  /** Type URL of `MsgSubmitQueryResult`. */
  readonly submitTypeUrl: string;
  readonly journal: Pick<Journal, "sending" | "recordIncluded">;
  /** Called with what is waited for, for people; undefined: nothing. */
  readonly onProgress: (text: string | undefined) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Maximum wait for the previous process's transactions. A block takes a few seconds. */
const MAX_WAIT_MS = 20_000;
const POLL_MS = 250;
const PAGE_SIZE = 10;
/** Maximum number of pages, newest first. The previous process had only a few transactions in flight. */
const MAX_PAGES = 10;

/**
 * Waits until the transactions of the previous process are in blocks, and records the remote transactions that they
 * delivered. Without the wait, results in flight would be sent twice. Rejects with `ClientError` when the chain cannot be
 * read. Logs a warning when the node has no transaction index.
 */
export async function resolvePredecessor(deps: PredecessorDeps, signal: AbortSignal): Promise<void> {
  await waitForPending(deps, signal);
  const { journal, logger } = deps;
  const sending = journal.sending();
  if (sending.length === 0) return;
  try {
    const since = sending.reduce(
      (least, tx) => (tx.localHeight < least ? tx.localHeight : least),
      sending[0]?.localHeight ?? 0n,
    );
    const delivered = await readDelivered(deps, since, signal);
    const found = sending.filter(({ queryId, hash }) => delivered.has(`${queryId} ${hash}`));
    for (const { queryId, hash, remoteHeight } of found) journal.recordIncluded(queryId, hash, remoteHeight);
    logger.info("transactions of the previous process", {
      sending: sending.length,
      included: found.length,
    });
  } catch (error) {
    signal.throwIfAborted();
    logger.warn("transactions of the previous process are unknown and may be sent twice", {
      reason: errorText(error),
    });
  }
}

async function waitForPending(
  { countPending, onProgress, clock, logger }: PredecessorDeps,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + MAX_WAIT_MS;
  let pending = await countPending(signal);
  if (pending > 0n) logger.info("waiting for transactions of the previous process", { pending });
  while (pending > 0n && clock.monotonicMs() < untilMs) {
    const left = formatDuration(untilMs - clock.monotonicMs());
    onProgress(
      `waiting for the block of ${counted(Number(pending), "transaction")} of the previous process, at most ${left} more`,
    );
    await clock.sleep(POLL_MS, signal);
    pending = await countPending(signal);
  }
  onProgress(undefined);
}

/** Returns `<query id> <hash>` of each remote transaction that the account's transactions have delivered since a height. */
async function readDelivered(
  { comet, address, submitTypeUrl, onProgress }: PredecessorDeps,
  since: bigint,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const delivered = new Set<string>();
  const query = `message.sender='${address}' AND tx.height>=${since}`;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const search = comet.txSearch({ query, page, per_page: PAGE_SIZE, order_by: "desc" });
    const { txs, totalCount } = await raceAbort(search, signal);
    const total = Math.min(totalCount, MAX_PAGES * PAGE_SIZE);
    onProgress(
      `reading what the previous process delivered: ${Math.min(page * PAGE_SIZE, total)} of ${counted(total, "transaction")}`,
    );
    for (const { tx, result } of txs)
      if (result.code === 0) for (const key of deliveredBy(tx, submitTypeUrl)) delivered.add(key);
    if (page * PAGE_SIZE >= totalCount || txs.length === 0) break;
  }
  return delivered;
}

function deliveredBy(tx: Uint8Array, submitTypeUrl: string): readonly string[] {
  const { messages } = TxBody.decode(TxRaw.decode(tx).bodyBytes);
  return messages
    .filter(({ typeUrl }) => typeUrl === submitTypeUrl)
    .flatMap(({ value }) => {
      const { queryId, result } = MsgSubmitQueryResult.decode(value);
      const data = result?.block?.tx?.data;
      return data === undefined ? [] : [`${queryId} ${toHex(sha256(data))}`];
    });
}
