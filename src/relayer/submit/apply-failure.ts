import { expectedSequence, TX_TOO_LARGE } from "../../cosmos/client/tx/tx-queries.ts";
import { isNewer } from "../../cosmos/comet/ibc-height.ts";
import { errorText } from "../../platform/base/errors.ts";
import { RelayError } from "../chain/relay-error.ts";
import { type QueryFailure, wasRejected } from "../registry/query-state.ts";
import type { Entry } from "./pipeline.ts";
import type { ClientUpdate, ResultOutcome } from "../result/proven-result.ts";
import { isLackOfFunds } from "../result/submit-gate.ts";
import { entriesOf, gasItem, type Slot } from "./transaction.ts";
import { type PaidShare, requeue, resolve, type SubmitterState } from "./submitter-state.ts";

interface FailedTransaction {
  readonly failure: TxFailure;
  readonly slots: readonly Slot[];
  readonly where: "simulation" | "node" | "block";
  /** Returns a result's share of the cost; undefined if nothing was paid. */
  readonly paid?: (entry: Entry) => PaidShare;
}

/**
 * Applies a transaction's failure to its results. Refuses the result that caused the failure and immediately retries all other
 * results.
 *
 * If the cause is unknown, splits the transaction in half and retries both halves, until a single result fails and is refused. The
 * bisection finds one bad result among n in log2(n) steps.
 */
export function applyFailure(
  state: SubmitterState,
  { failure, slots, where, paid }: FailedTransaction,
): void {
  const entries = entriesOf(slots);
  const reason = failureText(failure);
  const found = attributeError(failure, slots);
  switch (found.kind) {
    case "block-full":
      state.block.shrink();
      state.deps.logger.info("no room in the block, the next transactions use less", { reason });
      return requeue(state, entries);
    case "price":
      state.pace.price = undefined;
      state.pace.heldBelow = state.deps.height.now() + 1n;
      return requeue(state, entries);
    case "too-large":
      state.batch.shrink();
      state.deps.logger.info("transaction too large for the node, the next transactions are smaller", {
        reason,
      });
      return entries.length > 1
        ? requeue(state, entries)
        : refuse(state, entries, { code: "too-large", reason });
    case "funds":
      state.deps.funds.recordUnpaid(reason);
      return stop(state, entries, reason, FUNDS_PAUSE_MS);
    case "account":
      if (where === "simulation" && expectedSequence(failure.log) !== undefined) {
        // Wait for the next block, after which the node rechecks its mempool and counts the pending transactions' sequences again.
        state.pace.simulatedFrom = state.deps.height.now() + 1n;
        state.deps.logger.debug("simulated again after the next block", { reason });
        return requeue(state, entries);
      }
      return unsendAll(state, entries, reason);
    case "result":
      refuse(state, [found.entry], { code: "rejected", reason }, paid);
      return retryRest(state, entries, found.entry);
    case "redundant":
      return dropRedundant(state, entries, found.entry, paid?.(found.entry));
    case "update":
      return refuseUpdate(state, entries, found.update.key, reason);
    case "unknown":
      // A transaction that ran out of gas in a block needs more gas than the simulation reported.
      if (where === "block") raiseGas(state, entries);
      // CheckTx does not run messages, so no single message caused the rejection.
      if (where === "node" && !isOutOfGas(failure)) return unsendAll(state, entries, reason);
      return entries.length > 1
        ? halve(state, entries)
        : refuse(state, entries, { code: "not-included", reason }, paid);
  }
}

export function isOutOfGas({ codespace, code }: Pick<TxFailure, "codespace" | "code">): boolean {
  return codespace === "sdk" && code === 11;
}

function refuse(
  state: SubmitterState,
  entries: readonly Entry[],
  error: QueryFailure,
  paid?: FailedTransaction["paid"],
): void {
  for (const entry of entries) {
    state.queries.isolated.delete(entry.result.query.id);
    resolve(state, entry, { kind: "refused", error }, paid?.(entry));
  }
}

