/** HTML that is inserted without escaping. Only {@link html} and {@link rawElement} create such HTML; all other text is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in an {@link html} template. Strings are escaped; undefined and false are omitted. */
export type HtmlPart = Html | string | number | bigint | undefined | false | readonly HtmlPart[];

/** Template tag that escapes every value except {@link Html}. A value may be an element's content or part of a quoted attribute. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const last = strings.length - 1;
  const texts = parts.map((part, index) => `${strings[index] ?? ""}${textOf(part)}`);
  return new Html(`${texts.join("")}${strings[last] ?? ""}`);
}

function textOf(part: HtmlPart): string {
  if (part instanceof Html) return part.text;
  if (part === undefined || part === false) return "";
  if (typeof part === "object") return part.map(textOf).join("");
  return escapeHtml(String(part));
}

/** Creates a `style` or `script` element. The text is not escaped, so it must be a constant from this program. */
export function rawElement(name: "style" | "script", text: string): Html {
  return new Html(`<${name}>${text}</${name}>`);
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const SPECIAL = /[&<>"']/;

/** Escapes a string for use in HTML content or quoted attribute values. */
export function escapeHtml(text: string): string {
  // Test first: a large page contains tens of thousands of strings, most of which need no escaping.
  if (!SPECIAL.test(text)) return text;
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
