import type { GoJson } from "./parse.ts";

/**
 * Formats a decoded JSON value as Go's `%v` formats an `any`: `<nil>`, `true`, `1.5e+06`, strings without quotes, `[1 b]`,
 * and `map[k:1]` with sorted names. Of a repeated name, the last value is printed. Not recursive.
 */
export function printGoValue(value: GoJson): string {
  const work: (GoJson | string)[] = [value];
  let text = "";
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (typeof next === "string") text += next;
    else if (next.kind === "array") work.push(...arrayParts(next.items).toReversed());
    else if (next.kind === "object") work.push(...objectParts(next.members).toReversed());
    else text += printScalar(next);
  }
  return text;
}

function printScalar(value: Exclude<GoJson, { kind: "array" | "object" }>): string {
  if (value.kind === "null") return "<nil>";
  if (value.kind === "number") return formatGoFloat(Number(value.text));
  return String(value.value);
}

function arrayParts(items: readonly GoJson[]): (GoJson | string)[] {
  return ["[", ...items.flatMap((item, index) => (index === 0 ? [item] : [" ", item])), "]"];
}

function objectParts(members: readonly (readonly [string, GoJson])[]): (GoJson | string)[] {
  const sorted = [...new Map(members)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    "map[",
    ...sorted.flatMap(([name, value], index) => [`${index === 0 ? "" : " "}${name}:`, value]),
    "]",
  ];
}

/** Formats a float64 as Go's `%v`: shortest digits, with an exponent of at least two digits below 1e-4 and from 1e+06. */
export function formatGoFloat(value: number): string {
  if (Object.is(value, -0)) return "-0";
  const [mantissa = "0", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  const digits = String(Math.abs(power)).padStart(2, "0");
  return `${mantissa}e${power < 0 ? "-" : "+"}${digits}`;
}
