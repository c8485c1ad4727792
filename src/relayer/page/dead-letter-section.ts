import { counted } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { timeText } from "../../platform/web/page-shell.ts";
import { type Column, dataTable } from "../../platform/web/parts.ts";
import type { DeadLetter } from "../state/journal.ts";

/** Who may send dead letters again: everybody, bearers of the token, or nobody because no token is configured. */
export type ResubmitAccess = "open" | "token" | "nobody";

/** Maximum number of dead letters on the page: the newest. */
const SHOWN = 20;

/** The transactions that are not retried automatically, each with a button that sends it again. */
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
<p>${counted(letters.length, "transaction")} will not be sent again on ${letters.length === 1 ? "its" : "their"} own. Sending one again costs its fee, also when the contract rejects it again.</p>
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
