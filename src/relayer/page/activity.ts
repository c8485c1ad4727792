import type { QueryCost, AccountStatus } from "../health/relayer-status.ts";
import { type Attempt, type AttemptSink, NOT_NEEDED, type AttemptLog } from "../state/attempt.ts";
import { counted } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { type PageSection, timeText } from "../../platform/web/page-shell.ts";
import { amount, badge, type Column, dataTable, grouped, type Tone } from "../../platform/web/parts.ts";
import { type Bar, barPlot } from "../../platform/web/plots.ts";
import type { DeadLetter } from "../state/journal.ts";

export interface ActivitySample {
  readonly startMs: number;
  readonly included: number;
  /** Number of failed attempts, excluding results that were no longer needed. */
  readonly failed: number;
  readonly transactions: number;
  /** Number of client updates for the included results. */
  readonly updates: number;
  readonly gas: bigint;
}

/** The relayer's recent activity, stored in memory for the page. */
export type Activity = ReturnType<typeof createActivity>;

const SPAN_MS = 60_000;
/** Number of stored samples, one per minute for an hour. */
const SAMPLES = 60;
/** Maximum number of queries whose costs are stored. Beyond this number, the query that was added first is dropped. */
const MAX_COSTS = 20_000;

interface OpenSample {
  included: number;
  failed: number;
  gas: bigint;
  readonly hashes: Set<string>;
  /** The connection and remote height of each client update. */
  readonly updates: Set<string>;
}

/** Creates an empty activity record. `nowMs` must return wall-clock time. */
export function createActivity(nowMs: () => number) {
  const startedAt = spanOf(nowMs());
  const samples = new Map<number, OpenSample>();
  const costs = new Map<bigint, QueryCost>();
  const current = (): OpenSample => {
    const span = spanOf(nowMs());
    const found = samples.get(span);
    if (found !== undefined) return found;
    for (const old of samples.keys()) if (old <= span - SAMPLES || old > span) samples.delete(old);
    const fresh = { included: 0, failed: 0, gas: 0n, hashes: new Set<string>(), updates: new Set<string>() };
    samples.set(span, fresh);
    return fresh;
  };
  const record = (attempt: Attempt): void => {
    addToSample(current(), attempt);
    if (attempt.gas === 0n && attempt.fee === 0n) return;
    const { gas, fee } = costs.get(attempt.queryId) ?? { gas: 0n, fee: 0n };
    costs.set(attempt.queryId, { gas: gas + attempt.gas, fee: fee + attempt.fee });
    const [oldest] = costs.keys();
    if (costs.size > MAX_COSTS && oldest !== undefined) costs.delete(oldest);
  };
  return {
    /** Wraps a sink so that the activity also records the sink's attempts. */
    sink: (inner: AttemptSink): AttemptSink => ({
      note: (attempts) => {
        for (const attempt of attempts) record(attempt);
        inner.note(attempts);
      },
    }),
    /** Returns one sample per minute of the last hour, oldest first. Minutes before the relayer's start are undefined. */
    samples: (): readonly (ActivitySample | undefined)[] => {
      const last = spanOf(nowMs());
      return Array.from({ length: SAMPLES }, (_, index) => {
        const span = last - SAMPLES + 1 + index;
        return span < startedAt ? undefined : toSample(span, samples.get(span));
      });
    },
    costOf: (queryId: bigint): QueryCost | undefined => costs.get(queryId),
  };
}

function addToSample(sample: OpenSample, attempt: Attempt): void {
  const { outcome, gas, txHash, localHeight, connectionId, remoteHeight } = attempt;
  if (outcome === "included") {
    sample.included += 1;
    sample.updates.add(`${connectionId}/${remoteHeight}`);
  } else if (!NOT_NEEDED.has(outcome)) sample.failed += 1;
  sample.gas += gas;
  if (txHash !== undefined && localHeight !== undefined) sample.hashes.add(txHash);
}

function toSample(span: number, sample: OpenSample | undefined): ActivitySample {
  const { included = 0, failed = 0, gas = 0n, hashes, updates } = sample ?? {};
  const startMs = span * SPAN_MS;
  return { startMs, included, failed, gas, transactions: hashes?.size ?? 0, updates: updates?.size ?? 0 };
}

function spanOf(atMs: number): number {
  return Math.floor(atMs / SPAN_MS);
}

/** Plots results, transactions and gas per minute over the last hour. */
export function activitySection(samples: readonly (ActivitySample | undefined)[]): Html {
  const known = samples.filter((sample) => sample !== undefined);
  const sum = (read: (sample: ActivitySample) => number): number =>
    known.reduce((total, sample) => total + read(sample), 0);
  const plot = (title: string, summary: string, bar: (sample: ActivitySample) => Bar): Html =>
    barPlot({
      title,
      summary,
      bars: samples.map((sample) => sample && bar(sample)),
      from: "1 h ago",
      to: "now",
      format: (value) => grouped(Math.round(value)),
    });
  const gas = known.reduce((total, sample) => total + sample.gas, 0n);
  return html`<h2>Last hour</h2><div class="plots">${plot(
    "Results per minute",
    `${grouped(sum(({ included }) => included))} included, ${failedText(sum(({ failed }) => failed))}`,
    ({ included, failed }) => [
      { style: "good", value: included },
      { style: "bad", value: failed },
    ],
  )}${plot(
    "Transactions per minute",
    `${grouped(sum(({ transactions }) => transactions))} in blocks`,
    ({ transactions }) => [{ style: "plain", value: transactions }],
  )}${plot("Gas per minute", `${grouped(gas)} used`, (sample) => [{ style: "plain", value: Number(sample.gas) }])}</div>`;
}

