import type { z } from "zod";
import { counted } from "../base/text.ts";

/** Formats the error text of a field: "is a number (expected a quoted whole number)". */
export function issueText(problem: string, expected: string): string {
  return `${problem} (expected ${expected})`;
}

/** Describes a schema issue that has no text of its own. Never contains the value, which may be a secret. */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issueText(receivedText(issue.input), typeName(String(issue["expected"])));
    case "unrecognized_keys":
      return issueText("unknown key", "one of the documented keys");
    case "too_small":
      return issueText("is too small", `${limitText(issue, "minimum")} or more`);
    case "too_big":
      return issueText("is too large", `${limitText(issue, "maximum")} or less`);
    case "invalid_value":
      return issueText("is not one of the allowed values", listText(issue["values"]));
    case "invalid_format":
      return issueText("has the wrong form", `text of the form ${issue["pattern"] ?? issue["format"]}`);
    case "custom":
    case "invalid_element":
    case "invalid_key":
    case "invalid_union":
    case "not_multiple_of":
    default:
      return issueText("is not valid", "a value as documented");
  }
}

/** Describes the type of a YAML value. */
export function receivedText(input: unknown): string {
  if (input === undefined) return "is missing";
  if (input === null) return "is empty";
  if (Array.isArray(input)) return "is a list";
  if (typeof input === "object") return "is a section";
  if (typeof input === "string") return "is text";
  return `is a ${typeof input}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a section",
  record: "a section",
};

function typeName(expected: string): string {
  return TYPE_NAMES[expected] ?? expected;
}

function limitText(issue: z.core.$ZodRawIssue, key: "minimum" | "maximum"): string {
  const limit = issue[key];
  return issue["origin"] === "string" ? counted(Number(limit), "character") : String(limit);
}

function listText(values: unknown): string {
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(", ") : "another value";
}
