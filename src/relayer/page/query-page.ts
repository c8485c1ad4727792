import { counted } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import type { PageContent, PageSection } from "../../platform/web/page-shell.ts";
import {
  amount,
  badge,
  type Fact,
  factGrid,
  grouped,
  statusBanner,
  type Tone,
} from "../../platform/web/parts.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import { lateText } from "../health/lateness.ts";
import type { QueryView, RelayerStatus } from "../health/relayer-status.ts";
import type { Attempt } from "../state/attempt.ts";
import { attemptTable } from "./attempt-section.ts";
import { ageCell } from "./query-section.ts";

/** The data of a query's page. */
export interface QueryPageInput {
  readonly status: RelayerStatus;
  readonly view: QueryView;
  readonly query: RegisteredQuery;
  /** Its newest attempts, newest first. */
  readonly attempts: readonly Attempt[];
}

/** One query: is it current, why not, its last attempts, what it asks. */
export function queryPage({ status, view, query, attempts }: QueryPageInput): PageContent {
  const { tone, headline } = verdictOf(view);
  return {
    title: `${headline} – relayer`,
    asOfMs: status.nowMs,
    sections: [
      { id: "verdict", label: "Status", content: statusBanner(tone, headline, reasonOf(view)) },
      { id: "facts", label: "Values", content: factGrid(factsOf(view, status)) },
      section("attempts", "Attempts", attemptTable(attempts, status.account, true)),
      section("question", "What it asks", questionOf(query)),
    ],
  };
}

/** The page of a query that this relayer does not serve. */
export function noSuchQuery(id: string, nowMs: number): PageContent {
  const headline = "There is no such query here";
  const more = html`<p>This relayer does not serve a query ${id}. It may have been removed, or belong to another connection. <a href="/">All queries</a>.</p>`;
  return {
    title: `${headline} – relayer`,
    status: 404,
    asOfMs: nowMs,
    sections: [{ id: "verdict", label: "Status", content: statusBanner("unknown", headline, more) }],
  };
}

function section(id: string, label: string, content: Html): PageSection {
  return { id, label, content: html`<h2>${label}</h2>${content}` };
}

function verdictOf({ id, error, lateness, state, isRequested }: QueryView): {
  readonly tone: Tone;
  readonly headline: string;
} {
  if (error !== undefined) return { tone: "bad", headline: `Query ${id} fails: ${error.code}` };
  if (lateness.isOverdue) return { tone: "bad", headline: `Query ${id} is overdue` };
  if (state === "pending") return { tone: "unknown", headline: `Query ${id} has no result yet` };
  if (isRequested) return { tone: "warn", headline: `Query ${id} is requested by an operator` };
  if (lateness.unanswerable === "no-newer-remote-block" && lateness.blocks > 0n)
    return { tone: "warn", headline: `Query ${id} waits for a new remote block` };
  return { tone: "good", headline: `Query ${id} is current` };
}

/** Why there is no newer result, and what follows. */
function reasonOf({ error, failures, retryInMs, lateness }: QueryView): Html {
  const late =
    lateness.blocks > 0n &&
    html`<p>Due for ${lateText(lateness)}; overdue after ${counted(Number(lateness.limit), "block")}.</p>`;
  if (error === undefined) return html`${late}`;
  const seconds = Math.ceil(retryInMs / 1_000);
  return html`<p>${error.reason}</p><p>${counted(failures, "failure")} since the last result; next try in ${seconds} s.</p>${late}`;
}

function factsOf(view: QueryView, { account: { denom, unit } }: RelayerStatus): readonly Fact[] {
  const { type, resultAge, updatePeriod, lateness, connectionId, owner, cost, results } = view;
  const remote = view.lastRemoteHeight === undefined ? "" : `, of remote height ${view.lastRemoteHeight}`;
  const unchanged =
    view.unchangedSince === undefined ? "" : `, values unchanged since block ${view.unchangedSince}`;
  return [
    {
      name: type === "tx" ? "Last search" : "Last result",
      value: ageCell(view),
      detail: resultAge && `${counted(Number(resultAge.blocks), "block")} ago${remote}${unchanged}`,
    },
    {
      name: "Period",
      value: counted(Number(updatePeriod), "block"),
      detail: `next due at height ${lateness.dueHeight}`,
    },
    {
      name: "Results since the start",
      value: grouped(results),
      detail:
        cost === undefined
          ? "nothing was paid for it"
          : html`${grouped(cost.gas)} gas, ${amount(cost.fee, denom, unit)}`,
    },
    { name: "Connection", value: connectionId },
    { name: "Owner", value: html`<code>${owner}</code>`, isWide: true },
  ];
}

function questionOf({ type, keys, transactionsFilter, registeredAtHeight }: RegisteredQuery): Html {
  const since = registeredAtHeight === 0n ? "in the genesis" : `at height ${registeredAtHeight}`;
  return html`<p>${badge("unknown", type.toUpperCase())} Registered ${since}.</p>${
    type === "tx"
      ? html`<p>Transactions that match <code>${transactionsFilter}</code></p>`
      : html`<ul>${keys.map(
          ({ path, key }) =>
            html`<li>store <code>${path}</code>, key <code>${Buffer.from(key).toString("hex")}</code></li>`,
        )}</ul>`
  }`;
}
