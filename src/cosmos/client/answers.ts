import { errorText } from "../../platform/base/errors.ts";
import { ClientError, type ClientErrorFacts } from "../client-error.ts";

/** Class of an endpoint's error. The class determines how the client reacts (see README.md, "Errors"). */
export type AnswerClass =
  /** The request caused the error, so every honest node would return the same error. */
  | "final"
  /** This node cannot serve the call, but another node may. */
  | "not-here"
  /** The node is rate-limited, busy, syncing or unreachable. */
  | "not-now"
  /** The response failed verification, so the client distrusts the endpoint. */
  | "wrong"
  /** The outcome of a broadcast is unknown. */
  | "perhaps-done";

/** Kind of data or capability that is missing at an endpoint, so that the endpoint cannot serve a call. */
export type Lack = "height" | "results" | "index" | "transaction" | "method" | "access" | "batch" | SizeLimit;
type SizeLimit = "request-size" | "response-size";

/** Advice for the operator of the node or relayer on how to provide the missing data or capability. */
const REMEDIES: { readonly [lack in Lack]?: string } = {
  results:
    "set storage.discard_abci_responses = false on the node, or add an endpoint that stores block results",
  index: 'set tx_index.indexer = "kv" on the node, or add an endpoint with a transaction index',
  method: "add an endpoint that supports the method",
  access: "correct the credentials in the endpoint's headers or URL",
  "response-size": "raise rpc.max_response_bytes, or the gateway's limit",
  "request-size": "lower batch.bytes, or raise the gateway's limit",
};

export interface Answer {
  readonly class: AnswerClass;
  /** Data or capability that is missing at the endpoint according to its error, or undefined if the error has another cause. */
  readonly lack?: Lack | undefined;
  /** Time that the endpoint asked the client to wait, in ms, or undefined if the endpoint did not ask the client to wait. */
  readonly retryAfterMs?: number | undefined;
}

/** A classified error. If `mayBeDone` is set, a broadcast may have arrived despite the error. */
interface Meaning extends Answer {
  readonly mayBeDone?: true;
}

/** A row in a table that classifies errors. The first row of which all columns match the error determines its class. */
interface Row extends Meaning {
  readonly methods?: RegExp;
  readonly codes?: readonly number[];
  readonly text?: RegExp;
}

const BROADCAST = /^broadcast_/;

/** Maximum number of characters to match, because the endpoint controls the text and matching takes quadratic time. */
const MAX_TEXT = 1_000;

