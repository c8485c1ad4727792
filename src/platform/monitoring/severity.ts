/** Severities, most severe first. Critical: someone must act now. Warning: someone must act today. Info: worth knowing. */
export const SEVERITIES = ["critical", "warning", "info"] as const;

export type Severity = (typeof SEVERITIES)[number];

export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least);
}
