import { TX_TOO_LARGE } from "../../cosmos/client/tx/tx-queries.ts";
import type { WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import type { ClientUpdate } from "./proven-result.ts";
import type { Entry } from "./pipeline.ts";

/** One message of a transaction: a result, or the update in front of the results that need it. */
export type Slot =
  | { readonly kind: "result"; readonly entry: Entry }
  | { readonly kind: "update"; readonly update: ClientUpdate };

/** Puts each client update for which `isNeeded` is true in front of the first result that needs it. Keeps the order. */
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

/** Returns the messages of the slots. `typeUrl` is that of `MsgSubmitQueryResult`. */
export function toMessages(slots: readonly Slot[], typeUrl: string): readonly WireMessage[] {
  return slots.map((slot) =>
    slot.kind === "update" ? slot.update.message : { typeUrl, value: slot.entry.result.message },
  );
}

/** An error of a simulation, of CheckTx or of a block. */
export interface TxFailure {
  readonly codespace: string;
  readonly code: number;
  readonly log: string;
}

/** What a failed transaction says about its parts. */
export type ErrorAttribution =
  /** the block has no room: other transactions used it, or its limit is lower than assumed */
  | { readonly kind: "block-full" }
  /** the transaction, or the request that carries it, exceeds a limit of the node */
  | { readonly kind: "too-large" }
  /** the price of gas has risen since it was read */
  | { readonly kind: "price" }
  /** signature, sequence or funds: no transaction of this account would pass */
  | { readonly kind: "account" }
  | { readonly kind: "result"; readonly entry: Entry }
  /** the chain has a result of this remote height or a newer one: another relayer was faster */
  | { readonly kind: "redundant"; readonly entry: Entry }
  | { readonly kind: "update"; readonly update: ClientUpdate }
  /** no message is named */
  | { readonly kind: "unknown" };

/** Finds what caused the failure of a transaction with these messages. */
export function attributeError(failure: TxFailure, slots: readonly Slot[]): ErrorAttribution {
  if (/block utilization of \d+ cannot exceed/i.test(failure.log)) return { kind: "block-full" };
  if (failure.codespace === TX_TOO_LARGE.codespace && failure.code === TX_TOO_LARGE.code)
    return { kind: "too-large" };
  const index = /message index: (\d{1,6})/.exec(failure.log)?.[1];
  if (index !== undefined) return attributeToSlot(failure, slots[Number(index)]);
  if (/insufficient fee/i.test(failure.log)) return { kind: "price" };
  return ACCOUNT_ERROR.test(failure.log) ? { kind: "account" } : { kind: "unknown" };
}

function attributeToSlot({ log }: TxFailure, slot: Slot | undefined): ErrorAttribution {
  if (slot?.kind === "result" && slot.entry.result.query.type === "kv" && isRedundant(log))
    return { kind: "redundant", entry: slot.entry };
  return slot ?? { kind: "unknown" };
}

/** Texts of the ante handlers, whatever the messages are. */
const ACCOUNT_ERROR =
  /account sequence mismatch|signature verification failed|unable to verify single signer|insufficient funds/i;

/**
 * Whether a failure only says that the chain has a result of this remote height or a newer one: another relayer was faster.
 * The module checks that before the proofs. The code alone is not enough: out of gas hides it in a text.
 */
export function isRedundant(reason: string): boolean {
  return reason.includes("is less than or equal to last result's remote height");
}

/** Formats a failure for people. */
export function failureText({ codespace, code, log }: TxFailure): string {
  return `${codespace}/${code}: ${log}`;
}
