import type { Dec18 } from "../../../platform/base/decimal.ts";
import type { PooledChainClient } from "../create-chain-client.ts";
import { toHex } from "../../../platform/base/bytes.ts";
import { answerOf } from "../answers.ts";
import { ClientError } from "../../client-error.ts";
import {
  createTxWindow,
  DEFAULT_WINDOW_LIMITS,
  type TxWindowDeps,
  type TxWindowOptions,
  type WindowLimits,
} from "./create-tx-window.ts";
import { createMutex } from "../../../platform/base/waits.ts";
import type { BroadcastResult, Confirmation, FlightTx, TxDraft, TxSender } from "./tx-types.ts";

export interface TxSenderOptions extends Omit<TxWindowOptions, "limits"> {
  /** Overrides the chain's gas price. Returns the price to offer for a gas limit. */
  readonly priceOf?: (gasLimit: bigint) => Dec18;
  readonly limits?: Partial<WindowLimits> & {
    /** Time between polls for a transaction, in ms. Default: 500 ms. */
    readonly pollMs?: number;
  };
}

export interface TxSenderDeps extends TxWindowDeps {
  readonly client: Pick<PooledChainClient, "grpcQuery" | "pool" | "status">;
}

const DEFAULT_POLL_MS = 500;

/** Creates a transaction sender, which reads the account on its first call. */
export function createTxSender({ priceOf, ...options }: TxSenderOptions, deps: TxSenderDeps): TxSender {
  const { pollMs = DEFAULT_POLL_MS, ...limits } = options.limits ?? {};
  const deadlineMs = limits.confirmDeadlineMs ?? DEFAULT_WINDOW_LIMITS.confirmDeadlineMs;
  const window = createTxWindow({ ...options, limits }, deps);
  const { clock, client, logger } = deps;
  const sends = createMutex();

  /** Calls `read` every `pollMs` until it returns a value. Throws `timeout` if `read` has returned no value by the deadline. */
  const poll = async <T>(
    read: () => Promise<T | undefined>,
    consequence: string,
    signal: AbortSignal,
  ): Promise<T> => {
    const untilMs = clock.monotonicMs() + deadlineMs;
    for (;;) {
      const value = await read();
      if (value !== undefined) return value;
      if (clock.monotonicMs() >= untilMs)
        throw new ClientError(
          { code: "timeout", endpoint: "the chain", method: "a new block", afterMs: deadlineMs },
          `the chain had no new block for ${deadlineMs / 1000} s: ${consequence}`,
        );
      await clock.sleep(pollMs, signal);
    }
  };

  const broadcastOnce = async (draft: TxDraft, signal: AbortSignal): Promise<BroadcastResult> => {
    const [gasPrice, { latestHeight: height }] = await Promise.all([
      priceOf === undefined ? window.gasPrice(signal) : priceOf(draft.gasLimit),
      client.status(signal),
    ]);
    const [result] = await window.broadcast([draft], { gasPrice, height }, signal);
    return result ?? { kind: "skipped", reason: "not broadcast" };
  };

  /** Confirms transactions in flight, then returns true if the window is open, i.e. the account's next sequence is certain. */
  const isOpen = async (signal: AbortSignal): Promise<true | undefined> => {
    const { latestHeight } = await client.status(signal);
    await window.confirm(latestHeight, signal);
    return window.isOpen(latestHeight) || undefined;
  };

  /**
   * Broadcasts a transaction, and broadcasts it once more if the sequence was uncertain. Throws the node's JSON-RPC error if the
   * node refuses the transaction with one.
   */
  const broadcast = async (draft: TxDraft, signal: AbortSignal): Promise<BroadcastResult> => {
    let result = await broadcastOnce(draft, signal);
    if (result.kind === "skipped") {
      logger.info("sequence mismatch, sending once more", { address: window.address });
      await poll(() => isOpen(signal), "the transaction was not sent", signal);
      result = await broadcastOnce(draft, signal);
    }
    if (result.kind === "refused" && result.cause !== undefined) throw result.cause;
    return result;
  };

  /** Returns the final state of `tx`. Returns undefined if the state is not final yet, or if the node cannot be queried at present. */
  const confirmed = async (tx: FlightTx, signal: AbortSignal): Promise<Confirmation | undefined> => {
    try {
      const { latestHeight } = await client.status(signal);
      const finals = await window.confirm(latestHeight, signal);
      return finals.find((final) => final.tx === tx)?.confirmation;
    } catch (error) {
      if (signal.aborted || answerOf(error) === "final") throw error;
      return undefined;
    }
  };

  return {
    address: window.address,
    simulate: window.simulate,
    send: (messages, gasLimit, signal) =>
      sends.runExclusive(async () => {
        const result = await broadcast({ messages, gasLimit }, signal);
        if (result.kind !== "in-flight") return toOutcome(result.tx, gasLimit, refusalOf(result));
        const { tx } = result;
        const consequence = `unknown whether transaction ${toHex(tx.hash)} is in a block`;
        return toOutcome(tx, gasLimit, await poll(() => confirmed(tx, signal), consequence, signal));
      }, signal),
    broadcast: (messages, gasLimit, signal) =>
      sends.runExclusive(async () => {
        const result = await broadcast({ messages, gasLimit }, signal);
        const isSent = result.kind === "in-flight";
        return toOutcome(result.tx, gasLimit, isSent ? { kind: "accepted" } : refusalOf(result));
      }, signal),
  };
}

function toOutcome<T>(tx: FlightTx | undefined, gasLimit: bigint, confirmation: T) {
  const { hash = new Uint8Array(), size: bytes = 0, feeAmount = 0n } = tx ?? {};
  return { hash, bytes, gasLimit, feeAmount, confirmation };
}

/** Converts a refused or skipped broadcast to a confirmation. A skipped broadcast is reported as sdk/32 (sequence mismatch). */
function refusalOf(
  result: Exclude<BroadcastResult, { readonly kind: "in-flight" }>,
): Extract<Confirmation, { readonly kind: "refused" }> {
  if (result.kind === "skipped") return { kind: "refused", codespace: "sdk", code: 32, log: result.reason };
  const { kind, code, codespace, log } = result;
  return { kind, code, codespace, log };
}
