import { formatAmount, formatUnits } from "../../platform/base/display-unit.ts";
import { sumsBy } from "../result/amounts.ts";
import {
  counted,
  formatCount,
  formatMinute,
  formatRoundedDuration,
  formatTime,
} from "../../platform/base/text.ts";
import { heading, paragraph, right, sparks, table } from "../../platform/report/blocks.ts";
import type { Report, ReportBlock, ReportOutcome } from "../../platform/report/document.ts";
import { isoTime } from "../../platform/base/time.ts";
import { sparkline } from "../../platform/report/sparkline.ts";
import type { Attempt, AttemptSummary } from "../state/attempt.ts";
import { type RelayerData, SUMMARY_PARTS } from "./relayer-data.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { GAS_PER_CLIENT_UPDATE, GAS_PER_TRANSACTION } from "../result/proven-result.ts";

/** Creates the `report relayer` output with results, lateness, costs by owner, and dead letters. */
export function relayerReport(data: RelayerData): Report {
  const { summary, fromMs, toMs } = data;
  const outcomes = countOutcomes(summary);
  const lateness = latenessOf(summary);
  const owners = costsByOwner(data);
  return {
    title: `Relayer, ${formatMinute(fromMs)} to ${formatMinute(toMs)} UTC`,
    outcome: outcomeOf(data),
    blocks: [
      ...paragraph(headline(data)),
      ...resultsByTime(data),
      ...outcomeTable(outcomes),
      ...paragraph(lateness && latenessText(lateness)),
      ...heading("Cost by owner"),
      ...ownerTable(owners, data),
      ...paragraph(totalText(owners, data)),
      ...paragraph(callbackText(owners, data)),
      ...heading("Dead letters"),
      ...deadLetterTable(data),
    ],
    data: {
      report: "relayer",
      from: isoTime(fromMs),
      to: isoTime(toMs),
      complete: !data.isCut,
      outcomes: Object.fromEntries(outcomes),
      lateness_blocks: lateness ?? null,
      owners: owners.map(ownerJson),
      dead_letters: data.deadLetters.map(({ queryId, hash, reason, atMs }) => ({
        query_id: String(queryId),
        hash,
        reason,
        at: isoTime(atMs),
      })),
    },
    csv: {
      columns: ["owner", "attempts", "included", "gas", "callback_gas", "fee"],
      rows: owners.map(({ owner, attempts: tried, included, gas, callbackGas: called, fee }) =>
        [owner, tried, included, gas, called ?? "", fee].map(String),
      ),
    },
  };
}

/** Outcomes after which the local chain has the values that the attempt read. */
const ON_CHAIN: ReadonlySet<Attempt["outcome"]> = new Set(["included", "redundant", "unchanged"] as const);

function outcomeOf({ summary: { outcomes }, deadLetters }: RelayerData): ReportOutcome {
  if (outcomes.length === 0 && deadLetters.length === 0) return "unseen";
  const hasResult = outcomes.some(({ outcome }) => ON_CHAIN.has(outcome));
  return hasResult && deadLetters.length === 0 ? "fine" : "problem";
}

function headline({ summary: { outcomes }, isCut, deadLetters }: RelayerData): string {
  const included = outcomes.filter(({ outcome }) => outcome === "included");
  const cut = isCut ? " Costs cover whole days, and the callbacks' share is from the newest attempts." : "";
  return `${counted(attemptsIn(outcomes), "attempt")}, ${counted(attemptsIn(included), "result")}, ${counted(deadLetters.length, "dead letter")}.${cut}`;
}

function attemptsIn(counts: readonly { readonly attempts: number }[]): number {
  return counts.reduce((sum, { attempts }) => sum + attempts, 0);
}

function resultsByTime({ summary, fromMs, toMs }: RelayerData): readonly ReportBlock[] {
  const values = Array.from({ length: SUMMARY_PARTS }, () => 0);
  for (const { outcome, part, attempts } of summary.outcomes)
    if (outcome === "included" && part < SUMMARY_PARTS) values[part] = (values[part] ?? 0) + attempts;
  return sparks([
    {
      label: "Results",
      bars: sparkline(values),
      note: `most: ${Math.max(...values)} in ${formatRoundedDuration((toMs - fromMs) / SUMMARY_PARTS)}`,
    },
  ]);
}

function countOutcomes({ outcomes }: AttemptSummary): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { outcome, attempts } of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + attempts);
  return [...counts].toSorted(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : y - x));
}

function outcomeTable(outcomes: readonly (readonly [string, number])[]): readonly ReportBlock[] {
  return table(
    ["Outcome", right("Attempts")],
    outcomes.map(([outcome, count]) => [outcome, formatCount(count)]),
  );
}

