import { CodedError } from "../../base/errors.ts";
import {
  LineSyntaxError,
  type MetricType,
  parseComment,
  parseSampleLine,
  type Sample,
} from "./line-parser.ts";

/** What can be wrong with a page. `line` counts from 1. */
export type PrometheusTextErrorFacts =
  | { readonly code: "bad-line"; readonly line: number }
  | { readonly code: "html" }
  | { readonly code: "not-utf8"; readonly line: number }
  | { readonly code: "line-too-long"; readonly line: number; readonly limit: number }
  | { readonly code: "too-many-lines"; readonly limit: number };

/** A page that is not Prometheus text. */
export class PrometheusTextError extends CodedError<PrometheusTextErrorFacts> {}

/** Where the parser hands over what it reads, in the order of the page. */
export interface PrometheusSink {
  readonly sample: (sample: Sample) => void;
  readonly help?: (name: string, text: string) => void;
  readonly type?: (name: string, type: MetricType) => void;
}

/** Bounds of one page. */
export interface PageLimits {
  /** Characters in a line; default 65,536. */
  readonly lineLength?: number;
  /** Default 1,000,000. */
  readonly lines?: number;
}

/** Takes a page in chunks of any size. After a throw it is spent. */
export interface PrometheusTextParser {
  /** @throws {PrometheusTextError} at the first bad line that is complete. */
  readonly push: (chunk: Uint8Array) => void;
  /** Ends the page; the last line needs no line feed. @throws {PrometheusTextError} */
  readonly end: () => void;
}

/**
 * Creates a streaming parser of the Prometheus text format 0.0.4: labels, escapes, exponents, NaN and infinities,
 * timestamps, CRLF, HELP and TYPE. Strict: the first broken line is an error with its number. Linear; holds one line.
 */
export function createPrometheusTextParser(
  sink: PrometheusSink,
  limits: PageLimits = {},
): PrometheusTextParser {
  const lineLimit = limits.lineLength ?? 65_536;
  const lineCountLimit = limits.lines ?? 1_000_000;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  let lineNumber = 0;
  let hasContent = false;
  const takeLine = (text: string): void => {
    lineNumber += 1;
    if (lineNumber > lineCountLimit) throw tooManyLines(lineCountLimit);
    if (text.length > lineLimit) throw lineTooLong(lineNumber, lineLimit);
    if (!hasContent && text.trim() !== "") {
      hasContent = true;
      if (text.trimStart().startsWith("<")) throw htmlPage();
    }
    readLine(text, lineNumber, sink);
  };
  const takeText = (text: string): void => {
    const whole = rest === "" ? text : rest + text;
    let from = 0;
    for (let to = whole.indexOf("\n"); to >= 0; to = whole.indexOf("\n", from)) {
      takeLine(whole.slice(from, to));
      from = to + 1;
    }
    rest = whole.slice(from);
    if (rest.length > lineLimit) throw lineTooLong(lineNumber + 1, lineLimit);
  };
  return {
    push: (chunk) => takeText(decode(() => decoder.decode(chunk, { stream: true }), lineNumber + 1)),
    end: () => {
      takeText(decode(() => decoder.decode(), lineNumber + 1));
      if (rest !== "") takeLine(rest);
      rest = "";
    },
  };
}

/** A whole page in memory. */
export interface PrometheusPage {
  readonly samples: readonly Sample[];
  readonly help: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, MetricType>;
}

/** Parses a whole page. @throws {PrometheusTextError} */
export function parsePrometheusText(bytes: Uint8Array, limits: PageLimits = {}): PrometheusPage {
  const samples: Sample[] = [];
  const help = new Map<string, string>();
  const types = new Map<string, MetricType>();
  const sink: PrometheusSink = {
    sample: (sample) => samples.push(sample),
    help: (name, text) => help.set(name, text),
    type: (name, type) => types.set(name, type),
  };
  const parser = createPrometheusTextParser(sink, limits);
  parser.push(bytes);
  parser.end();
  return { samples, help, types };
}

function readLine(text: string, line: number, sink: PrometheusSink): void {
  const content = text.endsWith("\r") ? text.slice(0, -1) : text;
  const first = content.trimStart();
  if (first === "") return;
  try {
    if (!first.startsWith("#")) {
      sink.sample(parseSampleLine(content));
      return;
    }
    const comment = parseComment(content);
    if (comment?.kind === "help") sink.help?.(comment.name, comment.text);
    if (comment?.kind === "type") sink.type?.(comment.name, comment.type);
  } catch (error) {
    if (!(error instanceof LineSyntaxError)) throw error;
    throw new PrometheusTextError({ code: "bad-line", line }, `line ${line}: ${error.message}`);
  }
}

function decode(read: () => string, line: number): string {
  try {
    return read();
  } catch (cause) {
    throw new PrometheusTextError({ code: "not-utf8", line }, `not UTF-8 text at or after line ${line}`, {
      cause,
    });
  }
}

function htmlPage(): PrometheusTextError {
  return new PrometheusTextError(
    { code: "html" },
    "this is HTML, not metrics; the URL leads to a web page, so check its host, port and path",
  );
}

function lineTooLong(line: number, limit: number): PrometheusTextError {
  return new PrometheusTextError(
    { code: "line-too-long", line, limit },
    `line ${line} is longer than ${limit} characters`,
  );
}

function tooManyLines(limit: number): PrometheusTextError {
  return new PrometheusTextError({ code: "too-many-lines", limit }, `the page has more than ${limit} lines`);
}
