import { formatAmount } from "../../platform/base/display-unit.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import { counted, formatDuration } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import {
  ago,
  type Fact,
  factGrid,
  grouped,
  reloadNotice,
  type Tone,
  statusBanner,
} from "../../platform/web/parts.ts";
import type { RelayerStatus } from "../health/relayer-status.ts";
import { latestOf, lateText } from "../health/lateness.ts";
import { isDemandAboveMarket, isFresh } from "../forecast/market-view.ts";
import type { HeadView } from "../watch/head-watch.ts";
import { degradations } from "../health/problem-hold.ts";
import type { Problem, ProblemCode } from "../health/problems.ts";
import { problemRunbook } from "../monitoring/relayer-runbooks.ts";
import type { ActivitySample } from "./activity.ts";

/** The state of the whole relayer in one sentence. */
export interface Summary {
  readonly tone: Tone;
  readonly headline: string;
}

/** Headlines of problems, from the reader's view: the most severe first, and causes before their consequences. */
const HEADLINES: readonly { readonly codes: readonly ProblemCode[]; readonly headline: string }[] = [
  { codes: ["local-not-followed"], headline: "The relayer cannot see the local chain" },
  { codes: ["lease-unknown"], headline: "It is not known whether any process sends" },
  { codes: ["account-cannot-pay", "store-not-writable", "not-sending"], headline: "Nothing is sent" },
  { codes: ["local-no-new-block"], headline: "The local chain has no new block" },
  { codes: ["client-expired", "client-frozen"], headline: "A light client cannot prove anything" },
  { codes: ["remote-unreachable"], headline: "A remote chain cannot be reached" },
  { codes: ["endpoints-refuse"], headline: "No endpoint of a remote chain does what is asked" },
  { codes: ["remote-no-new-block", "remote-catching-up"], headline: "A remote chain has no new block" },
  { codes: ["queries-overdue"], headline: "Results are overdue" },
  { codes: ["client-expires-soon"], headline: "A light client expires soon" },
  { codes: ["cycle-failed"], headline: "A connection fails" },
  { codes: ["queries-failing"], headline: "Overdue queries fail at each try" },
  {
    codes: ["account-unknown", "client-unknown"],
    headline: "The relayer cannot see everything that it depends on",
  },
];

/** Returns the most severe problem. */
export function mostSevere(problems: readonly Problem[]): Problem | undefined {
  return problems.toSorted((a, b) => rank(a) - rank(b))[0];
}

function rank({ code }: Problem): number {
  const found = HEADLINES.findIndex(({ codes }) => codes.includes(code));
  return found < 0 ? HEADLINES.length : found;
}

/** Summarizes problems and queries. The tone is never "good" before everything was read once. */
export function summarize({ problems, queries, gate, market, deadLetters }: RelayerStatus): Summary {
  if (problems.length > 0) {
    const code = mostSevere(problems)?.code;
    const found = HEADLINES.find(({ codes }) => code !== undefined && codes.includes(code));
    return found === undefined
      ? { tone: "unknown", headline: "Starting: not everything was read yet" }
      : { tone: "bad", headline: found.headline };
  }
  if (gate.role === "standby") return { tone: "good", headline: "Standby: another process has the lease" };
  if (market !== undefined && isFresh(market) && isDemandAboveMarket(market))
    return { tone: "warn", headline: "Demand is above what the fee market bears" };
  if (deadLetters > 0)
    return {
      tone: "warn",
      headline: `${counted(deadLetters, "transaction")} not delivered: see the dead letters`,
    };
  const failing = queries.filter(({ error }) => error !== undefined).length;
  if (failing > 0)
    return {
      tone: "warn",
      headline: `Current, except ${counted(failing, "query", "queries")} that cannot be served`,
    };
  if (queries.length === 0) return { tone: "good", headline: "In order: there is no query to serve" };
  if (queries.every(({ state }) => state === "pending"))
    return { tone: "unknown", headline: "Starting: no query has a result yet" };
  return { tone: "good", headline: "In order: every result is current" };
}

/** The summary, the lateness of queries, and the problems with their reasons. */
export function statusSection(status: RelayerStatus, { tone, headline }: Summary): Html {
  const { loaded, problems } = status;
  const queryText = loaded ? queriesText(status) : "The list of queries was not read yet.";
  const left = degradations(status).map(({ code, text }) => html`<li><strong>${code}</strong>: ${text}</li>`);
  const more = html`<p>${queryText}</p>${
    problems.length > 0 && html`<ul class="problems">${problems.map(problemItem)}</ul>`
  }${left.length > 0 && html`<ul class="problems">${left}</ul>`}${reloadNotice(status.config)}`;
  return statusBanner(tone, headline, more);
}

