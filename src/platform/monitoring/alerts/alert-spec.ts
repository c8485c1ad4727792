import type { PanelLink } from "./links.ts";
import type { Severity } from "../severity.ts";
import type { Times } from "./times.ts";

/** Component of an alert: its label `component`. */
export type Component = "oracle-watchdog" | "oracle-raw" | "icq-relayer" | "relaywatch";

/** Values of one series in a test. `$` in `series` is replaced by the labels of the component's target. */
export interface SeriesCase {
  /** "app_prices{$,ticker=\"btc/usd\"}". */
  readonly series: string;
  /** First value, 0 by default. With `clock`, seconds after the present. In the second phase, by default the last value. */
  readonly from?: number;
  /** Growth per minute, 0 by default. */
  readonly step?: number;
  /** Added to the value after the first minute. */
  readonly jump?: number;
  /** Minutes after which the series is absent. */
  readonly ends?: number;
  /** The value is a time that goes on with the clock. */
  readonly clock?: true;
}

/** A situation in which the alert fires, and the one after it, in which it is resolved. */
export interface AlertCase {
  readonly fires: readonly SeriesCase[];
  /** A series of `fires` that is missing here continues unchanged. A series only here is absent before. */
  readonly clears: readonly SeriesCase[];
  /** Time that the expression needs to become true, besides `for`. Default: 10m. */
  readonly trueAfter?: string;
  /** Time in which the alert is resolved. Default: 15m. */
  readonly resolves?: string;
  /** Why a real Prometheus cannot be brought into this situation at any time; promtool can. */
  readonly onlyPromtool?: string;
}

/** One alerting rule. Rules, test cases, inhibitions and the generated sections of its runbook follow from it. */
export interface AlertSpec {
  /** Kebab-case. Name of the runbook in `alerts/runbooks`; two alerts share it when they say the same from different metrics. */
  readonly name: string;
  /** Name in Prometheus and Alertmanager, CamelCase. */
  readonly alert: string;
  readonly component: Component;
  /** "none": no person is notified. */
  readonly severity: Severity | "none";
  /** One sentence. The same for all alerts of this name. */
  readonly summary: string;
  /** Sentences; may have templates of Prometheus. */
  readonly description: string;
  /** The cost of the problem, in full sentences. */
  readonly impact: string;
  readonly expr: (times: Times) => string;
  /** How long the expression must be true: "5m". */
  readonly for: string;
  /** The panel that shows the cause. */
  readonly cause: PanelLink;
  /** Names of the alerts that this one causes. */
  readonly inhibits: readonly string[];
  /** Labels that an alert and the alerts that it causes have in common. */
  readonly scope: readonly string[];
  /** Undefined: it fires always. */
  readonly example: AlertCase | undefined;
}

/** An alert about the monitoring itself, without the fields that all of them share. */
export type SelfAlert = Omit<AlertSpec, "alert" | "component" | "inhibits" | "scope"> & {
  readonly inhibits?: readonly string[];
};

/** A recording rule. */
export interface RecordSpec {
  readonly record: string;
  readonly expr: (times: Times) => string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A group of rules, evaluated one after the other. */
export interface GroupSpec {
  readonly name: string;
  readonly interval?: string;
  readonly records: readonly RecordSpec[];
  readonly alerts: readonly AlertSpec[];
}

/** Labels of the target of each component, which `$` in a {@link SeriesCase} is replaced by. `place` tells targets apart. */
export function placeLabels(component: Component, place: string): Readonly<Record<string, string>> {
  if (component === "icq-relayer") return { job: place, instance: place };
  if (component === "relaywatch") return { job: "oracle-watchdog", instance: place };
  const job = component === "oracle-raw" ? "oracle-node" : "oracle-watchdog";
  return { job, instance: `${place}:26660`, chain_id: place, validator: "default" };
}

/** Names of an alert outside the watchdog's table: "relayer-dead-letters" is "IcqRelayerDeadLetters". */
export function alertNameOf(name: string): string {
  const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return words[0] === "Relayer" ? `Icq${words.join("")}` : words.join("");
}
