import { toHex } from "../../../platform/base/bytes.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { errorText } from "../../../platform/base/errors.ts";
import type { Logger } from "../../../platform/base/logger.ts";
import { backoffMs, type BackoffOptions } from "../../../platform/base/waits.ts";
import { MsgSend } from "../../proto/gen/cosmos/bank/v1beta1/tx.ts";
import { type ChainClient, RESET_DISTANCE } from "../chain-client.ts";
import type { PooledChainClient } from "../create-chain-client.ts";
import { ClientError } from "../../client-error.ts";
import { type BroadcastOutcome, broadcastTransaction, confirmFlights, type Flight } from "./flights.ts";
import { encodeForSimulation, type Signer, signTransaction } from "./signer.ts";
import {
  type AccountState,
  expectedSequence,
  feeFor,
  type GasPricePolicy,
  isSequenceMismatch,
  readAccount,
  readGasPrice,
  simulateTransaction,
} from "./tx-queries.ts";
import type {
  BroadcastResult,
  ChainMoment,
  SimulationOutcome,
  TxDraft,
  TxWindow,
  WireMessage,
} from "./tx-types.ts";

export interface TxWindowOptions {
  readonly chainId: string;
  readonly gasPrice: GasPricePolicy;
  /** Memo of every transaction, at most 256 characters by the SDK's default. */
  readonly memo: string;
  readonly limits?: Partial<WindowLimits>;
}

export interface WindowLimits {
  /** Number of blocks from the broadcast to the timeout height, after which no block can include the transaction. */
  readonly timeoutBlocks: bigint;
  /** Maximum time to wait for a transaction's block, in ms. This limit matters only if the chain halts before the timeout height. */
  readonly confirmDeadlineMs: number;
}

/** Default limits, suitable for block times of one to a few seconds. */
export const DEFAULT_WINDOW_LIMITS: WindowLimits = { timeoutBlocks: 20n, confirmDeadlineMs: 90_000 };

/** Maximum number of broadcasts of the same bytes while the node does not respond. */
const BROADCAST_TRIES = 3;
const BROADCAST_BACKOFF: BackoffOptions = { minMs: 100, baseMs: 300, maxMs: 3_000 };

export interface TxWindowDeps {
  readonly client: Pick<PooledChainClient, "grpcQuery" | "pool">;
  readonly signer: Signer;
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
}

interface WindowState {
  readonly options: TxWindowOptions;
  readonly deps: TxWindowDeps;
  readonly limits: WindowLimits;
  /** The account with its next sequence, or undefined if the account must be read from the chain. */
  next: AccountState | undefined;
  /**
   * Sequence that the mempool probably expects. Undefined if unknown. Only simulations use this guess, and the node's error message
   * corrects a wrong guess.
   */
  expected: bigint | undefined;
  /** Transactions in flight, in sequence order. */
  flights: readonly Flight[];
  /** True if the mempool may expect a different sequence than this window. No transaction is sent until all flights are final. */
  isUncertain: boolean;
  /** Height that the chain must have reached before the window sends the next transaction. */
  closedBelow: bigint;
}

/** Creates a window that has no flights and reads the account on its first call. */
export function createTxWindow(options: TxWindowOptions, deps: TxWindowDeps): TxWindow {
  const state: WindowState = {
    options,
    deps,
    limits: { ...DEFAULT_WINDOW_LIMITS, ...options.limits },
    next: undefined,
    expected: undefined,
    flights: [],
    isUncertain: false,
    closedBelow: 0n,
  };
  const isOpen = (height: bigint): boolean =>
    !state.isUncertain && (height >= state.closedBelow || height + RESET_DISTANCE < state.closedBelow);
  return {
    address: deps.signer.address,
    simulate: (messages, signal) => simulate(state, messages, signal),
    gasPrice: (signal) => readGasPrice(deps.client, options.gasPrice, signal),
    isOpen,
    broadcast: async (drafts, at, signal) => {
      if (!isOpen(at.height))
        return drafts.map(() => ({ kind: "skipped", reason: "the sequence of the account is not certain" }));
      const account = (state.next ??= await readAccount(deps.client, deps.signer.address, signal));
      // Forget the account until `recordOutcomes` sets it again, because after an abort, the sequence may already have been used.
      state.next = undefined;
      state.expected = account.sequence + BigInt(drafts.length);
      const signed = await signAll(state, drafts, at, account);
      const outcomes = await broadcastInOrder(state, signed, signal);
      return recordOutcomes(state, account, signed, outcomes);
    },
    confirm: async (height, signal) => {
      const at = { height, isUncertain: state.isUncertain };
      const { finals, remaining } = await confirmFlights(state.flights, at, deps, signal);
      state.flights = remaining;
      const kinds = finals.map(({ confirmation }) => confirmation.kind);
      if (kinds.includes("lost")) state.isUncertain = true;
      // After a failed transaction, read the account again, because the ante step that failed decides whether the sequence was used.
      if (remaining.length === 0 && (state.isUncertain || kinds.includes("failed")))
        [state.next, state.expected, state.isUncertain] = [undefined, undefined, false];
      return finals;
    },
    reset: () => {
      [state.next, state.expected, state.closedBelow] = [undefined, undefined, 0n];
      state.flights = state.flights.map((flight) => ({ ...flight, isOrphaned: true }));
    },
    inFlight: () => state.flights.map(({ tx }) => tx),
  };
}

