import { type BackoffOptions, backoffMs } from "../base/backoff.ts";
import { toHex } from "../base/bytes.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { type AccountState, readAccount } from "./account.ts";
import type { BlockTicker } from "./block-ticker.ts";
import { type BroadcastOutcome, broadcastTransaction } from "./broadcast.ts";
import { waitForConfirmation } from "./confirmation.ts";
import type { PooledChainClient } from "./create-chain-client.ts";
import { feeFor, type GasPricePolicy, readGasPrice } from "./gas-price.ts";
import {
  encodeForSimulation,
  type SignedTransaction,
  signTransaction,
  type TransactionDraft,
} from "./signed-transaction.ts";
import type { Signer } from "./signer.ts";
import { expectedSequence, simulateTransaction } from "./simulation.ts";
import { createTurnstile } from "./turnstile.ts";
import type { Confirmation, SendOutcome, SimulationOutcome, TxSender, WireMessage } from "./tx-sender.ts";

/** How an account sends. */
export interface TxSenderOptions {
  readonly chainId: string;
  readonly gasPrice: GasPricePolicy;
  /** At most 256 characters on most chains. */
  readonly memo: string;
  readonly limits?: Partial<TxSenderLimits>;
}

/** Bounds of a sender. */
export interface TxSenderLimits {
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

/** Defaults of {@link TxSenderLimits}, for blocks of one to a few seconds. */
export const DEFAULT_SENDER_LIMITS: TxSenderLimits = {
  timeoutBlocks: 20n,
  confirmDeadlineMs: 90_000,
  pollMs: 500,
  broadcastTries: 3,
  broadcastBackoff: { minMs: 100, baseMs: 300, maxMs: 3_000 },
};

/** What a sender needs from its surroundings. */
export interface TxSenderDeps {
  readonly client: Pick<PooledChainClient, "grpcQuery" | "status" | "pool">;
  readonly signer: Signer;
  readonly clock: Clock;
  /** gives [0, 1) */
  readonly random: () => number;
  readonly logger: Logger;
  /** Fed by a subscription, makes confirmations arrive with the block; without it they are polled for. */
  readonly ticker?: BlockTicker;
}

/** Creates a sender; nothing is read before the first call. */
export function createTxSender(options: TxSenderOptions, deps: TxSenderDeps): TxSender {
  const context: SenderContext = { options, deps, limits: { ...DEFAULT_SENDER_LIMITS, ...options.limits } };
  const turnstile = createTurnstile();
  let known: AccountState | undefined;

  const simulate = async (
    messages: readonly WireMessage[],
    signal: AbortSignal,
  ): Promise<SimulationOutcome> => {
    known ??= await readAccount(deps.client, deps.signer.address, signal);
    const first = await simulateAt(messages, known.sequence, { ...context, signal });
    const expected = first.ok ? undefined : expectedSequence(first.log);
    return expected === undefined ? first : simulateAt(messages, expected, { ...context, signal });
  };

  /** Whatever happens to the sequence shows when it is read again; only an inclusion makes it certain. */
  const sendOne = async (
    messages: readonly WireMessage[],
    gasLimit: bigint,
    signal: AbortSignal,
  ): Promise<SendOutcome> => {
    const account = known ?? (await readAccount(deps.client, deps.signer.address, signal));
    known = undefined;
    const outcome = await sendWith(account, { messages, gasLimit }, { ...context, signal });
    if (outcome.confirmation.kind === "included") known = { ...account, sequence: account.sequence + 1n };
    return outcome;
  };

  /** A stale sequence: the mempool's may run ahead of the chain's until the next block, so that is awaited. */
  const sendTwice = async (
    messages: readonly WireMessage[],
    gasLimit: bigint,
    signal: AbortSignal,
  ): Promise<SendOutcome> => {
    const first = await sendOne(messages, gasLimit, signal);
    if (!isSequenceMismatch(first.confirmation)) return first;
    deps.logger.info("sequence was stale, sending once more", { address: deps.signer.address });
    await waitForNextBlock(context, signal);
    return sendOne(messages, gasLimit, signal);
  };

  return {
    address: deps.signer.address,
    simulate,
    send: (messages, gasLimit, signal) => turnstile(() => sendTwice(messages, gasLimit, signal), signal),
  };
}

interface SenderContext {
  readonly options: TxSenderOptions;
  readonly deps: TxSenderDeps;
  readonly limits: TxSenderLimits;
}

interface SendContext extends SenderContext {
  readonly signal: AbortSignal;
}

function simulateAt(
  messages: readonly WireMessage[],
  sequence: bigint,
  { options, deps, signal }: SendContext,
): Promise<SimulationOutcome> {
  const draft: TransactionDraft = {
    messages,
    memo: options.memo,
    timeoutHeight: 0n,
    gasLimit: 0n,
    fee: { denom: options.gasPrice.denom, amount: 0n },
    sequence,
  };
  return simulateTransaction(deps.client, encodeForSimulation(draft, deps.signer), signal);
}

/** Prices, signs, broadcasts and confirms one transaction. */
async function sendWith(
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
    { client: deps.client, clock: deps.clock, ticker: deps.ticker },
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
    deps.logger.warn("broadcast was not answered", { hash: toHex(hash), fault: outcome.fault.message });
    await deps.clock.sleep(backoffMs(tries - 1, limits.broadcastBackoff, deps.random), signal);
    const again = await broadcastTransaction(deps.client.pool, bytes, signal);
    outcome = again.kind === "refused" && isSequenceMismatch(again) ? { kind: "accepted" } : again;
  }
  return outcome;
}

function isSequenceMismatch(outcome: Confirmation): boolean {
  return outcome.kind === "refused" && outcome.codespace === "sdk" && outcome.code === SEQUENCE_MISMATCH;
}

/** `sdk/32`, "account sequence mismatch" */
const SEQUENCE_MISMATCH = 32;

/** Waits until the chain is higher than now, at most the deadline of a confirmation. */
async function waitForNextBlock({ deps, limits }: SenderContext, signal: AbortSignal): Promise<void> {
  const before = (await deps.client.status(signal)).latestHeight;
  const untilMs = deps.clock.monotonicMs() + limits.confirmDeadlineMs;
  while (deps.clock.monotonicMs() < untilMs) {
    await deps.clock.sleep(limits.pollMs, signal);
    if ((await deps.client.status(signal)).latestHeight > before) return;
  }
}
