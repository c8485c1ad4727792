import { z } from "zod";
import type { JsonObject } from "../../platform/base/json.ts";
import { list } from "../../platform/report/blocks.ts";
import type { ReportBlock } from "../../platform/report/document.ts";
import {
  allResults,
  type ComparedPrices,
  comparisonView,
  deviationBps,
  formatBps,
  formatPrice,
  type NotCompared,
  type PriceComparison,
  type PriceReference,
} from "../policy/price-comparison.ts";
import { storedPayment } from "../sources/payment-result.ts";
import { paymentText, paymentView } from "../policy/payment-texts.ts";
import type { ChainFacts, ValidatorData } from "./validator-data.ts";
import { countdownText, countdownView, type UpgradeCountdown } from "../policy/upgrade-countdown.ts";

/** Encodes facts about a validator's chain for `GET /api/report-data`, with integers as decimal strings and times in ms. */
export function encodeChainFacts({ upgrade, compared, payments }: ChainFacts): JsonObject {
  return {
    ...(payments === undefined ? {} : { payments: payments.map((one) => z.encode(storedPayment, one)) }),
    ...(upgrade === undefined ? {} : { upgrade: encodeUpgrade(upgrade) }),
    comparisons: compared.comparisons.map((one) => ({
      ...one,
      own: String(one.own),
      other: String(one.other),
      distance: String(one.distance),
      decimals: one.decimals ?? null,
    })),
    not_compared: compared.notCompared.map((one) => ({ ...one })),
  };
}

function encodeUpgrade({ plan, remainingBlocks, atMs, seenMs, doneMs }: UpgradeCountdown): JsonObject {
  return {
    name: plan.name,
    height: String(plan.height),
    info: plan.info,
    remaining: remainingBlocks === undefined ? null : String(remainingBlocks),
    at: atMs === undefined ? null : { ...atMs },
    seen: seenMs,
    done: doneMs ?? null,
  };
}

const natural = z
  .string()
  .regex(/^\d{1,120}$/)
  .transform(BigInt);

const upgrade = z
  .object({
    name: z.string(),
    height: natural,
    info: z.string(),
    remaining: natural.nullable(),
    at: z.object({ low: z.number(), middle: z.number(), high: z.number() }).nullable(),
    seen: z.number(),
    done: z.number().nullable(),
  })
  .transform(
    ({ name, height, info, remaining, at, seen, done }): UpgradeCountdown => ({
      plan: { name, height, info },
      remainingBlocks: remaining ?? undefined,
      atMs: at ?? undefined,
      seenMs: seen,
      doneMs: done ?? undefined,
    }),
  );

const compared = {
  node: z.string(),
  pair: z.string(),
  reference: z.enum(["chain", "sidecars"]),
};

const comparison = z
  .object({
    ...compared,
    own: natural,
    other: natural.refine((value) => value > 0n),
    distance: natural,
    decimals: z.number().nullable(),
    ageMs: z.number(),
    sidecars: z.number(),
  })
  .transform(({ decimals, ...rest }): PriceComparison => ({ ...rest, decimals: decimals ?? undefined }));

/** Schema that decodes the output of {@link encodeChainFacts}. */
export const chainFacts = z
  .object({
    upgrade: upgrade.exactOptional(),
    payments: z.array(storedPayment).exactOptional(),
    comparisons: z.array(comparison),
    not_compared: z.array(z.object({ ...compared, reason: z.string() })),
  })
  .transform(
    ({ comparisons, not_compared: notCompared, ...rest }): ChainFacts => ({
      ...rest,
      compared: { comparisons, notCompared },
    }),
  );

/** Encodes the chain facts for a report's JSON output. `facts` is undefined for older watchdogs, which do not send chain facts. */
export function chainFactsJson(facts: ChainFacts | undefined): JsonObject {
  if (facts === undefined) return {};
  return {
    upgrade: facts.upgrade === undefined ? null : countdownView.json(facts.upgrade),
    price_comparisons: allResults(facts.compared).map(comparisonView.json),
    payments: (facts.payments ?? []).map(paymentView.json),
  };
}

/** Returns sentences about a validator's chain, each prefixed with the validator's name. Returns an empty list while nothing is known. */
export function chainItems(
  validator: string,
  facts: ChainFacts | undefined,
  nowMs: number,
): readonly string[] {
  if (facts === undefined) return [];
  const { upgrade: planned, compared: prices, payments } = facts;
  const payment = payments?.at(-1);
  const texts = [
    ...(planned === undefined ? [] : [`chain upgrade: ${countdownText(planned, nowMs)}.`]),
    ...(payment === undefined ? [] : [`payment: ${paymentText(payment)}`]),
    ...(["chain", "sidecars"] as const).flatMap((reference) => pricesText(prices, reference)),
  ];
  return texts.map((text) => `${validator}: ${text}`);
}

/** Returns the sentences of {@link chainItems} for several validators, as a list. */
export function chainBlocks(validators: readonly ValidatorData[], nowMs: number): readonly ReportBlock[] {
  return list(validators.flatMap(({ ledger, chain }) => chainItems(ledger.validator, chain, nowMs)));
}

/** Summarizes the price comparison in one sentence, which names the most deviating pair and the pairs that cannot be compared. */
function pricesText(
  { comparisons, notCompared }: ComparedPrices,
  reference: PriceReference,
): readonly string[] {
  const own = comparisons.filter((one) => one.reference === reference);
  // A single sidecar is normal, so don't mention that there is no median for a comparison.
  const refused = reference === "chain" ? notCompared.filter((one) => one.reference === reference) : [];
  const [worst] = own.toSorted((a, b) => Number(deviationBps(b) - deviationBps(a)));
  const name = reference === "chain" ? "the chain's" : "those of all sidecars";
  if (worst === undefined)
    return refused.length === 0
      ? []
      : [`prices cannot be compared with ${name}: ${refused.map(refusedText).join("; ")}.`];
  const blind = refused.length === 0 ? "" : `; not compared: ${refused.map(refusedText).join("; ")}`;
  return [
    `prices are at most ${formatBps(deviationBps(worst))} from ${name}: ${worst.pair} ${formatPrice(worst.own, worst.decimals)} and ${formatPrice(worst.other, worst.decimals)}${blind}.`,
  ];
}

function refusedText({ pair, reason }: NotCompared): string {
  return `${pair}: ${reason}`;
}