/** Median, 95th percentile and maximum of the number of blocks from a query's due height to its result's block. */
interface Lateness {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

function latenessOf({ lateness }: AttemptSummary): (Lateness & Record<string, number>) | undefined {
  const sorted = lateness.toSorted((a, b) => a.blocks - b.blocks);
  const count = attemptsIn(sorted);
  const max = sorted.at(-1)?.blocks;
  if (max === undefined) return undefined;
  const at = (share: number): number => {
    let left = Math.floor(share * count);
    return sorted.find(({ attempts }) => (left -= attempts) < 0)?.blocks ?? max;
  };
  return { p50: at(0.5), p95: at(0.95), max };
}

function latenessText({ p50, p95, max }: Lateness): string {
  return `Half of the results were in a block within ${counted(p50, "block")} of being due, 95 % within ${p95}, all within ${max}.`;
}

/** Formats an amount in display units, or in base units if the relayer reports no display unit. */
function amountText(amount: bigint, { denom, unit }: RelayerData): string {
  return denom === undefined ? formatCount(amount) : formatAmount(amount, denom, unit, ",");
}

function totalText(owners: readonly OwnerCost[], data: RelayerData): string {
  const total = owners.reduce((sum, { fee }) => sum + fee, 0n);
  return `Fees of all owners: ${amountText(total, data)}.`;
}

function ownerTable(owners: readonly OwnerCost[], { denom, unit }: RelayerData): readonly ReportBlock[] {
  const name = denom === undefined ? "" : ` (${denom})`;
  const ofUnit = unit === undefined ? [] : [`Fee (${unit.name})`];
  const numbers = ["Attempts", "Results", "Gas", `Fee${name}`, ...ofUnit];
  const ofResult = ["Gas a result", "Callback", `Fee a result${name}`];
  return table(
    ["Owner", ...[...numbers, ...ofResult].map((title) => right(title))],
    owners.map((cost) => [
      cost.owner,
      formatCount(cost.attempts),
      formatCount(cost.included),
      formatCount(cost.gas),
      formatCount(cost.fee),
      ...(unit === undefined ? [] : [formatUnits(cost.fee, { ...unit, name: "" }, ",").trim()]),
      perResult(cost.gas, cost),
      perResult(cost.callbackGas, cost),
      perResult(cost.fee, cost),
    ]),
  );
}

function perResult(value: bigint | undefined, { included }: OwnerCost): string {
  return value === undefined || included === 0 ? "–" : formatCount(value / BigInt(included));
}

/** Names the owner whose callbacks cost the most, so that the owner's team can act. */
function callbackText(owners: readonly OwnerCost[], data: RelayerData): string | undefined {
  const costs = owners.map((cost) => ({ ...cost, callbackFee: callbackFee(cost) ?? 0n }));
  const total = costs.reduce((sum, { fee }) => sum + fee, 0n);
  const all = costs.reduce((sum, one) => sum + one.callbackFee, 0n);
  const [most] = costs.toSorted((a, b) => (a.callbackFee > b.callbackFee ? -1 : 1));
  if (most === undefined || most.callbackFee === 0n) return undefined;
  return `"Callback" is the estimated part of a result's gas that its contract uses. All callbacks together cost ${amountText(all, data)} of ${amountText(total, data)}; those of ${most.owner} cost the most: ${amountText(most.callbackFee, data)}.`;
}

/** Returns the share of an owner's fee that pays for callbacks; undefined if unknown. */
function callbackFee({ gas, callbackGas: called, fee }: OwnerCost): bigint | undefined {
  if (called === undefined) return undefined;
  return gas === 0n ? 0n : (fee * called) / gas;
}

function ownerJson(cost: OwnerCost) {
  const { owner, attempts, included, gas, callbackGas: called, fee } = cost;
  const feeOfCallbacks = callbackFee(cost);
  return {
    owner,
    attempts,
    included,
    gas: String(gas),
    callback_gas: called === undefined ? null : String(called),
    fee: String(fee),
    callback_fee: feeOfCallbacks === undefined ? null : String(feeOfCallbacks),
  };
}

const MAX_LISTED = 20;

function deadLetterTable({ deadLetters }: RelayerData): readonly ReportBlock[] {
  if (deadLetters.length === 0) return paragraph("None.");
  const rest = deadLetters.length - MAX_LISTED;
  return table(
    ["Time (UTC)", right("Query"), "Transaction", "Reason"],
    [
      ...deadLetters
        .slice(0, MAX_LISTED)
        .map(({ atMs, queryId, hash, reason }) => [
          formatTime(atMs),
          String(queryId),
          hash,
          reason.slice(0, 120),
        ]),
      ...(rest > 0 ? [["", "", `and ${rest} more`, ""]] : []),
    ],
  );
}

interface OwnerCost {
  readonly owner: string;
  readonly attempts: number;
  readonly included: number;
  readonly gas: bigint;
  /** Estimated share of `gas` that the owner's contract used; undefined if the data contains none of the owner's transactions. */
  readonly callbackGas: bigint | undefined;
  /** The owner's fees, in the fee denom's base unit. */
  readonly fee: bigint;
}

/**
 * Sums the costs by owner, highest fee first. Uses the daily costs if the report omits attempts, otherwise the attempts. The
 * callbacks' share always comes from the attempts.
 */
export function costsByOwner(data: RelayerData): readonly OwnerCost[] {
  const parts: readonly OwnerSum[] = data.isCut
    ? data.costs
    : data.attempts.map(({ owner, outcome, gas, fee }) => ({
        owner,
        attempts: 1,
        included: outcome === "included" ? 1 : 0,
        gas,
        fee,
      }));
  const sums = sumsBy(
    parts,
    ({ owner }) => owner,
    ({ attempts, included, gas, fee }) => ({ attempts, included, gas, fee }),
  );
  const callbacks = callbacksByOwner(data);
  return [...sums]
    .map(([owner, sum]) => {
      const part = callbacks.get(owner);
      return { owner, ...sum, callbackGas: part && (sum.gas * part.called) / part.gas };
    })
    .toSorted((a, b) => (a.fee === b.fee ? (a.owner < b.owner ? -1 : 1) : a.fee > b.fee ? -1 : 1));
}

type OwnerSum = Omit<OwnerCost, "callbackGas">;

/** Gas that an owner's attempts used (above 0), and the owner's contract's share of this gas. */
interface CallbackPart {
  readonly gas: bigint;
  readonly called: bigint;
}

/** Estimates the callbacks' gas for each transaction. A failed transaction delivers nothing, so it has no callback. */
function callbacksByOwner({ attempts, keys }: RelayerData): ReadonlyMap<string, CallbackPart> {
  const byTransaction = new Map<string, Attempt[]>();
  for (const attempt of attempts) {
    if (attempt.gas === 0n) continue;
    const hash = attempt.txHash ?? "";
    const others = byTransaction.get(hash);
    if (others === undefined) byTransaction.set(hash, [attempt]);
    else others.push(attempt);
  }
  const parts = new Map<string, CallbackPart>();
  const updates = new Set<string>();
  for (const results of [...byTransaction.values()].toSorted(byBlock)) {
    const total = results.reduce((sum, { gas }) => sum + gas, 0n);
    const before = updates.size;
    // The client update for a remote height is in the first successful transaction with results for that height.
    for (const { outcome, connectionId, remoteHeight } of results)
      if (outcome === "included") updates.add(`${connectionId}/${remoteHeight}`);
    const overhead = overheadGas(1, updates.size - before);
    for (const { owner, queryId, outcome, gas } of results) {
      const own = { gas, overheadGas: (overhead * gas) / total, keys: BigInt(keys.get(queryId) ?? 1) };
      const called = outcome === "included" ? callbackGas(own) : 0n;
      const part = parts.get(owner) ?? { gas: 0n, called: 0n };
      parts.set(owner, { gas: part.gas + gas, called: part.called + called });
    }
  }
  return parts;
}

function byBlock([a]: readonly Attempt[], [b]: readonly Attempt[]): number {
  return Number((a?.localHeight ?? 0n) - (b?.localHeight ?? 0n));
}

/**
 * Gas that the chain itself uses per key of a result for message, proof and storage, without the contract call. The value was
 * measured on a localnet. Proofs from a larger tree cost 10 gas per additional byte.
 */
const CHAIN_GAS_PER_KEY = 28_200n;

/** The gas of a set of results, from which the callbacks' share is estimated. */
interface ResultGas {
  /** Gas of the results, including their shares of the transactions. */
  readonly gas: bigint;
  /** The share of `gas` that the transactions used in addition to their results, as computed by {@link overheadGas}. */
  readonly overheadGas: bigint;
  /** Number of keys in all results. A TX query's result is treated as one key. */
  readonly keys: bigint;
}

/** Estimates the gas that the owners' contracts used in their callbacks. */
export function callbackGas({ gas, overheadGas: overhead, keys }: ResultGas): bigint {
  return maxInt(gas - overhead - CHAIN_GAS_PER_KEY * keys, 0n);
}

/** Estimates the gas that transactions use in addition to their results, for signatures, fees and client updates. */
export function overheadGas(transactions: number, clientUpdates: number): bigint {
  return GAS_PER_TRANSACTION * BigInt(transactions) + GAS_PER_CLIENT_UPDATE * BigInt(clientUpdates);
}
