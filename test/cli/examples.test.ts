import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { candidates } from "../../src/cli/commands/completion.ts";
import { manPage } from "../../src/cli/commands/man.ts";
import { examplesOf, exampleHelp, shellText } from "../../src/cli/examples.ts";
import { createProgram } from "../../src/cli/program.ts";
import { accountNamed, CHAINS } from "../../src/localnet/accounts/chains.ts";
import { encodeBech32 } from "../../src/platform/base/bytes.ts";
import { silentLogger } from "../../src/platform/base/logger.ts";
import type { CliContext } from "../../src/platform/cli/cli-context.ts";

/** The whole program: every command is loaded. */
async function wholeProgram(): Promise<Command> {
  const context: CliContext = {
    words: Object.assign([], { includes: () => true }),
    print: () => {},
    signal: new AbortController().signal,
    logger: async () => silentLogger,
    onHangup: () => () => {},
    isTerminal: false,
  };
  return await createProgram(context);
}

interface Leaf {
  readonly command: Command;
  readonly path: readonly string[];
}

function leaves(command: Command, path: readonly string[] = []): readonly Leaf[] {
  const inner = command.commands.filter((one) => one.name() !== "__complete");
  if (inner.length === 0) return [{ command, path }];
  return inner.flatMap((one) => leaves(one, [...path, one.name()]));
}

const program = await wholeProgram();
const all = leaves(program);

/** Parses command lines up to their actions. Returns the errors of the parser by command line. */
async function parseAll(lines: readonly (readonly string[])[]): Promise<ReadonlyMap<string, string>> {
  const fresh = await wholeProgram();
  let output = "";
  let runs = 0;
  for (const { command } of leaves(fresh))
    command.configureOutput({ writeErr: (text) => void (output += text), writeOut: () => {} }).action(() => {
      runs += 1;
    });
  const errors = new Map<string, string>();
  for (const words of lines) {
    [output, runs] = ["", 0];
    await fresh.parseAsync([...words], { from: "user" }).catch((error: unknown) => {
      output += String(error);
    });
    if (runs !== 1 || output !== "") errors.set(words.join(" "), output);
  }
  return errors;
}

/** A word with an address in the place of one that the reader has to fill in: `neutron1CONTRACT`. */
function filled(word: string): string {
  const prefix = /^([a-z]+)1[A-Z]+$/.exec(word)?.[1];
  return prefix === undefined ? word : encodeBech32(prefix, new Uint8Array(20));
}

describe("the examples of the commands", () => {
  it("are command lines that the parser takes, for every command", async () => {
    expect(all.length).toBeGreaterThan(190);
    const examples = all.flatMap(({ command, path }) => examplesOf(command, path));
    expect(await parseAll(examples.map((words) => words.map(filled)))).toEqual(new Map());
    expect([...(await parseAll([["tx", "bank", "send", "x"]])).keys()]).toEqual(["tx bank send x"]);
  });

  it("name no argument that has no value", () => {
    const texts = all.flatMap(({ command, path }) =>
      examplesOf(command, path).map((words) => words.join(" ")),
    );
    expect(texts.filter((text) => /<[a-z-]+>(?!<)/.test(text.replace("<>", "")))).toEqual([]);
  });

  it("have the addresses of the localnet's accounts", () => {
    const [send] = all.filter(({ path }) => path.join(" ") === "tx bank send");
    const words = send === undefined ? [] : examplesOf(send.command, send.path).flat();
    expect(words).toContain(accountNamed(CHAINS.local, "bob").address);
    const [balances] = all.filter(({ path }) => path.join(" ") === "query bank balances");
    expect(balances && examplesOf(balances.command, balances.path)[0]).toContain(
      accountNamed(CHAINS.local, "alice").address,
    );
  });

  it("end the help of a command, quoted for a shell, and not that of a group", () => {
    const place = all.find(({ path }) => path.join(" ") === "query dex list-tick-liquidity");
    expect(place && exampleHelp(place.command, place.path)).toBe(
      "\nExamples:\n  relaywatch query dex list-tick-liquidity 'uibcatom<>untrn' untrn",
    );
    expect(exampleHelp(program, [])).toBe("");
    expect(shellText("relaywatch", ["it's"])).toBe("relaywatch 'it'\\''s'");
  });

  it("are printed by --help", () => {
    let help = "";
    const place = all.find(({ path }) => path.join(" ") === "what-if");
    place?.command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
    expect(help).toContain("Examples:\n  relaywatch what-if --outage 4h");
  });
});

describe("what may follow on a command line", () => {
  const words = (...typed: readonly string[]): readonly string[] =>
    candidates(program, typed).map(({ word }) => word);

  it("are commands and their groups", () => {
    expect(words("qu")).toEqual(["query"]);
    expect(words("tx", "ba")).toEqual(["bank"]);
    expect(words("q", "staking", "validator")).toEqual(["validators", "validator"]);
    expect(words("")).not.toContain("__complete");
  });

  it("are options, and the values of options and arguments", () => {
    expect(words("tx", "bank", "send", "--broad")).toEqual(["--broadcast-mode"]);
    expect(words("tx", "bank", "send", "--broadcast-mode", "")).toEqual(["block", "sync"]);
    expect(words("tx", "bank", "send", "-b", "s")).toEqual(["sync"]);
    expect(words("completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(words("localnet", "start", "local", "re")).toEqual(["remote"]);
    expect(words("config", "init", "relayer", "")).toEqual([]);
    expect(words("tx", "bank", "send", "--node", "")).toEqual([]);
  });
});

describe("manual pages", () => {
  it("have every part of a command", () => {
    const send = all.find(({ path }) => path.join(" ") === "tx bank send");
    const page = send === undefined ? "" : manPage(send.command, send.path);
    expect(page).toMatch(/^\.TH RELAYWATCH-TX-BANK-SEND 1/);
    for (const part of [
      ".SH NAME\nrelaywatch\\-tx\\-bank\\-send \\- send coins",
      ".SH ARGUMENTS\n.TP\n.B to",
      ".B \\-\\-fees <coin>",
      ".SH EXAMPLES\n.nf\nrelaywatch tx bank send neutron1",
      ".BR relaywatch\\-tx\\-bank (1)",
    ])
      expect(page).toContain(part);
    expect(manPage(program, [])).toContain(".SH COMMANDS\n.TP\n.B up");
  });
});
