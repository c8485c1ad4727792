import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { parser } from "@prometheus-io/lezer-promql";
import { type Command, CommanderError } from "commander";
import { getOrCreate } from "../../platform/base/caches.ts";
import type { AlertSpec } from "../../platform/monitoring/alerts/alert-spec.ts";
import { RUNBOOK_FOLDER, writtenPart } from "../../platform/monitoring/alerts/runbook-route.ts";
import { usableMetrics } from "./metrics-page.ts";
import { ALERTS } from "./rules.ts";
import { ALERTS_BY_RUNBOOK, runbookPathOf } from "./runbook-files.ts";
import { didYouMean } from "../../platform/base/did-you-mean.ts";
import { type Located, readRunbook, type RunbookText } from "./runbook-text.ts";
import { TRAFFIC_FAULTS } from "../../localnet/traffic/traffic.ts";
import { ORACLE_FAULTS } from "../../localnet/node/oracle/oracle-client.ts";
import { SIDECAR_FAULTS } from "../../localnet/sidecar/faults.ts";
import { createSilentProgram } from "./silent-program.ts";

/** Required contents of each handwritten runbook section, by heading. */
const SECTIONS: ReadonlyMap<string, string> = new Map([
  ["Diagnosis", "numbered steps, each with what to look at"],
  ["Mitigation", "numbered steps, each with what to do"],
  ["Afterwards", "a list of what to check or to change when the problem is over"],
]);

const MARKERS = ["generated:alert", "end:alert", "generated:rule", "end:rule"]
  .map((marker) => `<!-- ${marker} -->`)
  .join(", ");

const ALERT = /^(?:(?:Oracle|IcqRelayer|Relaywatch)[A-Z]\w+|(?:relayer|relaywatch)(?:-[a-z]+)+)$/;

/** Values of the metric label `status` that look like alert names but are not. */
const STATUSES: ReadonlySet<string> = new Set(["OracleClientError"]);

const NAMES: ReadonlySet<string> = new Set(ALERTS.flatMap(({ name, alert }) => [name, alert]));

/** Checks the runbook `name` with the text `file`. Returns errors as "path:line: problem", in line order. */
type RunbookCheck = (name: string, file: string) => Promise<readonly string[]>;

/**
 * Checks that every alert has a runbook and every runbook has an alert, and that all commands, options, metrics, alerts and links
 * in a runbook exist.
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

/** Creates the check for runbooks in the repository `root`, which parses each distinct command only once. */
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

/** Returns the anchors that GitHub generates for the headings of a Markdown file. */
function anchorsOf(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

const METRIC =
  /\b(?:oracle_watchdog|relaywatch|app|cometbft|side_car|nodejs|process|prometheus|alertmanager)_\w*/g;

const FAULTS = Object.keys({ ...SIDECAR_FAULTS, ...ORACLE_FAULTS, ...TRAFFIC_FAULTS });

/** Reports metrics that do not exist, and queries that cannot be parsed or are missing from the front matter. */
function metricErrors(runbook: RunbookText, metrics: ReadonlySet<string>): readonly Located[] {
  const { frontMatter, codes, blocks } = runbook;
  const queries = new Set(frontMatter.queries.map(({ text }) => text));
  const isCommand = (text: string): boolean => text.includes(" ") && !queries.has(text);
  const isBeginning = (name: string): boolean => [...metrics].some((metric) => metric.startsWith(name));
  const unknown = ({ line, text }: Located, isKnown: (name: string) => boolean): readonly Located[] =>
    (text.match(METRIC) ?? [])
      .filter((name) => !isKnown(name))
      .map((name) => ({ line, text: `there is no metric ${name}${didYouMean(name, metrics)}` }));
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
        text: `there is no metric ${selector.text}${didYouMean(selector.text, metrics)}`,
      }));
  } catch (error) {
    return [{ line, text: error instanceof Error ? error.message : String(error) }];
  }
}

/** Reports commands that the command line rejects or that are missing from the front matter. */
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

/** Returns the front-matter entries that do not occur in the runbook's text, as errors. */
function notInText(listed: readonly Located[], used: readonly Located[], kind: string): readonly Located[] {
  const texts = new Set(used.map(({ text }) => text));
  return listed
    .filter(({ text }) => !texts.has(text))
    .map(({ line, text }) => ({ line, text: `the text does not have this ${kind}: ${text}` }));
}

/**
 * Describes the error in a "relaywatch …" line: an unknown command, option, value or fault. Returns undefined for a valid line.
 * Reads the placeholder `ID` as a number, and only parses the command without running it.
 */
async function commandError(line: string): Promise<string | undefined> {
  const words = wordsOf(line).slice(1);
  const [group, command, fault] = words;
  if (group === "localnet" && command === "fault" && fault !== undefined && !isFault(fault))
    return `there is no fault ${fault}${didYouMean(fault, FAULTS)}`;
  const program = await createSilentProgram(words);
  withoutActions(program);
  try {
    await program.parseAsync(words, { from: "user" });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // A group without a command prints help instead of an error message.
    return error.code === "commander.help" ? "a command is missing" : error.message.replace(/^error: /, "");
  }
}

function isFault(word: string): boolean {
  return word.startsWith("--") || FAULTS.includes(word);
}

/** Splits a command line into words like a shell, but supports only the shell syntax that runbooks use. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, word]) =>
    (double ?? single ?? word ?? "").replace(/^ID$/, "1"),
  );
}

function withoutActions(command: Command): void {
  command.configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
  if (command.commands.length === 0) command.action(() => {});
  for (const inner of command.commands) withoutActions(inner);
}

/** A selector in a PromQL expression, with a pattern for the metric's name and the names of the labels in its matchers. */
interface Selector {
  readonly name: RegExp;
  readonly labels: readonly string[];
  /** The selector as written, but without its range. */
  readonly text: string;
}

/** Parses an expression with Prometheus's grammar and returns its selectors, or throws on a syntax error. */
export function promqlSelectors(expr: string): readonly Selector[] {
  const selectors: Selector[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError) throw new Error(`invalid PromQL at offset ${from}: ${expr}`);
      if (type.name === "VectorSelector") selectors.push(toSelector(expr.slice(from, to)));
    },
  });
  return selectors;
}

function toSelector(text: string): Selector {
  const [, name = "", body = ""] = /^([a-zA-Z_:][\w:]*)?\s*(?:\{(.*)\})?$/s.exec(text) ?? [];
  const matchers = [...body.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)];
  const pattern = name === "" ? matchers.find(([, label]) => label === "__name__")?.[2] : name;
  if (pattern === undefined) throw new Error(`the selector names no metric: ${text}`);
  return {
    name: new RegExp(`^(?:${pattern})$`),
    labels: matchers.flatMap(([, label = ""]) => (label === "__name__" ? [] : [label])),
    text,
  };
}
