/** One measured value of a page. */
export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** May be NaN or infinite. */
  readonly value: number;
  /** ms since the Unix epoch; absent on almost every page. */
  readonly timestampMs?: number;
}

const METRIC_TYPES = ["counter", "gauge", "histogram", "summary", "untyped", "unknown"] as const;

/** A type that a `# TYPE` line may name. */
export type MetricType = (typeof METRIC_TYPES)[number];

/** What a comment line says, when it says anything. */
export type Comment =
  | { readonly kind: "help"; readonly name: string; readonly text: string }
  | { readonly kind: "type"; readonly name: string; readonly type: MetricType };

/** What is wrong with one line; the page parser adds the number. */
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

/** Parses `name{label="value",…} value [timestamp]`. @throws {LineSyntaxError} */
export function parseSampleLine(line: string): Sample {
  const start = skipBlanks(line, 0);
  const nameEnd = nameEndOf(line, start, true);
  if (nameEnd === start) throw new LineSyntaxError("a metric name was expected");
  const brace = skipBlanks(line, nameEnd);
  if (line.charCodeAt(brace) === BRACE) {
    const labels = new Map<string, string>();
    const end = parseLabels(line, brace + 1, labels);
    return finishSample(line.slice(start, nameEnd), labels, line.slice(end));
  }
  if (brace === nameEnd)
    throw new LineSyntaxError(`a blank or "{" was expected after "${line.slice(start, nameEnd)}"`);
  return finishSample(line.slice(start, nameEnd), NO_LABELS, line.slice(brace));
}

/** Parses a line that begins with `#`; undefined for a comment that is neither HELP nor TYPE. @throws {LineSyntaxError} */
export function parseComment(line: string): Comment | undefined {
  const match = /^\s*#[ \t]+(HELP|TYPE)(?:[ \t]+([^ \t]+))?(?:[ \t]+(.*))?$/.exec(line);
  if (match === null) return undefined;
  const [, word, name = "", rest = ""] = match;
  if (name === "" || nameEndOf(name, 0, true) !== name.length)
    throw new LineSyntaxError(`a metric name was expected after ${word}`);
  if (word === "HELP") return { kind: "help", name, text: unescapeText(rest, false) };
  const type = METRIC_TYPES.find((known) => known === rest.trim());
  if (type === undefined) throw new LineSyntaxError(`"${clip(rest)}" is not a metric type`);
  return { kind: "type", name, type };
}

function finishSample(name: string, labels: ReadonlyMap<string, string>, rest: string): Sample {
  const [valueText = "", timestampText, ...others] = rest.trim().split(/[ \t]+/);
  if (others.length > 0) throw new LineSyntaxError("more than a value and a timestamp");
  const value = parseSampleValue(valueText);
  if (timestampText === undefined) return { name, labels, value };
  if (!TIMESTAMP.test(timestampText))
    throw new LineSyntaxError(`"${clip(timestampText)}" is not a timestamp in ms`);
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

/** Reads labels up to and with the closing brace; gives the position after it. */
function parseLabels(line: string, from: number, labels: Map<string, string>): number {
  let at = skipBlanks(line, from);
  while (line.charCodeAt(at) !== CLOSING_BRACE) {
    at = parseLabel(line, at, labels);
    if (line.charCodeAt(at) === COMMA) at = skipBlanks(line, at + 1);
    else if (line.charCodeAt(at) !== CLOSING_BRACE)
      throw new LineSyntaxError('"," or "}" was expected after a label');
  }
  return at + 1;
}

function parseLabel(line: string, from: number, labels: Map<string, string>): number {
  const nameEnd = nameEndOf(line, from, false);
  const name = line.slice(from, nameEnd);
  if (name === "") throw new LineSyntaxError("a label name was expected");
  const equals = skipBlanks(line, nameEnd);
  if (line.charCodeAt(equals) !== EQUALS)
    throw new LineSyntaxError(`"=" was expected after label ${clip(name)}`);
  const open = skipBlanks(line, equals + 1);
  if (line.charCodeAt(open) !== QUOTE)
    throw new LineSyntaxError(`the value of label ${clip(name)} is not quoted`);
  const close = closingQuote(line, open + 1);
  if (close < 0) throw new LineSyntaxError(`the value of label ${clip(name)} does not end`);
  if (labels.has(name)) throw new LineSyntaxError(`label ${clip(name)} is there twice`);
  const raw = line.slice(open + 1, close);
  labels.set(name, raw.includes("\\") ? unescapeText(raw, true) : raw);
  return skipBlanks(line, close + 1);
}

/** Position of the first quote that no backslash escapes, or -1. */
function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at >= 0; at = line.indexOf('"', at + 1)) {
    let slashes = 0;
    while (at - 1 - slashes >= from && line[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

/** `\\`, `\n` and, in label values, `\"`; any other backslash stands for itself. */
function unescapeText(raw: string, quotes: boolean): string {
  return raw.replaceAll(/\\(.)/gs, (whole, next: string) => {
    if (next === "n") return "\n";
    return next === "\\" || (quotes && next === '"') ? next : whole;
  });
}

/** End of the name that begins at `from`; `from` itself when none does. Metric names may hold colons. */
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
