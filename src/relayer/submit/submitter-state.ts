import { toHex } from "../../platform/base/bytes.ts";
import type { ChangeSignal } from "../../platform/base/waits.ts";
import type { Dec18 } from "../../platform/base/decimal.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { FlightTx, TxWindow } from "../../cosmos/client/tx/tx-types.ts";
import type { RelayerMetrics } from "../api/metrics.ts";
import type { Upkeep } from "../connection/client-refresh.ts";
import type { HeightSignal } from "../registry/height-signal.ts";
import type { Registry } from "../registry/registry.ts";
import type { RegisteredQuery } from "../registry/registered-query.ts";
import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import type { AttemptOutcome, AttemptSink } from "../state/attempt.ts";
import type { BatchBudget } from "./batch-budget.ts";
import type { BlockBudget, BlockLimits } from "./block-budget.ts";
import type { GasBook, GasItem } from "./gas-book.ts";
import type { Slot } from "./judge.ts";
import { type BatchLimits, GAS_PER_CLIENT_UPDATE } from "./plan.ts";
import type { ClientUpdate, ProvenResult, ResultOutcome } from "./proven-result.ts";
import type { Entry, ResultQueue } from "./result-queue.ts";
import type { SubmitGate } from "./submit-gate.ts";

export interface SubmitterOptions {
  /** Type URL of `MsgSubmitQueryResult`; it holds the chain's own name. */
  readonly submitTypeUrl: string;
  /** Gas limit = expected gas × this / 1000. */
  readonly gasAdjustmentPermille: bigint;
  /** Limits of one transaction. */
  readonly limits: BatchLimits;
  /** Share of a block in per mille that the transactions in flight may use together. */
  readonly blockSharePermille: bigint;
  /** Number of connections, at least 1. */
  readonly connections: number;
}

export interface SubmitterDeps {
  readonly window: TxWindow;
  readonly gate: SubmitGate;
  /** Work that has the account for itself while nothing is in flight. */
  readonly upkeep?: Upkeep;
  readonly attempts: AttemptSink;
  readonly registry: Pick<Registry, "state" | "reread">;
  readonly height: HeightSignal;
  readonly readBlockLimits: (signal: AbortSignal) => Promise<BlockLimits>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly metrics: RelayerMetrics;
}

/** A simulated transaction that is not broadcast yet. */
export interface Prepared {
  readonly entries: readonly Entry[];
  /** Gas that its simulation used for all entries, without client updates. */
  readonly gas: bigint;
  /** Gas that its simulation used, with the client updates in front and all entries that it had then. */
  readonly simulated: bigint;
}

/** A transaction in flight. */
export interface SentTransaction {
  readonly tx: FlightTx;
  readonly slots: readonly Slot[];
  /** Expected gas used. */
  readonly gas: bigint;
  /** Keys of client updates that earlier transactions carry for this one. */
  readonly reliesOn: ReadonlySet<string>;
  /** Whether one of its results may fail it. */
  readonly isDoubtful: boolean;
  /** Tells the gate that the transaction costs nothing. */
  readonly release: () => void;
}

