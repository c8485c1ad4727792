import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LogLevel } from "../../../src/platform/base/logger.ts";
import { PassThrough, Writable } from "node:stream";
import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { CodedError } from "../../../src/platform/base/errors.ts";
import { parseConfig } from "../../../src/platform/config/config.ts";
import { type LogConfig, logSchema } from "../../../src/platform/config/config-fields.ts";
import { createLogger, openConfiguredLogger } from "../../../src/platform/process/logger.ts";
import { Secret } from "../../../src/platform/base/secret.ts";
import { createShutdown, StopRequest } from "../../../src/platform/cli/run-process.ts";

class SampleError extends CodedError<{ readonly code: "sample"; readonly height: bigint }> {}

function capture(level: LogLevel, pretty = false) {
  const stream = new PassThrough();
  const chunks: string[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk.toString()));
  const logger = createLogger({ level, pretty, stream });
  return { logger, text: () => chunks.join("") };
}

describe("createLogger", () => {
  it("writes one JSON object per line, errors without stack", () => {
    const { logger, text } = capture("info");
    const error = new SampleError({ code: "sample", height: 7n }, "it broke", { cause: new Error("a wire") });
    logger
      .child({ source: "node" })
      .warn("scrape failed", { error, height: 9007199254740993n, token: new Secret("x1y2") });
    logger.debug("not written");
    const lines = text().trim().split("\n");
    expect(lines).toHaveLength(1);
    const line: unknown = JSON.parse(lines[0] ?? "");
    expect(line).toMatchObject({
      level: "warn",
      msg: "scrape failed",
      source: "node",
      height: "9007199254740993",
      token: "[redacted]",
      error: { type: "SampleError", message: "it broke: a wire", facts: { code: "sample", height: "7" } },
    });
    expect(text()).not.toContain("stack");
  });

  it("adds the stack at level debug", () => {
    const { logger, text } = capture("debug");
    logger.error("failed", { error: new Error("x") });
    expect(text()).toContain('"stack":"Error: x');
  });

  it("writes readable lines with pretty", () => {
    const { logger, text } = capture("info", true);
    logger.info("listening", { port: 9998 });
    expect(text()).toMatch(/INFO.*listening/);
    expect(text()).toContain("port: 9998");
  });
});

describe("createShutdown", () => {
  it("aborts at the first signal, exits at the second, and can be disposed", () => {
    const source = new EventEmitter();
    const exits: number[] = [];
    let nowMs = 7_000;
    const { signal, dispose } = createShutdown({
      process: source,
      exit: (code) => exits.push(code),
      monotonicMs: () => nowMs,
    });
    expect(signal.aborted).toBe(false);
    source.emit("SIGTERM", "SIGTERM");
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(StopRequest);
    expect(exits).toEqual([]);
    nowMs += 100; // the same Ctrl-C, passed on by npm
    source.emit("SIGINT", "SIGINT");
    expect(exits).toEqual([]);
    nowMs += 1_000;
    source.emit("SIGINT", "SIGINT");
    expect(exits).toEqual([1]);
    dispose();
    expect(source.listenerCount("SIGINT") + source.listenerCount("SIGTERM")).toBe(0);
  });
});

describe("openConfiguredLogger", () => {
  const settings = (yaml: string): LogConfig => parseConfig({ file: "log", text: yaml }, logSchema());
  function streams() {
    const captured = { stdout: "", stderr: "" };
    const open = (name: "stdout" | "stderr"): PassThrough => {
      const stream = new PassThrough();
      stream.on("data", (chunk: Buffer) => (captured[name] += chunk.toString()));
      return stream;
    };
    return { captured, process: { stdout: open("stdout"), stderr: open("stderr") } };
  }

  it("writes to every output, with the configured names of fields", () => {
    const file = join(mkdtempSync(join(tmpdir(), "log-")), "relayer.log");
    const { captured, process } = streams();
    const log = settings(`outputs: [stdout, ${file}]\nkeys: { time: ts, level: severity, message: text }`);
    const logger = openConfiguredLogger("info", log, process);
    logger.info("it works", { height: 7n });
    expect(captured.stderr).toBe("");
    expect(captured.stdout).toBe(readFileSync(file, "utf8"));
    expect(JSON.parse(captured.stdout)).toEqual({
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      severity: "info",
      text: "it works",
      height: "7",
    });
    openConfiguredLogger("info", settings(`outputs: [${file}]`), process).info("appended");
    expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(2);
  });

  it("prints JSON unless the output is a terminal or text is wanted", () => {
    const { captured, process } = streams();
    openConfiguredLogger("info", settings(""), process).info("as json");
    openConfiguredLogger("info", settings("format: text"), process).info("as text");
    openConfiguredLogger("info", settings(""), {
      ...process,
      stderr: Object.assign(process.stderr, { isTTY: true }),
    }).info("on a terminal");
    const lines = captured.stderr.trim().split("\n");
    expect(lines.map((line) => line.startsWith("{"))).toEqual([true, false, false]);
  });

  it("refuses an output that cannot be opened", () => {
    const { process } = streams();
    expect(() => openConfiguredLogger("info", settings("outputs: [/nowhere/x.log]"), process)).toThrow(
      /cannot open the log output \/nowhere\/x\.log/,
    );
  });
});

describe("the level of a process", () => {
  it("changes for all loggers, children too", () => {
    const lines: string[] = [];
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        lines.push(chunk.toString());
        done();
      },
    });
    const logger = createLogger({ level: "warn", pretty: false, stream });
    const child = logger.child({ part: "a" });
    child.info("unseen");
    logger.level?.set("debug");
    child.debug("seen");
    logger.level?.set("error");
    child.warn("unseen");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: "debug", part: "a", msg: "seen" }]);
    expect(logger.level?.current()).toBe("error");
  });
});