function failedText(failed: number): string {
  if (failed === 0) return "none failed";
  return `${grouped(failed)} failed (red, on top)`;
}

const SHOWN_ATTEMPTS = 50;

/** Shows the newest attempts, for all queries or for one query. */
export async function attemptSection(
  log: Pick<AttemptLog, "find">,
  account: Pick<AccountStatus, "denom" | "unit">,
  queryId?: bigint,
): Promise<PageSection> {
  const attempts = await log.find({ limit: SHOWN_ATTEMPTS, ...(queryId !== undefined && { queryId }) });
  const table = attempts.length > 0 && attemptTable(attempts, account, queryId !== undefined);
  return {
    id: "attempts",
    label: "Attempts",
    content: html`<h2>Attempts</h2>${table || html`<p>No attempt is stored yet.</p>`}`,
  };
}

function attemptTable(
  attempts: readonly Attempt[],
  { denom, unit }: Pick<AccountStatus, "denom" | "unit">,
  isOneQuery: boolean,
): Html {
  const columns: readonly Column<Attempt>[] = [
    { name: "began", cell: ({ startedAtMs }) => timeText(startedAtMs) },
    { name: "query", cell: ({ queryId }) => html`<a href="/queries/${queryId}">${queryId}</a>` },
    {
      name: "outcome",
      cell: ({ outcome, reason }) =>
        html`${badge(toneOf(outcome), outcome)}${reason !== undefined && html`<small>${reason}</small>`}`,
    },
    {
      name: "remote height",
      isNumber: true,
      cell: ({ remoteHeight }) => (remoteHeight === 0n ? "–" : remoteHeight),
    },
    { name: "local height", isNumber: true, cell: ({ localHeight }) => localHeight ?? "–" },
    { name: "gas", isNumber: true, cell: ({ gas }) => grouped(gas) },
    { name: "fee", isNumber: true, cell: ({ fee }) => amount(fee, denom, unit) },
    {
      name: "transaction",
      cell: ({ txHash }) =>
        txHash === undefined ? "–" : html`<code title="${txHash}">${txHash.slice(0, 12)}…</code>`,
    },
  ];
  return dataTable({
    caption: `The newest ${attempts.length}`,
    columns: isOneQuery ? columns.filter(({ name }) => name !== "query") : columns,
    rows: attempts,
  });
}

function toneOf(outcome: Attempt["outcome"]): Tone {
  if (outcome === "included") return "good";
  return NOT_NEEDED.has(outcome) ? "unknown" : "bad";
}

/** Determines who may resubmit dead letters: everyone, holders of the token, or nobody because no token is configured. */
export type ResubmitAccess = "open" | "token" | "nobody";

/** Maximum number of dead letters on the page, which shows the newest dead letters. */
const SHOWN = 20;

/** Shows the transactions that the relayer does not retry automatically, each with a resubmit button. */
export function deadLetterSection(letters: readonly DeadLetter[], access: ResubmitAccess): Html {
  if (letters.length === 0)
    return html`<h2>Dead letters</h2><p>None. Every transaction of a TX query was delivered or is still being retried.</p>`;
  const columns: readonly Column<DeadLetter>[] = [
    { name: "query", cell: ({ queryId }) => html`query ${queryId}` },
    {
      name: "remote transaction",
      cell: ({ hash, remoteHeight }) => html`<code>${hash}</code><small>height ${remoteHeight}</small>`,
    },
    { name: "since", cell: ({ atMs }) => timeText(atMs) },
    { name: "reason", cell: ({ reason }) => reason },
    { name: "send again", cell: (letter) => action(letter, access) },
  ];
  const shown = letters.slice(0, SHOWN);
  const rest = letters.length - shown.length;
  return html`<h2>Dead letters</h2>
<p>${counted(letters.length, "transaction")} will not be sent again on ${letters.length === 1 ? "its" : "their"} own. Sending one again costs its fee, even if the contract rejects it again.</p>
${dataTable({ caption: "Newest first", columns, rows: shown, rowId: (letter) => `letter-${keyOf(letter)}` })}
${rest > 0 && html`<p>${counted(rest, "more dead letter")} in <a href="/unsuccessful-txs">JSON</a>.</p>`}`;
}

function action(letter: DeadLetter, access: ResubmitAccess): Html {
  const { queryId, hash } = letter;
  if (access === "nobody") return html`needs <code>http.token</code>`;
  const body = JSON.stringify({ txs: [{ query_id: Number(queryId), hash }] });
  return html`<button class="js" type="button" id="send-${keyOf(letter)}" data-post="/resubmit-txs" data-body="${body}" data-needs="${access}" data-done="Sent again: transaction ${hash.slice(0, 12)}… of query ${queryId}. If its contract rejected it, it is listed again with a new time." aria-label="Send again transaction ${hash.slice(0, 12)} of query ${queryId}">Send again</button><span class="no-js"><code>relaywatch relayer dead-letters resubmit ${queryId}/${hash}</code></span>`;
}

function keyOf({ queryId, hash }: DeadLetter): string {
  return `${queryId}-${hash}`;
}
