import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import { countPendingTransactions } from "../../cosmos/client/tx/create-tx-window.ts";
import { createSigner } from "../../cosmos/client/tx/signer.ts";
import { withTimeout } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import { createLease } from "../../platform/storage/lease.ts";
import type { RelayerConfig } from "../config/relayer-config.ts";
import type { LocalQueries } from "../local-queries.ts";
import type { FollowDeps } from "../registry/follow-chain.ts";
import type { Registry } from "../registry/registry.ts";
import { payerOf, signingKey } from "../config/signer-config.ts";
import type { RelayerStore } from "../state/store.ts";
import type { Admission, AdmissionRequest, SubmitGate } from "../submit/submit-gate.ts";
import {
  createLeadership,
  type Leadership,
  type LeadershipDeps,
  type LeadershipStatus,
  settlePredecessor,
} from "./leadership.ts";
import { createSpending, type DailySpending, type Spending, type SpendingLimits } from "./spending.ts";

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
interface RelayerGate extends SubmitGate {
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

interface GatePartsDeps {
  readonly client: PooledChainClient;
  readonly local: Pick<LocalQueries, "balance">;
  readonly store: RelayerStore;
  readonly registry: Pick<Registry, "reload">;
  readonly checkHistory: FollowDeps["checkHistory"];
  /** Called when this process begins to submit. */
  readonly onLead: () => void;
  readonly context: DaemonContext;
}

/** The gate before broadcasts, and the leadership that it asks. */
interface GateParts {
  readonly gate: RelayerGate;
  readonly leadership: Leadership;
}

/** Creates gate and leadership, and connects them with the store. Throws `ClientError` "bad-key". */
export async function createGateParts(config: RelayerConfig, deps: GatePartsDeps): Promise<GateParts> {
  const { client, store, context } = deps;
  const { clock, random, logger } = context;
  const { prefix, fee_granter: feeGranter } = config.signer;
  const signer = await createSigner(signingKey(config.signer), prefix, feeGranter);
  const payer = payerOf(config.signer, signer.address);
  const { reserve: least, daily_fee: dailyFee, daily_gas_per_owner: dailyGasPerOwner } = config.spending;
  const limits = { dailyFee, dailyGasPerOwner };
  const spending = createSpending(limits, { payer, chainId: config.chain.id, store, nowMs: clock.nowMs });
  const lease = openLease(config, signer.address, store);
  const { denom } = config.gas;
  const prepare = async (signal: AbortSignal): Promise<void> => {
    await store.journal.reload();
    await spending.load();
    await settlePredecessor(
      {
        ...context,
        countPending: (inner) => countPendingTransactions(client, signer, denom, inner),
        comet: client.comet,
        address: signer.address,
        submitTypeUrl: `/${config.chain.name}.interchainqueries.MsgSubmitQueryResult`,
        journal: store.journal,
      },
      signal,
    );
    const { latestHeight } = await client.status(signal);
    await deps.checkHistory(latestHeight, signal);
    // After the wait: results of the process before this one must not look due.
    await deps.registry.reload(latestHeight, signal);
  };
  const { onLead } = deps;
  const onLoss = store.queue.discard;
  const leadership = createLeadership({ lease, prepare, onLead, onLoss, clock, random, logger });
  const mayWrite = (): boolean => leadership.status().role !== "standby";
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
    // The sequences of an account belong to one process at a time.
    name: `${chain.id}/${address}`,
    holder,
    ttlMs: lease.ttl,
    resources: connections.map(({ id }) => `${chain.id}/${id}`),
  };
  return { lease: createLease(options, leaseDatabase), ttlMs: lease.ttl, holder };
}

/** What is known of the balance that pays the fees. */
interface ReserveStatus {
  /** Balance that is never spent. */
  readonly reserve: bigint;
  /** The last balance that was read, minus the fees admitted since; undefined before the first read. */
  readonly balance: bigint | undefined;
  /** Wall-clock time of that read, ms. */
  readonly readAtMs: number | undefined;
}

/** Keeps a balance from being spent. */
interface Reserve {
  /** Returns why a fee must not be paid; undefined when it may. Reads the balance when the last read is old. */
  readonly check: (fee: bigint, signal: AbortSignal) => Promise<string | undefined>;
  /** Subtracts an admitted fee from the known balance. */
  readonly pay: (fee: bigint) => void;
  readonly status: () => ReserveStatus;
}

interface ReserveDeps {
  /** Reads the balance of the account that pays. */
  readonly readBalance: (signal: AbortSignal) => Promise<bigint>;
  readonly clock: Clock;
}

/** Age at which the balance is read again. */
const FRESH_MS = 30_000;
/** Age after which a balance that cannot be read again counts as unknown. */
const MAX_AGE_MS = 300_000;
/** A balance below the reserve is read again soon, since somebody may have sent coins. */
const RETRY_MS = 5_000;

interface Reading {
  balance: bigint;
  readonly atMs: number;
  readonly wallMs: number;
}

/** Creates a guard of the balance. With a reserve of 0 it reads nothing: the chain itself refuses what cannot be paid. */
export function createReserve(reserve: bigint, { readBalance, clock }: ReserveDeps): Reserve {
  let last: Reading | undefined;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let error = "";
  const ageMs = (): number =>
    last === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - last.atMs;
  const isEnough = (fee: bigint): boolean => last !== undefined && last.balance - fee >= reserve;
  const read = async (signal: AbortSignal): Promise<void> => {
    triedAtMs = clock.monotonicMs();
    try {
      last = { balance: await readBalance(signal), atMs: clock.monotonicMs(), wallMs: clock.nowMs() };
    } catch (thrown) {
      signal.throwIfAborted();
      error = errorText(thrown);
    }
  };
  return {
    check: async (fee, signal) => {
      if (reserve === 0n) return undefined;
      const isOld = ageMs() > FRESH_MS || !isEnough(fee);
      if (isOld && clock.monotonicMs() - triedAtMs >= RETRY_MS) await read(signal);
      if (last === undefined || ageMs() > MAX_AGE_MS)
        return `the balance cannot be read, so spending.reserve cannot be kept: ${error}`;
      if (isEnough(fee)) return undefined;
      return `the balance of ${last.balance} minus the fee of ${fee} is below spending.reserve of ${reserve}: send coins to the account`;
    },
    pay: (fee) => {
      if (last !== undefined) last.balance -= fee;
    },
    status: () => ({ reserve, balance: last?.balance, readAtMs: last?.wallMs }),
  };
}
