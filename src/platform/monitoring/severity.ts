/**
 * Severities, most severe first. Someone must act now on a critical alert and today on a warning; an info alert is worth knowing.
 */
export const SEVERITIES = ["critical", "warning", "info"] as const;

export type Severity = (typeof SEVERITIES)[number];

export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least);
}
