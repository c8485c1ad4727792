import { unreachable } from "../../../platform/base/errors.ts";

/** A part of a path template: a fixed segment, a variable for one segment, or a variable for any number (`=**`). */
type Part =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "segments"; readonly name: string };

/** A compiled `google.api.http` path. */
export interface PathTemplate {
  readonly parts: readonly Part[];
  /** Names of the variables, in order. */
  readonly variables: readonly string[];
}

const VARIABLE = /^\{([\w.]+)(=\*\*)?\}$/;

/** Compiles a template such as `/cosmos/bank/v1beta1/denom_owners/{denom=**}`. */
export function parsePathTemplate(template: string): PathTemplate {
  const parts = template.slice(1).split("/").map(parsePart);
  const variables = parts.flatMap((part) => (part.kind === "literal" ? [] : [part.name]));
  return { parts, variables };
}

function parsePart(text: string): Part {
  if (!text.startsWith("{")) return { kind: "literal", text };
  const [, name, stars] =
    VARIABLE.exec(text) ?? unreachable(`path template part ${text} has an unsupported form`);
  if (name === undefined) return unreachable(`path template part ${text} has no name`);
  return { kind: stars === undefined ? "variable" : "segments", name };
}

/**
 * Matches the decoded segments of a path. Returns the values of the variables, or undefined when the path does not match.
 * A `**` matches any number of segments, also none. A template has at most one.
 */
export function matchPath(
  template: PathTemplate,
  segments: readonly string[],
): ReadonlyMap<string, string> | undefined {
  const values = new Map<string, string>();
  const { parts } = template;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    if (part.kind === "segments") {
      // Every later part matches one segment, so the end is known without a search.
      const end = segments.length - (parts.length - index - 1);
      if (end < at) return undefined;
      values.set(part.name, segments.slice(at, end).join("/"));
      at = end;
      continue;
    }
    const segment = segments[at];
    if (segment === undefined || (part.kind === "literal" && part.text !== segment)) return undefined;
    if (part.kind === "variable") values.set(part.name, segment);
    at += 1;
  }
  return at === segments.length ? values : undefined;
}
