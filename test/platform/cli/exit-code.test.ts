import { CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import { NodeError } from "../../../src/localnet/node/base/errors.ts";
import { CliError } from "../../../src/platform/base/errors.ts";
import { toExit, StopRequest } from "../../../src/platform/cli/run-process.ts";
import { ConfigError } from "../../../src/platform/config/config.ts";

const FAULT = { file: "a.yaml", line: 2, column: 3, path: "b", text: "is missing (expected text)" };

describe("toExit", () => {
  it.each([
    ["a stop before the result", new StopRequest("SIGINT"), 1, undefined],
    ["a pipe that nobody reads any more", new StopRequest("SIGPIPE"), 1, undefined],
    ["help that was printed", new CommanderError(0, "commander.help", "help"), 0, undefined],
    ["a wrong command line", new CommanderError(1, "commander.unknownOption", "what?"), 2, undefined],
    ["a command's own", new CliError(75, "later"), 75, "later"],
    ["a configuration", new ConfigError([FAULT]), 78, expect.stringContaining("a.yaml:2:3: b: is missing")],
    [
      "another chain",
      new ClientError({ code: "wrong-chain", endpoint: "a", expected: "x", found: "y" }, "not x"),
      78,
      "not x",
    ],
    ["a genesis document", new NodeError({ code: "bad-genesis", path: "" }, "no object"), 78, "no object"],
    ["a lost quorum", new NodeError({ code: "no-quorum", height: 3n }, "no quorum"), 1, "no quorum"],
    ["anything else", new Error("outer", { cause: new Error("inner") }), 1, "outer: inner"],
    ["no error at all", "text", 1, "text"],
  ])("%s", (_name, error, exitCode, message) => {
    expect(toExit(error)).toEqual({ exitCode, message });
  });

  it("is 0 for a daemon that was asked to stop, and not for one that nobody reads any more", () => {
    const codes = (["SIGINT", "SIGTERM", "SIGPIPE"] as const).map((by) => toExit(new StopRequest(by), true));
    expect(codes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 1]);
  });
});
