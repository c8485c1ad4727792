import { withTimeout } from "../../base/abort.ts";
import { toBase64 } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { asBase64, asInt64, asText, asUint32, member } from "../../base/json-fields.ts";
import type { WakeSignal } from "../../base/wake-signal.ts";
import type { PooledChainClient } from "../create-chain-client.ts";
import { ClientError, classifyClientError } from "../errors.ts";
import { resultField } from "../rpc/rpc-response.ts";
import type { Confirmation } from "./tx-sender.ts";

/**
 * Number of blocks after the timeout height before a transaction counts as lost. CometBFT indexes transactions after the
 * block, so `tx` may miss a transaction for a moment although `status` already shows its block.
 */
const INDEX_SLACK = 2n;

/** A transaction to wait for. */
export interface ConfirmationRequest {
  readonly hash: Uint8Array;
  /** Timeout height of the transaction: no later block can include it. 0 means that it has none. */
  readonly timeoutHeight: bigint;
  /** Longest wait. Decides only when the chain halts, or when there is no timeout height. */
  readonly deadlineMs: number;
  /** Longest time between two polls. */
  readonly pollMs: number;
}

export interface ConfirmationDeps {
  readonly client: Pick<PooledChainClient, "pool" | "status">;
  readonly clock: Clock;
  /** Wakes at each block. With it every block is polled at once, without it only every `pollMs`. */
  readonly newBlock: WakeSignal | undefined;
}

/** A transaction in a block, or undefined while it is in none. */
export type FoundTransaction = Extract<Confirmation, { readonly kind: "included" | "failed" }> | undefined;

/**
 * Polls for a transaction until it is in a block, its timeout height has passed, or the deadline. Retryable errors count
 * as "not found yet". Throws the signal's reason and other errors, for instance when the node has no transaction index.
 */
export async function waitForConfirmation(
  request: ConfirmationRequest,
  deps: ConfirmationDeps,
  signal: AbortSignal,
): Promise<Confirmation> {
  const untilMs = deps.clock.monotonicMs() + request.deadlineMs;
  for (;;) {
    const confirmation = await poll(request, deps, signal);
    if (confirmation !== undefined) return confirmation;
    const leftMs = untilMs - deps.clock.monotonicMs();
    if (leftMs <= 0) return { kind: "lost", reason: `not in a block after ${request.deadlineMs} ms` };
    await waitForBlock(Math.min(request.pollMs, leftMs), deps, signal);
  }
}

async function poll(
  { hash, timeoutHeight }: ConfirmationRequest,
  { client }: ConfirmationDeps,
  signal: AbortSignal,
): Promise<Confirmation | undefined> {
  try {
    const [found, status] = await Promise.all([
      findTransaction(client.pool, hash, signal),
      client.status(signal),
    ]);
    if (found !== undefined) return found;
    if (timeoutHeight === 0n || status.latestHeight <= timeoutHeight + INDEX_SLACK) return undefined;
    return { kind: "lost", reason: `not in a block up to its timeout height ${timeoutHeight}` };
  } catch (error) {
    if (classifyClientError(error, signal) !== "retry") throw error;
    return undefined;
  }
}

async function findTransaction(
  pool: Pick<PooledChainClient["pool"], "read">,
  hash: Uint8Array,
  signal: AbortSignal,
): Promise<FoundTransaction> {
  try {
    return await pool.read(
      { method: "tx", params: { hash: toBase64(hash), prove: false }, decode: decodeFound },
      signal,
    );
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Decodes the result of `tx`. */
export function decodeFound(result: unknown, endpoint: string): NonNullable<FoundTransaction> {
  const root = resultField(result, "tx", endpoint);
  const txResult = member(root, "tx_result");
  const code = asUint32(member(txResult, "code"));
  const height = asInt64(member(root, "height"));
  const gasUsed = asInt64(member(txResult, "gas_used"));
  if (code === 0) {
    const gasWanted = asInt64(member(txResult, "gas_wanted"));
    return { kind: "included", height, gasUsed, gasWanted, data: asBase64(member(txResult, "data")) };
  }
  const codespace = asText(member(txResult, "codespace"));
  return { kind: "failed", height, code, codespace, log: asText(member(txResult, "log")), gasUsed };
}

function isNotFound(error: unknown): boolean {
  return error instanceof ClientError && error.facts.code === "rpc" && /not found/.test(error.facts.data);
}

/** Waits for the next block, at most `timeoutMs`. */
async function waitForBlock(
  timeoutMs: number,
  { clock, newBlock }: ConfirmationDeps,
  signal: AbortSignal,
): Promise<void> {
  if (newBlock === undefined) return clock.sleep(timeoutMs, signal);
  await withTimeout(timeoutMs, clock, signal, newBlock.next);
}