const SEQUENCE_TRIES = 4;

/**
 * Simulates with the sequence that the mempool probably expects. After a sequence mismatch, retries with the sequence in the node's
 * error. A simulation runs on the mempool's state, which already includes transactions that are not in a block yet. More
 * transactions may arrive in the meantime.
 */
async function simulate(
  state: WindowState,
  messages: readonly WireMessage[],
  signal: AbortSignal,
): Promise<SimulationOutcome> {
  const { client, signer } = state.deps;
  const { memo } = state.options;
  // Do not store this sequence, because it becomes too low when a block includes another transaction.
  const first = state.expected ?? (await readAccount(client, signer.address, signal)).sequence;
  let expected: bigint | undefined;
  for (let tries = 1; ; tries++) {
    const bytes = encodeForSimulation({ messages, memo, sequence: expected ?? first }, signer);
    const outcome = await simulateTransaction(client, bytes, signal);
    const next = outcome.ok ? undefined : expectedSequence(outcome.log);
    if (next === undefined || tries >= SEQUENCE_TRIES) {
      state.expected = expected ?? state.expected;
      return outcome;
    }
    expected = next;
  }
}

/** Signs all drafts before the first transaction is sent, so that no sequence is used up if an external signer fails. */
async function signAll(
  state: WindowState,
  drafts: readonly TxDraft[],
  { gasPrice, height }: ChainMoment,
  account: AccountState,
): Promise<readonly Flight[]> {
  const { options, deps, limits } = state;
  const { chainId, memo } = options;
  const timeoutHeight = height + limits.timeoutBlocks;
  const sign = async ({ messages, gasLimit }: TxDraft, index: number): Promise<Flight> => {
    const { sequence } = withSequence(account, index);
    const feeAmount = feeFor(gasPrice, gasLimit);
    const fee = { denom: options.gasPrice.denom, amount: feeAmount };
    const draft = { messages, memo, timeoutHeight, gasLimit, fee, sequence };
    const { bytes, hash } = await signTransaction(draft, { ...account, chainId }, deps.signer);
    const deadlineMs = deps.clock.monotonicMs() + limits.confirmDeadlineMs;
    const tx = { hash, sequence, size: bytes.length, gasLimit, feeAmount };
    return { tx, bytes, timeoutHeight, deadlineMs, checkedAt: height, refused: undefined };
  };
  try {
    return await Promise.all(drafts.map(sign));
  } catch (error) {
    state.next = account;
    state.expected = account.sequence;
    throw error;
  }
}

function withSequence(account: AccountState, added: number): AccountState {
  return { ...account, sequence: account.sequence + BigInt(added) };
}

/**
 * Broadcasts all transactions without waiting for one another. If the broadcasts use several connections, a transaction may reach
 * the node before its predecessor, so that the node refuses the sequence. The refused transaction is sent again once the node has
 * accepted its predecessor. Resending is safe, because the same bytes can be included only once.
 */
function broadcastInOrder(
  state: WindowState,
  all: readonly Flight[],
  signal: AbortSignal,
): Promise<readonly BroadcastOutcome[]> {
  let before: Promise<BroadcastOutcome> | undefined;
  return Promise.all(
    all.map((flight) => {
      before = broadcastAfter(before, () => broadcastUntilClear(state, flight, signal));
      return before;
    }),
  );
}

async function broadcastAfter(
  before: Promise<BroadcastOutcome> | undefined,
  broadcast: () => Promise<BroadcastOutcome>,
): Promise<BroadcastOutcome> {
  const first = await broadcast();
  if (before === undefined || first.kind !== "refused" || !isSequenceMismatch(first)) return first;
  return (await before).kind === "accepted" ? broadcast() : first;
}

