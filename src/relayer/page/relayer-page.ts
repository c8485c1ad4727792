import type { PageContent } from "../../platform/web/page-shell.ts";
import type { RelayerStatus } from "../api/status.ts";
import type { DeadLetter } from "../state/journal-entries.ts";
import type { Activity } from "./activity.ts";
import { activitySection } from "./activity-section.ts";
import { connectionSection, endpointSection } from "./connection-section.ts";
import { deadLetterSection, type ResubmitAccess } from "./dead-letter-section.ts";
import { factSection, judge, verdictSection } from "./overview-section.ts";
import { parseQueriesView, selectQueries } from "./queries-view.ts";
import { querySection } from "./query-section.ts";
import { spendingSection } from "./spending-section.ts";

/** What the relayer's page shows. */
export interface RelayerPageInput {
  readonly status: RelayerStatus;
  readonly activity: Pick<Activity, "samples">;
  readonly deadLetters: readonly DeadLetter[];
  readonly resubmit: ResubmitAccess;
}

/**
 * Creates the content of the relayer's page, what matters most first: is everything current, why not, the connections, what was
 * sent, the queries that `view` selects, dead letters. Texts of chains are escaped.
 */
export function relayerPage(input: RelayerPageInput, view: URLSearchParams): PageContent {
  const { status, activity } = input;
  const judgement = judge(status);
  const samples = activity.samples();
  const queriesView = parseQueriesView(view);
  const { length } = status.problems;
  return {
    title: `${length === 0 ? "" : `(${length}) `}${judgement.headline} – relayer`,
    asOfMs: status.nowMs,
    sections: [
      { id: "verdict", label: "Verdict", content: verdictSection(status, judgement) },
      { id: "facts", label: "Values", content: factSection(status, samples) },
      { id: "connections", label: "Connections", content: connectionSection(status) },
      { id: "activity", label: "Last hour", content: activitySection(samples) },
      {
        id: "queries",
        label: "Queries",
        content: querySection(
          selectQueries(status.queries, queriesView),
          status.loaded ? status.queries.length : undefined,
          queriesView,
        ),
      },
      {
        id: "dead-letters",
        label: "Dead letters",
        content: deadLetterSection(input.deadLetters, input.resubmit),
      },
      { id: "spending", label: "Spending", content: spendingSection(status) },
      { id: "endpoints", label: "Endpoints", content: endpointSection(status.endpoints) },
    ],
  };
}
