import { Buffer } from "node:buffer";

/** Form or query values by name, in the order in which they occur. */
export type FormValues = ReadonlyMap<string, readonly string[]>;

/** Parses a query string or form body as Go's `url.ParseQuery` does. Throws a plain error with Go's text. */
export function parseForm(text: string): FormValues {
  const values = new Map<string, string[]>();
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    // Old versions of Go treated a semicolon as a separator. Go 1.17 and later reject it.
    if (pair.includes(";")) throw new Error("invalid semicolon separator in query");
    const equals = pair.indexOf("=");
    const name = goUnescape(equals < 0 ? pair : pair.slice(0, equals), true);
    const value = goUnescape(equals < 0 ? "" : pair.slice(equals + 1), true);
    const list = values.get(name);
    if (list === undefined) values.set(name, [value]);
    else list.push(value);
  }
  return values;
}

/** Joins two forms. If a name occurs in both, the first form's values come first. */
export function joinForms(first: FormValues, second: FormValues): FormValues {
  const joined = new Map(first);
  for (const [name, values] of second) joined.set(name, [...(joined.get(name) ?? []), ...values]);
  return joined;
}

/** Decodes %XX and, with `plusIsSpace`, + as a space. Invalid UTF-8 becomes U+FFFD. Throws a plain error with Go's text. */
export function goUnescape(text: string, plusIsSpace: boolean): string {
  const spaced = plusIsSpace ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  const bad = /%(?![0-9a-fA-F]{2})/.exec(spaced);
  if (bad !== null) {
    throw new Error(`invalid URL escape ${JSON.stringify(spaced.slice(bad.index, bad.index + 3))}`);
  }
  return spaced.replaceAll(/(?:%[0-9a-fA-F]{2})+/g, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"),
  );
}
