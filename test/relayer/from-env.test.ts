import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { encodeBech32 } from "../../src/platform/base/bytes.ts";
import { parseDec18 } from "../../src/platform/base/decimal.ts";
import type { SecretSource } from "../../src/platform/config/config-fields.ts";
import type { RelayerConfig } from "../../src/relayer/config/relayer-config.ts";
import {
  EnvironmentError,
  envYaml,
  parseEnvYaml,
  requireUsable,
} from "../../src/relayer/from-env/config-from-env.ts";
import type { ConfigEnvironment } from "../../src/platform/config/daemon-config.ts";
import { readEnv } from "../../src/relayer/from-env/read-env.ts";
import { ENV_VARIABLES, nameVariables } from "../../src/relayer/from-env/variables.ts";
import { envTable } from "../support/env-table.ts";

const secrets: SecretSource = {
  environment: (name) => `secret in ${name}`,
  file: (path) => `secret in ${path}`,
};

/** As `setup/docker-compose.yml` of the chain's integration tests sets them. */
const GO: ConfigEnvironment = {
  RELAYER_NEUTRON_CHAIN_RPC_ADDR: "tcp://neutron-node:26657",
  RELAYER_NEUTRON_CHAIN_REST_ADDR: "http://neutron-node:1317",
  RELAYER_NEUTRON_CHAIN_HOME_DIR: "/data/queryrelayer",
  RELAYER_NEUTRON_CHAIN_SIGN_KEY_NAME: "demowallet3",
  RELAYER_NEUTRON_CHAIN_TIMEOUT: "1000s",
  RELAYER_NEUTRON_CHAIN_GAS_PRICES: "0.5untrn",
  RELAYER_NEUTRON_CHAIN_GAS_ADJUSTMENT: "1.4",
  RELAYER_NEUTRON_CHAIN_DENOM: "untrn",
  RELAYER_NEUTRON_CHAIN_MAX_GAS_PRICE: "1000",
  RELAYER_NEUTRON_CHAIN_GAS_PRICE_MULTIPLIER: "1.1",
  RELAYER_NEUTRON_CHAIN_CONNECTION_ID: "connection-0",
  RELAYER_NEUTRON_CHAIN_DEBUG: "true",
  RELAYER_NEUTRON_CHAIN_KEYRING_BACKEND: "test",
  RELAYER_NEUTRON_CHAIN_OUTPUT_FORMAT: "json",
  RELAYER_NEUTRON_CHAIN_SIGN_MODE_STR: "direct",
  RELAYER_TARGET_CHAIN_RPC_ADDR: "tcp://gaia-node:26657",
  RELAYER_TARGET_CHAIN_TIMEOUT: "10s",
  RELAYER_TARGET_CHAIN_DEBUG: "true",
  RELAYER_TARGET_CHAIN_OUTPUT_FORMAT: "json",
  RELAYER_REGISTRY_ADDRESSES: "",
  RELAYER_ALLOW_TX_QUERIES: "true",
  RELAYER_ALLOW_KV_CALLBACKS: "true",
  RELAYER_STORAGE_PATH: "storage/leveldb",
  RELAYER_LISTEN_ADDR: "0.0.0.0:9999",
  LOGGER_LEVEL: "debug",
};

const GRANTER = encodeBech32("neutron", new Uint8Array(20).fill(7));

const ids = { local: "test-1", remote: "test-2" };

function config(changes: ConfigEnvironment = {}): RelayerConfig {
  const env = readEnv({ ...GO, ...changes });
  requireUsable(env);
  return parseEnvYaml(envYaml(env, ids), secrets).config;
}

/** Returns the lines of the error. */
function problems(changes: ConfigEnvironment): readonly string[] {
  try {
    config(changes);
  } catch (error) {
    if (error instanceof EnvironmentError) return error.facts.problems;
    throw error;
  }
  return [];
}

