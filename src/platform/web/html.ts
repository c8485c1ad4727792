/** HTML that is inserted into a page without escaping. Only {@link html} creates it, so all other text is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value in a template. Strings are escaped; undefined and false are omitted. */
export type HtmlPart = Html | string | number | bigint | undefined | false | readonly HtmlPart[];

/** Template tag for HTML: escapes every value that is not already HTML, in content and in quoted attributes. */
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

/** Creates a `style` or `script` element with the program's own constant text, which is not escaped. */
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

/** Escapes a string for an HTML page's content or attribute values. */
export function escapeHtml(text: string): string {
  // Test first, because most strings have nothing to escape and a large page has tens of thousands of them.
  if (!SPECIAL.test(text)) return text;
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
