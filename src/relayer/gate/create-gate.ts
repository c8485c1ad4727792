import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import { countPendingTransactions } from "../../cosmos/client/tx/create-tx-window.ts";
import { raceAbort, withTimeout } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { createLease } from "../../platform/storage/lease.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import type { LocalQueries } from "../chain/local-queries.ts";
import type { FollowDeps } from "../registry/follow-chain.ts";
import type { Registry } from "../registry/registry.ts";
import { openSigner, payerOf } from "../config/signer-config.ts";
import { submitTypeUrl } from "../result/proven-result.ts";
import type { RelayerStore } from "../state/store.ts";
import type { Admission, AdmissionRequest, SubmitGate } from "../result/submit-gate.ts";
import {
  createLeadership,
  type LeaderFitness,
  type Leadership,
  type LeadershipDeps,
  type LeadershipStatus,
} from "./leadership.ts";
import {
  createReserve,
  createSpending,
  type DailySpending,
  type RecentFees,
  type Reserve,
  type ReserveStatus,
  type Spending,
  type SpendingLimits,
} from "./spending.ts";
import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { TxBody, TxRaw } from "../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgSubmitQueryResult } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { sha256, toHex } from "../../platform/base/bytes.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import type { Logger } from "../../platform/base/logger.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import type { Journal, SendingTx } from "../state/journal.ts";

export interface GateStatus {
  readonly leadership: LeadershipStatus;
  readonly store: {
    readonly kind: RelayerStore["kind"];
    /** Number of writes that are not durable yet. */
    readonly pendingWrites: number;
    /** Number of attempts since startup that could not be stored. */
    readonly droppedWrites: number;
    /** Error of the last write; undefined if the write succeeded. */
    readonly error: string | undefined;
  };
  readonly spending: DailySpending & { readonly limits: SpendingLimits; readonly lastDay: RecentFees };
  readonly reserve: ReserveStatus;
  /** Reason for refusing the last transaction; undefined if the transaction was admitted. */
  readonly refusal: string | undefined;
}

/** Admits or refuses each broadcast, and reports the gate's status. */
interface RelayerGate extends SubmitGate {
  readonly status: () => GateStatus;
}

interface GateDeps {
  readonly leadership: Pick<Leadership, "leads" | "status">;
  readonly spending: Spending;
  readonly limits: SpendingLimits;
  readonly reserve: Reserve;
  readonly store: Pick<RelayerStore, "queue" | "kind">;
  readonly clock: Clock;
}

/** Maximum time for which an admission waits for the store, which is shorter than a lease's lifetime. */
const FLUSH_MS = 1_500;

/**
 * Creates the gate. The gate admits a transaction if this process leads, the spending limits and the reserve allow the transaction,
 * and all earlier store writes are durable.
 *
 * With PostgreSQL, each write's database transaction checks that this process still has the lease, so a process that has lost the
 * lease cannot broadcast. Another process may acquire the lease while an admitted transaction is in flight. Since both processes
 * use the same account, blocks include at most one of two transactions with the same sequence.
 */
export function createGate(deps: GateDeps): RelayerGate {
  let refusal: { readonly reason: string; readonly lasts: () => boolean } | undefined;
  return {
    admit: async (request, signal) => {
      const { admission, lasts = () => true } = await admit(deps, request, signal);
      if (admission.admitted) refusal = undefined;
      // Don't record a refusal if only an urgency rule's budget is used up, because the rule's results are then sent without
      // urgency.
      else if (admission.rules === undefined) refusal = { reason: admission.reason, lasts };
      return admission;
    },
    status: () => {
      const { pending, dropped, error } = deps.store.queue.status();
      return {
        leadership: deps.leadership.status(),
        store: { kind: deps.store.kind, pendingWrites: pending, droppedWrites: dropped, error },
        spending: { ...deps.spending.today(), limits: deps.limits, lastDay: deps.spending.lastDay() },
        reserve: deps.reserve.status(),
        refusal: refusal?.lasts() === true ? refusal.reason : undefined,
      };
    },
  };
}

interface Decision {
  readonly admission: Admission;
  /** Returns true while the cause of a refusal persists. If absent, the refusal lasts until the next request. */
  readonly lasts?: () => boolean;
}