describe("the variables of the Go relayer", () => {
  it("become a configuration without any other setting", () => {
    expect(config()).toMatchObject({
      chain: { name: "neutron", id: "test-1", rpc: [{ url: "http://neutron-node:26657/" }] },
      signer: { keyring: { home: "/data/queryrelayer", key: "demowallet3", backend: "test" } },
      gas: {
        denom: "untrn",
        adjustment: parseDec18("1.4"),
        price_multiplier: parseDec18("1.1"),
        max_price: parseDec18("1000"),
        fallback_price: parseDec18("0.5"),
      },
      connections: [{ id: "connection-0", chain_id: "test-2", rpc: [{ url: "http://gaia-node:26657/" }] }],
      queries: { owners: [], ids: [], allow_kv_callbacks: true, kv: true, tx: true },
      deadlines: { call: 1_000_000 },
      state_dir: "storage/leveldb",
      http: { listen: { host: "0.0.0.0", port: 9999 } },
      metrics: { go_relayer_names: true },
      log: { level: "debug", format: "json", outputs: ["stderr"], keys: { time: "ts" } },
    });
    expect(readEnv(GO).warnings).toHaveLength(1);
    expect(readEnv(GO).warnings[0]).toContain("RELAYER_INITIAL_TX_SEARCH_OFFSET");
  });

  it.each<[ConfigEnvironment, object]>([
    [
      { RELAYER_REGISTRY_ADDRESSES: " neutron1aaa, neutron1bbb ,", RELAYER_REGISTRY_QUERY_IDS: "7, 8" },
      { queries: { owners: ["neutron1aaa", "neutron1bbb"], ids: [7n, 8n] } },
    ],
    [
      { RELAYER_MIN_KV_UPDATE_PERIOD: "9", RELAYER_INITIAL_TX_SEARCH_OFFSET: "5000" },
      { queries: { min_kv_update_period: 9n, tx_lookback_blocks: 5_000n } },
    ],
    [
      { RELAYER_ALLOW_TX_QUERIES: "0", RELAYER_ALLOW_KV_CALLBACKS: "F" },
      { queries: { tx: false, allow_kv_callbacks: false } },
    ],
    [{ RELAYER_NEUTRON_CHAIN_GAS_LIMIT: "10000000" }, { batch: { gas: 10_000_000n } }],
    [{ RELAYER_NEUTRON_CHAIN_GAS_LIMIT: "0" }, { batch: { gas: config().batch.gas } }],
    [
      { RELAYER_NEUTRON_CHAIN_TIMEOUT: "1m1.5s", RELAYER_TARGET_CHAIN_TIMEOUT: "300ms" },
      { deadlines: { call: 61_500 } },
    ],
    [
      { RELAYER_NEUTRON_CHAIN_GAS_PRICES: "0.1uatom,0.25untrn", RELAYER_NEUTRON_CHAIN_MAX_GAS_PRICE: "1e-2" },
      { gas: { fallback_price: parseDec18("0.25"), max_price: parseDec18("0.01") } },
    ],
    [
      { RELAYER_NEUTRON_CHAIN_GAS_PRICES: "0.5stake", RELAYER_NEUTRON_CHAIN_DENOM: "" },
      { gas: { denom: "stake", fallback_price: parseDec18("0.5") } },
    ],
    [{ RELAYER_LISTEN_ADDR: ":8080" }, { http: { listen: { host: "0.0.0.0", port: 8080 } } }],
    [
      { RELAYER_NEUTRON_CHAIN_RPC_ADDR: "https://a.example, tcp://b:1/" },
      { chain: { rpc: [{ url: "https://a.example/" }, { url: "http://b:1/" }] } },
    ],
    [
      {
        LOGGER_ENCODING: "console",
        LOGGER_OUTPUTPATHS: "stdout,file:///var/log/r.log",
        LOGGER_LEVEL: "FATAL",
      },
      { log: { format: "text", outputs: ["stdout", "/var/log/r.log"], level: "error" } },
    ],
    [
      {
        LOGGER_ENCODERCONFIG_TIMEKEY: "t",
        LOGGER_ENCODERCONFIG_LEVELKEY: "l",
        LOGGER_ENCODERCONFIG_MESSAGEKEY: "m",
      },
      { log: { keys: { time: "t", level: "l", message: "m" } } },
    ],
    [{ RELAYER_FEE_GRANTER: GRANTER, RELAYER_MEMO: "hi" }, { signer: { fee_granter: GRANTER, memo: "hi" } }],
    [{ RELAYER_OPEN_RESUBMIT: "true" }, { http: { open_resubmit: true } }],
    [
      { RELAYER_NEUTRON_CHAIN_CHAIN_ID: "pinned-1", RELAYER_TARGET_CHAIN_CHAIN_ID: "pinned-2" },
      { chain: { id: "pinned-1" }, connections: [{ chain_id: "pinned-2" }] },
    ],
  ])("%j are understood", (changes, expected) => {
    expect(config(changes)).toMatchObject(expected);
  });

  it("matches errors with the regular expression of the Go relayer", () => {
    const { tx_dead_letter_errors: errors } = config({
      RELAYER_IGNORE_ERRORS_REGEX: "(execute wasm contract failed|failed to build tx query string)",
    }).queries;
    expect(errors?.test("x: execute wasm contract failed: y")).toBe(true);
    expect(errors?.test("out of gas")).toBe(false);
    expect(config({ RELAYER_IGNORE_ERRORS_REGEX: "(?i)OUT OF GAS" }).queries.tx_dead_letter_errors).toEqual(
      /OUT OF GAS/i,
    );
  });

  it("name keys by reference, so that no secret is in the YAML", () => {
    const env = readEnv({
      ...GO,
      RELAYER_NEUTRON_CHAIN_KEYRING_BACKEND: "file",
      RELAYER_NEUTRON_CHAIN_KEYRING_PASSWORD: "correct horse",
      RELAYER_HTTP_TOKEN: "sesame",
    });
    const yaml = envYaml(env, ids);
    expect(yaml).not.toMatch(/correct horse|sesame/);
    const parsed = parseEnvYaml(yaml, secrets).config;
    expect(parsed.signer.keyring?.backend).toBe("file");
    expect(parsed.signer.keyring?.password?.reveal()).toBe(
      "secret in RELAYER_NEUTRON_CHAIN_KEYRING_PASSWORD",
    );
    expect(parsed.http.token?.reveal()).toBe("secret in RELAYER_HTTP_TOKEN");
    const words = config({ RELAYER_MNEMONIC_FILE: "/run/words", RELAYER_NEUTRON_CHAIN_HOME_DIR: "" });
    expect(words.signer.keyring).toBeUndefined();
    expect(words.signer.mnemonic?.reveal()).toBe("secret in /run/words");
  });

  it("quote amounts in the YAML, which has the forms of the example file", () => {
    const parsed: unknown = parse(envYaml(readEnv({ ...GO, RELAYER_MIN_KV_UPDATE_PERIOD: "3" }), ids));
    expect(parsed).toMatchObject({ gas: { adjustment: "1.4" }, queries: { min_kv_update_period: "3" } });
  });

  it("sign with the backend test for every other backend, as the Go relayer does, and say so", () => {
    for (const backend of ["file", "os", "kwallet"]) {
      const changes = { RELAYER_NEUTRON_CHAIN_KEYRING_BACKEND: backend };
      expect(config(changes).signer.keyring?.backend).toBe("test");
      expect(readEnv({ ...GO, ...changes }).warnings.join("\n")).toContain("the test backend signs");
    }
  });
});

