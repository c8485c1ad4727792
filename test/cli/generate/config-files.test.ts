import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { configFiles, exampleFile } from "../../../src/cli/generate/config-files.ts";
import { keySchema, type KeySchema } from "../../../src/platform/config/key-schema.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { parseConfig } from "../../../src/platform/config/config.ts";
import { relayerConfigSchema } from "../../../src/relayer/config/relayer-config.ts";
import { watchdogConfigSchema } from "../../../src/watchdog/config/config.ts";
import { ROOT } from "../../arch/source-files.ts";

type Json = Record<string, unknown>;

/** Keys that exclude the commented-out one. */
const EXCLUDED: Readonly<Record<string, readonly string[]>> = {
  "signer.keyring": ["signer.mnemonic"],
  "signer.external": ["signer.mnemonic"],
  store: ["state_dir"],
  shards: [],
  "prometheus.token": ["prometheus.username", "prometheus.password"],
  validators: ["chain_id", "consensus_address", "operator_address", "sources", "chain", "status_page"],
};

const secrets = {
  environment: (name: string) =>
    name.endsWith("URL")
      ? "https://hooks.example/x"
      : name.endsWith("TELEGRAM_TOKEN")
        ? "1:abcdefghijklm"
        : "secret",
  file: () => "secret",
};
const DAEMONS = [
  { name: "icq-relayer", schema: relayerConfigSchema(secrets) },
  { name: "oracle-watchdog", schema: watchdogConfigSchema },
] as const;

describe.each(DAEMONS)("the configuration of $name", ({ name, schema }) => {
  const json: Json = JSON.parse(readFileSync(join(ROOT, `config/schema/${name}.schema.json`), "utf8"));
  const text = readFileSync(join(ROOT, `config/${name}.example.yaml`), "utf8");
  const validator = z.fromJSONSchema(json);
  const keys = keySchema(schema);
  const parsed: Json = parse(text);
  const example = (): Json => structuredClone(parsed);
  const isValid = (file: unknown): boolean => validator.safeParse(file).success;
  const isAccepted = (file: unknown): boolean => schema.safeParse(file).success;
  const isParsed = (file: unknown): boolean => {
    try {
      // JSON is YAML, and a thousand texts are written faster so.
      parseConfig({ file: "x", text: JSON.stringify(file) }, schema);
      return true;
    } catch {
      return false;
    }
  };

  beforeEach(() => {
    for (const [, variable = ""] of text.matchAll(/env: (\w+)/g))
      vi.stubEnv(variable, secrets.environment(variable));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("has a schema of draft 2020-12, which the example names and meets", () => {
    expect(json["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema");
    expect(text.split("\n")[0]).toBe(`# yaml-language-server: $schema=schema/${name}.schema.json`);
    expect([...configFiles().keys()]).toContain(`config/schema/${name}.schema.json`);
    expect([isValid(example()), isParsed(example())]).toEqual([true, true]);
  });

  it("describes every key, and allows no other one", () => {
    const sections = [...sectionsOf(keys, "")];
    expect(sections.length).toBeGreaterThan(15);
    for (const { path, section } of sections) {
      expect([path, Reflect.get(section, "additionalProperties")]).toEqual([path, false]);
      for (const [key, value] of Object.entries(section.properties ?? {}))
        expect([`${path}.${key}`, value.description ?? value.const]).toEqual([
          `${path}.${key}`,
          expect.any(String),
        ]);
    }
  });

  it("is refused by schema and parser alike with an unknown key in any section of the example", () => {
    const paths = [...sectionPaths(example())];
    expect(paths.length).toBeGreaterThan(10);
    for (const path of paths) {
      const file = example();
      const section = path.reduce<unknown>((value, key) => Reflect.get(Object(value), key), file);
      Reflect.set(Object(section), "unknown_key", 1);
      expect([path, isValid(file), isParsed(file)]).toEqual([path, false, false]);
    }
  });

  it("is refused by both schemas alike with a value of another type", () => {
    for (const path of sectionPaths(example())) {
      const file = example();
      const section = Object(path.reduce<unknown>((value, key) => Reflect.get(Object(value), key), file));
      for (const [key, value] of Object.entries(section)) {
        if (typeof value !== "string" && typeof value !== "number") continue;
        Reflect.set(section, key, { not: "a value" });
        // Of the parser, only the schema knows types. A text for each of hundreds of values would be parsed.
        expect([...path, key, isValid(file), isAccepted(file)]).toEqual([...path, key, false, false]);
        Reflect.set(section, key, value);
      }
    }
  });

  it("accepts the keys that the example has in comments", () => {
    const commented = [...commentedKeys(keys, "")];
    expect(commented.length).toBeGreaterThan(2);
    for (const [path, value] of commented) {
      const file = example();
      for (const other of EXCLUDED[path] ?? []) remove(file, other);
      set(file, path, value);
      if (path === "shards") set(file, "shards", { count: 1, index: 0 });
      if (path === "validators") Object.assign(file, { backfill: undefined });
      if (path === "sources.sidecar_labels")
        Object.assign(file, { source: "prometheus", sources: { labels: { a: "b" }, sidecar_labels: value } });
      // The parser reads the file of the authorities, which is not on this machine.
      const parses = path === "tls" || isParsed(file);
      expect([path, isValid(JSON.parse(JSON.stringify(file))), parses]).toEqual([path, true, true]);
    }
  });
});

describe("the example of a configuration", () => {
  it("needs an example or a default for each key", () => {
    const schema = keySchema(
      z.strictObject({ a: z.strictObject({ b: z.string().describe("a text") }).describe("a") }),
    );
    expect(() => exampleFile(schema, [])).toThrow("a.b has no example");
  });
});

interface Section {
  readonly path: string;
  readonly section: KeySchema;
}

function* sectionsOf(schema: KeySchema, path: string): Generator<Section> {
  if (schema.properties !== undefined) yield { path, section: schema };
  for (const [key, value] of Object.entries(schema.properties ?? {}))
    yield* sectionsOf(value, `${path}.${key}`);
  for (const inner of [
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ])
    yield* sectionsOf(inner, path);
}

function* sectionPaths(value: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  // `labels` of a node are names that the user chooses.
  if (path.at(-1) === "labels") return;
  if (isRecord(value)) yield path;
  if (isRecord(value) || Array.isArray(value))
    for (const [key, inner] of Object.entries(value)) yield* sectionPaths(inner, [...path, key]);
}

function* commentedKeys(schema: KeySchema, path: string): Generator<readonly [string, unknown]> {
  for (const [key, value] of Object.entries(schema.properties ?? {})) {
    const own = path === "" ? key : `${path}.${key}`;
    if (value.commentedOut === true) yield [own, exampleValue(value)];
    else yield* commentedKeys(value, own);
  }
}

function exampleValue({ examples, default: initial, properties, anyOf = [] }: KeySchema): unknown {
  if (examples !== undefined) return examples[0];
  const section = properties ?? anyOf.find((option) => option.properties !== undefined)?.properties;
  if (section === undefined) return initial;
  return Object.fromEntries(Object.entries(section).map(([key, value]) => [key, exampleValue(value)]));
}

function set(file: Json, path: string, value: unknown): void {
  const keys = path.split(".");
  const section = keys.slice(0, -1).reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), file);
  Reflect.set(Object(section), keys.at(-1) ?? "", value);
}

function remove(file: Json, path: string): void {
  const keys = path.split(".");
  const section = keys.slice(0, -1).reduce<unknown>((inner, key) => Reflect.get(Object(inner), key), file);
  Reflect.deleteProperty(Object(section), keys.at(-1) ?? "");
}