/**
 * Broadcasts the same bytes until the node responds. Repeating the broadcast is safe, because each sequence can be included only
 * once.
 */
async function broadcastUntilClear(
  { deps }: WindowState,
  { bytes, tx: { hash } }: Flight,
  signal: AbortSignal,
): Promise<BroadcastOutcome> {
  let outcome = await broadcastOnce(deps, bytes, signal);
  for (let tries = 1; outcome.kind === "unclear" && tries < BROADCAST_TRIES; tries++) {
    deps.logger.warn("no response to broadcast", { hash: toHex(hash), error: outcome.error.message });
    await deps.clock.sleep(backoffMs(tries - 1, BROADCAST_BACKOFF, deps.random), signal);
    const again = await broadcastOnce(deps, bytes, signal);
    // If this attempt is rejected, an earlier attempt may still have arrived and used the sequence or the funds.
    if (again.kind !== "refused") outcome = again;
  }
  return outcome;
}

/** Broadcasts once. A JSON-RPC error, e.g. about a full mempool, means that the node did not accept the transaction. */
async function broadcastOnce(
  { client }: TxWindowDeps,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<BroadcastOutcome> {
  try {
    return await broadcastTransaction(client.pool, bytes, signal);
  } catch (error) {
    if (!(error instanceof ClientError) || error.facts.code === "closed") throw error;
    return { kind: "refused", code: 1, codespace: "rpc", log: errorText(error), cause: error };
  }
}

/** Updates the window after a broadcast. `account` contains the sequence of the first broadcast transaction. */
function recordOutcomes(
  state: WindowState,
  account: AccountState,
  signed: readonly Flight[],
  outcomes: readonly BroadcastOutcome[],
): readonly BroadcastResult[] {
  const refusedAt = outcomes.findIndex(({ kind }) => kind === "refused");
  const results = signed.map((flight, index): BroadcastResult => {
    const outcome = outcomes[index];
    const { tx } = flight;
    if (outcome === undefined) return { kind: "skipped", reason: "not broadcast" };
    if (outcome.kind === "refused" && !isSequenceMismatch(outcome)) return { ...outcome, tx };
    if (outcome.kind === "refused") {
      const reason = index === refusedAt ? outcome.log : "an earlier transaction was refused";
      return { kind: "skipped", reason, tx };
    }
    // A transaction whose outcome is unclear may have reached the mempool. A transaction after a rejected transaction has a
    // sequence that the account will not reach in the next block.
    if (outcome.kind === "unclear" || (refusedAt >= 0 && index > refusedAt)) state.isUncertain = true;
    state.flights = [...state.flights, flight];
    return { kind: "in-flight", tx, ...(outcome.kind === "unclear" ? { isUncertain: true } : {}) };
  });
  const first = outcomes[refusedAt];
  const flight = signed[refusedAt];
  if (first?.kind === "refused" && flight !== undefined && isSequenceMismatch(first)) {
    // CheckTx expects the mempool's sequence. The mempool's sequence can differ from the committed sequence, because another
    // program's transaction may be pending, or because CheckTx rejected a transaction after incrementing its sequence. After the
    // next block, the two are equal.
    state.closedBelow = flight.checkedAt + 1n;
    if (state.flights.length > 0) state.isUncertain = true;
  } else state.next = withSequence(account, refusedAt < 0 ? outcomes.length : refusedAt);
  state.expected = state.next?.sequence;
  return results;
}

/**
 * Returns how many of the account's transactions are waiting in the node's mempool, including transactions from an earlier process.
 * A simulation with the sequence from the last block reveals the sequence that the mempool expects, which includes these
 * transactions. Rejects with `ClientError` if reading the account or the simulation fails.
 */
export async function countPendingTransactions(
  client: Pick<ChainClient, "grpcQuery">,
  signer: Signer,
  denom: string,
  signal: AbortSignal,
): Promise<bigint> {
  const { address } = signer;
  const { sequence } = await readAccount(client, address, signal);
  const coin = { denom, amount: "1" };
  const value = MsgSend.encode({ fromAddress: address, toAddress: address, amount: [coin] }).finish();
  const messages = [{ typeUrl: "/cosmos.bank.v1beta1.MsgSend", value }];
  const bytes = encodeForSimulation({ messages, memo: "", sequence }, signer);
  const outcome = await simulateTransaction(client, bytes, signal);
  const expected = outcome.ok ? undefined : expectedSequence(outcome.log);
  return expected === undefined || expected < sequence ? 0n : expected - sequence;
}
