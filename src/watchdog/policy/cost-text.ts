import { z } from "zod";
import { formatCents, formatCount } from "../../platform/base/text.ts";
import { jsonView, words } from "../../platform/http/json-view.ts";
import { storedInteger } from "../sources/stored-json.ts";

const wholeNumber = storedInteger(30);

/** Cost of missed blocks in their month. Costs for the parts of a month add up to the month's cost, except for `payCents`. */
export const storedCost = z.object({
  blocks: wholeNumber,
  /** When the first block was missed; absent if unknown or if no block was missed. */
  sinceMs: z.number().exactOptional(),
  /** Number of misses that full pay allows in the month; absent if the block time is unknown. */
  allowed: wholeNumber.exactOptional(),
  /** Reduction of the month's expected pay by these misses, in hundredths of the currency unit; absent if it is too early to tell. */
  payCents: wholeNumber.exactOptional(),
  currency: z.string().exactOptional(),
});

export type Cost = Readonly<z.output<typeof storedCost>>;

/**
 * Returns the share of the month's allowed misses that the blocks use up (1 means all); undefined if the allowance is unknown or zero.
 */
export function allowanceShare({ blocks, allowed = 0n }: Cost): number | undefined {
  return allowed === 0n ? undefined : Number(blocks) / Number(allowed);
}

/** Formats the share of the allowance, such as "4 %" or "less than 1 %"; "–" if it is unknown. */
export function shareText(cost: Cost): string {
  const share = allowanceShare(cost);
  if (share === undefined) return "–";
  const percent = Math.round(share * 100);
  return percent === 0 && share > 0 ? "less than 1 %" : `${formatCount(BigInt(percent))} %`;
}

/** Describes a cost: "109 blocks, 4 % of what full pay allows this month (2,651); the month's pay lower by 12.50 USD". */
export function costText(cost: Cost): string {
  const { blocks, allowed } = cost;
  const size = `${formatCount(blocks)} ${blocks === 1n ? "block" : "blocks"}`;
  if (allowed === undefined) return `${size}; ${payText(cost)}`;
  return `${size}, ${shareText(cost)} of what full pay allows this month (${formatCount(allowed)}); ${payText(cost)}`;
}

function payText({ payCents, currency }: Cost): string {
  if (payCents === undefined) return "too early for pay";
  return payCents === 0n
    ? "the month's pay unchanged"
    : `the month's pay lower by ${formatCents(payCents, currency)}`;
}

/** Encodes a cost as JSON, with decimal strings for amounts and block counts, and decodes the JSON. */
export const costView = jsonView<Cost>(({ value, orNull, integer, integerOrNull }) => ({
  blocks: integer(({ blocks }) => blocks),
  allowed: integerOrNull(({ allowed }) => allowed),
  share: orNull(z.number(), allowanceShare),
  pay_cents: integerOrNull(({ payCents }) => payCents),
  currency: value(words.optional(), ({ currency }) => currency),
}));
