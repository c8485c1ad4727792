/** One sample line of a metrics page. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** May be NaN or infinite. */
  readonly value: number;
  /** ms since the Unix epoch. Most pages have no timestamps. */
  readonly timestampMs?: number;
}

const METRIC_TYPES = ["counter", "gauge", "histogram", "summary", "untyped", "unknown"] as const;

/** Metric type of a `# TYPE` line. */
export type MetricType = (typeof METRIC_TYPES)[number];

/** A HELP or TYPE line. */
export type Comment =
  | { readonly kind: "help"; readonly name: string; readonly text: string }
  | { readonly kind: "type"; readonly name: string; readonly type: MetricType };

/** Syntax error in one line. The message has no line number; `createPrometheusTextParser` adds it. */
export class LineSyntaxError extends Error {}

const NO_LABELS: ReadonlyMap<string, string> = new Map();
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const TIMESTAMP = /^[+-]?\d{1,15}$/;
const BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const COMMA = 0x2c;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const COLON = 0x3a;

/** Parses `name{label="value",…} value [timestamp]`. Throws {@link LineSyntaxError}. */
export function parseSampleLine(line: string): Sample {
  const start = skipBlanks(line, 0);
  const nameEnd = nameEndOf(line, start, true);
  if (nameEnd === start) throw new LineSyntaxError("expected a metric name");
  const brace = skipBlanks(line, nameEnd);
  if (line.charCodeAt(brace) === BRACE) {
    const labels = new Map<string, string>();
    const end = parseLabels(line, brace + 1, labels);
    return finishSample(line.slice(start, nameEnd), labels, line.slice(end));
  }
  if (brace === nameEnd)
    throw new LineSyntaxError(`expected a blank or "{" after "${line.slice(start, nameEnd)}"`);
  return finishSample(line.slice(start, nameEnd), NO_LABELS, line.slice(brace));
}

/**
 * Parses a line that begins with `#`. Returns undefined for other comments than HELP and TYPE. Throws
 * {@link LineSyntaxError}.
 */
export function parseComment(line: string): Comment | undefined {
  const match = /^\s*#[ \t]+(HELP|TYPE)(?:[ \t]+([^ \t]+))?(?:[ \t]+(.*))?$/.exec(line);
  if (match === null) return undefined;
  const [, word, name = "", rest = ""] = match;
  if (name === "" || nameEndOf(name, 0, true) !== name.length)
    throw new LineSyntaxError(`expected a metric name after ${word}`);
  if (word === "HELP") return { kind: "help", name, text: unescapeText(rest, false) };
  const type = METRIC_TYPES.find((known) => known === rest.trim());
  if (type === undefined) throw new LineSyntaxError(`"${clip(rest)}" is not a metric type`);
  return { kind: "type", name, type };
}

function finishSample(name: string, labels: ReadonlyMap<string, string>, rest: string): Sample {
  const [valueText = "", timestampText, ...others] = rest.trim().split(/[ \t]+/);
  if (others.length > 0) throw new LineSyntaxError("unexpected text after the timestamp");
  const value = parseSampleValue(valueText);
  if (timestampText === undefined) return { name, labels, value };
  if (!TIMESTAMP.test(timestampText))
    throw new LineSyntaxError(`"${clip(timestampText)}" is not a timestamp in milliseconds`);
  return { name, labels, value, timestampMs: Number(timestampText) };
}

function parseSampleValue(text: string): number {
  if (NUMBER.test(text)) return Number(text);
  switch (text.toLowerCase()) {
    case "nan":
      return Number.NaN;
    case "inf":
    case "+inf":
    case "infinity":
    case "+infinity":
      return Number.POSITIVE_INFINITY;
    case "-inf":
    case "-infinity":
      return Number.NEGATIVE_INFINITY;
    case "":
      throw new LineSyntaxError("the value is missing");
    default:
      throw new LineSyntaxError(`"${clip(text)}" is not a number`);
  }
}

/** Parses the labels into `labels`. Returns the position after the closing brace. */
function parseLabels(line: string, from: number, labels: Map<string, string>): number {
  let at = skipBlanks(line, from);
  while (line.charCodeAt(at) !== CLOSING_BRACE) {
    at = parseLabel(line, at, labels);
    if (line.charCodeAt(at) === COMMA) at = skipBlanks(line, at + 1);
    else if (line.charCodeAt(at) !== CLOSING_BRACE)
      throw new LineSyntaxError('expected "," or "}" after a label');
  }
  return at + 1;
}

function parseLabel(line: string, from: number, labels: Map<string, string>): number {
  const nameEnd = nameEndOf(line, from, false);
  const name = line.slice(from, nameEnd);
  if (name === "") throw new LineSyntaxError("expected a label name");
  const equals = skipBlanks(line, nameEnd);
  if (line.charCodeAt(equals) !== EQUALS) throw new LineSyntaxError(`expected "=" after label ${clip(name)}`);
  const open = skipBlanks(line, equals + 1);
  if (line.charCodeAt(open) !== QUOTE)
    throw new LineSyntaxError(`the value of label ${clip(name)} is not quoted`);
  const close = closingQuote(line, open + 1);
  if (close < 0) throw new LineSyntaxError(`the value of label ${clip(name)} has no closing quote`);
  if (labels.has(name)) throw new LineSyntaxError(`duplicate label ${clip(name)}`);
  const raw = line.slice(open + 1, close);
  labels.set(name, raw.includes("\\") ? unescapeText(raw, true) : raw);
  return skipBlanks(line, close + 1);
}

/** Returns the position of the first unescaped quote, or -1. */
function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at >= 0; at = line.indexOf('"', at + 1)) {
    // A quote is escaped when an odd number of backslashes precedes it: `\\"` is a backslash and the closing quote.
    let slashes = 0;
    while (at - 1 - slashes >= from && line[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

/** Resolves `\\`, `\n` and, when `quotes` is set (label values), `\"`. Any other backslash stays. */
function unescapeText(raw: string, quotes: boolean): string {
  return raw.replaceAll(/\\(.)/gs, (whole, next: string) => {
    if (next === "n") return "\n";
    return next === "\\" || (quotes && next === '"') ? next : whole;
  });
}

/** Returns the end of the name at `from`, or `from` when there is no name. Only metric names may contain colons. */
function nameEndOf(line: string, from: number, colons: boolean): number {
  let at = from;
  for (; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (isLetter(code) || (colons && code === COLON) || (at > from && code >= 0x30 && code <= 0x39)) continue;
    break;
  }
  return at;
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f;
}

function skipBlanks(line: string, from: number): number {
  let at = from;
  while (line.charCodeAt(at) === 0x20 || line.charCodeAt(at) === 0x09) at++;
  return at;
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