/** Everything that the parts of the submitter share. */
export interface SubmitterState {
  readonly options: SubmitterOptions;
  readonly deps: SubmitterDeps;
  /** KV results that are being read and proven, by query, the oldest first. */
  readonly expected: Map<bigint, readonly ExpectedResult[]>;
  readonly queue: ResultQueue;
  readonly gas: GasBook;
  readonly block: BlockBudget;
  /** Limits of one transaction, lowered while the node finds them too large. */
  readonly batch: BatchBudget;
  prepared: readonly Prepared[];
  /** Results whose transactions are being broadcast. */
  launching: readonly Entry[];
  /** By sequence. */
  sent: readonly SentTransaction[];
  /** Results in transactions that are not broadcast, by query. */
  readonly planned: Map<bigint, readonly Entry[]>;
  /** Queries with results in flight. */
  readonly flying: Map<bigint, FlyingResult>;
  /** Queries of failed transactions without a named message: members of a group are tried apart from all others. */
  readonly doubts: Map<bigint, string>;
  /** TX queries one of whose results was not sent. The later ones of the same search must not be sent either. */
  readonly withdrawn: Set<bigint>;
  /** Queries whose last results are to be read from the chain: another relayer has sent some. */
  readonly unread: Set<bigint>;
  /** Keys of client updates that were included, the newest last. */
  readonly included: Set<string>;
  /** The price that was read last, and the height at which it was read. */
  price: { readonly height: bigint; readonly gasPrice: Dec18 } | undefined;
  /** Duration of the last simulations and of the last broadcasts, ms. */
  simulateMs: number;
  broadcastMs: number;
  /** Nothing is sent below this height: the price was refused. */
  heldBelow: bigint;
  /** Nothing is sent before this time, monotonic ms. */
  stoppedUntilMs: number;
  /** Why nothing is sent. */
  stopped: string | undefined;
  /** Results were offered, prepared or put back. */
  readonly work: ChangeSignal;
}

/** A KV result that is being read and proven. */
export interface ExpectedResult {
  readonly query: RegisteredQuery;
  /** Remote height at which it is read. */
  readonly at: RemoteHeight;
  /** Estimate of its gas, as in {@link ProvenResult}. */
  readonly gasGuess: bigint;
}

/** A result in flight, or about to be. */
export interface LeavingResult {
  /** Local height of the broadcast, past or expected. */
  readonly sentAt: bigint;
  /** Remote height of the result. */
  readonly at: RemoteHeight;
}

/** The result of a query in flight. */
interface FlyingResult extends LeavingResult {
  /** Expected gas. */
  readonly gas: bigint;
}

/** Moves an entry. The maps of the state follow; the queue does not. */
export function move(state: SubmitterState, entry: Entry, to: Entry["place"]): void {
  const { query, at } = entry.result;
  if (entry.place === "flight") state.flying.delete(query.id);
  if (entry.place === "planned") {
    const others = (state.planned.get(query.id) ?? []).filter((other) => other !== entry);
    if (others.length > 0) state.planned.set(query.id, others);
    else state.planned.delete(query.id);
  }
  if (to === "planned") state.planned.set(query.id, [...(state.planned.get(query.id) ?? []), entry]);
  if (to === "flight") {
    const gas = state.gas.estimate(gasItem(entry));
    state.flying.set(query.id, { sentAt: state.deps.height.now(), at, gas });
  }
  entry.place = to;
}

/** Returns all results that are not broadcast, the planned ones first. */
export function unsent({ planned, queue }: SubmitterState): readonly Entry[] {
  return [...[...planned.values()].flat(), ...queue.entries()];
}

/** Returns the results of a query that are not broadcast. */
export function unsentOf({ planned, queue }: SubmitterState, queryId: bigint): readonly Entry[] {
  return [...(planned.get(queryId) ?? []), ...queue.ofQuery(queryId)];
}

/** What the transaction of a result cost, for its attempt. */
export interface PaidShare {
  readonly txHash: string;
  readonly gas: bigint;
  readonly fee: bigint;
}

/** Settles a result. Has no effect when it was settled before. */
export function finish(state: SubmitterState, entry: Entry, outcome: ResultOutcome, paid?: PaidShare): void {
  if (entry.place === "done") return;
  if (entry.place === "queued") state.queue.remove([entry]);
  move(state, entry, "done");
  const { query, at, started, dueHeight, settle } = entry.result;
  const noted = toNoted(outcome);
  if (noted.outcome === "redundant")
    state.deps.metrics.results.inc({ connection_id: query.connectionId, outcome: "redundant" });
  state.deps.attempts.note([
    {
      queryId: query.id,
      connectionId: query.connectionId,
      owner: query.owner,
      type: query.type,
      startedAtMs: started.wallMs,
      durationMs: state.deps.clock.monotonicMs() - started.monotonicMs,
      dueHeight,
      remoteHeight: at.height,
      txHash: paid?.txHash,
      outcome: noted.outcome,
      reason: noted.reason,
      localHeight: outcome.kind === "included" ? outcome.height : undefined,
      gas: paid?.gas ?? 0n,
      fee: paid?.fee ?? 0n,
      simulations: entry.simulations,
    },
  ]);
  settle(outcome);
}

