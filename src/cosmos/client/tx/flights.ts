import { RESET_DISTANCE } from "../chain-client.ts";
import { equalBytes, sha256, toBase64, toHex } from "../../../platform/base/bytes.ts";
import { maxInt, minInt } from "../../../platform/base/integers.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { errorText } from "../../../platform/base/errors.ts";
import { decodeTxResult } from "../../comet/rpc-blocks.ts";
import type { EndpointPool } from "../endpoint-pool.ts";
import { answerOf, isRequestTooLarge, lacksHeight, mayHaveArrived, readAnswer } from "../answers.ts";
import { ClientError } from "../../client-error.ts";
import { decodeTxsOfBlock, resultField, wrongResponse } from "../rpc-response.ts";
import { expectedSequence, isSequenceMismatch, TX_TOO_LARGE } from "./tx-queries.ts";
import type { Confirmation, FinalTx, FlightTx, TxFailure } from "./tx-types.ts";

/** A transaction in flight, with the data for following it until it is final. */
export interface Flight {
  readonly tx: FlightTx;
  readonly bytes: Uint8Array;
  /** Last height at which a block can include the transaction. */
  readonly timeoutHeight: bigint;
  /** Monotonic time, in ms, at which the wait for the transaction ends. */
  readonly deadlineMs: number;
  /** Chain height at the transaction's last broadcast. */
  readonly checkedAt: bigint;
  /**
   * Last block that was scanned for the transaction because there is no transaction index; undefined until the first block has been
   * read.
   */
  readonly searchedTo?: bigint;
  /**
   * Height at which nodes started to refuse rebroadcasts of the transaction, and the kind of reason. Undefined if nodes still
   * accept rebroadcasts.
   */
  readonly refused: Refusal | undefined;
  /** True if the chain was reset to a lower height after the broadcast. */
  readonly isOrphaned?: boolean;
}

interface Refusal {
  /** Height at which nodes first refused the transaction for this kind of reason. */
  readonly at: bigint;
  /**
   * True if the node reports that the sequence has been used. In this case, a block contains this transaction or another
   * transaction with the same sequence.
   */
  readonly isSequence: boolean;
}

type Pool = Pick<EndpointPool, "read">;

interface FlightDeps {
  readonly client: { readonly pool: Pool };
  readonly clock: Pick<Clock, "monotonicMs">;
}

/** Number of blocks to wait for a missing transaction, because CometBFT indexes a transaction only after its block is known. */
const INDEX_SLACK = 2n;
/**
 * Number of blocks after which a transaction that is not in a block is broadcast again, because the node may have dropped the
 * transaction.
 */
const OVERDUE_BLOCKS = 2n;

/**
 * Looks up all flights at the chain's `height`. A flight is lost if no block includes it and no later block can. If `isUncertain`
 * is true, a node may have dropped some flights, so they are broadcast again after one block.
 */
