import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryFiles } from "./prose.ts";
import { ROOT } from "./source-files.ts";

/** A word that the code base no longer uses in this sense, as a word of prose or as a part of an identifier. */
interface RetiredWord {
  readonly word: RegExp;
  /** The terms to use instead. */
  readonly instead: string;
  /** Paths in which the word has another, standard meaning. */
  readonly except?: RegExp;
  /** Lines in which the word has its standard meaning. */
  readonly unless?: RegExp;
  /** Paths to which the rule is limited. */
  readonly only?: RegExp;
}

const RELAYER = /^(?:src\/relayer|daemons\/icq-relayer|config\/icq-relayer)/;
const WATCHDOG = /^(?:src\/watchdog|daemons\/oracle-watchdog|config\/oracle-watchdog)/;

const RETIRED: readonly RetiredWord[] = [
  { word: identifier("face"), instead: "server, listener or endpoint" },
  { word: identifier("lane"), instead: "worker of a connection" },
  {
    // Numbers are rounded, and a round trip is a network term.
    word: /(?<![A-Za-z.])rounds?(?![A-Za-z]|[ -]trip| half| up| down| to\b)|(?<=[a-z])Rounds?(?![a-zT])/,
    instead: "cycle (relayer), scrape or evaluation (watchdog)",
    only: new RegExp(`${RELAYER.source}|${WATCHDOG.source}|^(?:README|ARCHITECTURE)\\.md`),
  },
  { word: identifier("look"), instead: "scrape, poll or evaluation", only: WATCHDOG },
  { word: /\bheld\b|\bHeld\b/, instead: "backing off", only: RELAYER },
  { word: /["'`]waiting["'`]|\bwaiting_|_waiting\b/, instead: "pending" },
  { word: /\bheld back\b/, instead: "backing off (relayer), muted until … (watchdog)" },
  {
    word: identifier("fault"),
    instead: "error or failure; a fault is injected on purpose",
    except:
      /^(?:src\/localnet\/(?:sidecar|network|traffic|control|node\/oracle|cli)\/|(?:daemons\/localnet\/|docs\/(?:localnet|http-api)\.md)|src\/platform\/(?:base\/fault-switches\.ts|monitoring\/)|src\/workbench\/contract-page\.ts|src\/cli\/generate\/|src\/watchdog\/monitoring\/|(?:ARCHITECTURE|CONTRIBUTING)\.md)/,
    unless:
      /fault injection|injected faults|random faults|\/faults\/|localnet[ -]fault|oracle\.faults|name: "fault"|^  fault: \{$|\bfault: "[a-z0-9-]+",$/,
  },
  { word: /\bput aside\b|\bputAside\b/, instead: "dead letter or rejected" },
  { word: /\b(?:is|are|was|were) told\b/, instead: "say what happens: receives, is notified, logs" },
  { word: /\bhears? (?:of|about)\b/, instead: "say what happens: receives, is notified" },
  { word: /\bgas ?books?\b/i, instead: "gas estimates" },
  { word: /\btrouble ?books?\b/i, instead: "retry backoff" },
  {
    word: /\b(?:IbcApplication|PacketSender|informSenders|limitSender)\b/,
    instead: "IBCModule, ICS4Wrapper, middleware",
  },
  { word: /\bflying\b/i, instead: "in flight" },
  { word: /\blaunch(?:es|ed|ing)?\b/i, instead: "start, broadcast" },
  { word: /\bin vain\b/i, instead: "without success" },
  { word: /\banew\b/i, instead: "again" },
  { word: /\bsays so\b/i, instead: "reports it" },
  { word: /\bsurroundings\b/i, instead: "dependencies" },
  { word: /\bwhat [a-z]+ needs? (?:of|from)\b/i, instead: "dependencies of …" },
  { word: /\bjudg(?:e[sd]?|ing|e?ments?)\b/i, instead: "evaluate, assess" },
  { word: /\blately\b/i, instead: "recently" },
  { word: /\bmeanwhile\b/i, instead: "in the meantime" },
  { word: /\bat once\b/i, instead: "immediately, in parallel" },
  { word: /\bto blame\b/i, instead: "cause" },
  { word: /\bdoubtful\b/i, instead: "isolated, rejected" },
  { word: /(?<![A-Za-z])stands?(?![A-Za-z]| for\b| in for\b)/, instead: "is, is stored, has stopped" },
];

/** Matches a word alone or as a part of a camelCase or snake_case identifier, singular or plural. */
function identifier(word: string): RegExp {
  const capital = `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  return new RegExp(`(?<![A-Za-z])${word}s?(?![a-z])|${capital}s?(?![a-z])`);
}

/** Code, configuration and documents of the project. */
const SCANNED = /^(?:src|daemons|config|docs)\/.*\.(?:ts|mjs|md|yaml|json|proto)$|^[A-Z]+\.md$/;
const SKIPPED =
  /^src\/cosmos\/proto\/gen\/|^src\/cosmos\/proto\/definitions\/(?!relaywatch)|^CHANGELOG\.md$|^docs\/spec\/(?!README)/;

const files = repositoryFiles()
  .filter((path) => SCANNED.test(path) && !SKIPPED.test(path))
  .map((path) => ({ path, lines: readFileSync(join(ROOT, path), "utf8").split("\n") }));

describe("the project's words", () => {
  it("are scanned in code, configuration and documents", () => {
    expect(files.length).toBeGreaterThan(300);
    for (const folder of ["src/", "daemons/", "config/", "docs/"])
      expect(files.some(({ path }) => path.startsWith(folder))).toBe(true);
  });

  it.each(RETIRED)("$word gives way to: $instead", ({ word, except, only, unless }) => {
    const found = files
      .filter(({ path }) => except?.test(path) !== true && only?.test(path) !== false)
      .flatMap(({ path, lines }) =>
        lines.flatMap((line, index) =>
          word.test(line) && unless?.test(line) !== true ? [`${path}:${index + 1}: ${line.trim()}`] : [],
        ),
      );
    expect(found).toEqual([]);
  });

  it.each([
    [
      identifier("face"),
      ["face", "createRpcFace", "faces", "FaceServer", "rest_face"],
      ["interface", "surface", "Interface"],
    ],
    [identifier("lane"), ["lane", "toLane"], ["plane", "lanes1"]],
    [identifier("fault"), ["fault", "noteFault", "lastFaults"], ["default", "prefault", "Default"]],
  ])("%s finds the word and no longer word that contains it", (word, matching, others) => {
    expect(matching.filter((text) => !word.test(text))).toEqual([]);
    expect(others.filter((text) => word.test(text) && text !== "lanes1")).toEqual([]);
  });
});
