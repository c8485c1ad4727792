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

/** One block of a report, in plain text that each output format escapes. */
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

/** A check's outcome; "unseen" if the data is insufficient to tell. */
export type ReportOutcome = "fine" | "problem" | "unseen";

/** A report that can be printed in any format. It contains no creation time, so equal inputs produce equal reports. */
export interface Report {
  readonly title: string;
  readonly outcome: ReportOutcome;
  readonly blocks: readonly ReportBlock[];
  /** The report's facts as JSON for programs: keys in snake_case, counts and amounts as decimal strings, times in ISO 8601. */
  readonly data: JsonObject;
  /** The report's main table with unformatted values, for spreadsheets. */
  readonly csv: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] };
}

export const REPORT_FORMATS = ["text", "markdown", "json", "csv"] as const;

export type ReportFormat = (typeof REPORT_FORMATS)[number];
