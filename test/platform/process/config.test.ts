import { writeFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ConfigError, readConfigText, parseConfig } from "../../../src/platform/config/config.ts";
import {
  amountField,
  durationField,
  httpUrlField,
  listenField,
  secretField,
  type SecretSource,
} from "../../../src/platform/config/config-fields.ts";
import { Secret } from "../../../src/platform/base/secret.ts";

const SOURCE: SecretSource = {
  environment: (name) => (name === "HOOK" ? " s3cret \n" : undefined),
  file: (path) => {
    if (path === "/run/token") return "from-file\n";
    throw new Error("ENOENT");
  },
};

const schema = z.strictObject({
  interval: durationField(100).prefault("5s"),
  fee: amountField().optional(),
  listen: listenField().prefault("127.0.0.1:9998"),
  node: z.strictObject({ url: httpUrlField(), retries: z.int().min(1).max(9).default(3) }),
  level: z.enum(["info", "debug"]).default("info"),
  hook: secretField(SOURCE).optional(),
  pairs: z.array(z.string()).default([]),
});

function errorsOf(text: string): readonly string[] {
  try {
    parseConfig({ file: "w.yaml", text }, schema);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
  return [];
}

describe("parseConfig", () => {
  it("reports the second of two equal keys, and a key of JavaScript's objects", () => {
    expect(
      errorsOf("level: info\nnode: {url: http://x, retries: 1, retries: 2}\nlevel: debug\n__proto__: {}"),
    ).toEqual([
      "w.yaml:3:1: is not YAML: Map keys must be unique (expected YAML)",
      "w.yaml:4:1: __proto__: unknown key (expected one of the documented keys)",
      "w.yaml:2:35: is not YAML: Map keys must be unique (expected YAML)",
    ]);
  });

  // A time that grows with the square of the keys would be minutes.
  it("reports 90,000 unknown keys, each at its place", { timeout: 60_000 }, () => {
    const errors = errorsOf(
      `node: {url: http://x}\n${Array.from({ length: 90_000 }, (_, index) => `k${index}: 1\n`).join("")}`,
    );
    expect(errors).toHaveLength(90_000);
    expect(errors.at(-1)).toBe("w.yaml:90001:1: k89999: unknown key (expected one of the documented keys)");
  });

  it("returns defaults, durations in ms, amounts as bigint, deeply frozen", () => {
    const config = parseConfig(
      {
        file: "w.yaml",
        text: 'node: {url: "http://127.0.0.1:26660"}\nfee: "90071992547409931"\ninterval: 1m30s',
      },
      schema,
    );
    expect(config).toEqual({
      interval: 90_000,
      fee: 90071992547409931n,
      listen: { host: "127.0.0.1", port: 9998 },
      node: { url: "http://127.0.0.1:26660/", retries: 3 },
      level: "info",
      pairs: [],
    });
    expect(Object.isFrozen(config.node)).toBe(true);
    expect(Object.isFrozen(config.pairs)).toBe(true);
  });

  it("reports all errors with their positions, in the order of the file", () => {
    const text = [
      "interval: 30",
      "fee: 12",
      'listen: "9998"',
      "node:",
      '  url: "ftp://x"',
      "  retries: 12",
      "  colour: red",
      "level: loud",
      "hook: plain-text-secret",
      "pairs:",
      "  - BTC/USD",
      "  - 7",
    ].join("\n");
    expect(errorsOf(text)).toEqual([
      'w.yaml:1:11: interval: is a number (expected a duration, e.g. "30s")',
      "w.yaml:2:6: fee: is a number (expected a whole number in quotes)",
      'w.yaml:3:9: listen: is not a listen address (expected "host:port", e.g. "127.0.0.1:9998")',
      "w.yaml:5:8: node.url: is not a valid URL (expected http:// or https://, without user name, password or fragment)",
      "w.yaml:6:12: node.retries: is too large (expected 9 or less)",
      "w.yaml:7:3: node.colour: unknown key (expected one of the documented keys)",
      'w.yaml:8:8: level: is not an allowed value (expected "info", "debug")',
      "w.yaml:9:7: hook: is text (expected a reference, {file: path} or {env: NAME}, not the secret itself)",
      "w.yaml:12:5: pairs.1: is a number (expected text)",
    ]);
    expect(errorsOf(text).join()).not.toContain("plain-text-secret");
  });

  it("reports the key __proto__", () => {
    expect(errorsOf('node: {url: "http://h"}\n__proto__: {level: debug}')).toEqual([
      "w.yaml:2:1: __proto__: unknown key (expected one of the documented keys)",
    ]);
  });

  it("reports a missing key at its section", () => {
    expect(errorsOf("level: info\nnode:\n  retries: 2\n")).toEqual([
      "w.yaml:2:1: node.url: is missing (expected a URL, e.g. http://127.0.0.1:26660/metrics)",
    ]);
    expect(errorsOf("")).toEqual(["w.yaml:1:1: node: is missing (expected a section)"]);
    expect(errorsOf("node:\n")).toEqual(["w.yaml:1:1: node: is empty (expected a section)"]);
  });

  it("reports invalid YAML, duplicate keys and alias bombs", () => {
    expect(errorsOf("node: [1, 2")[0]).toMatch(/^w\.yaml:1:\d+: is not YAML: .+ \(expected YAML\)$/);
    expect(errorsOf("level: info\nlevel: debug")[0]).toMatch(
      /^w\.yaml:2:1: is not YAML: Map keys must be unique/,
    );
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [${"*a,".repeat(20)}*a]\nc: [${"*b,".repeat(20)}*b]`;
    expect(errorsOf(bomb)[0]).toMatch(/^w\.yaml:1:1: cannot be converted/);
  });

  it("reads secrets by reference and never prints them", () => {
    const text = 'node: {url: "http://h"}\nhook: {env: HOOK}';
    const { hook } = parseConfig({ file: "w.yaml", text }, schema);
    expect(hook?.reveal()).toBe("s3cret");
    expect(
      `${hook?.toString()} ${String(hook)} ${JSON.stringify({ hook })} ${inspect({ hook })}`,
    ).not.toContain("s3cret");
    expect(
      parseConfig({ file: "w.yaml", text: text.replace("{env: HOOK}", "{file: /run/token}") }, schema).hook,
    ).toBeInstanceOf(Secret);
  });

  it("reports a secret that cannot be read", () => {
    const errors = (reference: string): string =>
      errorsOf(`node: {url: "http://h"}\nhook: ${reference}`).join("\n");
    expect(errors("{env: NO}")).toBe(
      "w.yaml:2:1: hook: environment variable NO is not set (expected the secret in it)",
    );
    expect(errors("{file: /no}")).toBe(
      "w.yaml:2:1: hook: cannot be read: ENOENT (expected a readable file with the secret in it)",
    );
    expect(errors("{}")).toBe(
      "w.yaml:2:1: hook: must refer to the secret in exactly one way (expected either file or env)",
    );
    expect(errors("{env: HOOK, file: /run/token}")).toContain("must refer to the secret in exactly one way");
  });
});

describe("readConfigText", () => {
  it("reads a file and reports a missing file as a configuration error", () => {
    const folder = mkdtempSync(join(tmpdir(), "relaywatch-config-"));
    const file = join(folder, "c.yaml");
    writeFileSync(file, "node: {url: 'https://x.example/metrics'}\n");
    expect(parseConfig(readConfigText(file), schema).node.url).toBe("https://x.example/metrics");
    expect(() => readConfigText(join(folder, "none.yaml"))).toThrow(ConfigError);
    expect(() => readConfigText(join(folder, "none.yaml"))).toThrow(/none\.yaml: file not found$/);
  });
});
