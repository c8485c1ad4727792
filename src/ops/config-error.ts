import { CodedError } from "../base/errors.ts";

/** One thing that is wrong in a configuration file. `line` and `column` count from 1. */
export interface ConfigIssue {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Keys from the top joined by dots; empty for the file as a whole. */
  readonly path: string;
  /** What is wrong, then in brackets what was expected. Never the value itself. */
  readonly text: string;
}

/** A configuration that cannot be used; the message lists every error, one a line. */
export class ConfigError extends CodedError<{
  readonly code: "bad-config";
  readonly errors: readonly ConfigIssue[];
}> {
  constructor(errors: readonly ConfigIssue[], options?: { readonly cause?: unknown }) {
    super({ code: "bad-config", errors }, errors.map(formatConfigIssue).join("\n"), options);
  }
}

/** `file:line:column: path: what is wrong (what was expected)`. */
export function formatConfigIssue(error: ConfigIssue): string {
  const place = `${error.file}:${error.line}:${error.column}`;
  return error.path === "" ? `${place}: ${error.text}` : `${place}: ${error.path}: ${error.text}`;
}
