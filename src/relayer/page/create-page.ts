import type { DaemonContext } from "../../platform/process/daemon-context.ts";
import type { HttpRoute } from "../../platform/http/http-route.ts";
import { livePageRoutes } from "../../platform/web/live-page.ts";
import type { RelayerConfig } from "../config.ts";
import type { RelayerStatus } from "../api/status.ts";
import type { Journal } from "../state/journal.ts";
import type { Activity } from "./activity.ts";
import { relayerPage } from "./relayer-page.ts";

export interface PageDeps {
  readonly status: () => RelayerStatus;
  readonly activity: Activity;
  readonly journal: Pick<Journal, "deadLetters">;
  /** Whether `POST /resubmit-txs` needs no token. */
  readonly openResubmit: boolean;
}

/** Creates the routes of the page. */
export function createRelayerPage(
  { status, activity, journal, openResubmit }: PageDeps,
  { token }: RelayerConfig["http"],
  { build, clock }: Pick<DaemonContext, "build" | "clock">,
): readonly HttpRoute[] {
  const resubmit = openResubmit ? "open" : token === undefined ? "nobody" : "token";
  return livePageRoutes(
    {
      frame: {
        heading: "Interchain-query relayer",
        version: build.version,
        startedAtMs: clock.nowMs(),
        links: [
          { path: "/api/status", text: "Status as JSON" },
          { path: "/api/queries", text: "queries" },
          { path: "/api/attempts", text: "attempts" },
          { path: "/unsuccessful-txs", text: "dead letters" },
          { path: "/metrics", text: "metrics" },
          { path: "/readyz", text: "readiness" },
        ],
      },
      content: (view) =>
        relayerPage({ status: status(), activity, deadLetters: journal.deadLetters(), resubmit }, view),
    },
    clock,
  );
}
