import { pause } from "../../../platform/base/abort.ts";
import type { Dec18 } from "../../../platform/base/decimal.ts";
import type { PooledChainClient } from "../create-chain-client.ts";
import { toHex } from "../../../platform/base/bytes.ts";
import { answerOf } from "../answers.ts";
import { ClientError } from "../errors.ts";
import {
  createTxWindow,
  DEFAULT_WINDOW_LIMITS,
  type TxWindowDeps,
  type TxWindowOptions,
  type WindowLimits,
} from "./create-tx-window.ts";
import { createMutex } from "../../../platform/base/waits.ts";
import type {
  Confirmation,
  SendOutcome,
  TxSender,
  BroadcastResult,
  FlightTx,
  TxDraft,
  TxWindow,
} from "./tx-types.ts";

export interface TxSenderOptions extends Omit<TxWindowOptions, "limits"> {
  /** Returns a gas price to use instead of the chain's. */
  readonly priceOf?: (gasLimit: bigint) => Dec18;
  readonly limits?: Partial<WindowLimits> & {
    /** Time between polls for a transaction. Default: 500 ms. */
    readonly pollMs?: number;
  };
}

export interface TxSenderDeps extends TxWindowDeps {
  readonly client: Pick<PooledChainClient, "grpcQuery" | "pool" | "status">;
}

const DEFAULT_POLL_MS = 500;

interface Sending {
  readonly window: TxWindow;
  readonly deps: TxSenderDeps;
  readonly pollMs: number;
  /** Maximum wait for a block, including time during which no node responds. */
  readonly deadlineMs: number;
  readonly priceOf: TxSenderOptions["priceOf"];
  readonly signal: AbortSignal;
}

/** Creates a sender. It reads the account on the first call. */
export function createTxSender(options: TxSenderOptions, deps: TxSenderDeps): TxSender {
  const { pollMs = DEFAULT_POLL_MS, ...given } = options.limits ?? {};
  const limits = { ...DEFAULT_WINDOW_LIMITS, ...given };
  const window = createTxWindow({ ...options, limits }, deps);
  const sending = { window, deps, pollMs, deadlineMs: limits.confirmDeadlineMs, priceOf: options.priceOf };
  const sends = createMutex();
  return {
    address: window.address,
    simulate: window.simulate,
    send: (messages, gasLimit, signal) =>
      sends.runExclusive(() => send({ messages, gasLimit }, { ...sending, signal }), signal),
    broadcast: (messages, gasLimit, signal) =>
      sends.runExclusive(async () => {
        const draft = { messages, gasLimit };
        const result = await broadcastOnceMore(draft, { ...sending, signal });
        if (result.kind !== "in-flight") return unsent(draft, result);
        return { hash: result.tx.hash, gasLimit, confirmation: { kind: "accepted" } };
      }, signal),
  };
}

/** Broadcasts, and broadcasts once more if the sequence was uncertain. Throws the JSON-RPC error of a refusal. */
async function broadcastOnceMore(draft: TxDraft, sending: Sending): Promise<BroadcastResult> {
  const { window, deps } = sending;
  let result = await broadcast(draft, sending);
  if (result.kind === "skipped") {
    deps.logger.info("sequence mismatch, sending once more", { address: window.address });
    await untilOpen(sending);
    result = await broadcast(draft, sending);
  }
  if (result.kind === "refused" && result.cause !== undefined) throw result.cause;
  return result;
}

/** Broadcasts and waits for the final state. */
async function send(draft: TxDraft, sending: Sending): Promise<SendOutcome> {
  const { deps, pollMs, signal } = sending;
  const result = await broadcastOnceMore(draft, sending);
  if (result.kind !== "in-flight") return unsent(draft, result);
  const { tx } = result;
  const untilMs = deps.clock.monotonicMs() + sending.deadlineMs;
  for (;;) {
    const confirmation = await confirmed(tx, sending);
    if (confirmation !== undefined) return toOutcome(tx, confirmation);
    if (deps.clock.monotonicMs() >= untilMs)
      throw noBlock(`it is not known whether transaction ${toHex(tx.hash)} is in a block`, sending);
    await pause(pollMs, deps.clock, signal);
    signal.throwIfAborted();
  }
}

async function broadcast(
  draft: TxDraft,
  { window, deps, priceOf, signal }: Sending,
): Promise<BroadcastResult> {
  const [gasPrice, { latestHeight }] = await Promise.all([
    priceOf === undefined ? window.gasPrice(signal) : priceOf(draft.gasLimit),
    deps.client.status(signal),
  ]);
  const [result] = await window.broadcast([draft], { gasPrice, height: latestHeight }, signal);
  return result ?? { kind: "skipped", reason: "not broadcast" };
}

/** Waits for the next block, and until transactions whose callers have gone away are final. */
async function untilOpen(sending: Sending): Promise<void> {
  const { window, deps, pollMs, signal } = sending;
  const untilMs = deps.clock.monotonicMs() + sending.deadlineMs;
  for (;;) {
    const { latestHeight } = await deps.client.status(signal);
    await window.confirm(latestHeight, signal);
    if (window.isOpen(latestHeight)) return;
    if (deps.clock.monotonicMs() >= untilMs) throw noBlock("the transaction is not sent", sending);
    await deps.clock.sleep(pollMs, signal);
  }
}

function noBlock(what: string, { deadlineMs }: Sending): ClientError {
  return new ClientError(
    { code: "timeout", endpoint: "the chain", method: "a new block", afterMs: deadlineMs },
    `the chain showed no new block for ${deadlineMs / 1000} s: ${what}`,
  );
}

/** Returns the final state of `tx`; undefined if it is not final yet, or if the node cannot be queried now. */
async function confirmed(tx: FlightTx, { window, deps, signal }: Sending): Promise<Confirmation | undefined> {
  try {
    const { latestHeight } = await deps.client.status(signal);
    const finals = await window.confirm(latestHeight, signal);
    return finals.find((final) => final.tx === tx)?.confirmation;
  } catch (error) {
    if (signal.aborted || answerOf(error) === "final") throw error;
    return undefined;
  }
}

function toOutcome({ hash, size, gasLimit, feeAmount }: FlightTx, confirmation: Confirmation): SendOutcome {
  return { hash, bytes: size, gasLimit, feeAmount, confirmation };
}

/** A sequence mismatch on the second attempt is a separate kind of refusal. */
function unsent(
  { gasLimit }: TxDraft,
  result: Exclude<BroadcastResult, { kind: "in-flight" }>,
): SendOutcome & { readonly confirmation: Extract<Confirmation, { readonly kind: "refused" }> } {
  const { tx } = result;
  const confirmation: Extract<Confirmation, { readonly kind: "refused" }> =
    result.kind === "refused"
      ? { kind: "refused", code: result.code, codespace: result.codespace, log: result.log }
      : { kind: "refused", codespace: "sdk", code: 32, log: result.reason };
  return {
    hash: tx?.hash ?? new Uint8Array(),
    bytes: tx?.size ?? 0,
    gasLimit,
    feeAmount: tx?.feeAmount ?? 0n,
    confirmation,
  };
}
