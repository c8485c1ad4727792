import { parser } from "@prometheus-io/lezer-promql";

/** A selector of a PromQL expression: name, or a pattern of names, and the names of the labels that it matches. */
export interface Selector {
  readonly name: RegExp;
  readonly labels: readonly string[];
  /** The selector as it is written, without a range. */
  readonly text: string;
}

/** Parses an expression with the grammar of Prometheus and returns its selectors. Throws for a syntax error. */
export function promqlSelectors(expr: string): readonly Selector[] {
  const selectors: Selector[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) throw new Error(`not PromQL at ${from}: ${expr}`);
      if (type.name === "VectorSelector") selectors.push(toSelector(expr.slice(from, to)));
    },
  });
  return selectors;
}

function toSelector(text: string): Selector {
  const [, name = "", body = ""] = /^([a-zA-Z_:][\w:]*)?\s*(?:\{(.*)\})?$/s.exec(text) ?? [];
  const matchers = [...body.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)];
  const pattern = name === "" ? matchers.find(([, label]) => label === "__name__")?.[2] : name;
  if (pattern === undefined) throw new Error(`a selector without a name: ${text}`);
  return {
    name: new RegExp(`^(?:${pattern})$`),
    labels: matchers.flatMap(([, label = ""]) => (label === "__name__" ? [] : [label])),
    text,
  };
}
