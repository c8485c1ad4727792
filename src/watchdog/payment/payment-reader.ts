import { errorText } from "../../platform/base/errors.ts";
import { maxInt, minInt } from "../../platform/base/integers.ts";
import { monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import { chainPolicy, performanceRating, SPECIFIED_POLICY } from "../policy/assessment.ts";
import { successRate, type SuccessRate } from "../policy/reward-tier.ts";
import { onSourceError, type RevenueParams, type RevenueReading, type Seen } from "../sources/observation.ts";
import { NOT_CONFIGURED, type PageReader, type Scrape } from "../sources/page-reader.ts";
import { type Coin, parseCoin, type Payment, type PaymentOutcome } from "../sources/payment-result.ts";
import { accountOf, type ChainTarget, type ValidatorTarget } from "../sources/targets.ts";
import { createChainRpc, createHistoricRest, findBlockPayment, findTransfer } from "./past-blocks.ts";
import type { BlockPayment, ChainRpc, HistoricRest } from "./past-blocks.ts";
import type { BlockTimeAt, ClosedMonth, PaymentReader, PaymentSearch } from "../polling/closed-month.ts";
import { type Dec18, DEC18_ONE } from "../../platform/base/decimal.ts";

/** Maximum number of headers read per poll, because each takes a round trip. */
const READS_PER_POLL = 8;

/** Shortest and longest pause between unsuccessful searches, in chain time. Pauses double. */
const WAIT_MS = { first: 60_000, most: 3_600_000 };
const NO_WAIT = { tries: 0, untilMs: 0 };

/** Creates the search for a validator's payments. Returns undefined if `chain.rpc` is not set or the recipient is unknown. */
export function createPaymentReader(
  target: ValidatorTarget,
  read: PageReader,
  scrape: Scrape,
): PaymentReader | undefined {
  const { chain } = target;
  if (chain?.rpc === undefined) return undefined;
  const source = sourceOf(target, chain);
  if (source === undefined) return undefined;
  const rpc = createChainRpc(chain.rpc, read);
  const rest = createHistoricRest(chain, read);
  let search = { month: "", bounds: undefined as MonthStartBounds | undefined, reads: 0 };
  let waits = NO_WAIT;
  let last: Seen<Payment> = NOT_CONFIGURED;
  const spread = spreadOf(target.name);
  const searchOnce = async (input: StartedSearch, signal: AbortSignal): Promise<Payment | undefined> => {
    const { head, closed } = input;
    if (search.month !== closed.month) search = { month: closed.month, bounds: undefined, reads: 0 };
    const startMs = nextMonthMs(monthStartMs(closed.month));
    let bounds = search.bounds ?? { before: undefined, after: head };
    for (let count = 0; count < READS_PER_POLL; count++) {
      const next = nextBlockToRead(bounds, startMs, search.reads);
      if (typeof next !== "bigint") return source.find({ ...input, first: next, rpc, rest }, signal);
      const block = await rpc.header(next, signal);
      bounds = block.timeMs < startMs ? { ...bounds, before: block } : { ...bounds, after: block };
      // Store the bounds after each read, so that a later failure doesn't lose them.
      search = { month: closed.month, bounds, reads: search.reads + 1 };
    }
    return undefined;
  };
  return async (input, signal) => {
    const { closed, head, revenue } = input;
    if (head === undefined) return last;
    if (closed === undefined || isFinal(closed.payment) || !source.pays(revenue)) {
      waits = NO_WAIT;
      last = NOT_CONFIGURED;
      return last;
    }
    if (head.timeMs < waits.untilMs) return last;
    let isUnfinished = false;
    const seen = await scrape("last month's payment", signal, async (inner) => {
      const payment = await searchOnce({ ...input, closed, head }, inner);
      isUnfinished = payment === undefined;
      return payment ?? UNFINISHED;
    });
    if (isUnfinished) return NOT_CONFIGURED;
    const waitMs = Math.min(WAIT_MS.most, WAIT_MS.first * 2 ** waits.tries) * (1 + spread);
    waits = { tries: Math.min(waits.tries + 1, 20), untilMs: head.timeMs + waitMs };
    last = seen.state === "error" ? { ...seen, isRepeated: true } : NOT_CONFIGURED;
    return seen;
  };
}

/** Placeholder while a search is unfinished; it is never shown. */
const UNFINISHED: Payment = { month: "", outcome: "missing", searchedMs: 0, height: 0n, timeMs: 0 };

/** Returns true if a search needs no further attempts, because it has found the payment or the reason why there is none. */
function isFinal(payment: Payment | undefined): boolean {
  return payment !== undefined && payment.outcome !== "missing";
}

/** Returns a fraction from 0 to 0.25, derived from the validator's name, so that not all validators search at the same time. */
function spreadOf(name: string): number {
  const sum = new TextEncoder().encode(name).reduce((total, byte) => (total * 31 + byte) % 1000, 7);
  return sum / 4000;
}

/** A search whose month and starting block are known. */
interface StartedSearch extends PaymentSearch {
  readonly head: BlockTimeAt;
  readonly closed: ClosedMonth;
}

interface FindInput extends StartedSearch {
  /** The first block of the next month, in which the revenue module pays for the closed month. */
  readonly first: BlockTimeAt;
  readonly rpc: ChainRpc;
  readonly rest: HistoricRest;
}

interface PaymentSource {
  /** Returns true if the chain is known to pay monthly. */
  readonly pays: (revenue: RevenueReading | undefined) => boolean;
  readonly find: (input: FindInput, signal: AbortSignal) => Promise<Payment>;
}

function sourceOf(
  { operatorAddress }: ValidatorTarget,
  { payment = {} }: ChainTarget,
): PaymentSource | undefined {
  const { payer, recipient = operatorAddress && accountOf(operatorAddress), full = "" } = payment;
  if (payer !== undefined && recipient !== undefined)
    return {
      pays: () => true,
      find: (input, signal) => findByTx(input, { payer, recipient, full: parseCoin(full) }, signal),
    };
  if (payer !== undefined || operatorAddress === undefined) return undefined;
  return {
    pays: (revenue) => revenue?.params.schedule === "monthly",
    find: (input, signal) => findInBlocks(input, operatorAddress, signal),
  };
}

/**
 * Finds the revenue module's payment, which is an event of the next month's first block. If the chain's payment period ended later,
 * the node's block index is searched for the block with the payment.
 */
async function findInBlocks(input: FindInput, operator: string, signal: AbortSignal): Promise<Payment> {
  const { first, rpc, head } = input;
  const own = findBlockPayment(await rpc.blockEvents(first.height, signal), operator);
  if (own !== undefined) return toPayment(input, own, first, signal);
  const query = `revenue_distribution.validator='${operator}' AND block.height>${first.height} AND block.height<=${head.height}`;
  let note: string | undefined;
  const heights = await rpc.searchBlocks(query, signal).catch(
    onSourceError((error) => {
      note = `only the next month's first block, ${first.height}, was searched: ${errorText(error)}`;
      return [];
    }),
  );
  for (const height of heights.slice(0, 2)) {
    const found = findBlockPayment(await rpc.blockEvents(height, signal), operator);
    if (found !== undefined) return toPayment(input, found, await rpc.header(height, signal), signal);
  }
  return missing(input, note);
}

/** Creates the fields that all outcomes have. `block` is the payment's block or, without a payment, the last block searched. */
function outcomeAt<T extends PaymentOutcome>(
  { closed: { month }, nowMs }: FindInput,
  outcome: T,
  { height, timeMs }: BlockTimeAt,
) {
  return { month, outcome, searchedMs: nowMs, height, timeMs };
}

function missing(input: FindInput, note: string | undefined): Payment {
  return { ...outcomeAt(input, "missing", input.head), ...(note === undefined ? {} : { note }) };
}

async function toPayment(
  input: FindInput,
  found: BlockPayment,
  block: BlockTimeAt,
  signal: AbortSignal,
): Promise<Payment> {
  const base = outcomeAt(input, found.kind, block);
  if (found.kind === "none-due") return base;
  const display = await input.rest.displayUnit(found.amount.denom, signal);
  const paid = { ...base, amount: found.amount, ...(display === undefined ? {} : { display }) };
  if (found.kind === "failed") return { ...paid, note: found.reason };
  return { ...paid, counts: found.counts, ...(await expectedOf(input, found, block, signal)) };
}

/**
 * Computes the expected payment with the revenue module's terms at the payment block, from the watchdog's and the chain's counts.
 */
async function expectedOf(
  { closed, rest }: FindInput,
  { progress, counts, amount }: BlockPayment & { readonly kind: "paid" },
  { height }: BlockTimeAt,
  signal: AbortSignal,
): Promise<Pick<Payment, "expected" | "byChain" | "note">> {
  const votes = successRate(closed.counts);
  if (votes === undefined || counts.inActiveSet === 0n) return { note: "no block of the month is counted" };
  try {
    const { params, base } = await rest.terms(height, signal);
    if (base.denom !== amount.denom)
      return { note: `the chain pays in ${amount.denom}, but names ${base.denom} as its reward` };
    const { inActiveSet, totalBlocks } = counts;
    const terms = { params, base: base.amount, progress, inActiveSet, totalBlocks };
    const blocks = { good: counts.blocks, total: inActiveSet };
    return {
      expected: compensation(terms, votes, blocks),
      byChain: compensation(terms, { good: counts.votes, total: inActiveSet }, blocks),
    };
  } catch (error) {
    const reason = onSourceError(errorText)(error);
    return { note: `the programme's amount at height ${height} cannot be read: ${reason}` };
  }
}

/** Finds the first transfer from the payer to the recipient after the end of the month. */
async function findByTx(
  input: FindInput,
  accounts: { readonly payer: string; readonly recipient: string; readonly full: Coin | undefined },
  signal: AbortSignal,
): Promise<Payment> {
  const { first, rpc, rest, closed } = input;
  const { payer, recipient, full } = accounts;
  const query = `transfer.recipient='${recipient}' AND transfer.sender='${payer}' AND tx.height>=${first.height}`;
  for (const tx of await rpc.searchTxs(query, signal)) {
    const amount = tx.isFailed ? undefined : findTransfer(tx.events, accounts);
    if (amount === undefined) continue;
    const { timeMs } = await rpc.header(tx.height, signal);
    const display = await rest.displayUnit(amount.denom, signal);
    return {
      ...outcomeAt(input, "paid", { height: tx.height, timeMs }),
      txHash: tx.hash,
      amount,
      ...(display === undefined ? {} : { display }),
      ...(full?.denom === amount.denom && closed.fullCents > 0n
        ? { expected: (full.amount * closed.payCents) / closed.fullCents }
        : {}),
    };
  }
  return missing(input, undefined);
}

/** Two blocks between which a month begins. */
interface MonthStartBounds {
  /** The latest known block before the month; undefined while no such block is known. */
  readonly before: BlockTimeAt | undefined;
  /** The earliest known block in the month. */
  readonly after: BlockTimeAt;
}

/** The block time, in ms, that is assumed while only one block is known. */
const ASSUMED_BLOCK_MS = 1000;

/**
 * Returns the first block at or after `startMs` if the bounds are adjacent, otherwise the height to read next. The search
 * interpolates between the bounds' times, but every third step halves the range so that a chain halt costs few reads. A month of
 * one-second blocks takes about ten reads. `step` is the number of reads so far.
 */
function nextBlockToRead(
  { before, after }: MonthStartBounds,
  startMs: number,
  step: number,
): bigint | BlockTimeAt {
  if (before === undefined) {
    if (after.height <= 1n) return after;
    // Double each step back, because the chain may be faster than assumed.
    const blocks = Math.ceil((after.timeMs - startMs) / ASSUMED_BLOCK_MS) + 10;
    const back = BigInt(blocks) * 2n ** BigInt(Math.min(step, 30));
    return after.height > back ? after.height - back : 1n;
  }
  const range = after.height - before.height;
  if (range <= 1n) return after;
  const middle = before.height + range / 2n;
  if (step % 3 === 2 || after.timeMs <= before.timeMs) return middle;
  const share = (startMs - before.timeMs) / (after.timeMs - before.timeMs);
  const guess = before.height + BigInt(Math.floor(share * Number(range)));
  return maxInt(before.height + 1n, minInt(guess, after.height - 1n));
}

/** Inputs of the revenue module's formula other than the counts. All decimals are integers scaled by 10^18. */
export interface PaymentTerms {
  readonly params: RevenueParams;
  /** The amount paid for a full period, in the base unit. */
  readonly base: bigint;
  /** The fraction of the month that the period covers, which is 1 for a whole month. */
  readonly progress: Dec18;
  readonly inActiveSet: bigint;
  readonly totalBlocks: bigint;
}

/**
 * Returns the revenue module's payment for these rates: rating × amount for the period × share of blocks in the set (x/revenue
 * v9.1.3 keeper/keeper.go, performance_rating.go). Every step is rounded as in the module.
 */
export function compensation(terms: PaymentTerms, votes: SuccessRate, blocks: SuccessRate): bigint {
  const { params, base, progress, inActiveSet, totalBlocks } = terms;
  if (totalBlocks === 0n) return 0n;
  const period = (progress * base) / DEC18_ONE;
  const rating = performanceRating(chainPolicy(params, SPECIFIED_POLICY), votes, blocks);
  return (rating * period * inActiveSet) / totalBlocks / DEC18_ONE;
}