export async function confirmFlights(
  flights: readonly Flight[],
  { height, isUncertain }: { readonly height: bigint; readonly isUncertain: boolean },
  { client: { pool }, clock }: FlightDeps,
  signal: AbortSignal,
): Promise<{ readonly finals: readonly FinalTx[]; readonly remaining: readonly Flight[] }> {
  const indexed = await Promise.all(flights.map((flight) => findInIndex(flight, pool, signal)));
  const searches = indexed.some(({ found }) => found === "no-index")
    ? await findInBlocks(flights, height, pool, signal)
    : indexed;
  const finals: FinalTx[] = [];
  const remaining: Flight[] = [];
  // If a transaction is still pending, the later transactions are also in the same mempool and need no rebroadcast.
  let mayBroadcast = true;
  for (const search of searches) {
    let { flight, found } = search;
    let lost = expiryOf(flight, height, clock);
    const isExpired = lost !== undefined;
    const isOverdue = mayBroadcast && height >= flight.checkedAt + patienceFor(flight, isUncertain);
    const searchBlocks = async (): Promise<void> => {
      const [again = search] = await findInBlocks([flight], height, pool, signal);
      ({ flight, found } = again);
    };
    // An index may have gaps, so the blocks must be read to find out whether they contain the transaction. The transaction is
    // rebroadcast once before this search.
    if (found === undefined && (isExpired || (isOverdue && flight.searchedTo !== undefined)))
      await searchBlocks();
    if (found === undefined && !isExpired && isOverdue) {
      const check = await checkFlight(flight, height, pool, signal);
      lost = check.lost;
      if (lost === undefined) {
        // Search from the height of the first broadcast next time, because a rebroadcast changes `checkedAt`.
        flight = { ...check.flight, searchedTo: flight.searchedTo ?? flight.checkedAt };
        mayBroadcast = false;
      } else await searchBlocks();
    }
    const { tx } = flight;
    // Keep the flight if no node could be queried, because a block may already contain the transaction.
    if (found === "unknown" || found === "no-index") remaining.push(flight);
    else if (found !== undefined) finals.push({ tx, confirmation: found });
    else if (lost === undefined) remaining.push(flight);
    else if (lost !== DEADLINE_PASSED) finals.push({ tx, confirmation: { kind: "lost", reason: lost } });
    else finals.push({ tx, confirmation: { kind: "lost", reason: lost, isUncertain: true } });
  }
  return { finals, remaining };
}

const DEADLINE_PASSED = "not in a block before its deadline";

/**
 * Returns the reason why a flight has ended: its timeout height has passed, its deadline has passed (if the chain halts), or the
 * chain was reset. Returns undefined if the flight has not ended.
 */
function expiryOf(flight: Flight, height: bigint, clock: FlightDeps["clock"]): string | undefined {
  if (height > flight.timeoutHeight + INDEX_SLACK)
    return `not in a block up to its timeout height ${flight.timeoutHeight}`;
  if (clock.monotonicMs() >= flight.deadlineMs) return DEADLINE_PASSED;
  const wasReset = flight.isOrphaned === true || height + RESET_DISTANCE < flight.checkedAt;
  return wasReset ? "the chain was reset" : undefined;
}

function patienceFor({ refused }: Flight, isUncertain: boolean): bigint {
  return isUncertain || refused !== undefined ? 1n : OVERDUE_BLOCKS;
}

/**
 * Rebroadcasts a transaction in flight. A mempool that still contains the bytes responds that the bytes are in its cache. A mempool
 * that has lost the bytes accepts them again or reports why it cannot. If no block will include the bytes, `lost` contains the
 * reason.
 */
async function checkFlight(
  flight: Flight,
  height: bigint,
  pool: Pool,
  signal: AbortSignal,
): Promise<{ readonly flight: Flight; readonly lost?: string }> {
  const checked = { ...flight, checkedAt: height };
  // The node may have accepted this broadcast. Forget earlier rejections, because a later rejection may mean that a block contains the
  // transaction.
  const taken = { flight: { ...checked, refused: undefined } };
  try {
    const outcome = await broadcastTransaction(pool, flight.bytes, signal);
    if (outcome.kind !== "refused") return taken;
    const reason = `${outcome.codespace}/${outcome.code}: ${outcome.log}`;
    const isSequence = isSequenceMismatch(outcome);
    const expected = isSequence ? expectedSequence(outcome.log) : undefined;
    if (expected !== undefined && expected < flight.tx.sequence) return { flight, lost: reason };
    // The sequence has been used, or CheckTx rejects the transaction before it checks the sequence, e.g. due to insufficient funds.
    // A block may already contain the transaction without the node having indexed it.
    const refused = flight.refused?.isSequence === isSequence ? flight.refused : { at: height, isSequence };
    return height >= refused.at + INDEX_SLACK
      ? { flight, lost: reason }
      : { flight: { ...checked, refused } };
  } catch (error) {
    if (signal.aborted || !(error instanceof ClientError)) throw error;
    return answerOf(error) === "final" ? { flight, lost: errorText(error) } : taken;
  }
}

