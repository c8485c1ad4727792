import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import type { AlertSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { RUNBOOK_FOLDER, writtenPart } from "../../platform/monitoring/alerts/runbook-file.ts";
import { commandError } from "./command-errors.ts";
import { usableMetrics } from "./known-metrics.ts";
import { promqlSelectors } from "./promql.ts";
import { ALERTS } from "./rules.ts";
import { ALERTS_BY_RUNBOOK, runbookPathOf } from "./runbook-files.ts";
import { type Located, readRunbook, type RunbookText } from "./runbook-text.ts";

/** The sections that people write, with what each of them has. */
const SECTIONS: ReadonlyMap<string, string> = new Map([
  ["Diagnosis", "numbered steps, each with what to look at"],
  ["Mitigation", "numbered steps, each with what to do"],
  ["Afterwards", "a list of what to check or to change when the problem is over"],
]);

const MARKERS = [
  "begin generated: alert",
  "end generated: alert",
  "begin generated: rule",
  "end generated: rule",
]
  .map((marker) => `<!-- ${marker} -->`)
  .join(", ");

const METRIC =
  /\b(?:oracle_watchdog|relaywatch|app|cometbft|side_car|nodejs|process|prometheus|alertmanager)_\w*/g;
const ALERT = /^(?:(?:Oracle|IcqRelayer|Relaywatch)[A-Z]\w+|(?:relayer|relaywatch)(?:-[a-z]+)+)$/;

/** Statuses of `app_abci_requests` that look like alerts. */
const STATUSES: ReadonlySet<string> = new Set(["OracleClientError"]);

const NAMES: ReadonlySet<string> = new Set(ALERTS.flatMap(({ name, alert }) => [name, alert]));

/** Checks the text of the runbook `name`. Returns errors as "path:line: what is wrong", in the order of the lines. */
type RunbookCheck = (name: string, file: string) => Promise<readonly string[]>;

/**
 * Checks that every alert has a runbook, and every runbook an alert, and that everything that a runbook names exists: commands
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

/** Creates the check of one runbook of the repository `root`. Each command is parsed once. */
export function createRunbookCheck(root: string): RunbookCheck {
  const metrics = usableMetrics();
  const commands = new Map<string, Promise<string | undefined>>();
  const errorOf = (line: string): Promise<string | undefined> => {
    const error = commands.get(line) ?? commandError(line);
    commands.set(line, error);
    return error;
  };
  return async (name, file) => {
    const [alert] = ALERTS_BY_RUNBOOK.get(name) ?? [];
    const runbook = readRunbook(file);
    const errors =
      alert === undefined
        ? [{ line: 1, text: "no alert has this runbook; give it the name of an alert, or delete it" }]
        : writtenPart(file) === undefined
          ? [{ line: 1, text: `the lines around the generated sections are missing: ${MARKERS}` }]
          : [...textErrors(runbook, alert, { root, metrics }), ...(await commandErrors(runbook, errorOf))];
    return errors
      .toSorted((a, b) => a.line - b.line)
      .map(({ line, text }) => `${runbookPathOf(name)}:${line}: ${text}`);
  };
}

interface Known {
  readonly root: string;
  readonly metrics: ReadonlySet<string>;
}

function textErrors(runbook: RunbookText, alert: AlertSpec, { root, metrics }: Known): readonly Located[] {
  return [
    ...runbook.frontMatter.errors,
    ...alertErrors(runbook, alert),
    ...sectionErrors(runbook),
    ...sampleErrors(runbook, alert),
    ...metricErrors(runbook, metrics),
    ...linkErrors(runbook, root),
  ];
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
      text: `there is no alert ${text}${suggestion(text, NAMES)}`,
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

/** The output of `relaywatch why` begins with the alert's title. */
function sampleErrors({ blocks }: RunbookText, { summary, severity }: AlertSpec): readonly Located[] {
  const heading = `default: ${summary.slice(0, -1)} (${severity})`;
  const expected = `Why\n===\n\n${heading}\n${"-".repeat(heading.length)}\n`;
  return blocks
    .filter(({ text }) => text.startsWith("Why\n") && !text.startsWith(expected))
    .map(({ line }) => ({
      line: line + 3,
      text: `the output names another alert or severity: "${heading}", underlined`,
    }));
}

function metricErrors(runbook: RunbookText, metrics: ReadonlySet<string>): readonly Located[] {
  const { frontMatter, codes, blocks } = runbook;
  const queries = new Set(frontMatter.queries.map(({ text }) => text));
  const isCommand = (text: string): boolean => text.includes(" ") && !queries.has(text);
  const isBeginning = (name: string): boolean => [...metrics].some((metric) => metric.startsWith(name));
  const unknown = ({ line, text }: Located, isKnown: (name: string) => boolean): readonly Located[] =>
    (text.match(METRIC) ?? [])
      .filter((name) => !isKnown(name))
      .map((name) => ({ line, text: `there is no metric ${name}${suggestion(name, metrics)}` }));
  const isMetric = (name: string): boolean => metrics.has(name);
  const unlisted = codes.filter(
    ({ text }) => !isCommand(text) && text.search(METRIC) >= 0 && !queries.has(text),
  );
  return [
    ...unlisted.map(({ line, text }) => ({ line, text: `add ${text} to the queries of the front matter` })),
    ...notInText(frontMatter.queries, codes, "query"),
    ...frontMatter.queries.flatMap((query) => queryErrors(query, metrics)),
    ...codes.filter(({ text }) => isCommand(text)).flatMap((one) => unknown(one, isBeginning)),
    ...blocks.flatMap((one) => unknown(one, one.language === "sh" ? isBeginning : isMetric)),
  ];
}

function queryErrors({ line, text }: Located, metrics: ReadonlySet<string>): readonly Located[] {
  try {
    return promqlSelectors(text)
      .filter(({ name }) => ![...metrics].some((metric) => name.test(metric)))
      .map((selector) => ({
        line,
        text: `there is no metric ${selector.text}${suggestion(selector.text, metrics)}`,
      }));
  } catch (error) {
    return [{ line, text: error instanceof Error ? error.message : String(error) }];
  }
}

async function commandErrors(
  { frontMatter, codes, blocks }: RunbookText,
  errorOf: (line: string) => Promise<string | undefined>,
): Promise<readonly Located[]> {
  const used = [
    ...codes.filter(({ text }) => text.startsWith("relaywatch ")),
    ...blocks.filter(({ language }) => language === "sh"),
  ];
  const listed = new Set(frontMatter.commands.map(({ text }) => text));
  const wrong = await Promise.all(
    used.map(async ({ line, text }) => {
      const error = text.startsWith("relaywatch ") ? await errorOf(text) : undefined;
      return error === undefined ? [] : [{ line, text: `${text}: ${error}` }];
    }),
  );
  return [
    ...used
      .filter(({ text }) => !listed.has(text))
      .map(({ line, text }) => ({
        line,
        text: `add this command to the commands of the front matter: ${text}`,
      })),
    ...notInText(frontMatter.commands, used, "command"),
    ...wrong.flat(),
  ];
}

/** The entries of the front matter that the text does not have. */
function notInText(listed: readonly Located[], used: readonly Located[], kind: string): readonly Located[] {
  const texts = new Set(used.map(({ text }) => text));
  return listed
    .filter(({ text }) => !texts.has(text))
    .map(({ line, text }) => ({ line, text: `the text does not have this ${kind}: ${text}` }));
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

/** The anchors of a Markdown file, as GitHub makes them from headings. */
function anchorsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

/** Returns "; did you mean …?" with the names that begin as the wrong one does, at most three. */
function suggestion(wrong: string, names: ReadonlySet<string>): string {
  for (let length = wrong.length - 1; length > wrong.length / 2; length--) {
    const found = [...names].filter((name) => name.startsWith(wrong.slice(0, length)));
    if (found.length > 0) return `; did you mean ${found.slice(0, 3).join(" or ")}?`;
  }
  return "";
}
