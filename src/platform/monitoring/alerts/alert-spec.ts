import type { PanelLink } from "./links.ts";
import type { Severity } from "../severity.ts";
import type { Times } from "./times.ts";

/** The value of an alert's label `component`. */
export type Component = "oracle-watchdog" | "oracle-raw" | "icq-relayer" | "relaywatch";

/** One series' values in an alert test, in which the labels of the component's target replace `$`. */
export interface SeriesCase {
  /** The series with its labels, for example "app_prices{$,ticker=\"btc/usd\"}". */
  readonly series: string;
  /**
   * First value or, with `clock`, seconds from now. The default is 0 in the first phase; in the second phase, the series continues
   * from its last value.
   */
  readonly from?: number;
  /** Increase of the value per minute; 0 by default. */
  readonly step?: number;
  /** Amount added to the value after the first minute. */
  readonly jump?: number;
  /** Number of minutes after which the series ends. */
  readonly ends?: number;
  /** True if the value is a time that advances with the clock. */
  readonly clock?: true;
}

/** A situation in which the alert fires, followed by a situation that resolves the alert. */
export interface AlertCase {
  readonly fires: readonly SeriesCase[];
  /** A series that is only in `fires` continues unchanged. A series that is only here is absent in the first phase. */
  readonly clears: readonly SeriesCase[];
  /** Time until the expression becomes true, in addition to `for`; 10m by default. */
  readonly trueAfter?: string;
  /** Time within which the alert is resolved; 15m by default. */
  readonly resolves?: string;
  /** The reason why only promtool, and never a real Prometheus, can reproduce this situation. */
  readonly onlyPromtool?: string;
}

/** One alerting rule, from which rules, test cases, inhibitions and runbook sections are generated. */
export interface AlertSpec {
  /**
   * Name of the alert's runbook in `alerts/runbooks`, in kebab-case. Alerts that report the same problem from different metrics
   * have the same name.
   */
  readonly name: string;
  /** Name in Prometheus and Alertmanager, in CamelCase. */
  readonly alert: string;
  readonly component: Component;
  /** Severity of the alert, which notifies nobody if it is "none". */
  readonly severity: Severity | "none";
  /** Summary in one sentence, which all alerts with this name share. */
  readonly summary: string;
  /** Description in full sentences, which may contain Prometheus templates. */
  readonly description: string;
  /** The problem's consequences and cost, in full sentences. */
  readonly impact: string;
  readonly expr: (times: Times) => string;
  /** Time for which the expression must be true before the alert fires, for example "5m". */
  readonly for: string;
  readonly cause: PanelLink;
  readonly inhibits: readonly string[];
  /** Names of the labels whose values an alert and its consequences have in common. */
  readonly scope: readonly string[];
  /** Situation for the alert's test; undefined if the alert always fires. */
  readonly example: AlertCase | undefined;
}

/** An alert about the monitoring itself, without the fields that have the same or derived values for all such alerts. */
export type SelfAlert = Omit<AlertSpec, "alert" | "component" | "inhibits" | "scope"> & {
  readonly inhibits?: readonly string[];
};

export interface RecordSpec {
  readonly record: string;
  readonly expr: (times: Times) => string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface GroupSpec {
  readonly name: string;
  readonly interval?: string;
  readonly records: readonly RecordSpec[];
  readonly alerts: readonly AlertSpec[];
}

/** Returns the labels that replace `$` in a {@link SeriesCase}, which identify the component's target named by `place`. */
export function placeLabels(component: Component, place: string): Readonly<Record<string, string>> {
  if (component === "icq-relayer") return { job: place, instance: place };
  if (component === "relaywatch") return { job: "oracle-watchdog", instance: place };
  const job = component === "oracle-raw" ? "oracle-node" : "oracle-watchdog";
  return { job, instance: `${place}:26660`, chain_id: place, validator: "default" };
}

/**
 * Returns the Prometheus name of an alert that is not in the watchdog's table, for example "IcqRelayerDeadLetters" for
 * "relayer-dead-letters".
 */
export function alertNameOf(name: string): string {
  const words = name.split("-").map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return words[0] === "Relayer" ? `Icq${words.join("")}` : words.join("");
}
