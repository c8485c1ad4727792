import type { WakeSignal } from "../../base/wake-signal.ts";
import type { Clock } from "../../base/clock.ts";
import { toBase64 } from "../../base/bytes.ts";
import type { PooledChainClient } from "../create-chain-client.ts";
import { ClientError, classifyClientError } from "../errors.ts";
import type { Confirmation } from "./tx-sender.ts";
import { field, int64, text, uint32, wireValue } from "../read/wire-fields.ts";

/** Blocks after the timeout height that the node's transaction index gets to catch up. */
const INDEX_SLACK = 2n;

/** Which transaction to wait for, and how long. */
export interface ConfirmationRequest {
  readonly hash: Uint8Array;
  /** Once the chain has passed it, the transaction can never be included; 0: no limit. */
  readonly timeoutHeight: bigint;
  readonly deadlineMs: number;
  /** Longest wait between two looks. */
  readonly pollMs: number;
}

/** What waiting needs from its surroundings. */
export interface ConfirmationDeps {
  readonly client: Pick<PooledChainClient, "pool" | "status">;
  readonly clock: Clock;
  /** Makes it look at every block rather than only every `pollMs`. */
  readonly newBlock: WakeSignal | undefined;
}

/** Where a transaction was found, or undefined while it is not in a block. */
export type FoundTransaction = Extract<Confirmation, { readonly kind: "included" | "failed" }> | undefined;

/**
 * Looks for a transaction until it is in a block, its timeout height has passed, or the deadline. Errors of the
 * endpoint are outwaited; throws the signal's reason, and errors that will not heal (a node without transaction index).
 */
export async function waitForConfirmation(
  request: ConfirmationRequest,
  deps: ConfirmationDeps,
  signal: AbortSignal,
): Promise<Confirmation> {
  const untilMs = deps.clock.monotonicMs() + request.deadlineMs;
  for (;;) {
    const seen = await look(request, deps, signal);
    if (seen !== undefined) return seen;
    const leftMs = untilMs - deps.clock.monotonicMs();
    if (leftMs <= 0) return { kind: "lost", reason: `not in a block after ${request.deadlineMs} ms` };
    await pause(Math.min(request.pollMs, leftMs), deps, signal);
  }
}

async function look(
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

/** Asks for a transaction by hash once. */
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

/** Decodes the answer to `tx`. */
export function decodeFound(result: unknown, endpoint: string): NonNullable<FoundTransaction> {
  const root = wireValue(result, "tx", endpoint);
  const txResult = field(root, "tx_result");
  const code = uint32(field(txResult, "code"));
  const height = int64(field(root, "height"));
  const gasUsed = int64(field(txResult, "gas_used"));
  if (code === 0)
    return { kind: "included", height, gasUsed, gasWanted: int64(field(txResult, "gas_wanted")) };
  const codespace = text(field(txResult, "codespace"));
  return { kind: "failed", height, code, codespace, log: text(field(txResult, "log")), gasUsed };
}

function isNotFound(error: unknown): boolean {
  return error instanceof ClientError && error.facts.code === "rpc" && /not found/.test(error.facts.data);
}

/** Waits for the next block, at most `waitMs`. */
async function pause(
  waitMs: number,
  { clock, newBlock }: ConfirmationDeps,
  signal: AbortSignal,
): Promise<void> {
  if (newBlock === undefined) return clock.sleep(waitMs, signal);
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  try {
    await Promise.race([clock.sleep(waitMs, either), newBlock.next(either)]);
  } finally {
    stop.abort(new Error("the wait is over"));
  }
}
