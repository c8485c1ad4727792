/**
 * Value of a Timestamp or a Duration. A Timestamp counts seconds from 1970 and adds `nanos`, which is never negative. In a
 * Duration both parts have the same sign.
 */
export interface SecondsAndNanos {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** 0001-01-01T00:00:00Z: the zero value of Go's `time.Time` and the earliest Timestamp. */
export const GO_ZERO_TIME: SecondsAndNanos = { seconds: -62_135_596_800n, nanos: 0 };

// Limits and forms of google/protobuf/timestamp.proto and duration.proto: 9999-12-31T23:59:59Z, and ±10,000 years.
const LAST_SECOND = 253_402_300_799n;
const MAX_DURATION_SECONDS = 315_576_000_000n;
const RFC3339 = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/;
const SECONDS = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;

/** Formats as Go's proto JSON does: RFC 3339 in UTC with 0, 3, 6 or 9 fractional digits. Throws outside the years 1 to 9999. */
export function timestampToText(time: SecondsAndNanos): string {
  if (time.seconds < GO_ZERO_TIME.seconds || time.seconds > LAST_SECOND || !isFraction(time.nanos)) {
    throw new Error("not a timestamp: outside the years 1 to 9999");
  }
  const whole = new Date(Number(time.seconds) * 1000).toISOString().slice(0, 19);
  return `${whole}${fraction(time.nanos)}Z`;
}

/** Parses RFC 3339 with any UTC offset and at most nine fractional digits. Throws on any other form. */
export function timestampFromText(text: string): SecondsAndNanos {
  const match = RFC3339.exec(text);
  const zone = match?.[4]?.toUpperCase() ?? "";
  // Date has milliseconds only: it parses whole seconds, and the fraction is parsed separately.
  const epochMs = match === null ? Number.NaN : Date.parse(`${match[1]}T${match[2]}${zone}`);
  if (match === null || Number.isNaN(epochMs)) throw new Error("not a timestamp: RFC 3339 was expected");
  return { seconds: BigInt(epochMs / 1000), nanos: Number((match[3] ?? "").padEnd(9, "0")) };
}

/** Formats as Go's proto JSON does: seconds with 0, 3, 6 or 9 fractional digits, then "s". Throws beyond ±10,000 years and on mixed signs. */
export function durationToText(duration: SecondsAndNanos): string {
  const { seconds, nanos } = duration;
  const negative = seconds < 0n || nanos < 0;
  const magnitude = negative ? { seconds: -seconds, nanos: -nanos } : duration;
  if (magnitude.seconds < 0n || magnitude.seconds > MAX_DURATION_SECONDS || !isFraction(magnitude.nanos)) {
    throw new Error("not a duration: out of range, or seconds and nanoseconds of different sign");
  }
  return `${negative ? "-" : ""}${magnitude.seconds}${fraction(magnitude.nanos)}s`;
}

/** Parses seconds with at most nine fractional digits, then "s". Throws on any other form and beyond ±10,000 years. */
export function durationFromText(text: string): SecondsAndNanos {
  const match = SECONDS.exec(text);
  const seconds = BigInt(match?.[2] ?? "0");
  if (match === null || seconds > MAX_DURATION_SECONDS)
    throw new Error('not a duration: "1.5s" was expected');
  const nanos = Number((match[3] ?? "").padEnd(9, "0"));
  // `0 - nanos`, not `-nanos`: zero must not become -0.
  return match[1] === "-" ? { seconds: -seconds, nanos: 0 - nanos } : { seconds, nanos };
}

function isFraction(nanos: number): boolean {
  return nanos >= 0 && nanos < 1_000_000_000;
}

function fraction(nanos: number): string {
  if (nanos === 0) return "";
  return `.${nanos
    .toString()
    .padStart(9, "0")
    .replace(/(?:000){1,2}$/, "")}`;
}
