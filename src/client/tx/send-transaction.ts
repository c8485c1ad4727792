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

/** What an account puts into its transactions. */
export interface SendOptions {
  readonly chainId: string;
  readonly gasPrice: GasPricePolicy;
  /** At most 256 characters on most chains. */
  readonly memo: string;
}

/** Bounds of sending. */
export interface SendLimits {
  /** A transaction that is not in one of the next so many blocks never will be, and is `lost`. */
  readonly timeoutBlocks: bigint;
  /** Longest wait for inclusion, for a chain that stands still. */
  readonly confirmDeadlineMs: number;
  /** Longest wait between two looks for a transaction. */
  readonly pollMs: number;
  /** Times that the same bytes are sent when the node's answer is lost. */
  readonly broadcastTries: number;
  readonly broadcastBackoff: BackoffOptions;
}

/** What sending needs from its surroundings. */
export interface SendDeps {
  readonly client: Pick<PooledChainClient, "grpcQuery" | "status" | "pool">;
  readonly signer: Signer;
  readonly clock: Clock;
  /** gives [0, 1) */
  readonly random: () => number;
  readonly logger: Logger;
  /** Fed by a subscription, makes confirmations arrive with the block; without it they are polled for. */
  readonly newBlock?: WakeSignal;
}

/** Everything about a sender that does not change from one transaction to the next, and the signal of this one. */
export interface SendContext {
  readonly options: SendOptions;
  readonly deps: SendDeps;
  readonly limits: SendLimits;
  readonly signal: AbortSignal;
}

/** Prices, signs, broadcasts and confirms one transaction. */
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
 * Sends the same bytes until the node answers. After an unclear try a stale sequence means that the first one arrived,
 * so the outcome is left to the confirmation.
 */
async function broadcastUntilClear(
  { bytes, hash }: SignedTransaction,
  { deps, limits, signal }: SendContext,
): Promise<BroadcastOutcome> {
  let outcome = await broadcastTransaction(deps.client.pool, bytes, signal);
  for (let tries = 1; outcome.kind === "unclear" && tries < limits.broadcastTries; tries++) {
    deps.logger.warn("broadcast was not answered", { hash: toHex(hash), error: outcome.error.message });
    await deps.clock.sleep(backoffMs(tries - 1, limits.broadcastBackoff, deps.random), signal);
    const again = await broadcastTransaction(deps.client.pool, bytes, signal);
    outcome = again.kind === "refused" && isSequenceMismatch(again) ? { kind: "accepted" } : again;
  }
  return outcome;
}

/** Whether the node refused a transaction for its sequence. */
export function isSequenceMismatch(outcome: Confirmation): boolean {
  return outcome.kind === "refused" && outcome.codespace === "sdk" && outcome.code === SEQUENCE_MISMATCH;
}

/** `sdk/32`, "account sequence mismatch" */
const SEQUENCE_MISMATCH = 32;