async function admit(deps: GateDeps, request: AdmissionRequest, signal: AbortSignal): Promise<Decision> {
  const { leadership, spending, reserve, store } = deps;
  const withoutLease = (): Decision => refused(standbyText(leadership.status()), () => !leadership.leads());
  if (!leadership.leads()) return withoutLease();
  const overLimit = spending.check(request);
  if (overLimit !== undefined)
    return {
      admission: { admitted: false, ...overLimit },
      lasts: () => spending.check(request) !== undefined,
    };
  const belowReserve = await reserve.check(request.fee, signal);
  if (belowReserve !== undefined) return refused(belowReserve);
  const release = spending.charge(request);
  const error = await flush(deps, signal);
  if (error === undefined && leadership.leads()) {
    reserve.pay(request.fee);
    return { admission: { admitted: true, release } };
  }
  release();
  if (error === undefined) return withoutLease();
  return refused(error, () => store.queue.status().pending > 0);
}

/** Waits until all queued writes are durable. Returns an error text if the writes fail or take longer than {@link FLUSH_MS}. */
async function flush({ store, clock }: GateDeps, signal: AbortSignal): Promise<string | undefined> {
  try {
    const done = await withTimeout(FLUSH_MS, clock, signal, async (inner) => {
      await store.queue.flushed(inner);
      return true;
    });
    if (done === true) return undefined;
    return `the store is too slow or not writable: ${store.queue.status().error ?? `no commit within ${FLUSH_MS} ms`}`;
  } catch (error) {
    signal.throwIfAborted();
    return `the store cannot write: ${errorText(error)}`;
  }
}

function standbyText({ role, holder, error, progress }: LeadershipStatus): string {
  if (role === "starting")
    return `this process does not submit yet: ${error ?? progress ?? "it is reading the previous process's transactions"}`;
  if (role === "unknown")
    return `unknown which process submits: ${error ?? "the lease has not been read yet"}`;
  return `this process is a standby: ${error ?? `${holder} has the lease`}`;
}

function refused(reason: string, lasts?: () => boolean): Decision {
  return { admission: { admitted: false, reason }, ...(lasts && { lasts }) };
}

interface GatePartsDeps {
  readonly client: PooledChainClient;
  readonly local: Pick<LocalQueries, "balance">;
  readonly store: RelayerStore;
  readonly registry: Pick<Registry, "reload">;
  readonly checkHistory: FollowDeps["checkHistory"];
  /** Reads the costs and problems that other processes stored. */
  readonly loadHistory?: (latestHeight: bigint) => Promise<void>;
  readonly fitness: LeaderFitness;
  /** Local chain time, as Unix time in ms. */
  readonly localTimeMs: () => number;
  readonly onLead: () => void;
  readonly context: DaemonContext;
}

/** The gate that every broadcast must pass, and the leadership that the gate requires. */
interface GateParts {
  readonly gate: RelayerGate;
  readonly leadership: Leadership;
}

/** Creates the gate and the leadership with the relayer's store. Throws `ClientError` "bad-key". */
export async function createGateParts(config: RelayerConfig, deps: GatePartsDeps): Promise<GateParts> {
  const { client, store, localTimeMs, context } = deps;
  const { clock, random, logger } = context;
  const signer = await openSigner(config.signer);
  const payer = payerOf(config.signer, signer.address);
  const { reserve: least, daily_fee: dailyFee, daily_gas_per_owner: dailyGasPerOwner } = config.spending;
  const budgets = config.urgency.flatMap(({ name, daily_fee: fee }) =>
    fee === undefined ? [] : ([[name, fee]] as const),
  );
  const limits = { dailyFee, dailyGasPerOwner, dailyFeeByRule: new Map(budgets) };
  const spending = createSpending(limits, { payer, chainId: config.chain.id, store, localTimeMs, clock });
  const lease = openLease(config, signer.address, store);
  const { denom } = config.gas;
  const prepare: LeadershipDeps["prepare"] = async (signal, onProgress) => {
    await store.journal.reload();
    await spending.load();
    await resolvePredecessor(
      {
        ...context,
        countPending: (inner) => countPendingTransactions(client, signer, denom, inner),
        comet: client.comet,
        address: signer.address,
        submitUrl: submitTypeUrl(config),
        journal: store.journal,
        onProgress,
      },
      signal,
    );
    const { latestHeight } = await client.status(signal);
    await deps.checkHistory(latestHeight, signal, false);
    // Reload the queries after the wait, so that queries that the previous process answered are not due.
    await deps.registry.reload(latestHeight, signal);
    await deps.loadHistory?.(latestHeight);
  };
  const { onLead, fitness } = deps;
  const onLoss = store.queue.discard;
  const leadership = createLeadership({ lease, prepare, fitness, onLead, onLoss, clock, random, logger });
  const mayWrite = (): boolean => ["leader", "starting"].includes(leadership.status().role);
  store.setGuard({ mayWrite, fence: lease?.lease.fence });
  const readBalance = (signal: AbortSignal): Promise<bigint> => deps.local.balance(payer, denom, signal);
  const reserve = createReserve(least, { readBalance, clock });
  return { gate: createGate({ leadership, spending, limits, reserve, store, clock }), leadership };
}