/**
 * Drops a result that another relayer made unnecessary, without recording a failure of its query. The other relayer may also have
 * sent results for the transaction's other queries. All the transaction's queries are therefore reread first, because each
 * unnecessary result would cost a transaction or a simulation.
 */
function dropRedundant(
  state: SubmitterState,
  entries: readonly Entry[],
  redundant: Entry,
  paid: PaidShare | undefined,
): void {
  state.queries.isolated.delete(redundant.result.query.id);
  for (const { result } of entries) if (result.query.type === "kv") state.queries.unread.add(result.query.id);
  resolve(state, redundant, REDUNDANT, paid);
  requeue(
    state,
    entries.filter((entry) => entry !== redundant),
  );
}

/** Retries the remaining results. Splits them in half if a result was isolated before, because many results may then be bad. */
function retryRest(state: SubmitterState, entries: readonly Entry[], bad: Entry): void {
  const rest = entries.filter((entry) => entry !== bad);
  const isSecond = rest.some(({ result }) => state.queries.isolated.has(result.query.id));
  if (isSecond && rest.length > 1) return halve(state, rest);
  isolate(state, rest);
  requeue(state, rest);
}

function halve(state: SubmitterState, entries: readonly Entry[]): void {
  const middle = Math.ceil(entries.length / 2);
  isolate(state, entries.slice(0, middle));
  isolate(state, entries.slice(middle));
  requeue(state, entries);
}

/** Assigns the entries' queries to a new group, so that their results are sent in a separate transaction. */
function isolate({ queries }: SubmitterState, entries: readonly Entry[]): void {
  const [first] = entries;
  if (first === undefined) return;
  const name = `${first.result.query.id} ${entries.length}`;
  for (const { result } of entries) queries.isolated.set(result.query.id, name);
}

/**
 * Returns an entry's group. Entries in different groups are sent in different transactions. The group is "" unless the entry's
 * transaction failed for an unknown reason or because of another result, or the chain rejected the query's last result.
 */
export function groupOf({ queries, deps }: SubmitterState, { result }: Entry): string {
  const { id } = result.query;
  const current = deps.registry.state(id);
  return queries.isolated.get(id) ?? (current !== undefined && wasRejected(current) ? "rejected" : "");
}

function refuseUpdate(state: SubmitterState, entries: readonly Entry[], key: string, reason: string): void {
  const [behind, others] = [
    entries.filter(({ result }) => result.update?.key === key),
    entries.filter(({ result }) => result.update?.key !== key),
  ];
  for (const entry of behind) {
    const { connectionId } = entry.result.query;
    const error = new RelayError(
      { code: "header-refused", connectionId },
      `the client rejected the update header: ${reason}`,
    );
    resolve(state, entry, { kind: "unsent", reason, error });
  }
  requeue(state, others);
}

/** Resolves valid results as unsent if the node currently accepts no transaction from the account. */
function unsendAll(state: SubmitterState, entries: readonly Entry[], reason: string): void {
  for (const entry of entries) {
    const { connectionId } = entry.result.query;
    const error = new RelayError(
      { code: "transaction-refused", connectionId },
      `the local node rejected the transaction: ${reason}`,
    );
    resolve(state, entry, { kind: "unsent", reason, error });
  }
}

/** Pause between a rejection for lack of funds and the next attempt to send. */
const FUNDS_PAUSE_MS = 15_000;

/** Pauses all sending and resolves the results as unsent, without recording a failure of their connections. */
export function stop(
  state: SubmitterState,
  entries: readonly Entry[],
  reason: string,
  pauseMs: number,
): void {
  state.pace.stopped = reason;
  state.pace.stoppedUntilMs = state.deps.clock.monotonicMs() + pauseMs;
  for (const entry of entries) resolve(state, entry, { kind: "unsent", reason, error: undefined });
}

function raiseGas({ gas }: SubmitterState, entries: readonly Entry[]): void {
  const items = entries.map(gasItem);
  gas.learn(items, gas.sum(items) * 2n);
}

