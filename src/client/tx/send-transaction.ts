import type { WakeSignal } from "../../base/wake-signal.ts";
import { type BackoffOptions, backoffMs } from "../../base/backoff.ts";
import { toHex } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { AccountState } from "./account.ts";
import { type BroadcastOutcome, broadcastTransaction } from "./broadcast.ts";
import { waitForConfirmation } from "./confirmation.ts";
import type { PooledChainClient } from "../create-chain-client.ts";
import { feeFor, type GasPricePolicy, readGasPrice } from "./gas-price.ts";
import { type SignedTransaction, signTransaction } from "./signed-transaction.ts";
import type { Signer } from "./signer.ts";
import type { Confirmation, SendOutcome, WireMessage } from "./tx-sender.ts";

export interface SendOptions {
  readonly chainId: string;
  readonly gasPrice: GasPricePolicy;
  /** The SDK's default limit is 256 characters. */
  readonly memo: string;
}

/** Limits of sending. */
export interface SendLimits {
  /** Number of blocks from now to the timeout height. No later block can include the transaction. */
  readonly timeoutBlocks: bigint;
  /** Longest wait for inclusion. Decides only when the chain halts before the timeout height. */
  readonly confirmDeadlineMs: number;
  /** Longest time between two polls for a transaction. */
  readonly pollMs: number;
  /** Largest number of broadcasts of the same bytes while the node does not respond. */
  readonly broadcastTries: number;
  readonly broadcastBackoff: BackoffOptions;
}

export interface SendDeps {
  readonly client: Pick<PooledChainClient, "grpcQuery" | "status" | "pool">;
  readonly signer: Signer;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  /** Wakes at each block, from a subscription. Without it confirmations are polled every `pollMs`. */
  readonly newBlock?: WakeSignal;
}

/** Settings of the sender and the signal of one transaction. */
export interface SendContext {
  readonly options: SendOptions;
  readonly deps: SendDeps;
  readonly limits: SendLimits;
  readonly signal: AbortSignal;
}

/** Prices, signs and broadcasts one transaction and waits for its final state. */
export async function sendTransaction(
  account: AccountState,
  { messages, gasLimit }: { readonly messages: readonly WireMessage[]; readonly gasLimit: bigint },
  context: SendContext,
): Promise<SendOutcome> {
  const { options, deps, limits, signal } = context;
  const [gasPrice, status] = await Promise.all([
    readGasPrice(deps.client, options.gasPrice, signal),
    deps.client.status(signal),
  ]);
  const feeAmount = feeFor(gasPrice, gasLimit);
  const timeoutHeight = status.latestHeight + limits.timeoutBlocks;
  const signed = await signTransaction(
    {
      messages,
      memo: options.memo,
      timeoutHeight,
      gasLimit,
      fee: { denom: options.gasPrice.denom, amount: feeAmount },
      sequence: account.sequence,
    },
    { chainId: options.chainId, accountNumber: account.accountNumber },
    deps.signer,
  );
  const confirmation = await broadcastAndConfirm(signed, timeoutHeight, context);
  return { hash: signed.hash, bytes: signed.bytes.length, gasLimit, feeAmount, confirmation };
}

/**
 * Broadcasts and waits for the final state.
 *
 * The timeout height makes `lost` certain. Once the chain has passed it, no block can include the transaction any more,
 * so the caller may send its content again without a risk of doubling it. When the chain halts before that height,
 * `confirmDeadlineMs` ends the wait, and the transaction may still be included later.
 */
async function broadcastAndConfirm(
  signed: SignedTransaction,
  timeoutHeight: bigint,
  context: SendContext,
): Promise<Confirmation> {
  const outcome = await broadcastUntilClear(signed, context);
  if (outcome.kind === "refused") return outcome;
  const { deps, limits, signal } = context;
  return waitForConfirmation(
    { hash: signed.hash, timeoutHeight, deadlineMs: limits.confirmDeadlineMs, pollMs: limits.pollMs },
    { client: deps.client, clock: deps.clock, newBlock: deps.newBlock },
    signal,
  );
}

/**
 * Broadcasts the same bytes until the node responds. That is safe: the transaction can be included only once, because
 * its sequence is used up then.
 */
async function broadcastUntilClear(
  { bytes, hash }: SignedTransaction,
  { deps, limits, signal }: SendContext,
): Promise<BroadcastOutcome> {
  let outcome = await broadcastTransaction(deps.client.pool, bytes, signal);
  for (let tries = 1; outcome.kind === "unclear" && tries < limits.broadcastTries; tries++) {
    deps.logger.warn("no response to broadcast", { hash: toHex(hash), error: outcome.error.message });
    await deps.clock.sleep(backoffMs(tries - 1, limits.broadcastBackoff, deps.random), signal);
    const again = await broadcastTransaction(deps.client.pool, bytes, signal);
    // A sequence mismatch now means that an earlier attempt arrived and used the sequence. Whether the transaction gets
    // into a block is left to the confirmation.
    outcome = again.kind === "refused" && isSequenceMismatch(again) ? { kind: "accepted" } : again;
  }
  return outcome;
}

/** Whether CheckTx refused the transaction because of its sequence. */
export function isSequenceMismatch(outcome: Confirmation): boolean {
  return outcome.kind === "refused" && outcome.codespace === "sdk" && outcome.code === SEQUENCE_MISMATCH;
}

/** `sdk/32`: "account sequence mismatch" */
const SEQUENCE_MISMATCH = 32;
