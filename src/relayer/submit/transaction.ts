import type { FlightTx, WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import {
  type ClientUpdate,
  type ExpectedResult,
  GAS_PER_CLIENT_UPDATE,
  GAS_PER_TRANSACTION,
} from "../result/proven-result.ts";
import type { Entry } from "./pipeline.ts";
import type { GasEstimates, GasItem } from "./budgets.ts";

/** One message in a transaction: a result, or a client update that precedes the results that need it. */
export type Slot =
  | { readonly kind: "result"; readonly entry: Entry }
  | { readonly kind: "update"; readonly update: ClientUpdate };

/** A transaction that has been simulated but not broadcast. */
export interface Prepared {
  readonly entries: readonly Entry[];
  /** Simulated gas of all entries, without client updates. */
  readonly gas: bigint;
  /** Simulated gas of the whole transaction, including client updates. */
  readonly simulated: bigint;
  /** True if the transaction contains all simulated entries. Otherwise, the transaction's gas is an estimate. */
  readonly isWhole: boolean;
}

export interface SentTransaction {
  readonly tx: FlightTx;
  readonly slots: readonly Slot[];
  /** Gas that the transaction is expected to use. */
  readonly gas: bigint;
  /** Local height at which the transaction was broadcast. */
  readonly sentAt: bigint;
  /** True if the transaction contains all the simulated results. */
  readonly isWhole: boolean;
  /** Keys of the client updates in earlier transactions that this transaction relies on. */
  readonly reliesOn: ReadonlySet<string>;
  /** True if one of the results is isolated and may make the transaction fail. */
  readonly isIsolated: boolean;
  /** Tells the gate that the transaction cost nothing, so that its fee no longer counts toward the spending limits. */
  readonly release: () => void;
}

/** Puts each client update for which `isNeeded` is true before the first result that needs it. Preserves the order. */
export function layOut(
  entries: readonly Entry[],
  isNeeded: (update: ClientUpdate) => boolean,
): readonly Slot[] {
  const placed = new Set<string>();
  return entries.flatMap((entry): readonly Slot[] => {
    const { update } = entry.result;
    const slot = { kind: "result", entry } as const;
    if (update === undefined || placed.has(update.key) || !isNeeded(update)) return [slot];
    placed.add(update.key);
    return [{ kind: "update", update }, slot];
  });
}

/** Returns a transaction's messages, where `typeUrl` is the type URL of `MsgSubmitQueryResult`. */
export function toMessages(slots: readonly Slot[], typeUrl: string): readonly WireMessage[] {
  return slots.map((slot) =>
    slot.kind === "update" ? slot.update.message : { typeUrl, value: slot.entry.result.message },
  );
}

/** Returns a transaction reduced to the given entries, with adjusted gas. */
export function cutTo(state: Gas, prepared: Prepared, entries: readonly Entry[]): Prepared {
  if (entries.length === prepared.entries.length) return prepared;
  const gas = gasOfEntries(state, entries);
  return { entries, gas, simulated: prepared.simulated - prepared.gas + gas, isWhole: false };
}

interface Gas {
  readonly gas: GasEstimates;
}

/** The data from which a result's gas is estimated. */
type GasParts = Pick<ExpectedResult, "query" | "gasGuess">;

/** Returns the results' expected gas, excluding their transactions' fixed gas. */
export function gasOf({ gas }: Gas, entries: readonly { readonly result: GasParts }[]): bigint {
  return gas.sum(entries.map(gasItem));
}

/** Returns the expected gas of a transaction with these entries, excluding client updates. */
export function gasOfEntries(gas: Gas, entries: readonly Entry[]): bigint {
  return GAS_PER_TRANSACTION + gasOf(gas, entries);
}

/** Returns the key under which an entry's measured gas is stored, and the initial estimate to use before the first measurement. */
export function gasItem({ result }: { readonly result: GasParts }): GasItem {
  return { key: result.query.id, guess: result.gasGuess };
}

export function updateItem({ connectionId }: ClientUpdate): GasItem {
  return { key: connectionId, guess: GAS_PER_CLIENT_UPDATE };
}

export function slotItems(slots: readonly Slot[]): readonly GasItem[] {
  return slots.map((slot) => (slot.kind === "update" ? updateItem(slot.update) : gasItem(slot.entry)));
}

export function entriesOf(slots: readonly Slot[]): readonly Entry[] {
  return slots.flatMap((slot) => (slot.kind === "result" ? [slot.entry] : []));
}

/** Returns the total size of the entries' messages, in bytes. */
export function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { result }) => sum + result.message.length, 0);
}