function problemItem({ code, text }: Problem): Html {
  const url = problemRunbook(code);
  return html`<li><strong>${code}</strong>: ${text}${url !== undefined && html` <a href="${url}">Runbook</a>`}</li>`;
}

/** Whether the local chain cannot be read, so that lateness and results in flight are unknown. */
export function isBlind({ problems }: Pick<RelayerStatus, "problems">): boolean {
  return problems.some(({ code }) => code === "local-not-followed");
}

function queriesText(status: RelayerStatus): string {
  const { queries, gate } = status;
  const all = counted(queries.length, "query", "queries");
  if (isBlind(status)) return `${all}; their lateness is not known without the local chain.`;
  // A standby reads the results of the other process only now and then.
  if (gate.role === "standby") return `${all}; the process with the lease knows how late they are.`;
  return latenessText(status);
}

function latenessText({ queries, market }: RelayerStatus): string {
  if (queries.length === 0) return "No query is registered.";
  const overdue = queries.filter(({ lateness }) => lateness.isOverdue).length;
  const latest = latestOf(queries);
  const all = counted(queries.length, "query", "queries");
  const pending = queries.filter(({ state }) => state === "pending").length;
  const without = pending === 0 ? "" : `${pending} without a result yet, `;
  // While the market makes results late on average, only this moment has none that is.
  const isAbove = market !== undefined && isFresh(market) && market.forecast.lateBlocks > 0;
  if (latest === undefined) return `${all}, ${without}none ${isAbove ? "late at this moment" : "late"}.`;
  return `${all}, ${overdue} overdue; query ${latest.id} is due longest, for ${lateText(latest.lateness)}.`;
}

/** The most important values. */
export function factSection(status: RelayerStatus, samples: readonly (ActivitySample | undefined)[]): Html {
  const { local, connected, gate, deadLetters } = status;
  const known = samples.filter((sample) => sample !== undefined);
  const included = known.reduce((sum, sample) => sum + sample.included, 0);
  const failed = known.reduce((sum, sample) => sum + sample.failed, 0);
  return factGrid([
    headFact("Local chain", local),
    {
      name: "Events of the local chain",
      value: connected ? "connected" : "not connected",
      detail: connected ? "WebSocket" : "the height is polled",
      tone: connected ? undefined : "warn",
    },
    balanceFact(status),
    spendingFact(status),
    {
      name: "Results in the last hour",
      value: grouped(included),
      detail: failed === 0 ? "no failed attempt" : counted(failed, "failed attempt"),
    },
    { name: "Role", value: gate.role, tone: gate.role === "unknown" ? "unknown" : undefined },
    { name: "Dead letters", value: grouped(deadLetters), tone: deadLetters > 0 ? "warn" : undefined },
  ]);
}

function headFact(name: string, { height, sinceBlockMs, error }: HeadView): Fact {
  return {
    name,
    value: height === undefined ? "no block read yet" : `height ${height}`,
    detail:
      error === undefined ? `newest block ${ago(sinceBlockMs)}` : html`<span class="bad">${error}</span>`,
    tone: height === undefined ? "unknown" : undefined,
  };
}

function balanceTone({ account: { daysLeft }, problems }: RelayerStatus): Tone | undefined {
  if (problems.some(({ code }) => code === "account-cannot-pay")) return "bad";
  return daysLeft !== undefined && daysLeft < 1 ? "warn" : undefined;
}

function balanceFact(status: RelayerStatus): Fact {
  const { balance, denom, daysLeft, address, unit } = status.account;
  const time =
    daysLeft === undefined || daysLeft < 365 ? formatDuration((daysLeft ?? 0) * DAY_MS) : "more than a year";
  const days = daysLeft === undefined ? "" : `, enough for ${time} at the present rate`;
  return {
    name: "Balance",
    value: balance === undefined ? "not known yet" : formatAmount(balance, denom, unit, "\u202f"),
    detail: html`<code>${address}</code>${days}`,
    tone: balance === undefined ? "unknown" : balanceTone(status),
    isWide: true,
  };
}

/** Today's fees and their limit. */
function spendingFact({ spending: { fee, limits }, reserve, account }: RelayerStatus): Fact {
  const { dailyFee } = limits;
  const isUsedUp = dailyFee !== undefined && fee >= dailyFee;
  const text = (amount: bigint): string => formatAmount(amount, account.denom, account.unit, "\u202f");
  return {
    name: "Fees today (UTC)",
    value: dailyFee === undefined ? text(fee) : `${text(fee)} of ${text(dailyFee)}`,
    detail: `${isUsedUp ? "the limit is reached; " : ""}reserve ${text(reserve)}`,
    tone: isUsedUp ? "bad" : undefined,
    isWide: account.unit !== undefined,
  };
}
