import { pause } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { feeFor } from "../../cosmos/client/tx/tx-queries.ts";
import type { WireMessage, FinalTx, FlightTx, TxWindow } from "../../cosmos/client/tx/tx-types.ts";
import type { RelayerMetrics } from "../api/metrics.ts";
import { RelayError } from "../chain/relay-error.ts";
import type { HeightSignal } from "../registry/height-signal.ts";
import type { SubmitGate } from "../submit/submit-gate.ts";

export interface SendUpdatesDeps {
  readonly window: TxWindow;
  readonly gate: SubmitGate;
  readonly height: HeightSignal;
  readonly metrics: Pick<RelayerMetrics, "clientUpdates" | "fees" | "gasUsed">;
  readonly clock: Clock;
  /** Encoded messages of one transaction. */
  readonly maxTxBytes: number;
}

/** Client updates of one connection, each verified from the one before it. */
export interface UpdateChain {
  readonly connectionId: string;
  readonly updates: readonly WireMessage[];
}

/** Longest wait for the final state. After it the submitter settles the transaction. */
const FINAL_MS = 120_000;
const SETTLE_MS = 1_000;
/** Gas limit = simulated gas × this / 1000. */
const GAS_PERMILLE = 1_300n;

/**
 * Brings client updates into blocks, in transactions of their own, one after the other. Needs the account for itself.
 * Throws `RelayError`: "transaction-refused" when one costs nothing, "transaction-lost". Returns the height of the last one.
 */
export async function sendUpdates(
  deps: SendUpdatesDeps,
  { connectionId, updates }: UpdateChain,
  signal: AbortSignal,
): Promise<bigint> {
  let height = 0n;
  for (const messages of splitByBytes(updates, deps.maxTxBytes)) {
    const { tx, confirmation } = await send(deps, { connectionId, messages }, signal);
    const labels = { connection_id: connectionId };
    if (confirmation.kind !== "lost") deps.metrics.fees.inc(labels, Number(tx.feeAmount));
    if (confirmation.kind !== "included")
      throw new RelayError(
        { code: "transaction-lost", connectionId },
        `the client update ended as ${confirmation.kind}`,
      );
    deps.metrics.clientUpdates.inc(labels, messages.length);
    deps.metrics.gasUsed.inc(labels, Number(confirmation.gasUsed));
    height = confirmation.height;
  }
  return height;
}

/** Splits in order. A message that alone is too large gets a transaction of its own. */
function splitByBytes(
  messages: readonly WireMessage[],
  maxBytes: number,
): readonly (readonly WireMessage[])[] {
  const parts: WireMessage[][] = [];
  let bytes = 0;
  for (const message of messages) {
    bytes += message.value.length;
    const open = parts.at(-1);
    if (open !== undefined && bytes <= maxBytes) open.push(message);
    else {
      parts.push([message]);
      bytes = message.value.length;
    }
  }
  return parts;
}

async function send(
  deps: SendUpdatesDeps,
  { connectionId, messages }: { readonly connectionId: string; readonly messages: readonly WireMessage[] },
  signal: AbortSignal,
): Promise<FinalTx> {
  const { window, gate, height } = deps;
  const refused = (reason: string): RelayError =>
    new RelayError({ code: "transaction-refused", connectionId }, `the client update was refused: ${reason}`);
  const simulation = await window.simulate(messages, signal);
  if (!simulation.ok) throw refused(simulation.log);
  const gasLimit = (simulation.gasUsed * GAS_PERMILLE) / 1_000n;
  const gasPrice = await window.gasPrice(signal);
  const fee = feeFor(gasPrice, gasLimit);
  const admission = await gate.admit({ gas: gasLimit, fee, gasByOwner: new Map() }, signal);
  if (!admission.admitted) throw refused(admission.reason);
  const at = { gasPrice, height: height.now() };
  const [sent] = await window.broadcast([{ messages, gasLimit }], at, signal).catch((error: unknown) => {
    // The account could not be read. Nothing was broadcast, unless the signal ended it.
    if (!signal.aborted) admission.release();
    throw error;
  });
  if (sent?.kind !== "in-flight") {
    admission.release();
    throw refused(sent?.kind === "refused" ? sent.log : (sent?.reason ?? "it was not sent"));
  }
  const final = await finalState(deps, sent.tx, signal);
  if (final.confirmation.kind === "lost") admission.release();
  return final;
}

async function finalState(
  { window, height, clock }: SendUpdatesDeps,
  tx: FlightTx,
  signal: AbortSignal,
): Promise<FinalTx> {
  const untilMs = clock.monotonicMs() + FINAL_MS;
  while (clock.monotonicMs() < untilMs) {
    const final = (await window.settle(height.now(), signal)).find((one) => one.tx === tx);
    if (final !== undefined) return final;
    await pause(SETTLE_MS, clock, signal);
    signal.throwIfAborted();
  }
  return { tx, confirmation: { kind: "lost", reason: `no final state within ${FINAL_MS} ms` } };
}
