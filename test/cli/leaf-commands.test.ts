import { createServer, type Server } from "node:http";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createProgram } from "../../src/cli/program.ts";
import { examplesOf } from "../../src/cli/examples.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import type { CliContext } from "../../src/platform/cli/cli-context.ts";
import { runCommand } from "../support/cli-chain.ts";
import { leasePorts } from "../support/port-lease.ts";

/** The program with every command loaded. `print` gets what the commands print. */
function wholeProgram(print: (line: string) => void = () => {}): Promise<Command> {
  const context: CliContext = {
    words: Object.assign([], { includes: () => true }),
    print,
    signal: new AbortController().signal,
    logger: async () => silentLogger,
    onHangup: () => () => {},
    isTerminal: false,
  };
  return createProgram(context);
}

interface Leaf {
  readonly command: Command;
  readonly path: readonly string[];
  readonly name: string;
}

function leaves(command: Command, path: readonly string[] = []): readonly Leaf[] {
  if (command.commands.length === 0) return [{ command, path, name: path.join(" ") }];
  return command.commands.flatMap((one) => leaves(one, [...path, one.name()]));
}

const all = leaves(await wholeProgram());

/** Commands without a choice of format, each with the reason. */
const ONE_FORMAT: Readonly<Record<string, string>> = {
  up: "runs until it is stopped",
  "localnet start": "runs until it is stopped",
  "relayer start": "runs until it is stopped",
  "watchdog start": "runs until it is stopped",
  "localnet scenario": "tells its steps while they happen",
  "localnet export": "its document is JSON",
  "localnet keplr": "its document is JSON",
  "config init": "its document is YAML with comments; --output names its file",
  "config from-env": "its document is YAML with comments",
  "report status-page": "it writes files; --out names their folder",
  "keys mnemonic": "prints words to a terminal only",
  "link-go-name": "prints the path of the link",
  completion: "prints a shell's script",
  __complete: "prints a shell's words",
  man: "prints a manual page",
};

/** The dex has the words of the deployed command line, which are Go's. */
const DEPLOYED = /strconv\.Parse(?:Int|Uint|Bool): |: math\/big: |: failed to set decimal string /;

describe("every command", () => {
  it("prints text, JSON or YAML as -o says", () => {
    expect(all.length).toBeGreaterThan(200);
    const lacking = all.filter((leaf) => {
      const output = leaf.command.options.find(({ long }) => long === "--output");
      const formats = output?.short === "-o" ? (output.argChoices ?? []) : [];
      return !["json", "text", "yaml"].every((format) => formats.includes(format));
    });
    expect(lacking.map(({ name }) => name).toSorted()).toEqual(Object.keys(ONE_FORMAT).toSorted());
  });

  it("prints the same data in each format", async () => {
    const run = (...words: readonly string[]) => runCommand(words, new AbortController().signal);
    for (const command of [["version"], ["localnet", "accounts"], ["localnet", "profile"]]) {
      const { out: json, usage } = await run(...command, "--json");
      expect(usage).toBe("warning: --json will be removed in version 2; use -o json\n");
      expect(await run(...command, "-o", "json")).toMatchObject({ out: json, usage: "" });
      const { out: yaml } = await run(...command, "-o", "yaml");
      expect(yaml).not.toBe(json);
      expect(parse(yaml)).toEqual(JSON.parse(json));
      expect((await run(...command, "-o", "text")).out).toBe((await run(...command)).out);
      expect(await run(...command, "--json", "-o", "yaml")).toMatchObject({ exitCode: 2, out: "" });
      expect((await run(...command, "-o", "xml")).usage).toContain("Allowed choices are text, json, yaml");
    }
  });

  it("has one visible option for the format", () => {
    const others = all.filter(({ command }) =>
      command.options.some(({ long, hidden }) => !hidden && (long === "--json" || long === "--format")),
    );
    expect(others).toEqual([]);
    const [report] = all.filter(({ name }) => name === "report oracle");
    expect(report?.command.options.find(({ short }) => short === "-o")?.argChoices).toEqual([
      "text",
      "json",
      "yaml",
      "markdown",
      "csv",
    ]);
  });

  it("says what would be right, for a wrong value", () => {
    const wrong = ["\u0001", "-1", "99999999999999999999999999999999999999999"];
    const texts = new Set<string>();
    for (const { command } of all)
      for (const { parseArg } of [...command.options, ...command.registeredArguments])
        for (const text of wrong)
          try {
            parseArg?.(text, []);
          } catch (error) {
            texts.add(
              error instanceof InvalidArgumentError
                ? error.message
                : `not an error of ours: ${String(error)}`,
            );
          }
    expect(texts.size).toBeGreaterThan(10);
    const right = /expected|Allowed choices are|must be one of|must be formatted as|such as|at most/;
    expect([...texts].filter((text) => !right.test(text) && !DEPLOYED.test(text))).toEqual([]);
    // A whole number has a lower and an upper limit, and both are named.
    const numbers = [...texts].filter((text) => /number|integer/.test(text));
    expect(numbers.filter((text) => !/\d.*(?:to|and|more)|64/.test(text))).toEqual([]);
  });
});

