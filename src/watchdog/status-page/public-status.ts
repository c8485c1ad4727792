import type { JsonObject } from "../../platform/base/json.ts";
import { formatCents } from "../../platform/base/text.ts";
import { isoTime, isoTimeOrNull, MINUTE_MS } from "../../platform/base/time.ts";
import type { LedgerView } from "../ledger/ledger-view.ts";
import { type Assessment, policyOf } from "../policy/assessment.ts";
import { percentOrNull } from "../policy/reward-tier.ts";
import { withCosts } from "../alerts/incidents.ts";
import { costText } from "../policy/cost-text.ts";
import { type Present, PUBLIC_STATES, publicCause } from "./present-state.ts";
import { countedFromMs, publicDays, uptimeOf } from "./public-days.ts";
import type { PublicDay, PublicHistory, Uptime } from "./public-days.ts";
import { COMPONENT_SOURCES, type ComponentName, type ShownValidator } from "./status-page-config.ts";

/** A row of the page. */
export interface PublicComponent {
  readonly name: ComponentName;
  readonly days: readonly PublicDay[];
  readonly uptime: Uptime;
}

export interface PublicIncident {
  readonly fromMs: number;
  /** Undefined while the incident is ongoing. */
  readonly toMs: number | undefined;
  readonly cause: string;
  /** The cost of the incident. Absent unless amounts are shown. */
  readonly cost?: string;
}

export interface PublicValidator {
  readonly title: string;
  readonly chainId: string | undefined;
  readonly present: Pick<Present, "state" | "text">;
  /** Time of the last reading of a node. */
  readonly seenAtMs: number | undefined;
  readonly components: readonly PublicComponent[];
  /** Newest first. */
  readonly incidents: readonly PublicIncident[];
  /** The pay for the month so far. Absent unless amounts are shown. */
  readonly pay?: { readonly month: string; readonly soFar: string; readonly of: string };
}

/** Maximum number of incidents per validator; only the newest are shown. */
const MAX_INCIDENTS = 20;

/** An incident is ongoing if the validator is in an outage and the incident's last bad block is not older than this. */
const ONGOING_MS = 10 * MINUTE_MS;

export interface PublicInput {
  readonly shown: ShownValidator;
  readonly hasAmounts: boolean;
  /** Undefined before the first reading. */
  readonly ledger: LedgerView | undefined;
  readonly history: PublicHistory;
  readonly present: Present;
  readonly assessment: Assessment | undefined;
  readonly seenAtMs: number | undefined;
  readonly nowMs: number;
}

/** Reduces everything known about a validator to the page's content. */
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
  // An outage that has just begun may have no bad block yet.
  const isListed = listed.some(({ toMs }) => toMs === undefined);
  const begun =
    outage === undefined || isListed
      ? []
      : [{ fromMs: outage.sinceMs, toMs: undefined, cause: publicCause(outage.cause) }];
  return [...listed, ...begun].toReversed().slice(0, MAX_INCIDENTS);
}

export interface PublicStatus {
  readonly title: string;
  /** Time of the data, i.e. of the least recent among all validators' last polls. Undefined before the first poll. */
  readonly asOfMs: number | undefined;
  /** Age in ms from which the page says nothing about the current state. */
  readonly staleMs: number;
  readonly validators: readonly PublicValidator[];
}

/** Returns the validator with the most serious state. */
export function gravest({ validators }: PublicStatus): PublicValidator | undefined {
  const rank = ({ present }: PublicValidator): number => PUBLIC_STATES.indexOf(present.state);
  return validators.toSorted((a, b) => rank(a) - rank(b))[0];
}

/** Encodes the page as JSON. Times are in ISO 8601; days are UTC dates. */
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

/** Formats a fraction as a percentage with one decimal. Only zero is shown as 0.0, and only one as 100.0. */
export function unknownPercent(share: number): string {
  if (share <= 0 || share >= 1) return share <= 0 ? "0.0" : "100.0";
  return Math.min(99.9, Math.max(0.1, Math.round(share * 1000) / 10)).toFixed(1);
}
