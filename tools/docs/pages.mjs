// The site's pages: README.md, the documents and runbooks, and every file that one of them links to. A page has the path of its
// file, so links between files are links between pages. A file that is not Markdown becomes a page with its text.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, extname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
/** Where the pages are written, and the site that is built from them. */
export const SOURCE = join(ROOT, "dist/docs/source");
export const SITE = join(ROOT, "dist/docs/site");

const PICTURE = /\.(?:png|jpg)$/;
/** Path of an introduction's file, or of its page. */
const README = /(^|\/)README\.md$/;

/** Path of the page of a file. */
export function pageOf(file) {
  if (file.endsWith(".md")) return file.replace(README, "$1index.md");
  return PICTURE.test(file) ? file : `${file}.md`;
}

const text = (file) => readFileSync(join(ROOT, file), "utf8");

/** The file that a link of a page or file names, with its anchor ("#…" or ""). Null for a link to another site. */
export function targetOf(file, link) {
  if (/^(?:[a-z]+:|#)/.test(link)) return null;
  const [path, anchor] = link.split("#");
  return { file: posix.normalize(posix.join(posix.dirname(file), path)), anchor: anchor ? `#${anchor}` : "" };
}

/** The files that a Markdown file links to. */
function linkedFiles(file) {
  const prose = text(file)
    .replaceAll(/```[\s\S]*?```/g, "")
    .replaceAll(/`[^`]*`/g, "code");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => targetOf(file, link)?.file ?? []);
}

const documentsIn = (folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);

/** Runbooks, in the order of their names. */
export const RUNBOOKS = documentsIn("alerts/runbooks").toSorted();

/** All files that have a page, with the pictures. */
export function siteFiles() {
  const found = new Set(["README.md", ...documentsIn("docs"), ...RUNBOOKS]);
  // A set's iteration reaches what is added to it.
  for (const file of found) {
    if (!existsSync(join(ROOT, file))) throw new Error(`a document links to ${file}, which does not exist`);
    if (file.endsWith(".md")) for (const linked of linkedFiles(file)) found.add(linked);
  }
  return [...found];
}

/** First heading of a document, or the path of another file. */
export function titleOf(file) {
  const heading = file.endsWith(".md") ? /^# (.+)$/m.exec(text(file))?.[1] : undefined;
  return heading?.replaceAll("`", "") ?? file;
}

/** Where each of README.md's readers begins. */
const BEGINNINGS = ["docs/watchdog", "docs/relayer", "docs/contracts"];

/** The card of one of README.md's readers: "**who**: what there is". */
function cardOf(item, index) {
  const [, reader, details] = /^\*\*(.+)\*\*: ([\s\S]+?)[;.]\s*$/.exec(item) ?? [];
  if (reader === undefined || BEGINNINGS[index] === undefined)
    throw new Error(`README.md: no card for "${item}"`);
  const plain = details.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("*", "");
  return { title: capital(reader), details: `${capital(plain)}.`, link: `/${BEGINNINGS[index]}.html` };
}

const capital = (sentence) => `${sentence[0].toUpperCase()}${sentence.slice(1)}`;

/** The first page: README.md, with its list of readers as cards. */
function home() {
  const [before, rest] = text("README.md").split("\n## Start\n");
  const [lead, list] = before.replace(/^# .*\n/, "").split(/\n(?=- )([\s\S]*)/);
  const [items, picture] = list.split("\n![");
  const page = {
    layout: "home",
    title: "Relaywatch",
    titleTemplate: false,
    hero: {
      name: "Relaywatch",
      // The first sentence; the rest introduces the list.
      tagline: lead.trim().split(/(?<=\.)\s/, 1)[0],
      actions: [
        { theme: "brand", text: "Start in one minute", link: "#start" },
        { theme: "alt", text: "The first day", link: "/docs/first-day.html" },
        { theme: "alt", text: "Alerts and runbooks", link: "/alerts/" },
      ],
    },
    features: items.split(/^- /m).slice(1).map(cardOf),
  };
  return `---\n${JSON.stringify(page)}\n---\n\n## Start\n${rest.replace("\n## How it works", `\n![${picture}\n## How it works`)}`;
}

/** A page with the text of a file. The search leaves it out. */
function codePage(file) {
  const language = extname(file).slice(1) || "text";
  return `---\nsearch: false\noutline: false\n---\n\n# ${file}\n\n\`\`\`\`${language}\n${text(file)}\n\`\`\`\`\n`;
}

/** Writes the pages into SOURCE. */
export function writePages() {
  rmSync(SOURCE, { recursive: true, force: true });
  for (const file of siteFiles()) {
    const path = join(SOURCE, pageOf(file));
    mkdirSync(dirname(path), { recursive: true });
    if (PICTURE.test(file)) copyFileSync(join(ROOT, file), path);
    else if (file === "README.md") writeFileSync(path, home());
    else writeFileSync(path, file.endsWith(".md") ? text(file) : codePage(file));
  }
}