/** Daemons whose tokens are others: every request is refused as the daemons refuse it. */
function refusingServer(port: number): Promise<Server> {
  const server = createServer((_request, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ error: "unauthorized", message: "send the header Authorization: Bearer <token>" }),
    );
  });
  return new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(server)));
}

describe("a command that a daemon refuses", () => {
  const home = mkdtempSync(join(tmpdir(), "refused-"));
  let servers: readonly Server[] = [];
  let offset = 0;
  let release = (): void => {};

  beforeAll(async () => {
    process.env["XDG_STATE_HOME"] = home;
    ({ offset, release } = await leasePorts());
    const { relayer, watchdog, control } = portsAt(offset);
    servers = await Promise.all([relayer, watchdog, control].map(refusingServer));
  });
  afterAll(() => {
    delete process.env["XDG_STATE_HOME"];
    for (const server of servers) server.close();
    release();
  });

  /** They change something in a daemon, so they send a token. */
  const SENDING = [
    "localnet fault",
    "relayer reload",
    "relayer log-level",
    "relayer dead-letters resubmit",
    "watchdog reload",
    "watchdog log-level",
    "alerts test",
    "alerts ack",
    "alerts unack",
    "alerts silence",
    "alerts unsilence",
  ];
  /** Of the relayer's commands, those that read chains or files, and no daemon. */
  const CHAINS_ONLY = ["once", "dry-run", "doctor", "plan", "import-leveldb"];
  const asking = all.filter(({ path: [first, second = ""] }) => {
    if (first === "relayer" || first === "watchdog") return ![...CHAINS_ONLY, "start"].includes(second);
    return (
      ["alerts", "report", "status", "why", "forecast", "what-if"].includes(first ?? "") || second === "fault"
    );
  });

  it("speaks of tokens and their files, and not of HTTP", async () => {
    const texts = new Map<string, string>();
    for (const { command, path, name } of asking) {
      const [example = path] = examplesOf(command, path);
      const words = example.filter((word, index) => word !== "--config" && example[index - 1] !== "--config");
      const result = await runCommand(
        [...words, "--port-offset", String(offset)],
        new AbortController().signal,
      );
      texts.set(name, result.message ?? result.usage);
    }
    for (const text of texts.values()) expect(text).not.toMatch(/Authorization|Bearer|header/i);
    const refused = [...texts].filter(([, text]) => /refused/.test(text)).map(([name]) => name);
    expect(refused).toEqual(
      expect.arrayContaining([...SENDING, "status", "relayer queries", "report relayer"]),
    );
    for (const name of SENDING) expect(`${name}: ${texts.get(name)}`).toMatch(/control-token|--token-file/);
  }, 120_000);
});
