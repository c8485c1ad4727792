import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isRecord } from "../../../src/platform/base/json.ts";
import { ConfigError } from "../../../src/platform/config/config.ts";
import {
  amountField,
  durationField,
  secretField,
  withoutSecrets,
} from "../../../src/platform/config/config-fields.ts";
import {
  type ConfigKind,
  givesVariables,
  readDaemonConfig,
  variableName,
} from "../../../src/platform/config/daemon-config.ts";
import {
  effectiveConfig,
  effectiveJson,
  effectiveYaml,
  keyFingerprints,
} from "../../../src/platform/config/effective-config.ts";
import { isSecret, keyLeaves, keySchema } from "../../../src/platform/config/key-schema.ts";
import { relayerConfigKind } from "../../../src/relayer/config/relayer-config.ts";
import { watchdogConfigKind } from "../../../src/watchdog/config/config.ts";

const secrets = {
  environment: (name: string): string | undefined => (name === "NONE" ? undefined : `secret of ${name}`),
  file: (path: string) => `secret in ${path}`,
};

const schema = z.strictObject({
  gas: z
    .strictObject({
      max_price: z.string().default("1"),
      limit: z.int().default(3),
      amount: amountField().prefault("5"),
    })
    .prefault({}),
  every: durationField().prefault("30s"),
  ids: z.array(z.string()).default([]),
  on: z.boolean().default(false),
  page: z.string().nullable().optional(),
  store: z.preprocess(
    (given) => (typeof given === "string" ? { url: given } : given),
    z.strictObject({ url: z.string(), size: z.int().default(1) }).optional(),
  ),
  token: secretField(secrets).optional(),
});
const kind: ConfigKind<z.output<typeof schema>> = { name: "icq-relayer", prefix: "APP_", schema };

function read(text: string, environment: Record<string, string> = {}) {
  return readDaemonConfig(kind, { file: "a.yaml", text }, environment);
}

