import { expect } from "vitest";
import { readAlerts, type Shown, untilNone } from "./shown-alerts.ts";
import { labelText, type Receiver } from "./webhook-receiver.ts";

/** What a fault leads to at one place, by the names of alerts. */
export interface ExpectedAlerts {
  readonly fault: string;
  readonly alerts: readonly string[];
  /** Alerts that those mute. */
  readonly muted?: readonly string[];
}

export interface FaultExpectationDeps {
  /** URL of Alertmanager. */
  readonly alertmanager: string;
  readonly receiver: Receiver;
  /** Returns the value of the label `alertname`. */
  readonly alertOf: (name: string) => string;
}

/** Checks the alerts with these labels in Alertmanager, and its messages about them. */
export interface FaultExpectations {
  /** Waits until all alerts are shown and notified, and those that they mute are muted. No alert is shown twice. */
  readonly fires: (expected: ExpectedAlerts) => Promise<void>;
  /** Waits until the alerts are over, and there is one message about the end for each about the begin. */
  readonly ends: (expected: ExpectedAlerts) => Promise<void>;
}

const DEADLINE_MS = 150_000;

/** Creates the checks of one place: the labels that all its alerts have. */
export function expectAlertsAt(
  place: Readonly<Record<string, string>>,
  { alertmanager, receiver, alertOf }: FaultExpectationDeps,
): FaultExpectations {
  const isHere = (labels: Shown["labels"]): boolean =>
    Object.entries(place).every(([label, value]) => labels[label] === value);
  const shownHere = async (): Promise<readonly Shown[]> =>
    (await readAlerts(alertmanager)).filter(({ labels }) => isHere(labels));
  /** Messages about the begin of each alert when the last fault was over. */
  const before = new Map<string, number>();
  const messages = ({ alerts }: ExpectedAlerts) =>
    alerts.map(alertOf).map((name) => ({
      name,
      ...receiver.counts((labels) => labels["alertname"] === name && isHere(labels)),
    }));
  return {
    fires: async (expected) => {
      const wanted = [
        ...expected.alerts.map((name) => `${alertOf(name)} active`),
        ...(expected.muted ?? []).map((name) => `${alertOf(name)} suppressed`),
      ];
      const seen = new Set<string>();
      await untilNone(async () => {
        for (const { labels, status } of await shownHere())
          seen.add(`${labels["alertname"]} ${status.state}`);
        const missing = wanted.filter((text) => !seen.has(text));
        const silent = messages(expected).filter(({ name, firing }) => firing <= (before.get(name) ?? 0));
        const left = [...missing, ...silent.map(({ name }) => `no message about ${name}`)];
        return left.length === 0 ? [] : [...left, `${expected.fault}; seen: ${[...seen].join(", ")}`];
      }, DEADLINE_MS);
      const keys = (await shownHere()).map(({ labels }) => labelText(labels));
      expect(new Set(keys).size).toBe(keys.length);
    },
    ends: async (expected) => {
      const names = expected.alerts.map(alertOf);
      await untilNone(async () => {
        const shown = new Set((await shownHere()).map(({ labels }) => labels["alertname"]));
        // A scrape that a busy machine misses ends an alert and begins it again: each time one message says so.
        const unequal = messages(expected).filter(({ firing, resolved }) => firing !== resolved);
        return [
          ...names.filter((name) => shown.has(name)),
          ...unequal.map((text) => `${expected.fault}: ${JSON.stringify(text)}`),
        ];
      }, DEADLINE_MS);
      for (const { name, firing } of messages(expected)) before.set(name, firing);
    },
  };
}
