import type { JsonObject } from "../../platform/base/json.ts";
import { formatCents } from "../../platform/base/text.ts";
import { isoTime, isoTimeOrNull, MINUTE_MS } from "../../platform/base/time.ts";
import type { BlockCounts, LedgerView } from "../ledger/ledger-view.ts";
import { type Assessment, policyOf } from "../policy/assessment.ts";
import { type LeastRates, percentOrNull, successRate, tierOf } from "../policy/reward-tier.ts";
import { withCosts } from "../alerts/incidents.ts";
import { costText } from "../policy/cost-text.ts";
import { countedFromMs, publicDays, uptimeOf } from "./public-days.ts";
import type { PublicDay, PublicHistory, Uptime } from "./public-days.ts";
import { COMPONENT_SOURCES, type ComponentName, type ShownValidator } from "./status-page-config.ts";
import { isSymptom, NO_CAUSE } from "../alerts/miss-causes.ts";

/** One of a validator's rows on the status page, with an entry for each day. */
export interface PublicComponent {
  readonly name: ComponentName;
  readonly days: readonly PublicDay[];
  readonly uptime: Uptime;
}

export interface PublicIncident {
  readonly fromMs: number;
  /** The time when the incident ended; undefined while the incident is ongoing. */
  readonly toMs: number | undefined;
  readonly cause: string;
  /** The incident's cost; absent unless amounts are shown. */
  readonly cost?: string;
}

export interface PublicValidator {
  readonly title: string;
  readonly chainId: string | undefined;
  readonly present: Pick<Present, "state" | "text">;
  /** Wall-clock time at which a node was last read; undefined if no node has been read. */
  readonly seenAtMs: number | undefined;
  readonly components: readonly PublicComponent[];
  /** Up to {@link MAX_INCIDENTS} of the validator's most recent incidents, newest first. */
  readonly incidents: readonly PublicIncident[];
  /** The month's pay so far; absent unless amounts are shown. */
  readonly pay?: { readonly month: string; readonly soFar: string; readonly of: string };
}

/** Maximum number of incidents shown per validator. */
const MAX_INCIDENTS = 20;

/** During an outage, an incident whose last bad block is at most this old is shown as ongoing. */
const ONGOING_MS = 10 * MINUTE_MS;

interface PublicInput {
  readonly shown: ShownValidator;
  readonly hasAmounts: boolean;
  /** The validator's counts; undefined before the first reading. */
  readonly ledger: LedgerView | undefined;
  readonly history: PublicHistory;
  readonly present: Present;
  readonly assessment: Assessment | undefined;
  readonly seenAtMs: number | undefined;
  readonly nowMs: number;
}

/** Returns the part of a validator's data that may be public. */
export function publicValidator(input: PublicInput): PublicValidator {
  const { shown, hasAmounts, ledger, history, present, assessment, seenAtMs, nowMs } = input;
  const { least } = policyOf(assessment);
  const components = shown.components.map((name): PublicComponent => {
    const source = COMPONENT_SOURCES[name];
    const fromMs = ledger && countedFromMs(ledger, source);
    const days = publicDays(history.days.get(source) ?? [], { fromMs, untilMs: seenAtMs }, least, nowMs);
    return { name, days, uptime: uptimeOf(days) };
  });
  const cents = assessment?.rewardCents;
  return {
    title: shown.title,
    chainId: ledger?.chainId,
    present: { state: present.state, text: present.text },
    seenAtMs,
    components,
    incidents: publicIncidents(input),
    ...(hasAmounts && assessment !== undefined && cents !== undefined
      ? { pay: payOf(assessment, cents) }
      : {}),
  };
}

function payOf({ month, policy }: Assessment, cents: bigint): NonNullable<PublicValidator["pay"]> {
  const { currency, fullRewardCents } = policy;
  return { month, soFar: formatCents(cents, currency), of: formatCents(fullRewardCents, currency) };
}

