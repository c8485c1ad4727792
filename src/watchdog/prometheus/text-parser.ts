import { CodedError } from "../../platform/base/errors.ts";

/** A sample that was parsed from one line of a metrics page. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** The value, which may be NaN or infinite. */
  readonly value: number;
}

/** A syntax error in one line of a metrics page. `createPrometheusTextParser` adds the line number to the message. */
class LineSyntaxError extends Error {}

const NO_LABELS: ReadonlyMap<string, string> = new Map();
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const COMMA = 0x2c;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const COLON = 0x3a;

/**
 * Parses a line such as `name{label="value",…} value [timestamp] [# exemplar]`, or `{"name",label="value",…} …` with a quoted name.
 * Ignores the timestamp and the exemplar. Throws {@link LineSyntaxError} for any other text.
 */
function parseSampleLine(line: string): Sample {
  const start = skipBlanks(line, 0);
  const nameEnd = nameEndOf(line, start, true);
  const bare = line.slice(start, nameEnd);
  const brace = skipBlanks(line, nameEnd);
  if (line.charCodeAt(brace) === BRACE) {
    const { quoted, labels, end } = parseBraces(line, brace + 1);
    if (bare !== "" && quoted !== undefined) throw new LineSyntaxError(`"${clip(bare)}" has a second name`);
    return { name: requireName(quoted ?? bare), labels, value: parseRest(line.slice(end)) };
  }
  requireName(bare);
  if (brace === nameEnd) throw new LineSyntaxError(`expected a blank or "{" after "${clip(bare)}"`);
  return { name: bare, labels: NO_LABELS, value: parseRest(line.slice(brace)) };
}

/** Returns the metric name at the start of a line, even if {@link parseSampleLine} rejects the line. */
function metricNameOf(line: string): string {
  const quoted = /^\s*\{\s*"((?:[^"\\]|\\.)*)"/.exec(line)?.[1];
  if (quoted !== undefined) return unescapeText(quoted);
  const start = skipBlanks(line, 0);
  return line.slice(start, nameEndOf(line, start, true));
}

function requireName(name: string): string {
  if (name === "") throw new LineSyntaxError("expected a metric name");
  return name;
}

/** Parses the text after the labels, which is a value, optionally followed by a timestamp and an exemplar. */
function parseRest(rest: string): number {
  const exemplar = rest.indexOf("#");
  const own = exemplar < 0 ? rest : rest.slice(0, exemplar);
  const [valueText = "", timestamp, ...others] = own.trim().split(/[ \t]+/);
  if (others.length > 0) throw new LineSyntaxError("unexpected text after the timestamp");
  // Timestamps are in ms in Prometheus's format, and in seconds in OpenMetrics.
  if (timestamp !== undefined && !NUMBER.test(timestamp))
    throw new LineSyntaxError(`"${clip(timestamp)}" is not a timestamp`);
  return parseSampleValue(valueText);
}

function parseSampleValue(text: string): number {
  if (NUMBER.test(text)) return Number(text);
  const lower = text.toLowerCase();
  if (lower === "nan") return Number.NaN;
  if (/^\+?inf(?:inity)?$/.test(lower)) return Number.POSITIVE_INFINITY;
  if (/^-inf(?:inity)?$/.test(lower)) return Number.NEGATIVE_INFINITY;
  throw new LineSyntaxError(text === "" ? "missing value" : `"${clip(text)}" is not a number`);
}

