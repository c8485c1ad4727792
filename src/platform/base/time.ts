export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export const NS_PER_MS = 1_000_000n;
export const NS_PER_SECOND = 1_000_000_000n;

/** Go's zero time, 0001-01-01T00:00:00Z, in nanoseconds since the Unix epoch. */
export const GO_ZERO_TIME_NS = -62_135_596_800n * NS_PER_SECOND;

const RFC3339 = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** Parses an RFC 3339 time with at most nine fractional digits to nanoseconds since the Unix epoch, and throws on other text. */
export function parseRfc3339Ns(text: string): bigint {
  const match = RFC3339.exec(text);
  const wholeMs = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  if (match === null || Number.isNaN(wholeMs)) {
    throw new Error(`not an RFC 3339 time: ${JSON.stringify(text.slice(0, 60))}`);
  }
  return BigInt(wholeMs) * 1_000_000n + BigInt((match[2] ?? "").padEnd(9, "0"));
}

/** Formats milliseconds since the Unix epoch as ISO 8601 in UTC, as in "2026-11-21T12:00:05.000Z". */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** Like {@link isoTime}, but returns null for undefined, as JSON requires. */
export function isoTimeOrNull(timeMs: number | undefined): string | null {
  return timeMs === undefined ? null : isoTime(timeMs);
}

/** Formats nanoseconds since the Unix epoch in UTC without trailing zeros, like Go's RFC3339Nano, for the years 0 to 9999. */
export function formatRfc3339Ns(timeNs: bigint): string {
  const { seconds, nanos } = splitNs(timeNs);
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${whole}${fraction(nanos)}Z`;
}

/** Splits a time into seconds, rounded down, and the remaining 0 to 999,999,999 nanoseconds. */
export function splitNs(timeNs: bigint): { readonly seconds: bigint; readonly nanos: number } {
  const nanos = ((timeNs % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND;
  return { seconds: (timeNs - nanos) / NS_PER_SECOND, nanos: Number(nanos) };
}

/** Joins a protobuf Timestamp's or Duration's seconds and nanoseconds without checking their range; an absent message is 0. */
export function joinNs(parts: { readonly seconds: bigint; readonly nanos: number } | undefined): bigint {
  return parts === undefined ? 0n : parts.seconds * NS_PER_SECOND + BigInt(parts.nanos);
}

function fraction(nanos: number): string {
  return nanos === 0 ? "" : `.${nanos.toString().padStart(9, "0").replace(/0+$/, "")}`;
}

const UNITS = [
  { size: 3_600_000_000_000n, name: "h" },
  { size: 60_000_000_000n, name: "m" },
] as const;

/** Formats a time like Go's `%v`, as CometBFT's error messages do, for example "2026-11-21 11:59:49.878735817 +0000 UTC". */
export function goTimeText(timeNs: bigint): string {
  return formatRfc3339Ns(timeNs).replace("T", " ").replace("Z", " +0000 UTC");
}

/** Formats a duration like Go's `time.Duration.String`, as in "10s", "336h0m0s" or "1.5s". */
export function goDurationText(durationNs: bigint): string {
  if (durationNs < 0n) return `-${goDurationText(-durationNs)}`;
  if (durationNs < 1_000_000_000n) return subSecondText(durationNs);
  let rest = durationNs;
  let text = "";
  for (const { size, name } of UNITS) {
    if (text === "" && rest < size) continue;
    text += `${rest / size}${name}`;
    rest %= size;
  }
  return `${text}${decimal(rest, 1_000_000_000n)}s`;
}

function subSecondText(durationNs: bigint): string {
  if (durationNs === 0n) return "0s";
  if (durationNs < 1_000n) return `${durationNs}ns`;
  if (durationNs < 1_000_000n) return `${decimal(durationNs, 1_000n)}µs`;
  return `${decimal(durationNs, 1_000_000n)}ms`;
}

/** Formats `value` / `unit` without trailing zeros, where `unit` is a power of ten. */
function decimal(value: bigint, unit: bigint): string {
  const digits = unit.toString().length - 1;
  const rest = (value % unit).toString().padStart(digits, "0").replace(/0+$/, "");
  return rest === "" ? `${value / unit}` : `${value / unit}.${rest}`;
}
