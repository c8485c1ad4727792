import { execFileSync, spawn } from "node:child_process";
import { afterAll, describe, expect, it } from "vitest";
import { openCliHome, until } from "../support/e2e/cli-process.ts";
import { programPath } from "../support/stack/programs.ts";
import { createTerminalScreen } from "../support/terminal-screen.ts";

const COLUMNS = 100;
const ESCAPE = "\u001b";
const SEQUENCES = new RegExp(`${ESCAPE}\\[[?\\d;]*[A-Za-z]`, "gu");

describe("relaywatch up on a terminal", async () => {
  const home = await openCliHome();
  afterAll(home.close);

  /** Starts a command in a terminal of its own, whose name is the first line of the output. */
  function startInTerminal(command: string) {
    const environment = {
      PATH: process.env["PATH"],
      HOME: home.directory,
      XDG_STATE_HOME: `${home.directory}/state`,
      TERM: "xterm",
    };
    const script = `tty; stty cols ${COLUMNS} rows 40; exec ${command}`;
    const child = spawn(programPath("script"), ["-qefc", script, "/dev/null"], { env: environment });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const exited = new Promise<number | null>((resolve) => child.on("close", resolve));
    return {
      output: () => output,
      type: (text: string) => child.stdin.write(text),
      exited,
      kill: () => child.kill("SIGKILL"),
    };
  }

  it("changes one block in place, follows the size of the terminal, and restores the cursor", async () => {
    const up = startInTerminal(
      `${process.execPath} dist/program/relaywatch.js up --port-offset ${home.portOffset}`,
    );
    try {
      await until("the hint", () =>
        up.output().includes("The first result is on the chain") ? true : undefined,
      );
      const screen = createTerminalScreen(COLUMNS);
      screen.write(up.output().replace(/^.*\n/, ""));
      const shown = screen.rows().join("\n");
      expect(shown.match(/^Relaywatch, running for/gm)).toHaveLength(1);
      expect(shown).toMatch(/^icq-relayer +http/m);
      expect(shown).toMatch(
        / {2}a fault {3}relaywatch localnet fault sidecar-down --for 2m --port-offset \d+$/m,
      );
      expect(screen.isCursorVisible()).toBe(false);
      const before = up.output().length;
      const after = (): string => up.output().slice(before).replaceAll(SEQUENCES, "");
      const [terminal = ""] = up.output().split(/\r?\n/);
      execFileSync("stty", ["-F", terminal.trim(), "cols", "40"]);
      const cut = (): readonly string[] =>
        after()
          .split(/\r?\n/)
          .filter((line) => line.endsWith("…"));
      await until("cut lines", () => (cut().some((line) => line.length === 39) ? true : undefined));
      const [, ...whole] = after()
        .split(/\r?\n/)
        .slice(
          after()
            .split(/\r?\n/)
            .findIndex((line) => line.length === 39),
        );
      expect(
        whole.filter((line) => /^(?:chain|relayer|oracle|pages)/.test(line) && line.length > 39),
      ).toEqual([]);
      up.type("\u0003");
      expect(await up.exited).toBe(0);
      expect(up.output().lastIndexOf("\u001b[?25h")).toBeGreaterThan(up.output().lastIndexOf("\u001b[?25l"));
    } finally {
      up.kill();
    }
  });

  it("keeps the state in --home, and prints plain lines when it is not on a terminal", async () => {
    const state = `${home.directory}/kept`;
    const first = await home.run("up", "--until-first-result", "--home", state, "$PORTS");
    expect([first.code, first.stdout]).toEqual([0, expect.not.stringContaining("\u001b")]);
    const height = (text: string): number => Number(/local-1 (\d+), remote-1/.exec(text)?.[1]);
    const second = await home.run("up", "--until-first-result", "--home", state, "$PORTS");
    expect(second.code).toBe(0);
    expect(height(second.stdout)).toBeGreaterThan(height(first.stdout));
  });
});
