import { active, cannotSee, clear, type Condition, condition } from "./condition.ts";
import { secondsText } from "./evaluate-nodes.ts";

/** Conditions of the watchdog itself. They hold for all of its validators: the first one for which they fire notifies. */
export const WATCHDOG_CONDITIONS: readonly Condition[] = [
  condition({
    name: "watchdog-slow",
    severity: "critical",
    title: "This watchdog is too slow",
    when: "polls begin more than `max_late` later than planned",
    description:
      "The watchdog has more work than its processor or disk can do: its polls begin late, and sources seem to be slow or down that are not. What it counts stays right, since nodes count in the meantime.",
    impact:
      "None for the votes themselves. Alerts are late by the same time, and what cannot be seen is not known, for all validators of this watchdog.",
    action:
      "Give the machine more processor time or a faster disk, or divide the validators among several watchdogs.",
    for: "1m",
    resolveFor: "2m",
    thresholds: {
      max_late: { unit: "duration", initial: 2000, description: "how late a poll may begin" },
    },
    inhibits: [
      "cannot-see-votes",
      "cannot-see-node",
      "cannot-see-prices",
      "cannot-see-sidecar-metrics",
      "cannot-see-oracle-metrics",
      "cannot-see-chain",
      "sidecar-slow",
      "clock-skew",
      "grpc-closed",
      "egress-closed",
    ],
    past: { notStored: "lateness of polls" },
    evaluate: ({ lateMs }, limit) => {
      if (lateMs === undefined) return cannotSee("the lateness of polls was not measured");
      const text = `the last poll began ${secondsText(lateMs)} late`;
      return lateMs > limit("max_late") ? active(text, lateMs) : clear(text);
    },
  }),
];

/** True for an alert about the watchdog, which is the same for all validators. */
export function isAboutWatchdog(alert: string): boolean {
  return WATCHDOG_CONDITIONS.some(({ name }) => name === alert);
}
