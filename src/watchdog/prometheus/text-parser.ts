import { CodedError } from "../../platform/base/errors.ts";
import { LineSyntaxError, metricNameOf, parseSampleLine, type Sample } from "./line-parser.ts";

/** Details of a {@link PrometheusTextError}. `line` counts from 1. */
export type PrometheusTextErrorFacts =
  | { readonly code: "bad-line"; readonly line: number }
  | { readonly code: "html" }
  /** The page ends in the middle of a line. */
  | { readonly code: "cut-off"; readonly line: number }
  | { readonly code: "line-too-long"; readonly line: number; readonly limit: number }
  | { readonly code: "too-many-lines"; readonly limit: number };

/** Thrown if a page is not valid Prometheus text. */
export class PrometheusTextError extends CodedError<PrometheusTextErrorFacts> {}

/** Receives the samples in page order. */
interface PrometheusSink {
  /** Returns true for metrics whose lines must be readable. Other unreadable lines are skipped. Default: all metrics. */
  readonly needs?: (metric: string) => boolean;
  readonly sample: (sample: Sample) => void;
}

export interface PageLimits {
  /** Maximum line length in characters; default 65,536. */
  readonly lineLength?: number;
  /** Maximum lines per page; default 1,000,000. */
  readonly lines?: number;
}

/** Character that a decoder writes for bytes that are not UTF-8. */
const REPLACEMENT = "\uFFFD";

/**
 * Creates a parser for one page in the Prometheus text format, in OpenMetrics, or with Prometheus 3's quoted names. The page
 * comes in chunks of any size. Unreadable lines of metrics that the sink does not need (e.g. native histograms) do not hide the
 * needed ones. The parser ignores comments. It runs in linear time and buffers at most one line. After an error it is unusable.
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
    // No sample and no comment begins with "<". A wrong URL often leads to a web page, so the error mentions this.
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
    // The limit also applies to an unfinished line; otherwise a page without line feeds would fill the memory.
    if (unfinished.length > lineLimit) {
      parseLine(unfinished);
      isSkipping = true;
      unfinished = "";
    }
  };
  return {
    /** Throws {@link PrometheusTextError} at the first invalid line of a needed metric. A line is checked once it is complete. */
    push: (chunk: Uint8Array) => parseText(decoder.decode(chunk, { stream: true })),
    /**
     * Ends the page and returns the number of unreadable lines that were skipped. Throws {@link PrometheusTextError} if the last
     * line has no line feed, since truncated counters would appear to have restarted.
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
