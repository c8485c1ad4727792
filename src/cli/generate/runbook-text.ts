import { isNode, LineCounter, parseDocument } from "yaml";
import { z } from "zod";

/** A part of a file's text, and the line number at which the part begins, counted from 1. */
export interface Located {
  readonly text: string;
  readonly line: number;
}

/** A parsed runbook, in which generated sections are empty except for their links. */
export interface RunbookText {
  readonly frontMatter: FrontMatter;
  /** The handwritten level-2 sections, each with its heading, such as "Diagnosis", and the text below the heading. */
  readonly sections: readonly (Located & { readonly heading: string })[];
  /** Pieces of inline code in the runbook's text. */
  readonly codes: readonly Located[];
  /** Code blocks, with their indentation removed. */
  readonly blocks: readonly (Located & { readonly language: string })[];
  /** Link targets such as "sidecar-down.md", including links in the generated sections. */
  readonly links: readonly Located[];
}

/** A runbook's parsed front matter. If `errors` is not empty, all other fields are empty. */
interface FrontMatter {
  /** The alert's name in Prometheus, and the name's line in the runbook. */
  readonly alert: Located | undefined;
  /** Commands listed in the front matter: each `sh` block and each inline `relaywatch …` in the text. */
  readonly commands: readonly Located[];
  /** PromQL queries listed in the front matter: the inline queries in the text. */
  readonly queries: readonly Located[];
  readonly errors: readonly Located[];
}

const frontMatterSchema = z.strictObject({
  alert: z.string({ error: "must be the name of an alert in Prometheus" }),
  commands: z.array(z.string(), { error: "must be a list of commands" }).default([]),
  queries: z.array(z.string(), { error: "must be a list of PromQL expressions" }).default([]),
});

const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/;
const GENERATED_SECTION = /^<!-- generated:[\s\S]*?^<!-- end:.*$/gm;
const BLOCK = /^ *```(?<language>\w*)\n(?<text>[\s\S]*?)^ *```$/gm;

export function readRunbook(file: string): RunbookText {
  const [head = ""] = FRONT_MATTER.exec(file) ?? [];
  const written = withoutText(withoutText(file, FRONT_MATTER), GENERATED_SECTION);
  const prose = withoutText(written, BLOCK);
  const headings = [...prose.matchAll(/^## (.*)$/gm)];
  return {
    frontMatter: readFrontMatter(head),
    sections: headings.map(({ index, 0: line, 1: heading = "" }, at) => ({
      heading,
      line: lineAt(written, index),
      text: written.slice(index + line.length, headings[at + 1]?.index).trim(),
    })),
    codes: find(prose, /`([^`\n]+)`/g),
    links: find(withoutText(file, BLOCK), /\]\(([^)\s]+)\)/g),
    blocks: [...written.matchAll(BLOCK)].map(({ index, groups = {} }) => ({
      language: groups["language"] ?? "",
      line: lineAt(written, index) + 1,
      text: (groups["text"] ?? "").replaceAll(/^ {3}/gm, "").trimEnd(),
    })),
  };
}

function readFrontMatter(text: string): FrontMatter {
  const none = { alert: undefined, commands: [], queries: [] };
  if (text === "")
    return {
      ...none,
      errors: [{ line: 1, text: 'begin the file with front matter between two lines "---"' }],
    };
  const lineCounter = new LineCounter();
  // Omit the second "---", which would start a second document.
  const document = parseDocument(text.slice(0, -"---\n".length), { lineCounter, prettyErrors: false });
  const lineOf = (path: readonly PropertyKey[]): number => {
    const node: unknown = document.getIn(path, true);
    return lineCounter.linePos(isNode(node) ? (node.range?.[0] ?? 0) : 0).line;
  };
  if (document.errors.length > 0)
    return {
      ...none,
      errors: document.errors.map(({ pos: [at], message }) => ({
        line: lineCounter.linePos(at).line,
        text: message,
      })),
    };
  const { data, error } = frontMatterSchema.safeParse(document.toJS());
  if (data === undefined)
    return {
      ...none,
      errors: error.issues.map(({ path, message }) => ({
        line: lineOf(path),
        text: `front matter: ${[...path, message].map(String).join(": ")}`,
      })),
    };
  const located = (key: "commands" | "queries"): readonly Located[] =>
    data[key].map((one, index) => ({ text: one, line: lineOf([key, index]) }));
  return {
    alert: { text: data.alert, line: lineOf(["alert"]) },
    commands: located("commands"),
    queries: located("queries"),
    errors: [],
  };
}

/** Replaces all matches of a pattern with spaces, so that the rest of the text keeps its positions. */
function withoutText(content: string, pattern: RegExp): string {
  return content.replace(pattern, (match) => match.replaceAll(/[^\n]/g, " "));
}

function find(content: string, pattern: RegExp): readonly Located[] {
  return [...content.matchAll(pattern)].map(({ index, 1: text = "" }) => ({
    text,
    line: lineAt(content, index),
  }));
}

function lineAt(content: string, index: number): number {
  return content.slice(0, index).split("\n").length;
}
