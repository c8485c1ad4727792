import { CodedError } from "../../platform/base/errors.ts";
import {
  LineSyntaxError,
  type MetricType,
  parseComment,
  parseSampleLine,
  type Sample,
} from "./line-parser.ts";

/** Errors of {@link PrometheusTextError}. `line` counts from 1. */
export type PrometheusTextErrorFacts =
  | { readonly code: "bad-line"; readonly line: number }
  | { readonly code: "html" }
  | { readonly code: "not-utf8"; readonly line: number }
  | { readonly code: "line-too-long"; readonly line: number; readonly limit: number }
  | { readonly code: "too-many-lines"; readonly limit: number };

/** Thrown for a page that is not valid Prometheus text. */
export class PrometheusTextError extends CodedError<PrometheusTextErrorFacts> {}

/** Receives samples and comments in page order. */
export interface PrometheusSink {
  readonly sample: (sample: Sample) => void;
  readonly help?: (name: string, text: string) => void;
  readonly type?: (name: string, type: MetricType) => void;
}

/** Limits for one page. */
export interface PageLimits {
  /** Characters per line; default 65,536. */
  readonly lineLength?: number;
  /** Lines per page; default 1,000,000. */
  readonly lines?: number;
}

/** Parses one page from chunks of any size. Cannot be used again after an error. */
export interface PrometheusTextParser {
  /** Throws {@link PrometheusTextError} at the first invalid line. A line is checked when it is complete. */
  readonly push: (chunk: Uint8Array) => void;
  /** Parses the last line, which needs no line feed. Throws {@link PrometheusTextError}. */
  readonly end: () => void;
}

/**
 * Creates a streaming parser for the Prometheus text format 0.0.4: labels, escapes, exponents, NaN and infinities,
 * timestamps, CRLF, HELP and TYPE. The parser is strict: it throws at the first invalid line. Linear time; buffers at
 * most one line.
 */
export function createPrometheusTextParser(
  sink: PrometheusSink,
  limits: PageLimits = {},
): PrometheusTextParser {
  const lineLimit = limits.lineLength ?? 65_536;
  const lineCountLimit = limits.lines ?? 1_000_000;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let unfinished = "";
  let lineNumber = 0;
  let hasContent = false;
  const parseLine = (text: string): void => {
    lineNumber += 1;
    if (lineNumber > lineCountLimit) throw tooManyLines(lineCountLimit);
    if (text.length > lineLimit) throw lineTooLong(lineNumber, lineLimit);
    if (!hasContent && text.trim() !== "") {
      hasContent = true;
      // No sample and no comment begins with "<". A wrong URL often leads to a web page, so the error mentions this.
      if (text.trimStart().startsWith("<")) throw htmlPage();
    }
    emitLine(text, lineNumber, sink);
  };
  const parseText = (text: string): void => {
    const buffered = unfinished === "" ? text : unfinished + text;
    let from = 0;
    for (let to = buffered.indexOf("\n"); to >= 0; to = buffered.indexOf("\n", from)) {
      parseLine(buffered.slice(from, to));
      from = to + 1;
    }
    unfinished = buffered.slice(from);
    // The limit also applies to an unfinished line; otherwise a page without line feeds would fill the memory.
    if (unfinished.length > lineLimit) throw lineTooLong(lineNumber + 1, lineLimit);
  };
  return {
    push: (chunk) => parseText(decode(() => decoder.decode(chunk, { stream: true }), lineNumber + 1)),
    end: () => {
      parseText(decode(() => decoder.decode(), lineNumber + 1));
      if (unfinished !== "") parseLine(unfinished);
      unfinished = "";
    },
  };
}

function emitLine(text: string, line: number, sink: PrometheusSink): void {
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
    // The decoder works on chunks and reports no position. The error can be on this line or on a later one.
    throw new PrometheusTextError({ code: "not-utf8", line }, `invalid UTF-8 at or after line ${line}`, {
      cause,
    });
  }
}

function htmlPage(): PrometheusTextError {
  return new PrometheusTextError(
    { code: "html" },
    "the page is HTML, not metrics; check host, port and path of the URL",
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
