import { formatRfc3339Ns } from "../../platform/base/time.ts";

const UNITS = [
  { size: 3_600_000_000_000n, name: "h" },
  { size: 60_000_000_000n, name: "m" },
] as const;

/** Formats a time as Go's `%v` in UTC: "2026-11-21 11:59:49.878735817 +0000 UTC". CometBFT's error texts contain it. */
export function goTimeText(timeNs: bigint): string {
  return formatRfc3339Ns(timeNs).replace("T", " ").replace("Z", " +0000 UTC");
}

/** Formats a duration as Go's `time.Duration.String`: "10s", "336h0m0s", "1.5s", "250ms". */
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

/** Formats `value` / `unit` without trailing zeros. `unit` is a power of ten. */
function decimal(value: bigint, unit: bigint): string {
  const digits = unit.toString().length - 1;
  const rest = (value % unit).toString().padStart(digits, "0").replace(/0+$/, "");
  return rest === "" ? `${value / unit}` : `${value / unit}.${rest}`;
}
