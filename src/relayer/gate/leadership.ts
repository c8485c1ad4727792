import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { TxBody, TxRaw } from "../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgSubmitQueryResult } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { pause, raceAbort, untilAborted } from "../../platform/base/abort.ts";
import { sha256, toHex } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import { backoffMs, createWakeSignal, type WakeSignal } from "../../platform/base/waits.ts";
import type { Lease, LeaseAttempt } from "../../platform/storage/lease.ts";
import { errorBackoff } from "../relay-error.ts";
import type { Journal } from "../state/journal.ts";

/** Values of {@link LeadershipStatus.role}, as in JSON and metrics. */
export const ROLES = ["leader", "starting", "standby"] as const;

/** Whether this process submits, and why not. */
export interface LeadershipStatus {
  /**
   * - "leader": it submits;
   * - "starting": only this process may submit, and it reads what its predecessor did;
   * - "standby": another process submits, or the lease cannot be read.
   */
  readonly role: (typeof ROLES)[number];
  /** The process with the lease; undefined without a lease, and before it was read. */
  readonly holder: string | undefined;
  /** Why the lease cannot be used, or why the start does not end; undefined when there is no error. */
  readonly error: string | undefined;
}

/** Decides whether this process submits, and prepares it for that. */
export interface Leadership {
  readonly service: Service;
  /** Whether this process may submit now. */
  readonly leads: () => boolean;
  readonly status: () => LeadershipStatus;
  /** Gives the lease up, so that another process takes over at once. Call it when nothing is written any more. */
  readonly release: () => Promise<void>;
}

export interface LeadershipDeps {
  /** Undefined: this process is the only one. */
  readonly lease: { readonly lease: Lease; readonly ttlMs: number; readonly holder: string } | undefined;
  /**
   * Reads everything that an earlier process did, and waits until its transactions are final. Called before this process
   * submits, and again after an error.
   */
  readonly prepare: (signal: AbortSignal) => Promise<void>;
  /** Called when this process begins to submit. */
  readonly onLead: () => void;
  /** Called when another process may submit from now on. */
  readonly onLoss: () => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

interface State {
  /** The term in which this process has the lease; undefined: it has none. */
  term: bigint | undefined;
  /** The last term for which this process was prepared. */
  preparedTerm: bigint | undefined;
  /** Monotonic time up to which the lease is certain. */
  validUntilMs: number;
  holder: string | undefined;
  leaseError: string | undefined;
  startError: string | undefined;
}

/** A lease is renewed this often in its lifetime. Two renewals may fail. */
const RENEWALS = 4;

/** Creates the leadership of a process that does not submit yet. */
export function createLeadership(deps: LeadershipDeps): Leadership {
  const isOnly = deps.lease === undefined;
  const state: State = {
    term: isOnly ? 0n : undefined,
    preparedTerm: undefined,
    validUntilMs: isOnly ? Number.POSITIVE_INFINITY : 0,
    holder: undefined,
    leaseError: undefined,
    startError: undefined,
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
    }),
    release: async () => {
      state.term = undefined;
      await deps.lease?.lease.release();
    },
  };
}

function roleOf({ term, preparedTerm, validUntilMs }: State, clock: Clock): LeadershipStatus["role"] {
  if (term === undefined || clock.monotonicMs() >= validUntilMs) return "standby";
  return term === preparedTerm ? "leader" : "starting";
}

/** Acquires and renews the lease until the signal aborts. Never rejects. */
async function renew(
  deps: LeadershipDeps,
  state: State,
  acquired: WakeSignal,
  signal: AbortSignal,
): Promise<void> {
  if (deps.lease === undefined) return untilAborted(signal);
  const { lease, ttlMs } = deps.lease;
  const { clock, logger } = deps;
  let role = roleOf(state, clock);
  while (!signal.aborted) {
    // The lifetime counts from before the request, so this process never believes in it longer than the database does.
    const askedMs = clock.monotonicMs();
    try {
      noteAttempt(deps, state, await lease.acquire(), askedMs + ttlMs);
      if (state.term !== undefined) acquired.wake();
    } catch (error) {
      state.leaseError = `the lease cannot be renewed: ${errorText(error)}`;
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

function noteAttempt(deps: LeadershipDeps, state: State, attempt: LeaseAttempt, validUntilMs: number): void {
  const before = state.term;
  state.term = attempt.acquired ? attempt.epoch : undefined;
  state.holder = attempt.acquired ? deps.lease?.holder : attempt.holder;
  state.validUntilMs = attempt.acquired ? validUntilMs : 0;
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
  state: State,
  acquired: WakeSignal,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const { term } = state;
    if (term === undefined || term === state.preparedTerm) {
      await acquired.next(signal).catch(() => undefined);
      continue;
    }
    try {
      await deps.prepare(signal);
      // Another process may have had the lease meanwhile.
      if (state.term !== term) continue;
      [state.preparedTerm, state.startError, failures] = [term, undefined, 0];
      deps.logger.info("this process submits from now on");
      deps.onLead();
    } catch (error) {
      if (signal.aborted) return;
      state.startError = errorText(error);
      deps.logger[failures === 0 ? "warn" : "debug"]("this process cannot submit yet", {
        reason: state.startError,
      });
      await pause(backoffMs(failures++, errorBackoff(error), deps.random), deps.clock, signal);
    }
  }
}

/** What is read of a page of a search. */
interface FoundTransactions {
  readonly txs: readonly { readonly tx: Uint8Array; readonly result: { readonly code: number } }[];
  readonly totalCount: number;
}

export interface PredecessorDeps {
  /** Number of the account's transactions in the mempool. */
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
  readonly journal: Pick<Journal, "sending" | "noteIncluded">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Longest wait for transactions of the process before this one. A block takes some seconds. */
const MAX_WAIT_MS = 20_000;
const POLL_MS = 250;
const PAGE_SIZE = 10;
/** Pages of the account's transactions that are read, the newest first. One process had a few in flight. */
const MAX_PAGES = 10;

/**
 * Waits until the transactions that an earlier process broadcast are in blocks, and notes the remote transactions that
 * they delivered. Without the wait, results on their way would be sent twice. Rejects with `ClientError` when the chain
 * cannot be read; a node without a transaction index is logged.
 */
export async function settlePredecessor(deps: PredecessorDeps, signal: AbortSignal): Promise<void> {
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
    for (const { queryId, hash, remoteHeight } of found) journal.noteIncluded(queryId, hash, remoteHeight);
    logger.info("transactions of the process before this one", {
      sending: sending.length,
      included: found.length,
    });
  } catch (error) {
    signal.throwIfAborted();
    logger.warn("transactions of the process before this one are unknown and may be sent twice", {
      reason: errorText(error),
    });
  }
}

async function waitForPending(
  { countPending, clock, logger }: PredecessorDeps,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + MAX_WAIT_MS;
  let pending = await countPending(signal);
  if (pending > 0n) logger.info("waiting for transactions of the process before this one", { pending });
  while (pending > 0n && clock.monotonicMs() < untilMs) {
    await clock.sleep(POLL_MS, signal);
    pending = await countPending(signal);
  }
}

/** Returns query id and hash of each remote transaction in the account's transactions from a height on. */
async function readDelivered(
  { comet, address, submitTypeUrl }: PredecessorDeps,
  since: bigint,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const delivered = new Set<string>();
  const query = `message.sender='${address}' AND tx.height>=${since}`;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const search = comet.txSearch({ query, page, per_page: PAGE_SIZE, order_by: "desc" });
    const { txs, totalCount } = await raceAbort(search, signal);
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
