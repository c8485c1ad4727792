import type { Clock } from "../../platform/base/clock.ts";
import type { HttpRoute } from "../../platform/http/http-route.ts";
import { livePageRoutes } from "../../platform/web/live-page.ts";
import type { AlertingState } from "../alerts/plan-alerts.ts";
import type { WatchdogConfig } from "../config.ts";
import type { LedgerView } from "../ledger/ledger-view.ts";
import type { PageContent } from "../../platform/web/page-shell.ts";
import type { WatchdogStatus } from "../status.ts";
import { watchdogPage } from "./watchdog-page.ts";

export interface PageDeps {
  readonly clock: Clock;
  /** Of the program. */
  readonly version: string;
  readonly statuses: () => readonly WatchdogStatus[];
  /** Counts that are in memory; undefined before the first reading. */
  readonly ledger: (validator: string) => LedgerView | undefined;
  /** The same with older ones. May throw, for example when the disk fails. */
  readonly storedLedger: (validator: string) => LedgerView | undefined;
  readonly alerting: () => Pick<AlertingState, "silences">;
}

/** Time that the polls of a slow source take besides their deadline. */
const SLACK_MS = 5_000;

/** Returns the longest time between the ends of two polls when all is well. */
export function longestPollMs({ intervalMs, limits }: Pick<WatchdogConfig, "intervalMs" | "limits">): number {
  return intervalMs + 2 * limits.deadlineMs + SLACK_MS;
}

/** Creates the routes of the page. */
export function createWatchdogPage(
  config: WatchdogConfig,
  { clock, version, statuses, ledger, storedLedger, alerting }: PageDeps,
): readonly HttpRoute[] {
  const { maintenance, notify } = config;
  const contentWith = (ledgerOf: PageDeps["ledger"]): PageContent =>
    watchdogPage({
      statuses: statuses(),
      ledgerOf,
      silences: alerting().silences,
      maintenance,
      runbooks: notify.runbooks,
      nowMs: clock.nowMs(),
      pollMs: longestPollMs(config),
    });
  const content = (): PageContent => {
    try {
      return contentWith(storedLedger);
    } catch {
      // The page matters most when something fails, such as the disk with the state. What is in memory is enough for it.
      return contentWith(ledger);
    }
  };
  const frame = {
    heading: "Oracle watchdog",
    version,
    startedAtMs: clock.nowMs(),
    links: [
      { path: "/api/status", text: "Status as JSON" },
      { path: "/api/alerts", text: "alerts" },
      { path: "/api/silences", text: "silences" },
      { path: "/metrics", text: "metrics" },
    ],
  };
  return livePageRoutes({ frame, content }, clock);
}
