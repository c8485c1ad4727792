import { counted } from "../../platform/base/text.ts";
import { active, cannotSee, clear, type Condition, condition, resultOf, threshold } from "./condition.ts";
import { secondsText } from "./evaluate-nodes.ts";

/** Name of the alert about lost notifications. If its own notification is lost, that loss is not counted again. */
export const NOTIFICATIONS_LOST = "notifications-lost";

/**
 * Conditions on the watchdog itself. They apply to all of its validators, but only the first one for which they fire notifies.
 */
export const WATCHDOG_CONDITIONS: readonly Condition[] = [
  condition({
    name: "watchdog-slow",
    severity: "critical",
    title: "This watchdog is too slow",
    end: "the last poll began 0 s late",
    when: "polls begin more than `max_late` later than planned",
    description:
      "The watchdog has more work than its processor or disk can handle: its polls begin late, and sources can seem slow or down when they are not. Its counts stay correct, because the nodes keep counting.",
    impact:
      "None for the votes themselves. Alerts for all of this watchdog's validators are late by the same time, and whatever it cannot see is unknown.",
    action:
      "Give the machine more processor time or a faster disk, or divide the validators among several watchdogs.",
    for: "1m",
    resolveFor: "2m",
    thresholds: { max_late: threshold("duration", 2000, "maximum lateness of a poll") },
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
    past: { notStored: "poll lateness" },
    evaluate: ({ lateMs }, limit) => {
      if (lateMs === undefined) return cannotSee("poll lateness was not measured");
      return resultOf(lateMs > limit("max_late"), `the last poll began ${secondsText(lateMs)} late`, lateMs);
    },
  }),
  condition({
    name: "clock-not-believed",
    severity: "warning",
    title: "This watchdog's clock is not believed",
    end: "the watchdog's clock is believed",
    when: "the clock of the watchdog's machine contradicts the chain, the sources or the last poll",
    description:
      "The clock of the watchdog's machine was changed or is wrong: the chain's newest block, the sources' clocks or the last stored poll contradict it. The watchdog continues with the time that it considers correct.",
    impact:
      "No block is lost. Blocks are counted, but no month is closed unless the chain's time can be read, and new events can have wrong times.",
    action:
      "Synchronise the clock of the watchdog's machine: start its time service, and let it step the clock.",
    for: "10m",
    resolveFor: "1m",
    past: { notStored: "clock comparisons" },
    evaluate: ({ observation: { clock } }) => {
      if (clock === undefined) return cannotSee("the clock was not compared");
      return clock.problem === ""
        ? clear("the watchdog's clock is believed")
        : active(`the clock of the watchdog's machine is not believed: ${clock.problem}`);
    },
  }),
  condition({
    name: NOTIFICATIONS_LOST,
    severity: "critical",
    title: "Notifications were not delivered",
    end: "all notifications from the last day were delivered",
    when: "a channel has permanently refused a notification, or has not accepted it for a day",
    description:
      "A receiver no longer exists, refuses the watchdog's account or a message, or was down for a day. This alert is sent through the channels that still work.",
    impact: "Alerts on that channel reach nobody until its receiver accepts them.",
    action:
      "Correct the channel's settings: the receiver's reply says what is wrong. Run relaywatch alerts test, then relaywatch alerts dead-letters --resend, or --discard for notifications that are no longer needed.",
    for: "0s",
    past: { notStored: "notifications" },
    evaluate: ({ lost = [] }) => {
      if (lost.length === 0) return clear("all notifications from the last day were delivered");
      const reasons = new Map(lost.map(({ channel, reason }) => [channel, reason]));
      const text = [...reasons].map(([channel, reason]) => `${channel}: ${reason}`).join("; ");
      return active(`${counted(lost.length, "notification")} not delivered; ${text}`, lost.length);
    },
  }),
];

/** Returns true for an alert about the watchdog, which is the same for all validators. */
export function isAboutWatchdog(alert: string): boolean {
  return WATCHDOG_CONDITIONS.some(({ name }) => name === alert);
}