function publicIncidents(input: PublicInput): readonly PublicIncident[] {
  const { history, present, ledger, assessment, hasAmounts, nowMs } = input;
  const { state, outage } = present;
  const costs =
    !hasAmounts || ledger === undefined || assessment === undefined
      ? []
      : withCosts({ ledger, alerts: [], policy: assessment.policy, assessment }, history.incidents);
  const isOpen = (toMs: number): boolean => state === "outage" && toMs >= nowMs - ONGOING_MS;
  const listed = history.incidents.map(({ fromMs, toMs, cause }, index): PublicIncident => {
    const cost = costs[index]?.cost;
    return {
      fromMs,
      toMs: isOpen(toMs) ? undefined : Math.min(toMs, nowMs),
      cause: publicCause(cause),
      ...(cost === undefined ? {} : { cost: costText(cost) }),
    };
  });
  // An outage that has just begun may not have a bad block yet.
  const isListed = listed.some(({ toMs }) => toMs === undefined);
  const begun =
    outage === undefined || isListed
      ? []
      : [{ fromMs: outage.sinceMs, toMs: undefined, cause: publicCause(outage.cause) }];
  return [...listed, ...begun].toReversed().slice(0, MAX_INCIDENTS);
}

export interface PublicStatus {
  readonly title: string;
  /** The time of the data, which is the earliest of the validators' last polls; undefined until every validator has been polled. */
  readonly asOfMs: number | undefined;
  /** Age in ms after which the data no longer shows the current state. */
  readonly staleMs: number;
  readonly validators: readonly PublicValidator[];
}

/** Returns the validator in the most serious state. */
export function gravest({ validators }: PublicStatus): PublicValidator | undefined {
  const rank = ({ present }: PublicValidator): number => PUBLIC_STATES.indexOf(present.state);
  return validators.toSorted((a, b) => rank(a) - rank(b))[0];
}

/** Encodes the public status page as JSON. Times are in ISO 8601, and days are UTC dates. */
export function publicJson(status: PublicStatus): JsonObject {
  return {
    title: status.title,
    state: gravest(status)?.present.state ?? "unknown",
    as_of: isoTimeOrNull(status.asOfMs),
    stale_after_seconds: Math.round(status.staleMs / 1000),
    validators: status.validators.map((one) => ({
      name: one.title,
      chain_id: one.chainId ?? null,
      state: one.present.state,
      text: one.present.text,
      seen_at: isoTimeOrNull(one.seenAtMs),
      components: one.components.map(componentJson),
      incidents: one.incidents.map(({ fromMs, toMs, cause, cost }) => ({
        from: isoTime(fromMs),
        to: isoTimeOrNull(toMs),
        cause,
        ...(cost === undefined ? {} : { cost }),
      })),
      ...(one.pay === undefined ? {} : { pay: payJson(one.pay) }),
    })),
  };
}

function payJson({ month, soFar, of }: NonNullable<PublicValidator["pay"]>): JsonObject {
  return { month, so_far: soFar, of };
}

function componentJson({ name, days, uptime }: PublicComponent): JsonObject {
  return {
    name,
    uptime_percent: percentOrNull(uptime.rate),
    known_days: uptime.knownDays,
    days: days.map(({ dayMs, state, rate, unknownShare }) => ({
      day: isoTime(dayMs).slice(0, 10),
      state,
      success_percent: percentOrNull(rate),
      unknown_percent: unknownPercent(unknownShare),
    })),
  };
}

/** Formats a fraction as a percentage with one decimal. Only an exact 0 is formatted as 0.0, and only an exact 1 as 100.0. */
export function unknownPercent(share: number): string {
  if (share <= 0 || share >= 1) return share <= 0 ? "0.0" : "100.0";
  return Math.min(99.9, Math.max(0.1, Math.round(share * 1000) / 10)).toFixed(1);
}

