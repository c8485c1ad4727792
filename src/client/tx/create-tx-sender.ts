import { type AccountState, readAccount } from "./account.ts";
import {
  isSequenceMismatch,
  type SendContext,
  type SendDeps,
  type SendLimits,
  type SendOptions,
  sendTransaction,
} from "./send-transaction.ts";
import { encodeForSimulation, type TransactionDraft } from "./signed-transaction.ts";
import { expectedSequence, simulateTransaction } from "./simulation.ts";
import { createTurnstile } from "./mutex.ts";
import type { SendOutcome, SimulationOutcome, TxSender, WireMessage } from "./tx-sender.ts";

/** How an account sends. */
export interface TxSenderOptions extends SendOptions {
  readonly limits?: Partial<SendLimits>;
}

/** Defaults of {@link SendLimits}, for blocks of one to a few seconds. */
const DEFAULT_SENDER_LIMITS: SendLimits = {
  timeoutBlocks: 20n,
  confirmDeadlineMs: 90_000,
  pollMs: 500,
  broadcastTries: 3,
  broadcastBackoff: { minMs: 100, baseMs: 300, maxMs: 3_000 },
};

/** Creates a sender; nothing is read before the first call. */
export function createTxSender(options: TxSenderOptions, deps: SendDeps): TxSender {
  const context: Omit<SendContext, "signal"> = {
    options,
    deps,
    limits: { ...DEFAULT_SENDER_LIMITS, ...options.limits },
  };
  const turnstile = createTurnstile();
  let known: AccountState | undefined;

  const simulate = async (
    messages: readonly WireMessage[],
    signal: AbortSignal,
  ): Promise<SimulationOutcome> => {
    // Not remembered: a transaction that is under way may be included before this is read.
    const { sequence } = known ?? (await readAccount(deps.client, deps.signer.address, signal));
    const first = await simulateAt(messages, sequence, { ...context, signal });
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
    const outcome = await sendTransaction(account, { messages, gasLimit }, { ...context, signal });
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
    await waitForNextBlock({ ...context, signal });
    return sendOne(messages, gasLimit, signal);
  };

  return {
    address: deps.signer.address,
    simulate,
    send: (messages, gasLimit, signal) => turnstile(() => sendTwice(messages, gasLimit, signal), signal),
  };
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

/** Waits until the chain is higher than now, at most the deadline of a confirmation. */
async function waitForNextBlock({ deps, limits, signal }: SendContext): Promise<void> {
  const before = (await deps.client.status(signal)).latestHeight;
  const untilMs = deps.clock.monotonicMs() + limits.confirmDeadlineMs;
  while (deps.clock.monotonicMs() < untilMs) {
    await deps.clock.sleep(limits.pollMs, signal);
    if ((await deps.client.status(signal)).latestHeight > before) return;
  }
}