/**
 * Reads the queries in `state.queries.unread` from the chain. Drops queued results that are not newer than the chain's results.
 * Rejects only on abort. After a failed read, simulations detect these results.
 */
export async function rereadQueries(state: SubmitterState, signal: AbortSignal): Promise<void> {
  const {
    deps,
    pipeline,
    queries: { unread },
  } = state;
  if (unread.size === 0) return;
  const ids = [...unread];
  try {
    await deps.registry.reread(ids, signal);
  } catch (error) {
    signal.throwIfAborted();
    return deps.logger.debug("queries could not be read again", { reason: errorText(error) });
  }
  for (const id of ids) unread.delete(id);
  deps.height.wake();
  const waiting = ids.flatMap((id) => {
    const { planned, queued } = pipeline.ofQuery(id);
    return [...planned, ...queued];
  });
  for (const entry of waiting) if (isRedundantNow(state, entry)) resolve(state, entry, REDUNDANT);
}

/** The outcome of a result that another relayer made unnecessary. */
const REDUNDANT: ResultOutcome = { kind: "dropped", reason: "redundant" };

function isRedundantNow({ deps }: SubmitterState, { result }: Entry): boolean {
  const { id, type } = result.query;
  return type === "kv" && !isNewer(result.at, deps.registry.state(id)?.query.lastRemoteHeight);
}

/** A transaction's error in a simulation, in CheckTx, or in a block. */
export interface TxFailure {
  readonly codespace: string;
  readonly code: number;
  readonly log: string;
}

/** The cause of a failed transaction's error. */
type ErrorAttribution =
  /** The block has no capacity left, because other transactions used it or its limit is lower than assumed. */
  | { readonly kind: "block-full" }
  /** The transaction, or the request that contains it, exceeds a node's limit. */
  | { readonly kind: "too-large" }
  /** The gas price has risen since the relayer read it. */
  | { readonly kind: "price" }
  | { readonly kind: "funds" }
  /** The signature or account sequence is wrong, so the node would reject any transaction from this account. */
  | { readonly kind: "account" }
  | { readonly kind: "result"; readonly entry: Entry }
  /** Another relayer was faster, so the chain already has a result for this remote height or a newer one. */
  | { readonly kind: "redundant"; readonly entry: Entry }
  | { readonly kind: "update"; readonly update: ClientUpdate }
  /** The error text does not say which message failed. */
  | { readonly kind: "unknown" };

export function attributeError(failure: TxFailure, slots: readonly Slot[]): ErrorAttribution {
  if (/block utilization of \d+ cannot exceed/i.test(failure.log)) return { kind: "block-full" };
  if (failure.codespace === TX_TOO_LARGE.codespace && failure.code === TX_TOO_LARGE.code)
    return { kind: "too-large" };
  const index = /message index: (\d{1,6})/.exec(failure.log)?.[1];
  if (index !== undefined) return attributeToSlot(failure, slots[Number(index)]);
  if (/insufficient fee/i.test(failure.log)) return { kind: "price" };
  if (isLackOfFunds(failure.log)) return { kind: "funds" };
  return ACCOUNT_ERROR.test(failure.log) ? { kind: "account" } : { kind: "unknown" };
}

function attributeToSlot({ log }: TxFailure, slot: Slot | undefined): ErrorAttribution {
  if (slot?.kind === "result" && slot.entry.result.query.type === "kv" && isRedundant(log))
    return { kind: "redundant", entry: slot.entry };
  return slot ?? { kind: "unknown" };
}

/** Matches the ante handlers' error texts, which do not depend on the transaction's messages. */
const ACCOUNT_ERROR =
  /account sequence mismatch|signature verification failed|unable to verify single signer/i;

/**
 * Returns true if the error means that the chain already has a result for this remote height or a newer one. The module checks the
 * height before the proofs. The error code alone is not sufficient, because an out-of-gas error's text also contains the code.
 */
export function isRedundant(reason: string): boolean {
  return reason.includes("is less than or equal to last result's remote height");
}

export function failureText({ codespace, code, log }: TxFailure): string {
  return `${codespace}/${code}: ${log}`;
}