/** Public descriptions of incident causes, by condition name or ledger event kind. No description names a machine, program or alert. */
const WORDS: Readonly<Record<string, string>> = {
  "sidecar-down": "The price service did not respond",
  "oracle-calls-failing": "Requests for prices failed",
  "all-prices-missing": "No prices were available",
  "major-pairs-missing": "Important prices were missing",
  "empty-prices-counted": "The price service had no prices",
  "stale-price-timestamp": "Prices were out of date",
  "sidecar-too-slow": "The price service was too slow",
  "sidecar-slow": "The price service was too slow",
  "websocket-providers-failing": "Price providers failed",
  "grpc-closed": "The price service lost its connection",
  "egress-closed": "The network to the price providers failed",
  "chain-halted": "The chain made no blocks",
  "node-halted": "The node stopped",
  "node-behind": "The node was behind the chain",
  "not-in-validator-set": "The validator was not in the active set",
  "not-signing": "The validator did not sign blocks",
  "node-not-voting": "The validator did not take part in voting",
  "validator-jailed": "The chain suspended the validator",
  "validator-tombstoned": "The chain excluded the validator",
  "network-votes-missing": "Prices from many validators were missing",
  "sidecar-restart": "The price service restarted",
  "node-restart": "The node restarted",
  halt: "The chain made no blocks",
  gap: "Monitoring had no data",
  "two-nodes": "Monitoring had contradictory data",
  [NO_CAUSE]: "The cause is not known",
};

/** Describes a cause to the public, in a sentence without its trailing period. */
export function publicCause(cause: string): string {
  return Object.hasOwn(WORDS, cause) ? (WORDS[cause] ?? OTHER) : OTHER;
}

const OTHER = "A technical problem";

/** The possible states of a validator, most serious first. */
const PUBLIC_STATES = ["outage", "unknown", "degraded", "operational"] as const;

export type PublicState = (typeof PUBLIC_STATES)[number];

export interface Present {
  readonly state: PublicState;
  /** Describes the state in a sentence without its trailing period. */
  readonly text: string;
  /** The time and cause of an outage; absent if no alert reports an outage. */
  readonly outage?: { readonly sinceMs: number; readonly cause: string };
}

export interface OpenAlert {
  readonly alert: string;
  readonly severity: string;
  readonly phase: "pending" | "firing";
  readonly sinceMs: number;
}

interface PresentInput {
  /** True if the last poll is old or could not read any node. */
  readonly isBlind: boolean;
  readonly alerts: readonly OpenAlert[];
  /** Block counts from the last five minutes. */
  readonly recent: BlockCounts;
  readonly least: LeastRates;
}

/**
 * Determines the current state. The state is never "operational" if no node can be read, if there are no recent blocks, or while a
 * critical alert is firing or pending. Alerts about symptoms, such as the month's pay, are ignored, because such alerts do not
 * describe the present.
 */
export function presentOf({ isBlind, alerts, recent, least }: PresentInput): Present {
  if (isBlind) return { state: "unknown", text: "No current data" };
  const critical = alerts
    .filter(({ alert, severity }) => severity === "critical" && !isSymptom(alert))
    .toSorted((a, b) => a.sinceMs - b.sinceMs);
  const firing = critical.find(({ phase }) => phase === "firing");
  if (firing !== undefined) {
    const { alert: cause, sinceMs } = firing;
    return { state: "outage", text: publicCause(cause), outage: { sinceMs, cause } };
  }
  const rate = successRate(recent);
  if (rate === undefined) return { state: "unknown", text: "No block was seen in the last five minutes" };
  const tier = tierOf(rate, least);
  if (tier === "none") return { state: "outage", text: "Most recent blocks were missed" };
  if (tier === "proportional") return { state: "degraded", text: "Some recent blocks were missed" };
  if (critical.length > 0) return { state: "degraded", text: "A problem may be starting" };
  return { state: "operational", text: "Operational" };
}
