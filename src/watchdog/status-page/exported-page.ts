import { MINUTE_MS } from "../../platform/base/time.ts";
import { recentBlocks } from "../ledger/ledger-view.ts";
import { type OpenAlert, presentOf } from "./present-state.ts";
import { firstDayMs } from "./public-days.ts";
import { NO_HISTORY, readHistory } from "./public-history.ts";
import { publicValidator, type PublicStatus, type PublicValidator } from "./public-status.ts";
import type { ShownValidator, StatusPageConfig } from "./status-page-config.ts";
import type { ExplainingAlert, IncidentSource } from "../alerts/miss-causes.ts";
import { type Assessment, type Policy, policyOf } from "../policy/assessment.ts";

interface ExportedValidator extends IncidentSource {
  readonly policy: Policy;
  /** The current month. */
  readonly assessment: Assessment;
  readonly alerts: readonly (ExplainingAlert & Pick<OpenAlert, "severity">)[];
  /** Absent if the watchdog is older and does not report pending alerts. */
  readonly pending?: readonly Omit<OpenAlert, "phase">[];
}

/** A watchdog's data, as returned by its API. */
interface ExportedState {
  readonly nowMs: number;
  /** Undefined before the first poll. */
  readonly polledAtMs: number | undefined;
  readonly validators: readonly ExportedValidator[];
}

/** If the last poll is older than this, it says nothing about the current state. */
const STALE_MS = 2 * MINUTE_MS;

/** An exported file is expected to be replaced regularly, and is considered old if this has not happened for this long. */
const FILE_STALE_MS = 15 * MINUTE_MS;

export function exportedStatus(config: StatusPageConfig, state: ExportedState): PublicStatus {
  const data = new Map(state.validators.map((one) => [one.ledger.validator, one]));
  return {
    title: config.title,
    asOfMs: state.polledAtMs,
    staleMs: FILE_STALE_MS,
    validators: config.validators.map((shown) => exported(shown, data.get(shown.name), config, state)),
  };
}

/** Creates a validator's part of the page. `data` is undefined if the watchdog does not report the validator. */
function exported(
  shown: ShownValidator,
  data: ExportedValidator | undefined,
  { hasAmounts }: StatusPageConfig,
  { nowMs, polledAtMs = 0 }: ExportedState,
): PublicValidator {
  const { ledger, assessment } = data ?? {};
  const minute = ledger?.minutes(0, nowMs + 1).at(-1);
  const alerts = openAlerts(data);
  const isNodeUnseen = alerts.some(
    ({ alert, phase }) => phase === "firing" && /^cannot-see-(votes|node)$/.test(alert),
  );
  return publicValidator({
    shown,
    hasAmounts,
    ledger,
    history: data === undefined ? NO_HISTORY : readHistory(data, firstDayMs(nowMs), nowMs + 1),
    present: presentOf({
      isBlind: data === undefined || isNodeUnseen || nowMs - polledAtMs > STALE_MS,
      alerts,
      recent: recentBlocks(ledger, nowMs),
      least: policyOf(data).least,
    }),
    assessment,
    seenAtMs: minute && Math.min(minute.startMs + MINUTE_MS, polledAtMs),
    nowMs,
  });
}

function openAlerts({ alerts, pending = [] }: Partial<ExportedValidator> = {}): readonly OpenAlert[] {
  const firing = (alerts ?? []).filter(({ resolvedAtMs }) => resolvedAtMs === undefined);
  return [
    ...firing.map((alert): OpenAlert => ({ ...alert, phase: "firing" })),
    ...pending.map((alert): OpenAlert => ({ ...alert, phase: "pending" })),
  ];
}
