/** Severities, most severe first: act now on a critical alert and today on a warning; an info alert is only for information. */
export const SEVERITIES = ["critical", "warning", "info"] as const;

export type Severity = (typeof SEVERITIES)[number];

export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least);
}