/** Maximum number of blocks that one search for transactions reads. The next search continues at the following block. */
const MAX_SEARCHED_BLOCKS = 50n;

/**
 * Result of a search. `found` is undefined if no block contains the transaction. `found` is "unknown" if no node can be queried at
 * present, and "no-index" if no node has a usable index.
 */
interface Search {
  readonly flight: Flight;
  readonly found: FoundTransaction | undefined | "unknown" | "no-index";
}

async function findInBlocks(
  flights: readonly Flight[],
  height: bigint,
  pool: Pool,
  signal: AbortSignal,
): Promise<readonly Search[]> {
  const starts = flights.map(({ searchedTo, checkedAt }) => searchedTo ?? checkedAt);
  const first = starts.reduce(minInt, height) + 1n;
  // After this height, no block can contain any of the transactions.
  const end = flights.map(({ timeoutHeight }) => timeoutHeight).reduce(maxInt, 0n);
  const upTo = minInt(height, end);
  const last = minInt(upTo, first + MAX_SEARCHED_BLOCKS - 1n);
  const found = new Map<string, FoundTransaction>();
  const searchBlock = async (at: bigint): Promise<void> => {
    const params = { height: at.toString() };
    const decode = (result: unknown, endpoint: string): readonly string[] =>
      decodeTxsOfBlock(resultField(result, `block of ${at}`, endpoint), endpoint).map((tx) =>
        toHex(sha256(tx)),
      );
    const hashes = await pool
      .read({ method: "block", params, decode }, signal)
      .catch((error: unknown): readonly string[] => {
        // If the missing block is old, all endpoints have pruned the block, so treat it as empty. A recent block is missing only
        // because a node is behind, so search again later.
        if (lacksHeight(error) && at + RESET_DISTANCE < height) return [];
        throw error;
      });
    if (!flights.some(({ tx }) => hashes.includes(toHex(tx.hash)))) return;
    const results = await pool.read({ method: "block_results", params, decode: resultsOf }, signal);
    for (const [index, hash] of hashes.entries())
      found.set(hash, decodeFound({ height: params.height, tx_result: results[index] }, "block_results"));
  };
  try {
    const count = last >= first ? Number(last - first) + 1 : 0;
    await Promise.all(Array.from({ length: count }, (_, index) => searchBlock(first + BigInt(index))));
  } catch (error) {
    if (signal.aborted || !(error instanceof ClientError)) throw error;
    return flights.map((flight) => ({ flight, found: "unknown" }));
  }
  return flights.map((flight) => ({
    flight: { ...flight, searchedTo: maxInt(last, first - 1n) },
    // The outcome is unknown while some blocks have not been read, because one of them may contain the transaction.
    found: found.get(toHex(flight.tx.hash)) ?? (last < upTo ? "unknown" : undefined),
  }));
}

function resultsOf(result: unknown, endpoint: string): readonly unknown[] {
  const results = resultField(result, "block_results", endpoint).member("txs_results").elements();
  return results.map(({ value }) => value);
}

async function findInIndex(flight: Flight, pool: Pool, signal: AbortSignal): Promise<Search> {
  const { hash } = flight.tx;
  // An index may have gaps, so ask every endpoint. If no endpoint finds the transaction, it is reported as not found if at least
  // one endpoint has an index.
  let isNotFound = false;
  const onFailed = (error: unknown): undefined => {
    isNotFound ||= readAnswer(error).lack === "transaction";
  };
  try {
    const params = { hash: toBase64(hash), prove: false };
    const decode = (result: unknown, endpoint: string): FoundTransaction => {
      const tx = resultField(result, "tx", endpoint).member("tx");
      if (tx.isPresent() && !equalBytes(sha256(tx.asBase64()), hash))
        throw wrongResponse(endpoint, "tx", "is another transaction");
      return decodeFound(result, endpoint);
    };
    return { flight, found: await pool.read({ method: "tx", params, decode, onFailed }, signal) };
  } catch (error) {
    if (signal.aborted || answerOf(error) === "final") throw error;
    onFailed(error);
    if (isNotFound) return { flight, found: undefined };
    const { class: answer, lack } = readAnswer(error);
    return { flight, found: lack === "index" || answer === "wrong" ? "no-index" : "unknown" };
  }
}

