import { DAY_MS, HOUR_MS } from "../../platform/base/time.ts";
import { parseGoBool } from "../../platform/base/integers.ts";
import { issueText } from "../../platform/config/config-fields.ts";

/** Environment variables by name. As in the Go relayer, an empty value means absent. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvValues {
  /** Lines "NAME: what is wrong (what was expected)", in the order in which the variables were read. Never contains a value. */
  readonly problems: string[];
  /** Settings whose effect differs from their effect in the Go relayer. */
  readonly warnings: string[];
  readonly text: (name: string) => string | undefined;
  /** Like `text`, but an absent variable is a problem. */
  readonly required: (name: string) => string | undefined;
  readonly list: (name: string) => readonly string[];
  readonly bool: (name: string) => boolean | undefined;
  readonly requiredBool: (name: string) => boolean | undefined;
  /** A positive number, as decimal text. */
  readonly decimal: (name: string) => string | undefined;
  /** A whole number, as decimal text. */
  readonly whole: (name: string) => string | undefined;
  /** A Go duration such as "10s" or "1m30s", in ms. */
  readonly durationMs: (name: string) => number | undefined;
  readonly problem: (name: string, problem: string, expected: string) => undefined;
}

export function createEnvValues(environment: Environment): EnvValues {
  const problems: string[] = [];
  const problem: EnvValues["problem"] = (name, what, expected) => {
    problems.push(`${name}: ${issueText(what, expected)}`);
    return undefined;
  };
  const text: EnvValues["text"] = (name) => {
    const value = environment[name]?.trim();
    return value === "" ? undefined : value;
  };
  const required: EnvValues["required"] = (name) => text(name) ?? problem(name, "is missing", "a value");
  const asBool = (name: string, value: string | undefined): boolean | undefined =>
    parsed(value, goBool, () => problem(name, "is not a boolean", "true or false"));
  return {
    problems,
    warnings: [],
    problem,
    text,
    required,
    list: (name) => splitList(text(name) ?? ""),
    bool: (name) => asBool(name, text(name)),
    requiredBool: (name) => asBool(name, required(name)),
    decimal: (name) =>
      parsed(text(name), goDecimal, () =>
        problem(name, "is not a positive number", "a number such as 0.0053"),
      ),
    whole: (name) => parsed(text(name), wholeNumber, () => problem(name, "is not a whole number", "digits")),
    durationMs: (name) =>
      parsed(text(name), goDurationMs, () =>
        problem(name, "is not a duration", "a number with a unit, such as 10s"),
      ),
  };
}

/** Parses a value unless it is absent. `parse` returns undefined for an invalid value. */
function parsed<T>(
  value: string | undefined,
  parse: (value: string) => T | undefined,
  onWrong: () => undefined,
): T | undefined {
  return value === undefined ? undefined : (parse(value) ?? onWrong());
}

function splitList(text: string): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function goBool(text: string): boolean | undefined {
  try {
    return parseGoBool(text);
  } catch {
    return undefined;
  }
}

function wholeNumber(text: string): string | undefined {
  return /^\d{1,20}$/.test(text) ? text : undefined;
}

/** Accepts every positive number that Go's ParseFloat accepts and that has at most 18 decimals, for example "1e-3". */
function goDecimal(text: string): string | undefined {
  if (/^\d{1,30}(?:\.\d{1,18})?$/.test(text)) return /[1-9]/.test(text) ? text : undefined;
  const value = /^\d*\.?\d*(?:[eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 1e-18 && value < 1e15)) return undefined;
  return value.toFixed(18).replace(/\.?0+$/, "");
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: HOUR_MS,
};

/** Parses a positive duration in the format of Go's `time.ParseDuration`, rounded up to 1 ms. */
function goDurationMs(text: string): number | undefined {
  if (!/^(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g))
    totalMs += Number(count) * (UNITS_MS[unit ?? ""] ?? 0);
  return totalMs > 0 && totalMs <= 366 * DAY_MS ? Math.ceil(totalMs) : undefined;
}
