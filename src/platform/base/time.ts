/** Nanoseconds in one second. */
export const NS_PER_SECOND = 1_000_000_000n;

/** Go's zero time, 0001-01-01T00:00:00Z, in nanoseconds since the Unix epoch. */
export const GO_ZERO_TIME_NS = -62_135_596_800n * NS_PER_SECOND;

const RFC3339 = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** Parses an RFC 3339 time with at most nine fractional digits to nanoseconds since the Unix epoch. Throws for any other text. */
export function parseRfc3339Ns(text: string): bigint {
  const match = RFC3339.exec(text);
  const wholeMs = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  if (match === null || Number.isNaN(wholeMs)) {
    throw new Error(`not an RFC 3339 time: ${JSON.stringify(text.slice(0, 60))}`);
  }
  return BigInt(wholeMs) * 1_000_000n + BigInt((match[2] ?? "").padEnd(9, "0"));
}

/** Formats nanoseconds since the Unix epoch in UTC without trailing zeros, as Go's RFC3339Nano. Years 0 to 9999. */
export function formatRfc3339Ns(timeNs: bigint): string {
  const { seconds, nanos } = splitNs(timeNs);
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${whole}${fraction(nanos)}Z`;
}

/** Splits into seconds, rounded down, and the remaining 0 to 999,999,999 nanoseconds. */
export function splitNs(timeNs: bigint): { readonly seconds: bigint; readonly nanos: number } {
  const nanos = ((timeNs % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND;
  return { seconds: (timeNs - nanos) / NS_PER_SECOND, nanos: Number(nanos) };
}

function fraction(nanos: number): string {
  return nanos === 0 ? "" : `.${nanos.toString().padStart(9, "0").replace(/0+$/, "")}`;
}
