/** The form of a JSON value: members, types, and for text its format; two answers of one method agree in it. */
export function shapeOf(value: unknown): unknown {
  if (value === null) return "null";
  if (typeof value === "string") return formatOf(value);
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== "object") return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}

const FORMATS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["empty", /^$/],
  ["integer", /^-?\d+$/],
  ["hash", /^[0-9A-F]{64}$/],
  ["address", /^[0-9A-F]{40}$/],
  ["node id", /^[0-9a-f]{40}$/],
  ["time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/],
];

function formatOf(text: string): string {
  return FORMATS.find(([, pattern]) => pattern.test(text))?.[0] ?? "text";
}

/** Where two shapes differ, as paths; an absent byte string (null or empty) fits a present one, an empty list any list. */
export function shapeDifferences(expected: unknown, actual: unknown, path = ""): readonly string[] {
  if (isAbsentBytes(expected) && isText(actual)) return [];
  if (isAbsentBytes(actual) && isText(expected)) return [];
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length === 0 || actual.length === 0) return [];
    return shapeDifferences(expected[0], actual[0], `${path}[]`);
  }
  if (isObject(expected) && isObject(actual)) {
    const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    return names.flatMap((name) => shapeDifferences(expected[name], actual[name], `${path}.${name}`));
  }
  return expected === actual ? [] : [`${path}: expected ${show(expected)}, got ${show(actual)}`];
}

function isAbsentBytes(shape: unknown): boolean {
  return shape === "null" || shape === "empty";
}

function isText(shape: unknown): boolean {
  return shape === "text" || shape === "null" || shape === "empty" || shape === "hash";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}

/** Paths of objects with the same members in another order; of a list only the first item is looked at. */
export function orderDifferences(expected: unknown, actual: unknown, path = ""): readonly string[] {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    return orderDifferences(expected[0], actual[0], `${path}[]`);
  }
  if (!isObject(expected) || !isObject(actual)) return [];
  const shared = Object.keys(expected).filter((name) => name in actual);
  const order = Object.keys(actual).filter((name) => name in expected);
  const here =
    shared.join() === order.join() ? [] : [`${path}: expected ${shared.join()}, got ${order.join()}`];
  return [
    ...here,
    ...shared.flatMap((name) => orderDifferences(expected[name], actual[name], `${path}.${name}`)),
  ];
}