function errorsOf(text: string, environment: Record<string, string>): string {
  try {
    read(text, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the configuration is good");
}

describe("environment variables", () => {
  it("take precedence over the file, and the file over the defaults", () => {
    const text = "gas: {max_price: '2', limit: 4}\non: true\n";
    const { config } = read(text, { APP_GAS_MAX_PRICE: "07", APP_IDS: "[a, b]", APP_PAGE: "null" });
    expect(config).toEqual({
      gas: { max_price: "07", limit: 4, amount: 5n },
      every: 30_000,
      ids: ["a", "b"],
      on: true,
      page: null,
    });
    expect(read("", { APP_ON: "true", APP_GAS_LIMIT: "9" }).config).toMatchObject({
      on: true,
      gas: { limit: 9 },
    });
    // An empty variable is not set.
    expect(read(text, { APP_GAS_LIMIT: "", OTHER: "1" }).config.gas.limit).toBe(4);
  });

  it("do not change another section of the file that an alias shares", () => {
    const aliases = z.strictObject({ a: z.strictObject({ n: z.int() }), b: z.strictObject({ n: z.int() }) });
    const parsed = readDaemonConfig(
      { name: "icq-relayer", prefix: "X_", schema: aliases },
      { file: "a.yaml", text: "a: &a {n: 1}\nb: *a\n" },
      { X_B_N: "2" },
    );
    expect(parsed.config).toEqual({ a: { n: 1 }, b: { n: 2 } });
  });

  it("hold a secret, or name its file", () => {
    expect(read("", { APP_TOKEN: "abc" }).input).toEqual({ token: { env: "APP_TOKEN" } });
    expect(read("", { APP_TOKEN: "abc" }).config.token?.reveal()).toBe("secret of APP_TOKEN");
    expect(read("", { APP_TOKEN_FILE: "/run/t" }).config.token?.reveal()).toBe("secret in /run/t");
    expect(errorsOf("", { APP_TOKEN: "abc", APP_TOKEN_FILE: "/run/t" })).toBe(
      "APP_TOKEN_FILE: token: cannot be combined with APP_TOKEN (expected only one of the two)",
    );
  });

  it("are reported by their names, all errors together", () => {
    expect(errorsOf("every: 1\n", { APP_GAS_LIMIT: "many", APP_GAS_MAXPRICE: "1", APP_IDS: "[a" })).toBe(
      [
        "APP_GAS_MAXPRICE: does not correspond to any key (expected for example APP_GAS_MAX_PRICE, for gas.max_price)",
        "APP_IDS: is not YAML (expected a value as in the YAML file)",
        "APP_GAS_LIMIT: gas.limit: is text (expected a number)",
        'a.yaml:1:8: every: is a number (expected a duration, e.g. "30s")',
      ].join("\n"),
    );
    expect(errorsOf("store: text\n", { APP_STORE_SIZE: "2" })).toBe(
      "APP_STORE_SIZE: store.size: cannot be set, because store is text in the file (expected a section there)",
    );
  });

  it("of Kubernetes services are no keys", () => {
    const links = {
      APP_SERVICE_HOST: "10.0.0.1",
      APP_SERVICE_PORT: "9999",
      APP_SERVICE_PORT_HTTP: "9999",
      APP_PORT: "tcp://10.0.0.1:9999",
      APP_PORT_9999_TCP: "tcp://10.0.0.1:9999",
      APP_PORT_9999_TCP_ADDR: "10.0.0.1",
    };
    expect(read("", links).config.on).toBe(false);
    expect(errorsOf("", { APP_PORT: "9999" })).toContain("APP_PORT: does not correspond to any key");
  });

  it("replace the localnet, and so its options", () => {
    expect(givesVariables(kind, { portOffset: 5 }, { APPLE: "1" })).toBe(false);
    expect(givesVariables(kind, { portOffset: 0 }, { APP_ON: "true" })).toBe(true);
    expect(() => givesVariables(kind, { portOffset: 5 }, { APP_ON: "true" })).toThrow(
      "APP_ON: is a configuration variable",
    );
  });

  it.each([relayerConfigKind(secrets), watchdogConfigKind])("of $name have one name for each key", (one) => {
    const leaves = keyLeaves(keySchema(one.schema));
    expect(leaves.length).toBeGreaterThan(40);
    const names = leaves.flatMap(({ path, schema: own }) => {
      const name = variableName(one, path);
      return isSecret(own) ? [name, `${name}_FILE`] : [name];
    });
    expect(new Set(names).size).toBe(names.length);
    for (const name of names)
      expect(name).toMatch(/^RELAYWATCH_(?:RELAYER|WATCHDOG)_(?!SERVICE_|PORT_)[A-Z0-9_]+$/);
  });
});

describe("effectiveConfig", () => {
  const show = (withOrigin: boolean, isRedacted: boolean) =>
    effectiveYaml(effectiveConfig(kind, read("token: {env: T}\n\nids:\n  - a\n", { APP_EVERY: "5s" })), {
      withOrigin,
      isRedacted,
    });

  it("has all keys, their origins, and no secret", () => {
    expect(show(true, true)).toBe(
      [
        "gas:",
        '  max_price: "1" # default',
        "  limit: 3 # default",
        '  amount: "5" # default',
        "every: 5s # APP_EVERY",
        "# a.yaml:3",
        "ids:",
        "  - a",
        "on: false # default",
        'token: "[redacted]" # a.yaml:1',
        "",
        "# Keys without a value:",
        "#   page",
        "#   store.url",
        "#   store.size",
        "",
      ].join("\n"),
    );
  });

  it("is a file with the same effect when the references of secrets are printed", () => {
    const { config } = read(show(false, false));
    expect(config).toEqual(read("token: {env: T}\nids: [a]\nevery: 5s\n").config);
  });

  it("is JSON, with origins by key", () => {
    const effective = effectiveConfig(kind, read("on: true\n"));
    const json: unknown = JSON.parse(effectiveJson(effective, { withOrigin: true, isRedacted: true }));
    expect(json).toMatchObject({ values: { on: true }, origins: { on: "a.yaml:1", "gas.limit": "default" } });
  });

  it("needs no secret", () => {
    expect(() => read("token: {env: NONE}\n")).toThrow("NONE is not set");
    expect(withoutSecrets(() => read("token: {env: NONE}\n")).config.token).toBeDefined();
    expect(() => withoutSecrets(() => read("token: text\n"))).toThrow("is text");
    // Afterwards, secrets are read again.
    expect(() => read("token: {env: NONE}\n")).toThrow("NONE is not set");
  });

  it("leaves out defaults that contradict what is given", () => {
    const text = "validators: [{name: a, nodes: [{name: n}]}]\n";
    const parsed = readDaemonConfig(watchdogConfigKind, { file: "w.yaml", text }, {});
    const effective = effectiveConfig(watchdogConfigKind, parsed);
    const shown = effectiveYaml(effective, { withOrigin: false, isRedacted: true });
    expect(effective.keys.map(({ leaf }) => leaf.path.join("."))).not.toContain("sources.node");
    const again = readDaemonConfig(watchdogConfigKind, { file: "shown", text: shown }, {});
    expect(again.config).toEqual(parsed.config);
  });

  it("fills the defaults of a channel by its kind", () => {
    const channel = "{kind: email, name: m, host: h, from: a@b.example, to: [c@d.example]}";
    const parsed = readDaemonConfig(
      watchdogConfigKind,
      { file: "w.yaml", text: `notify: {channels: [${channel}]}\n` },
      {},
    );
    const found = effectiveConfig(watchdogConfigKind, parsed).keys.find(
      ({ leaf }) => leaf.path[1] === "channels",
    );
    const [first] = Array.isArray(found?.value) ? found.value : [];
    expect(isRecord(first) && first).toMatchObject({ kind: "email", port: 587, security: "starttls" });
  });
});

describe("keyFingerprints", () => {
  it("differ for another value and for another secret at the same place", () => {
    const parsed = read("token: {env: T}\n");
    const of = (secret: string) => keyFingerprints(kind, parsed, { ...secrets, environment: () => secret });
    expect([...of("a")]).toEqual([...of("a")]);
    expect(of("a").get("token")).not.toBe(of("b").get("token"));
    expect(of("a").get("token")).not.toContain('"a"');
    expect(keyFingerprints(kind, read("every: 31s\n")).get("every")).not.toBe(of("a").get("every"));
    // A default and the same value in the file are equal.
    expect(keyFingerprints(kind, read("every: 30s\n")).get("every")).toBe(of("a").get("every"));
  });
});
