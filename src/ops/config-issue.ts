import type { z } from "zod";

/** An error of one field in the house's wording: "is a number (expected a quoted whole number)". */
export function issueText(what: string, expected: string): string {
  return `${what} (expected ${expected})`;
}

/** The wording of a schema issue that has none of its own; never repeats the value, which may be a secret. */
export function wordIssue(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issueText(receivedText(issue.input), article(String(issue["expected"])));
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

/** What a YAML value is, in a person's words. */
export function receivedText(input: unknown): string {
  if (input === undefined) return "is missing";
  if (input === null) return "is empty";
  if (Array.isArray(input)) return "is a list";
  if (typeof input === "object") return "is a section";
  if (typeof input === "string") return "is text";
  return `is a ${typeof input}`;
}

const NAMES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a section",
  record: "a section",
};

function article(expected: string): string {
  return NAMES[expected] ?? expected;
}

function limitText(issue: z.core.$ZodRawIssue, key: "minimum" | "maximum"): string {
  const count = String(issue[key]);
  return issue["origin"] === "string" ? `${count} characters` : count;
}

function listText(values: unknown): string {
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(", ") : "another value";
}
