import type { JsonObject } from "../base/json.ts";

export interface ReportColumn {
  readonly title: string;
  readonly align?: "right";
}

export interface Spark {
  readonly label: string;
  readonly bars: string;
  readonly note: string;
}

/** One part of a report, in plain text that each output format escapes. */
export type ReportBlock =
  | { readonly kind: "heading"; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly string[] }
  | { readonly kind: "sparks"; readonly lines: readonly Spark[] }
  | {
      readonly kind: "table";
      readonly columns: readonly ReportColumn[];
      readonly rows: readonly (readonly string[])[];
    };

/** Outcome of a check, or "unseen" if the data does not show the outcome. */
export type ReportOutcome = "fine" | "problem" | "unseen";

/** A report, independent of its format. Equal inputs produce equal reports, because a report does not contain its creation time. */
export interface Report {
  readonly title: string;
  readonly outcome: ReportOutcome;
  readonly blocks: readonly ReportBlock[];
  /** The report's facts for programs, with keys in snake_case, counts and amounts as decimal strings, and times in ISO 8601. */
  readonly data: JsonObject;
  /** The main table for spreadsheets, with unformatted values. */
  readonly csv: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] };
}

export const REPORT_FORMATS = ["text", "markdown", "json", "csv"] as const;

export type ReportFormat = (typeof REPORT_FORMATS)[number];
