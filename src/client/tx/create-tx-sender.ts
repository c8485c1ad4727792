import { type AccountState, readAccount } from "./account.ts";
import { createMutex } from "./mutex.ts";
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
import type { SendOutcome, SimulationOutcome, TxSender, WireMessage } from "./tx-sender.ts";

export interface TxSenderOptions extends SendOptions {
  readonly limits?: Partial<SendLimits>;
}

/** Suitable for block times of one to a few seconds. */
const DEFAULT_SENDER_LIMITS: SendLimits = {
  timeoutBlocks: 20n,
  confirmDeadlineMs: 90_000,
  pollMs: 500,
  broadcastTries: 3,
  broadcastBackoff: { minMs: 100, baseMs: 300, maxMs: 3_000 },
};

/** Creates a sender. It reads the account at the first call. */
export function createTxSender(options: TxSenderOptions, deps: SendDeps): TxSender {
  const context: Omit<SendContext, "signal"> = {
    options,
    deps,
    limits: { ...DEFAULT_SENDER_LIMITS, ...options.limits },
  };
  // Parallel sends would need consecutive sequences in advance. One refused transaction would then invalidate all that
  // follow it, so sends run one after the other. Simulations change nothing and run in parallel.
  const sends = createMutex();
  // Account with the next sequence. Set after an inclusion only. While it is undefined, the account is read from the chain.
  let nextAccount: AccountState | undefined;

  const currentAccount = async (signal: AbortSignal): Promise<AccountState> =>
    nextAccount ?? (await readAccount(deps.client, deps.signer.address, signal));

  const simulate = async (
    messages: readonly WireMessage[],
    signal: AbortSignal,
  ): Promise<SimulationOutcome> => {
    // The result of this read is not kept. A send may be running: its transaction may be included after this read, and
    // the stored sequence would then be too low.
    const { sequence } = await currentAccount(signal);
    const first = await simulateAt(messages, sequence, { ...context, signal });
    // A simulation runs on the mempool's state, which already counts transactions that are not in a block yet. The node
    // names the sequence that it expects, so a second attempt needs no other read.
    const expected = first.ok ? undefined : expectedSequence(first.log);
    return expected === undefined ? first : simulateAt(messages, expected, { ...context, signal });
  };

  const sendOnce = async (
    messages: readonly WireMessage[],
    gasLimit: bigint,
    signal: AbortSignal,
  ): Promise<SendOutcome> => {
    const account = await currentAccount(signal);
    // Only an inclusion proves that the sequence was used. After a refusal, a loss, a failure or an exception it may be
    // used or not, depending on the ante step that failed. The next send then reads it from the chain.
    nextAccount = undefined;
    const outcome = await sendTransaction(account, { messages, gasLimit }, { ...context, signal });
    if (outcome.confirmation.kind === "included")
      nextAccount = { ...account, sequence: account.sequence + 1n };
    return outcome;
  };

  const sendAndRetry = async (
    messages: readonly WireMessage[],
    gasLimit: bigint,
    signal: AbortSignal,
  ): Promise<SendOutcome> => {
    const first = await sendOnce(messages, gasLimit, signal);
    if (!isSequenceMismatch(first.confirmation)) return first;
    deps.logger.info("sequence mismatch, sending once more", { address: deps.signer.address });
    // CheckTx expects the mempool's sequence. An account query returns the committed sequence. They differ while a
    // transaction of the account is pending. They also differ after CheckTx refused a transaction behind the ante step
    // that raises the sequence, for instance when gas ran out in the fee step. The next block makes them equal again, so
    // an immediate retry would fail in the same way.
    await waitForNextBlock({ ...context, signal });
    return sendOnce(messages, gasLimit, signal);
  };

  return {
    address: deps.signer.address,
    simulate,
    send: (messages, gasLimit, signal) =>
      sends.runExclusive(() => sendAndRetry(messages, gasLimit, signal), signal),
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

/** Waits until the chain has a higher block than now, at most `confirmDeadlineMs`. */
async function waitForNextBlock({ deps, limits, signal }: SendContext): Promise<void> {
  const startHeight = (await deps.client.status(signal)).latestHeight;
  const untilMs = deps.clock.monotonicMs() + limits.confirmDeadlineMs;
  while (deps.clock.monotonicMs() < untilMs) {
    await deps.clock.sleep(limits.pollMs, signal);
    if ((await deps.client.status(signal)).latestHeight > startHeight) return;
  }
}