describe("an environment that cannot be used", () => {
  it("gets one line for each variable, with its name and without its value", () => {
    expect(
      problems({
        RELAYER_NEUTRON_CHAIN_RPC_ADDR: "node:26657",
        RELAYER_NEUTRON_CHAIN_SIGN_KEY_NAME: "",
        RELAYER_NEUTRON_CHAIN_TIMEOUT: "10",
        RELAYER_NEUTRON_CHAIN_GAS_ADJUSTMENT: "-1",
        RELAYER_NEUTRON_CHAIN_GAS_PRICES: "0.5uatom",
        RELAYER_NEUTRON_CHAIN_CONNECTION_ID: "  ",
        RELAYER_ALLOW_TX_QUERIES: "yes",
        RELAYER_STORAGE_PATH: undefined,
        LOGGER_ENCODING: "xml",
      }),
    ).toEqual([
      "RELAYER_NEUTRON_CHAIN_RPC_ADDR: is not a URL (expected http://, https:// or tcp://)",
      "RELAYER_NEUTRON_CHAIN_CONNECTION_ID: is missing (expected a value)",
      "RELAYER_NEUTRON_CHAIN_SIGN_KEY_NAME: is missing (expected a value)",
      "RELAYER_NEUTRON_CHAIN_GAS_ADJUSTMENT: is not a positive number (expected a number, e.g. 0.0053)",
      "RELAYER_NEUTRON_CHAIN_GAS_PRICES: has no price in untrn (expected coins, e.g. 0.0053untrn)",
      "RELAYER_ALLOW_TX_QUERIES: is not a boolean (expected true or false)",
      "RELAYER_NEUTRON_CHAIN_TIMEOUT: is not a duration (expected a number with a unit, e.g. 10s)",
      "RELAYER_STORAGE_PATH: is missing (expected a value)",
      "LOGGER_ENCODING: is not an allowed value (expected json, console)",
    ]);
  });

  it("gets the names of variables for errors of the schema too", () => {
    expect(problems({ RELAYER_LISTEN_ADDR: "9999" })[0]).toMatch(
      /^RELAYER_LISTEN_ADDR: is not a listen address/,
    );
    expect(problems({ RELAYER_REGISTRY_QUERY_IDS: "1,x" })[0]).toMatch(/^RELAYER_REGISTRY_QUERY_IDS: /);
    expect(problems({ RELAYER_IGNORE_ERRORS_REGEX: "(" })[0]).toMatch(/^RELAYER_IGNORE_ERRORS_REGEX: /);
    expect(problems({ RELAYER_FEE_GRANTER: "neutron1x" })[0]).toMatch(
      /^RELAYER_FEE_GRANTER: is not an address/,
    );
  });

  it("gets advice with the names of its variables", () => {
    expect(nameVariables("raise gas.max_price, or wait")).toBe(
      "raise RELAYER_NEUTRON_CHAIN_MAX_GAS_PRICE, or wait",
    );
    expect(nameVariables("no response for 5 s (connect ECONNREFUSED 10.0.0.5:26657); check chain.rpc")).toBe(
      "no response for 5 s (connect ECONNREFUSED 10.0.0.5:26657); check RELAYER_NEUTRON_CHAIN_RPC_ADDR",
    );
    expect(nameVariables("compare queries.owners and queries.ids with the registered queries.")).toBe(
      "compare RELAYER_REGISTRY_ADDRESSES and RELAYER_REGISTRY_QUERY_IDS with the registered queries.",
    );
    // It has no variable, and another one is only a part of it.
    const rest = "spending.reserve, gas.denomination, other.gas.denom and chain.rpc.x stay";
    expect(nameVariables(rest)).toBe(rest);
  });

  it("is warned about variables that nobody reads, unless they are empty", () => {
    const { warnings } = readEnv({
      ...GO,
      RELAYER_INITIAL_TX_SEARCH_OFFSET: "10",
      RELAYER_WEBSERVER_PORT: "9999",
      RELAYER_TARGET_CHAIN_CLIENT_ID: "07-tendermint-0",
      RELAYER_ALOW_TX_QUERIES: "true",
      LOGGER_ENCODERCONFIG_NAMEKEY: "n",
      LOGGER_CFG_PATH: "",
      HOME: "/root",
    });
    expect(warnings).toEqual([
      "LOGGER_ENCODERCONFIG_NAMEKEY has no effect: only the keys for time, level and message can be changed",
      "RELAYER_ALOW_TX_QUERIES has no effect: unknown setting; check its spelling",
      "RELAYER_TARGET_CHAIN_CLIENT_ID has no effect: the Go relayer does not read it either",
      "RELAYER_WEBSERVER_PORT has no effect: set RELAYER_LISTEN_ADDR",
    ]);
  });
});

describe("the table of variables", () => {
  it("is in the document for operators", () => {
    const page = readFileSync(new URL("../../docs/from-neutron-query-relayer.md", import.meta.url), "utf8");
    expect(page).toContain(envTable());
  });

  it("names each once, with a key of the configuration or a reason", () => {
    const names = ENV_VARIABLES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, key, note } of ENV_VARIABLES) expect(key !== "" || note !== "", name).toBe(true);
  });
});