/** Parses the label list in braces. Returns the labels, the quoted metric name if the list has one, and the position after the brace. */
function parseBraces(line: string, from: number) {
  const labels = new Map<string, string>();
  let quoted: string | undefined;
  let at = skipBlanks(line, from);
  while (line.charCodeAt(at) !== CLOSING_BRACE) {
    const isQuoted = line.charCodeAt(at) === QUOTE;
    const { text: name, end } = isQuoted ? quotedText(line, at, "a name") : labelName(line, at);
    at = skipBlanks(line, end);
    if (line.charCodeAt(at) === EQUALS) {
      if (labels.has(name)) throw new LineSyntaxError(`duplicate label ${clip(name)}`);
      const value = quotedText(line, skipBlanks(line, at + 1), `the value of label ${clip(name)}`);
      labels.set(name, value.text);
      at = skipBlanks(line, value.end);
    } else if (isQuoted && quoted === undefined) quoted = name;
    else throw new LineSyntaxError(`expected "=" after label ${clip(name)}`);
    if (line.charCodeAt(at) === COMMA) at = skipBlanks(line, at + 1);
    else if (line.charCodeAt(at) !== CLOSING_BRACE)
      throw new LineSyntaxError('expected "," or "}" after a label');
  }
  return { quoted, labels, end: at + 1 };
}

interface Token {
  readonly text: string;
  readonly end: number;
}

function labelName(line: string, from: number): Token {
  const end = nameEndOf(line, from, false);
  if (end === from) throw new LineSyntaxError("expected a label name");
  return { text: line.slice(from, end), end };
}

function quotedText(line: string, open: number, what: string): Token {
  if (line.charCodeAt(open) !== QUOTE) throw new LineSyntaxError(`${what} is not quoted`);
  const close = closingQuote(line, open + 1);
  if (close < 0) throw new LineSyntaxError(`${what} has no closing quote`);
  const raw = line.slice(open + 1, close);
  return { text: raw.includes("\\") ? unescapeText(raw) : raw, end: close + 1 };
}

