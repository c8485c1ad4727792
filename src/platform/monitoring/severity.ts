/** Severities, most severe first. Critical: someone must act now. Warning: today. Info: worth knowing. */
export const SEVERITIES = ["critical", "warning", "info"] as const;

/** One of the {@link SEVERITIES}. */
export type Severity = (typeof SEVERITIES)[number];

/** Returns whether a severity is at least `least`. */
export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least);
}
