import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { getOrCreate } from "../../platform/base/caches.ts";
import type { AlertSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { RUNBOOK_FOLDER, writtenPart } from "../../platform/monitoring/alerts/runbook-route.ts";
import { usableMetrics } from "./metrics-page.ts";
import { ALERTS } from "./rules.ts";
import { ALERTS_BY_RUNBOOK, runbookPathOf } from "./runbook-files.ts";
import { commandError, commandErrors, metricErrors } from "./runbook-code-errors.ts";
import { didYouMean } from "../../platform/base/did-you-mean.ts";
import { type Located, readRunbook, type RunbookText } from "./runbook-text.ts";

/** By heading: what each handwritten section must contain. */
const SECTIONS: ReadonlyMap<string, string> = new Map([
  ["Diagnosis", "numbered steps, each with what to look at"],
  ["Mitigation", "numbered steps, each with what to do"],
  ["Afterwards", "a list of what to check or to change when the problem is over"],
]);

const MARKERS = ["generated:alert", "end:alert", "generated:rule", "end:rule"]
  .map((marker) => `<!-- ${marker} -->`)
  .join(", ");

const ALERT = /^(?:(?:Oracle|IcqRelayer|Relaywatch)[A-Z]\w+|(?:relayer|relaywatch)(?:-[a-z]+)+)$/;

/** Values of the `app_abci_requests` status label that look like alert names. */
const STATUSES: ReadonlySet<string> = new Set(["OracleClientError"]);

const NAMES: ReadonlySet<string> = new Set(ALERTS.flatMap(({ name, alert }) => [name, alert]));

/** Checks the text of the runbook `name`. Returns errors as "path:line: what is wrong", in line order. */
type RunbookCheck = (name: string, file: string) => Promise<readonly string[]>;

/**
 * Checks that every alert has a runbook and every runbook has an alert. Checks that everything a runbook mentions exists: commands
 * with their options, metrics, alerts and links.
 */
export async function runbookErrors(root: string): Promise<readonly string[]> {
  const check = createRunbookCheck(root);
  const names = readdirSync(join(root, RUNBOOK_FOLDER)).map((file) => file.replace(/\.md$/, ""));
  const missing = [...ALERTS_BY_RUNBOOK.keys()]
    .filter((name) => !names.includes(name))
    .map((name) => `${runbookPathOf(name)}:1: is missing; npm run generate writes its beginning`);
  const errors = await Promise.all(
    names.toSorted().map((name) => check(name, readFileSync(join(root, runbookPathOf(name)), "utf8"))),
  );
  return [...missing, ...errors.flat()];
}

/** Creates the check for one runbook in the repository `root`. The check parses each command only once. */
export function createRunbookCheck(root: string): RunbookCheck {
  const metrics = usableMetrics();
  const commands = new Map<string, Promise<string | undefined>>();
  const errorOf = (line: string): Promise<string | undefined> => getOrCreate(commands, line, commandError);
  return async (name, file) => {
    const [alert] = ALERTS_BY_RUNBOOK.get(name) ?? [];
    const runbook = readRunbook(file);
    const errors =
      alert === undefined
        ? [{ line: 1, text: "no alert has this runbook; give it the name of an alert, or delete it" }]
        : writtenPart(file) === undefined
          ? [{ line: 1, text: `the lines around the generated sections are missing: ${MARKERS}` }]
          : [
              ...runbook.frontMatter.errors,
              ...alertErrors(runbook, alert),
              ...sectionErrors(runbook),
              ...metricErrors(runbook, metrics),
              ...linkErrors(runbook, root),
              ...(await commandErrors(runbook, errorOf)),
            ];
    return errors
      .toSorted((a, b) => a.line - b.line)
      .map(({ line, text }) => `${runbookPathOf(name)}:${line}: ${text}`);
  };
}

function alertErrors({ frontMatter, codes }: RunbookText, { alert }: AlertSpec): readonly Located[] {
  const named = frontMatter.alert;
  const unknown = codes.filter(({ text }) => ALERT.test(text) && !NAMES.has(text) && !STATUSES.has(text));
  return [
    ...(named === undefined || named.text === alert
      ? []
      : [{ line: named.line, text: `alert is ${named.text}, but this is the runbook of ${alert}` }]),
    ...unknown.map(({ line, text }) => ({
      line,
      text: `there is no alert ${text}${didYouMean(text, NAMES)}`,
    })),
  ];
}

function sectionErrors({ sections }: RunbookText): readonly Located[] {
  const expected = [...SECTIONS.keys()];
  if (sections.map(({ heading }) => heading).join() !== expected.join())
    return [
      {
        line: sections[0]?.line ?? 1,
        text: `the sections must be ${expected.map((one) => `"## ${one}"`).join(", ")}`,
      },
    ];
  return sections.flatMap(({ heading, text, line }): readonly Located[] => {
    if (text === "") return [{ line, text: `${heading} is empty: write ${SECTIONS.get(heading)}` }];
    const numbers = [...text.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
    const isCounted = numbers.every((number, index) => number === index + 1);
    return isCounted
      ? []
      : [{ line, text: `the steps of ${heading} are numbered ${numbers.join(", ")}, not from 1 on` }];
  });
}

function linkErrors({ links }: RunbookText, root: string): readonly Located[] {
  return links
    .filter(({ text }) => !/^https?:/.test(text))
    .flatMap(({ line, text }) => {
      const [target = "", anchor] = text.split("#");
      const path = normalize(join(RUNBOOK_FOLDER, target));
      if (!existsSync(join(root, path)))
        return [{ line, text: `there is no file ${path} for the link ${text}` }];
      if (anchor === undefined) return [];
      const anchors = anchorsOf(readFileSync(join(root, path), "utf8"));
      return anchors.includes(anchor)
        ? []
        : [
            {
              line,
              text: `${path} has no heading #${anchor}; it has ${anchors.map((one) => `#${one}`).join(", ")}`,
            },
          ];
    });
}

/** Returns the anchors that GitHub generates for a Markdown file's headings. */
function anchorsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}