type FoundTransaction = Extract<Confirmation, { readonly kind: "included" | "failed" }>;

export function decodeFound(result: unknown, endpoint: string): FoundTransaction {
  const root = resultField(result, "tx", endpoint);
  const height = root.member("height").asHeight();
  const tx = decodeTxResult(root.member("tx_result"));
  const { code, codespace = "", log = "", data = new Uint8Array(), gasWanted, gasUsed } = tx;
  if (code === 0) return { kind: "included", height, gasUsed, gasWanted, data };
  const failed = { kind: "failed", height, code, codespace, log, gasUsed } as const;
  // The ante handler's events, including the fee payment, are kept if the messages fail.
  return tx.events.length > 0 ? failed : { ...failed, isUnpaid: true };
}

export type BroadcastOutcome =
  /** The transaction is in the node's mempool, or the node has seen these bytes before. */
  | { readonly kind: "accepted" }
  /** The node refused the transaction, either in CheckTx or before CheckTx. */
  | (TxFailure & {
      readonly kind: "refused";
      /** The node's JSON-RPC error. Set only if the transaction was refused before CheckTx for a reason other than its size. */
      readonly cause?: ClientError;
    })
  /** No usable response arrived, so the node may or may not have the transaction. */
  | { readonly kind: "unclear"; readonly error: ClientError };

/**
 * Sends a transaction with `broadcast_tx_sync`. After an inconclusive response, also tries the next endpoint, which is safe
 * because the same bytes can be included only once. Throws the signal's reason, and errors that show that no mempool has the
 * transaction.
 */
export async function broadcastTransaction(
  pool: Pool,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<BroadcastOutcome> {
  let unclear: ClientError | undefined;
  const onFailed = (error: unknown): BroadcastOutcome | undefined => {
    if (!(error instanceof ClientError)) return undefined;
    if (isInCache(error)) return { kind: "accepted" };
    if (mayHaveArrived(error)) unclear ??= error;
    return undefined;
  };
  try {
    const read = { method: "broadcast_tx_sync", params: { tx: toBase64(bytes) }, decode: decodeBroadcast };
    const outcome = await pool.read({ ...read, onFailed }, signal);
    // If nodes reject the transaction after an unclear response, e.g. because of its sequence, a block may already contain it.
    return outcome.kind === "refused" && unclear !== undefined
      ? { kind: "unclear", error: unclear }
      : outcome;
  } catch (error) {
    if (signal.aborted || !(error instanceof ClientError)) throw error;
    const accepted = onFailed(error);
    if (accepted !== undefined) return accepted;
    // The transaction exceeds `max_tx_bytes` or `max_body_bytes`, so another attempt cannot succeed.
    if (isRequestTooLarge(error)) return { kind: "refused", ...TX_TOO_LARGE, log: error.message };
    if (unclear !== undefined) return { kind: "unclear", error: unclear };
    throw error;
  }
}

export function decodeBroadcast(result: unknown, endpoint: string): BroadcastOutcome {
  const root = resultField(result, "broadcast_tx_sync", endpoint);
  const code = root.member("code").asUint32();
  if (code === 0) return { kind: "accepted" };
  const codespace = root.member("codespace").asText();
  const log = root.member("log").asText();
  return { kind: "refused", code, codespace, log };
}

/** Returns true if the mempool's cache contains these bytes, which shows that an earlier broadcast arrived. */
function isInCache({ facts }: ClientError): boolean {
  return facts.code === "rpc" && /already (?:exists )?in (?:the )?(?:cache|mempool)/i.test(facts.data);
}