interface NotedOutcome {
  readonly outcome: AttemptOutcome;
  readonly reason: string | undefined;
}

function toNoted(outcome: ResultOutcome): NotedOutcome {
  switch (outcome.kind) {
    case "included":
      return { outcome: "included", reason: undefined };
    case "refused":
      return { outcome: outcome.error.code, reason: outcome.error.reason };
    case "dropped":
      return { outcome: outcome.reason, reason: DROP_TEXTS[outcome.reason] };
    case "unsent":
      return { outcome: "not-broadcast", reason: outcome.reason };
  }
}

const DROP_TEXTS = {
  redundant: "the chain has a result of this remote height or a newer one",
  superseded: undefined,
  removed: undefined,
} as const;

/** The outcome of a result that another relayer has made unnecessary. */
export const REDUNDANT: ResultOutcome = { kind: "dropped", reason: "redundant" };

/** The outcome of a TX result behind one that was not sent. */
export const WITHDRAWN: ResultOutcome = {
  kind: "unsent",
  reason: "a result before it was not sent",
  error: undefined,
};

/** Puts results back that were planned, simulated or in flight, to be tried again at once. */
export function putBack(state: SubmitterState, entries: readonly Entry[]): void {
  const kept: Entry[] = [];
  for (const entry of entries) {
    const { query } = entry.result;
    const isFlight = entry.place === "flight";
    if (state.withdrawn.has(query.id)) finish(state, entry, WITHDRAWN);
    // The next result was proven while this one was in flight.
    else if (isFlight && query.type === "kv" && unsentOf(state, query.id).length > 0)
      finish(state, entry, SUPERSEDED);
    else if (entry.place !== "done") {
      move(state, entry, "queued");
      kept.push(entry);
    }
  }
  for (const old of state.queue.putBack(kept)) finish(state, old, SUPERSEDED);
  state.work.wake();
}

const SUPERSEDED: ResultOutcome = { kind: "dropped", reason: "superseded" };

/** What the gas of a result is estimated from. */
export type GasParts = Pick<ProvenResult, "query" | "gasGuess">;

/** Adds the expected gas of results. */
export function gasOfResults({ gas }: Pick<SubmitterState, "gas">, results: readonly GasParts[]): bigint {
  return results.reduce((total, result) => total + gas.estimate(gasItem({ result })), 0n);
}

/** Returns the key and the guess under which the gas of an entry is learned. */
export function gasItem({ result }: { readonly result: GasParts }): GasItem {
  return { key: `${result.query.id}`, guess: result.gasGuess };
}

/** As {@link gasItem}, for a client update. */
function updateItem({ connectionId }: ClientUpdate): GasItem {
  return { key: connectionId, guess: GAS_PER_CLIENT_UPDATE };
}

/** Items of the slots of a transaction. */
export function slotItems(slots: readonly Slot[]): readonly GasItem[] {
  return slots.map((slot) => (slot.kind === "update" ? updateItem(slot.update) : gasItem(slot.entry)));
}

/** Returns the entries of the slots. */
export function entriesOf(slots: readonly Slot[]): readonly Entry[] {
  return slots.flatMap((slot) => (slot.kind === "result" ? [slot.entry] : []));
}

/** Adds the gas of the transactions in flight. */
export function gasInFlight({ sent }: SubmitterState): bigint {
  return sent.reduce((sum, { gas }) => sum + gas, 0n);
}

/** Formats a hash as attempts do: upper-case hex. */
export function hashText(hash: Uint8Array): string {
  return toHex(hash).toUpperCase();
}