/** Returns the position of the first unescaped quote, or -1 if there is none. */
function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at >= 0; at = line.indexOf('"', at + 1)) {
    // A quote is escaped if an odd number of backslashes precedes it. `\\"` is an escaped backslash and a closing quote.
    let slashes = 0;
    while (at - 1 - slashes >= from && line[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

/** Replaces the escapes `\\`, `\n` and `\"` in a quoted text. Any other backslash remains unchanged. */
function unescapeText(raw: string): string {
  return raw.replaceAll(/\\(.)/gs, (whole, next: string) => {
    if (next === "n") return "\n";
    return next === "\\" || next === '"' ? next : whole;
  });
}

/** Returns the end of the name that starts at `from`, or `from` if there is no name. Colons are only allowed in metric names. */
function nameEndOf(line: string, from: number, colons: boolean): number {
  for (let at = from; at < line.length; at++) {
    const code = line.charCodeAt(at);
    const isDigit = code >= 0x30 && code <= 0x39;
    if (!isLetter(code) && !(colons && code === COLON) && !(isDigit && at > from)) return at;
  }
  return line.length;
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f;
}

function skipBlanks(line: string, from: number): number {
  let at = from;
  while (line.charCodeAt(at) === 0x20 || line.charCodeAt(at) === 0x09) at++;
  return at;
}

/** Shortens a text for use in an error message. */
export function clip(text: string, limit = 60): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

/** The reason why a metrics page is invalid, with line numbers that start at 1. */
export type PrometheusTextErrorFacts =
  | { readonly code: "bad-line"; readonly line: number }
  | { readonly code: "html" }
  /** The page does not end with a line feed, so its last line may be incomplete. */
  | { readonly code: "cut-off"; readonly line: number }
  | { readonly code: "line-too-long"; readonly line: number; readonly limit: number }
  | { readonly code: "too-many-lines"; readonly limit: number };

/** Thrown if a page is not valid Prometheus text. */
export class PrometheusTextError extends CodedError<PrometheusTextErrorFacts> {}

/** Receives a page's samples in page order. */
interface PrometheusSink {
  /** Returns true if a metric's lines must be valid. Invalid lines of other metrics are skipped. By default, all lines must be valid. */
  readonly needs?: (metric: string) => boolean;
  readonly sample: (sample: Sample) => void;
}

export interface PageLimits {
  /** Maximum line length in characters. The default is 65,536. */
  readonly lineLength?: number;
  /** Maximum number of lines per page. The default is 1,000,000. */
  readonly lines?: number;
}

/** The character that `TextDecoder` substitutes for invalid UTF-8. */
const REPLACEMENT = "\uFFFD";

/**
 * Creates a parser for one page in the Prometheus text format, in OpenMetrics, or with Prometheus 3's quoted names. The page may
 * arrive in chunks of any size. The parser ignores comments and skips invalid lines of metrics that the sink does not need, such as
 * native histograms. The parser runs in linear time and buffers at most one line. After an error, the parser must not be used
 * again.
 */
export function createPrometheusTextParser(sink: PrometheusSink, limits: PageLimits = {}) {
  const { needs = () => true } = sink;
  const lineLimit = limits.lineLength ?? 65_536;
  const lineCountLimit = limits.lines ?? 1_000_000;
  const decoder = new TextDecoder("utf-8");
  let unfinished = "";
  let lineNumber = 0;
  let skipped = 0;
  let hasContent = false;
  /** True while skipping the rest of a line that is too long. */
  let isSkipping = false;
  const parseLine = (text: string): void => {
    lineNumber += 1;
    if (lineNumber > lineCountLimit)
      throw new PrometheusTextError(
        { code: "too-many-lines", limit: lineCountLimit },
        `the page has more than ${lineCountLimit} lines`,
      );
    const first = text.trimStart();
    if (first === "") return;
    // Unlike samples and comments, web pages begin with "<". A wrong URL often returns a web page, which has its own error.
    if (!hasContent && first.startsWith("<")) throw htmlPage();
    hasContent = true;
    if (first.startsWith("#")) return;
    const sample = readSample(text, lineNumber, lineLimit);
    if (sample instanceof PrometheusTextError) {
      if (needs(metricNameOf(text))) throw sample;
      skipped += 1;
    } else if (needs(sample.name)) sink.sample(sample);
  };
  const parseText = (text: string): void => {
    const buffered = unfinished === "" ? text : unfinished + text;
    let from = 0;
    for (let to = buffered.indexOf("\n"); to >= 0; to = buffered.indexOf("\n", from)) {
      if (!isSkipping) parseLine(buffered.slice(from, to));
      isSkipping = false;
      from = to + 1;
    }
    unfinished = isSkipping ? "" : buffered.slice(from);
    // Also apply the limit to unfinished lines. Otherwise, a page without line feeds would fill the memory.
    if (unfinished.length > lineLimit) {
      parseLine(unfinished);
      isSkipping = true;
      unfinished = "";
    }
  };
  return {
    /** Parses each line as soon as it is complete. Throws {@link PrometheusTextError} at the first invalid line of a needed metric. */
    push: (chunk: Uint8Array) => parseText(decoder.decode(chunk, { stream: true })),
    /**
     * Ends the page and returns the number of skipped invalid lines. Throws {@link PrometheusTextError} if the last line has no
     * line feed, because a truncated counter would appear to have restarted.
     */
    end: () => {
      parseText(decoder.decode());
      if (!hasContent && unfinished.trimStart().startsWith("<")) throw htmlPage();
      if (unfinished === "" && !isSkipping) return skipped;
      const line = lineNumber + (isSkipping ? 0 : 1);
      throw new PrometheusTextError(
        { code: "cut-off", line },
        `the page is incomplete: it ends within line ${line}`,
      );
    },
  };
}

function readSample(text: string, line: number, limit: number): Sample | PrometheusTextError {
  if (text.length > limit)
    return new PrometheusTextError(
      { code: "line-too-long", line, limit },
      `line ${line} is longer than ${limit} characters`,
    );
  try {
    if (text.includes(REPLACEMENT)) throw new LineSyntaxError("invalid UTF-8");
    return parseSampleLine(text.endsWith("\r") ? text.slice(0, -1) : text);
  } catch (error) {
    if (!(error instanceof LineSyntaxError)) throw error;
    return new PrometheusTextError({ code: "bad-line", line }, `line ${line}: ${error.message}`);
  }
}

function htmlPage(): PrometheusTextError {
  return new PrometheusTextError(
    { code: "html" },
    "the page is HTML, not metrics; check host, port and path of the URL",
  );
}
