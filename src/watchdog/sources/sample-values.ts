import { type Histogram, SourceError } from "./observation.ts";
import type { Sample } from "../prometheus/text-parser.ts";

/**
 * Largest accepted count or height: one block per millisecond for 30 years. Sums of larger values could exceed the state file's 64
 * bits.
 */
const MAX_COUNT = 1_000_000_000_000;

/** Returns a count. Throws {@link SourceError} for a fraction or a value outside 0 to 10^12. */
export function requireCount({ name, value }: Sample, what = "a number of blocks"): bigint {
  if (Number.isInteger(value) && value >= 0 && value <= MAX_COUNT) return BigInt(value);
  throw new SourceError({ code: "bad-value" }, `${name} is ${value}, expected ${what}`);
}

/** A chain id: at most 50 visible ASCII characters, as in CometBFT, so that it is safe in keys, headers and URLs. */
export const CHAIN_ID = /^[\x21-\x7e]{1,50}$/;

/** Returns a chain id received from another host. Throws {@link SourceError} if the text is not a chain id. */
export function requireChainId(text: string): string {
  if (CHAIN_ID.test(text)) return text;
  const start = JSON.stringify(text.slice(0, 20));
  const rest = text.length > 20 ? ` and ${text.length - 20} more` : "";
  throw new SourceError(
    { code: "bad-value" },
    `the chain id is ${start}${rest}, expected 1 to 50 visible ASCII characters`,
  );
}

/** Returns a sample's value as a count of events. Throws {@link SourceError} for a fraction or a value outside 0 to 10^12. */
export function requireEvents(sample: Sample): bigint {
  return requireCount(sample, "a count");
}

/** Returns the sum of the samples' values as a count of events. Throws the same errors as {@link requireEvents}. */
export function sumEvents(samples: readonly Sample[]): bigint {
  return samples.reduce((sum, sample) => sum + requireEvents(sample), 0n);
}

/** The last second of the year 9999, because later times have no four-digit year in ISO 8601. */
const MAX_SECONDS = 253_402_300_799;

/** Converts a time from seconds to ms. Throws {@link SourceError} outside the years 1970 to 9999. */
export function requireTimeMs({ name, value }: Sample): number {
  if (value >= 0 && value <= MAX_SECONDS) return Math.round(value * 1000);
  throw new SourceError({ code: "bad-value" }, `${name} is ${value}, expected a time`);
}

/** Earliest plausible start time of a chain's process: the beginning of 2014. */
const FIRST_SECONDS = 1_388_534_400;

/**
 * Returns when a process started, in ms, or undefined if the value is implausible. In a sandbox that hides the kernel's boot time, the
 * value is 0 or the seconds since boot. An implausible value is not an error, because the start time is only a hint.
 */
export function startTimeMs({ value }: Sample): number | undefined {
  return value >= FIRST_SECONDS && value <= MAX_SECONDS ? Math.round(value * 1000) : undefined;
}

/**
 * The process start time is computed from the kernel's boot time, which may shift by a second when the clock is adjusted. Start
 * times read from the same process can therefore differ by this much.
 */
export const START_TOLERANCE_MS = 2000;

/** Sums counts by the value of a label, omitting samples without this label. */
export function countBy(samples: readonly Sample[], label: string): ReadonlyMap<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const sample of samples) {
    const key = sample.labels.get(label);
    if (key !== undefined) sums.set(key, (sums.get(key) ?? 0n) + requireEvents(sample));
  }
  return sums;
}

/** Sums all histograms of one metric family, such as one per endpoint. Returns undefined if there is no `_count` series. */
export function histogramOf(samples: readonly Sample[], family: string): Histogram | undefined {
  const of = (suffix: string): readonly Sample[] => samples.filter(({ name }) => name === family + suffix);
  const counts = of("_count");
  if (counts.length === 0) return undefined;
  const buckets = new Map<number, bigint>();
  for (const sample of of("_bucket")) {
    const bound = Number(sample.labels.get("le"));
    // Skip the "+Inf" bucket, which only repeats the count.
    if (Number.isFinite(bound)) buckets.set(bound, (buckets.get(bound) ?? 0n) + requireEvents(sample));
  }
  return {
    count: sumEvents(counts),
    sum: of("_sum").reduce((sum, { value }) => sum + (Number.isFinite(value) ? value : 0), 0),
    buckets,
  };
}