function openLease(
  { chain, connections, lease }: RelayerConfig,
  address: string,
  { leaseDatabase }: RelayerStore,
): LeadershipDeps["lease"] {
  if (leaseDatabase === undefined) return undefined;
  const holder = `${hostname()}/${process.pid}/${randomBytes(4).toString("hex")}`;
  const options = {
    // Only one process at a time may use an account's sequences.
    name: `${chain.id}/${address}`,
    holder,
    ttlMs: lease.ttl,
    resources: connections.map(({ id }) => `${chain.id}/${id}`),
  };
  return { lease: createLease(options, leaseDatabase), ttlMs: lease.ttl, holder };
}

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
  readonly address: string;
  /** Type URL of `MsgSubmitQueryResult`. */
  readonly submitUrl: string;
  readonly journal: Pick<Journal, "sending" | "recordIncluded">;
  /** Called with a description of the current startup step, and with undefined once the step is done. */
  readonly onProgress: (text: string | undefined) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Maximum wait for the previous process's transactions, enough for several blocks of a few seconds each. */
const MAX_WAIT_MS = 20_000;
const POLL_MS = 250;
const PAGE_SIZE = 10;
/** Maximum number of pages to read, oldest first, since the previous process had only a few transactions in flight. */
const MAX_PAGES = 20;
/**
 * Number of blocks to search after the newest transaction's `localHeight`. A transaction is broadcast soon after its `localHeight`
 * and times out after 20 blocks. Later transactions may come from another program, so the search omits them.
 */
const SEARCHED_BLOCKS = 30n;

/**
 * Waits, for a limited time, until blocks include the previous process's transactions, because results would otherwise be sent
 * twice. Records in the journal which remote transactions were delivered. Logs a warning if the node has no transaction index.
 * Rejects with `ClientError`.
 */
export async function resolvePredecessor(deps: PredecessorDeps, signal: AbortSignal): Promise<void> {
  await waitForPending(deps, signal);
  const { journal, logger } = deps;
  const sending = journal.sending();
  if (sending.length === 0) return;
  try {
    const delivered = await readDelivered(deps, sending, signal);
    const found = sending.filter((tx) => delivered.has(deliveryKey(tx)));
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
      `waiting for ${counted(Number(pending), "transaction")} from the previous process to be included, at most ${left} more`,
    );
    await clock.sleep(POLL_MS, signal);
    pending = await countPending(signal);
  }
  onProgress(undefined);
}

function deliveryKey({ queryId, hash }: Pick<SendingTx, "queryId" | "hash">): string {
  return `${queryId} ${hash}`;
}

/** Returns the keys of the remote transactions in `sending` that were already delivered in a block. */
async function readDelivered(
  { comet, address, submitUrl, onProgress }: PredecessorDeps,
  sending: readonly SendingTx[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const heights = sending.map(({ localHeight }) => localHeight);
  const [since, until] = [heights.reduce(minInt), heights.reduce(maxInt) + SEARCHED_BLOCKS];
  const query = `message.sender='${address}' AND tx.height>=${since} AND tx.height<=${until}`;
  const missing = new Set(sending.map(deliveryKey));
  const delivered = new Set<string>();
  for (let page = 1; page <= MAX_PAGES && missing.size > 0; page++) {
    const search = comet.txSearch({ query, page, per_page: PAGE_SIZE, order_by: "asc" });
    const { txs, totalCount } = await raceAbort(search, signal);
    const total = Math.min(totalCount, MAX_PAGES * PAGE_SIZE);
    onProgress(
      `reading the previous process's deliveries: ${Math.min(page * PAGE_SIZE, total)} of ${counted(total, "transaction")}`,
    );
    const keys = txs.flatMap(({ tx, result }) => (result.code === 0 ? deliveredBy(tx, submitUrl) : []));
    for (const key of keys) if (missing.delete(key)) delivered.add(key);
    if (page * PAGE_SIZE >= totalCount || txs.length === 0) break;
  }
  return delivered;
}

function deliveredBy(tx: Uint8Array, submitUrl: string): readonly string[] {
  const { messages } = TxBody.decode(TxRaw.decode(tx).bodyBytes);
  return messages
    .filter(({ typeUrl }) => typeUrl === submitUrl)
    .flatMap(({ value }) => {
      const { queryId, result } = MsgSubmitQueryResult.decode(value);
      const data = result?.block?.tx?.data;
      return data === undefined ? [] : [deliveryKey({ queryId, hash: toHex(sha256(data)) })];
    });
}
