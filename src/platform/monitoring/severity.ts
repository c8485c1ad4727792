/** Severities, most severe first. Critical: a person acts now. Warning: today. Info: worth knowing. */
export const SEVERITIES = ["critical", "warning", "info"] as const;

/** One of {@link SEVERITIES}. */
export type Severity = (typeof SEVERITIES)[number];

/** Returns whether a severity is `least` or more severe. */
export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least);
}