/** Matches application logs that report that the state at a height has been pruned or is in the future. */
const STATE_LACKING =
  /(?:versioned state|version|state at)[^:]* (?:does not|doesn't|did not) exist|version mismatch|has (?:not )?(?:either )?been pruned|was pruned|height in the future|future (?:block )?height|failed to load (?:state|cache multi store) (?:at|for) (?:height|version)|no (?:state|store|commit info) (?:at|for|found for) (?:height|version)|invalid height/i;

/** Matches error texts from nodes that have not reached a height, have pruned it, or never had it. */
const HEIGHT_LACKING = new RegExp(
  [
    STATE_LACKING.source,
    "lowest height|blockchain height|head of the node's blockchain|prun(?:ed|ing)|invalid height",
    "(?:not|n't|unable to|failed to|no) (?:find|load|get|retrieve|fetch|have) [^:]*\\b(?:height|block|header|commit|validators?|consensus params)\\b",
    "(?:block|height|header)[^:]* (?:too (?:high|low|old)|yet|ahead)",
    "height[^:]*(?:not (?:available|found|exist|supported|stored)|unavailable|out of range|greater than|exceeds|beyond)",
    "(?:block|header|commit|validators?(?: set)?|state|snapshot)(?: [^:]*)? (?:is |was |does |do )?(?:not (?:found|available|exist)|unavailable|missing)",
    "no (?:light )?(?:block|header|commit|validators?|state)(?: \\S+)? (?:found|at|for)\\b",
  ].join("|"),
  "i",
);

/** Classifies errors by method, JSON-RPC code and text. The text is the message and data of a JSON-RPC error, or the application's log. */
const TEXTS: readonly Row[] = [
  // The mempool's cache already contains the bytes from an earlier broadcast.
  perhapsDone(/already (?:exists )?in (?:the )?(?:cache|mempool)/i),
  perhapsDone(/confirmation not received|waiting for tx to be included/i),
  { ...final(/tx too large/i), lack: "request-size" },
  notNow(/\bis full\b|mempool is (?:closed|not available)/i),
  notHere(
    "batch",
    /\bbatch(?:es|ing|ed)?\b.*(?:exceed|limit|large|long|many|max|not |un|disabled|forbidden|denied)|(?:exceed|many|max|large|long|not |un|disabled).*\bbatch/is,
  ),
  notHere(
    "request-size",
    /(?:request|body|payload|entity) (?:body |entity |size )?(?:is )?(?:too|exceed).*?(?:large|big|size|limit|bytes)/i,
  ),
  notHere(
    "response-size",
    /(?:response|result|message)s? (?:size |body |is )*(?:too|larger|exceed|limit)|size of the response|message larger than max/i,
  ),
  notHere(
    "index",
    /\b(?:index(?:ing|er)?|search(?:ing)?|querying) is disabled|(?:TxIndexer\.\w+|Tx\w*Search|TxSearch|GetTx\w*)(?: method)? is not supported|event ?sink|no (?:tx |transaction )?index/i,
  ),
  notHere(
    "results",
    /not persisting|responses? (?:are|were|is|was) (?:discarded|not (?:persisted|kept|stored))|discard_abci_responses/i,
  ),
  final(/height must be (?:greater than|positive|non-?negative)|negative height|prov\w+ when height <= ?1/i),
  notHere("height", HEIGHT_LACKING),
  { ...notHere("transaction", /not found/i), methods: /^tx$/ },
  // Gateways use -32005 and the following codes for errors about rate limits.
  { class: "not-now", codes: [429, -32005, -32007, -32008, -32011, -32012, -32016, -32029, -32097] },
  notNow(
    /rate.{0,3}limit|request rate|too many|throttl|quota|slow down|credits?\b|compute units|capacity|(?:requests?|limit|usage|plan|allowance)\b.*(?:exceeded|reached|exhausted)|(?:exceeded|reached|over)\b.*(?:requests?|limit)\b/is,
  ),
  notNow(
    /catching up|sync(?:ing|ed)?\b|not (?:yet )?ready|wait for (?:the )?first block|starting|initiali[sz]|maintenance|overload|busy/i,
  ),
  {
    ...notNow(
      /temporar|try again|retry|unavailable|upstream|backend|bad gateway|gateway (?:error|time)|time(?:d )?.?out|deadline exceeded|connection|\beof\b|broken pipe|context canceled|shutting down|no healthy|no available|panic|runtime error/i,
    ),
    mayBeDone: true,
  },
  { class: "not-here", lack: "method", codes: [-32601] },
  notHere(
    "method",
    /(?:method|endpoint|route|call|unsafe)\b.*(?:not|disabled|unknown|blocked|forbidden|unsupported)|unknown method|whitelist|allow ?list/i,
  ),
  notHere("access", /forbidden|unauthori[sz]ed|denied|api.?key|credential|authenticat/i),
  // CometBFT's query parser prints "offset 12: got …, wanted …".
  { ...final(/^.{0,40}offset \d+:|query length|pars(?:e|ing)|syntax|invalid query/is), methods: /_search$/ },
  { ...final(/error converting|invalid (?:params|argument|hash|request)|decod|unmarshal/i), codes: [-32602] },
];

function final(text: RegExp): Row {
  return { class: "final", text };
}

function notNow(text: RegExp): Row {
  return { class: "not-now", text };
}

function notHere(lack: Lack, text: RegExp): Row {
  return { class: "not-here", lack, text };
}

function perhapsDone(text: RegExp): Row {
  return { class: "perhaps-done", methods: BROADCAST, text };
}

/**
 * Classifies errors by HTTP status if no row in the table of texts matches. The statuses 200 and 500 are not listed, because they
 * do not identify a cause: nodes send 500 with every error.
 */
const STATUSES: readonly (Meaning & { readonly status: RegExp })[] = [
  { status: /^(?:200|500)$/, class: "not-here", mayBeDone: true },
  { status: /^(?:425|429)$/, class: "not-now" },
  { status: /^408$|^5/, class: "not-now", mayBeDone: true },
  { status: /^40[1237]$/, class: "not-here", lack: "access" },
  { status: /^413$/, class: "not-here", lack: "request-size" },
  { status: /^[34]/, class: "not-here", lack: "method" },
];

/** Classifies all other errors, such as timeouts and broken connections, by their code. */
const CODES: {
  readonly [code in Exclude<ClientErrorFacts["code"], "rpc" | "abci" | "http-status">]: Meaning;
} = {
  unreachable: { class: "not-now", mayBeDone: true },
  timeout: { class: "not-now", mayBeDone: true },
  "bad-answer": { class: "not-here", mayBeDone: true },
  overloaded: { class: "not-now" },
  "wrong-chain": { class: "not-here" },
  "no-account": { class: "not-now" },
  "gas-price-above-cap": { class: "not-now" },
  signer: { class: "not-now" },
  "wrong-answer": { class: "wrong" },
  "too-large": { class: "not-here", lack: "response-size", mayBeDone: true },
  "height-unavailable": { class: "not-here", lack: "height" },
  "bad-key": { class: "final" },
  "bad-endpoint": { class: "final" },
  closed: { class: "final" },
};

/** Classifies an error. Any error other than a `ClientError` is "final". */
export function answerOf(error: unknown): AnswerClass {
  return readAnswer(error).class;
}

/**
 * Returns true if a broadcast that failed with this error may have arrived. Returns false if the error came from the status call
 * that precedes the broadcast.
 */
export function mayHaveArrived(error: ClientError): boolean {
  const { facts } = error;
  const { class: plain, mayBeDone } = rowOf(facts);
  if (plain === "perhaps-done") return true;
  return mayBeDone === true && !/^status\b/.test(methodOf(facts)) && !wasNeverSent(facts);
}

/** Returns an error's text with a remedy for the node's or relayer's operator, or with `other` if no remedy is known. */
export function lackText(error: unknown, other?: string): string {
  const { lack } = readAnswer(error);
  const remedy = (lack && REMEDIES[lack]) ?? other;
  return remedy === undefined ? errorText(error) : `${errorText(error)}; ${remedy}`;
}

/** Returns true if the node refused a request because of its size. CometBFT's default limit is 1,000,000 bytes (`max_body_bytes`). */
export function isRequestTooLarge(error: unknown): boolean {
  return readAnswer(error).lack === "request-size";
}

/** Returns true if the node lacks the requested height, which another node may have. */
export function lacksHeight(error: unknown): boolean {
  return readAnswer(error).lack === "height";
}

/** Classifies an error. An unknown text or code is attributed to the endpoint instead of the request. */
export function readAnswer(error: unknown): Answer {
  if (!(error instanceof ClientError)) return { class: "final" };
  const { facts } = error;
  const { class: plain, lack, mayBeDone } = rowOf(facts);
  const isUncertain = mayBeDone === true && BROADCAST.test(methodOf(facts)) && !wasNeverSent(facts);
  return { class: isUncertain ? "perhaps-done" : plain, lack, retryAfterMs: retryAfterOf(facts) };
}

function rowOf(facts: ClientErrorFacts): Meaning {
  if (facts.code === "rpc") {
    const { method, rpcCode, data, message = "", status = 200 } = facts;
    return textRow(method, rpcCode, `${message}: ${data}`.slice(0, MAX_TEXT)) ?? statusRow(status);
  }
  if (facts.code === "http-status") return statusRow(facts.status);
  if (facts.code === "abci") return logRow(facts.log.slice(0, MAX_TEXT));
  // An HTML page instead of a response comes from a gateway, but a response with a missing field comes from the node itself.
  const isPage = facts.code === "bad-answer" && facts.where === "body";
  return isPage ? { class: "not-now", mayBeDone: true } : CODES[facts.code];
}

function textRow(method: string, code: number, text: string): Row | undefined {
  return TEXTS.find(
    (row) =>
      row.methods?.test(method) !== false &&
      row.codes?.includes(code) !== false &&
      row.text?.test(text) !== false,
  );
}

/** Returns true if an application's log reports that its state at a height has been pruned or is in the future. */
export function isHeightLog(log: string): boolean {
  return STATE_LACKING.test(log.slice(0, MAX_TEXT));
}

/**
 * Classifies an application's refusal. The class is "final" unless this node is not ready, lacks the height, or limits the gas per
 * query.
 */
function logRow(log: string): Answer {
  if (/is not ready|wait for (?:the )?first block/i.test(log)) return { class: "not-now" };
  if (/query gas limit/i.test(log)) return { class: "not-here", lack: "method" };
  return isHeightLog(log) ? { class: "not-here", lack: "height" } : { class: "final" };
}

function statusRow(status: number): Meaning {
  return STATUSES.find((row) => row.status.test(status.toString())) ?? { class: "not-here" };
}

function methodOf(facts: ClientErrorFacts): string {
  if ("method" in facts) return facts.method ?? "";
  return facts.code === "bad-answer" ? facts.where : "";
}

/** Returns true if no connection was made, so no bytes of a broadcast were sent. */
function wasNeverSent(facts: ClientErrorFacts): boolean {
  return (
    facts.code === "unreachable" &&
    /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS.*|.*CERT.*)$/.test(
      facts.reason,
    )
  );
}

/** The longest wait that an endpoint can request. */
const MAX_RETRY_AFTER_MS = 600_000;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

/** Returns the wait that the endpoint requested in the `Retry-After` header, or in a text such as "retry in 10s". */
function retryAfterOf(facts: ClientErrorFacts): number | undefined {
  if (facts.code !== "rpc" && facts.code !== "http-status") return undefined;
  const text = facts.code === "rpc" ? `${facts.message ?? ""} ${facts.data}`.slice(0, MAX_TEXT) : "";
  const match =
    /(?:retry|try)[ _-]?(?:again)?[ _-]?(?:in|after)\W{0,4}(\d{1,9}(?:\.\d{1,9})?) ?(ms|s|m)?/i.exec(text);
  const said = match === null ? undefined : Number(match[1]) * (UNIT_MS[match[2] ?? "s"] ?? 1_000);
  const ms = facts.retryAfterMs ?? said;
  return ms === undefined ? undefined : Math.min(ms, MAX_RETRY_AFTER_MS);
}
