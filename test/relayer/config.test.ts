import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseDec18 } from "../../src/platform/base/decimal.ts";
import { ConfigError, parseConfig } from "../../src/platform/config/config.ts";
import { budgetOf } from "../../src/relayer/config/amount-config.ts";
import { relayerConfigSchema } from "../../src/relayer/config/relayer-config.ts";

const schema = relayerConfigSchema({ environment: () => "twelve words", file: () => "twelve words" });
const example = readFileSync(new URL("../../config/icq-relayer.example.yaml", import.meta.url), "utf8");

/** Returns the lines of the error message; empty for a valid configuration. */
function errors(text: string): readonly string[] {
  try {
    parseConfig({ file: "relayer.yaml", text }, schema);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split("\n");
    throw error;
  }
}

describe("the relayer's configuration", () => {
  it("accepts the example, which shows the defaults", () => {
    const config = parseConfig({ file: "example", text: example }, schema);
    expect(config.gas.adjustment).toBe(parseDec18("1.3"));
    expect(config.batch).toEqual({
      gas: 15_000_000n,
      bytes: 400_000,
      results: 300,
      block_share: 900_000_000_000_000_000n,
    });
    const minimal = `chain: { id: a-1, rpc: ["http://127.0.0.1:1"] }
signer: { mnemonic: { env: X } }
connections: [{ id: connection-0, chain_id: b-1, rpc: ["http://127.0.0.1:2"] }]`;
    const defaults = parseConfig({ file: "minimal", text: minimal }, schema);
    for (const section of [
      "gas",
      "queries",
      "batch",
      "retry",
      "deadlines",
      "health",
      "lease",
      "history",
      "http",
      "metrics",
      "log",
    ] as const) {
      expect(defaults[section], section).toEqual(config[section]);
    }
  });

  it("takes exactly one key, and a password for a keyring of the backend file", () => {
    const signer = (yaml: string): readonly string[] =>
      errors(example.replace(/^signer:.*\n(?: .*\n)+/m, `signer: ${yaml}\n`));
    expect(signer("{ mnemonic: { env: X } }")).toEqual([]);
    expect(signer("{ keyring: { home: /h, key: k } }")).toEqual([]);
    expect(signer("{ keyring: { home: /h, key: k, backend: file, password: { env: X } } }")).toEqual([]);
    expect(signer("{}")[0]).toMatch(/signer: selects no key \(expected mnemonic, keyring or external\)/);
    expect(signer("{ mnemonic: { env: X }, keyring: { home: /h, key: k } }")[0]).toMatch(/selects two keys/);
    const three = "mnemonic: { env: X }, keyring: { home: /h, key: k }, external: { command: [a] }";
    expect(signer(`{ ${three} }`)[0]).toMatch(/selects three keys/);
    expect(signer("{ external: { command: [] } }")[0]).toMatch(/signer\.external\.command/);
    expect(signer("{ external: { command: [a], deadline: 1ms } }")[0]).toMatch(/signer\.external\.deadline/);
    expect(signer("{ external: { command: [a], concurrency: 0 } }")[0]).toMatch(
      /signer\.external\.concurrency/,
    );
    expect(signer("{ external: { command: a b } }")[0]).toMatch(/signer\.external\.command/);
    expect(signer("{ keyring: { home: /h, key: k, backend: file } }")[0]).toMatch(
      /signer\.keyring\.password: is missing/,
    );
    expect(signer("{ keyring: { home: /h, key: k, backend: os } }")[0]).toMatch(/"test", "file"/);
  });

  it("hides the mnemonic", () => {
    const config = parseConfig({ file: "example", text: example }, schema);
    expect(
      JSON.stringify(config, (_key, value: unknown) => (typeof value === "bigint" ? `${value}` : value)),
    ).not.toContain("twelve words");
  });

  it("reports every error with its position", () => {
    const text = example
      .replace("id: neutron-1", "idd: neutron-1")
      .replace('"1.3"', "1.3")
      .replace("  first: 2s", "  first: soon")
      .replace("127.0.0.1:9999", "9999");
    const found = errors(text);
    expect(found).toHaveLength(5);
    expect(found.join("\n")).toMatch(/relayer\.yaml:\d+:\d+: chain\.idd: unknown key; did you mean id\?/);
    expect(found.join("\n")).toMatch(/chain\.id: is missing/);
    expect(found.join("\n")).toMatch(/gas\.adjustment: is a number/);
    expect(found.join("\n")).toMatch(/retry\.first/);
    expect(found.join("\n")).toMatch(/http\.listen/);
  });

  it("refuses a share of more than a block, or of almost nothing", () => {
    const share = (text: string): readonly string[] =>
      errors(example.replace(/^ {2}block_share: .*$/m, `  block_share: "${text}"`));
    expect(share("1")).toEqual([]);
    expect(share("1.01").join()).toMatch(/batch\.block_share: is not a share of a block .*"0\.001" to "1"/);
    expect(share("0.0009").join()).toMatch(/batch\.block_share/);
  });

  it("takes up to 0.3 of a trusting period as a notice: the relayer refreshes a client once a third is left", () => {
    const share = (value: string): readonly string[] =>
      errors(example.replace('trusting_period_share: "0.2"', `trusting_period_share: "${value}"`));
    expect(share("0.3")).toEqual([]);
    expect(share("0.300000000000000001")).toEqual([
      expect.stringMatching(
        /health\.client_expires_soon\.trusting_period_share: is not a share of a trusting period \(expected .* up to "0\.3"\)/,
      ),
    ]);
  });

  it("takes the budget of a month in base units, or in the display units that it knows", () => {
    const minimal = (gas: string, budget: string): string => `chain: { id: a-1, rpc: ["http://127.0.0.1:1"] }
signer: { mnemonic: { env: X } }
connections: [{ id: connection-0, chain_id: b-1, rpc: ["http://127.0.0.1:2"] }]
gas: ${gas}
spending: { budget: "${budget}" }`;
    const budget = (gas: string, text: string): bigint | undefined =>
      budgetOf(parseConfig({ file: "minimal", text: minimal(gas, text) }, schema));
    const display = "{ display: { unit: NTRN, exponent: 6 } }";
    expect(budget("{}", "150")).toBe(150n);
    expect(budget("{}", "150untrn")).toBe(150n);
    expect(budget(display, "1.5 NTRN")).toBe(1_500_000n);
    for (const [gas, text] of [
      ["{}", "1.5 NTRN"],
      [display, "1.5 ATOM"],
      [display, "0.0000001 NTRN"],
      [display, "-1"],
      [display, "much"],
    ] as const)
      expect(errors(minimal(gas, text))[0]).toMatch(
        /spending\.budget: is not an amount of gas\.denom \(expected /,
      );
  });

  it("takes a display unit with a name and a sensible exponent, and a price of it", () => {
    const gas = (yaml: string): readonly string[] =>
      errors(example.replace(/^gas:\n(?: .*\n)+/m, `gas: ${yaml}\n`));
    expect(gas('{ display: { unit: NTRN, exponent: 6 }, value: { currency: USD, price: "0.35" } }')).toEqual(
      [],
    );
    expect(gas("{ display: { unit: <b>, exponent: 6 } }")[0]).toMatch(/is not a unit name/);
    expect(gas("{ display: { unit: NTRN, exponent: 31 } }")[0]).toMatch(/gas\.display\.exponent/);
    expect(gas("{ display: { unit: NTRN } }")[0]).toMatch(/gas\.display\.exponent/);
    expect(gas('{ value: { currency: dollars, price: "1" } }')[0]).toMatch(/is not a currency code/);
    expect(gas('{ value: { currency: USD, price: "-1" } }')[0]).toMatch(/is not a positive decimal/);
  });

  it("accepts a PostgreSQL store, with its password by reference only", () => {
    const withStore = (store: string): string => example.replace(/^state_dir: .*$/m, `store: ${store}`);
    const parsed = parseConfig({ file: "x", text: withStore("postgres://icq@db.example/state") }, schema);
    const address = { host: "db.example", port: 5_432, user: "icq", database: "state", sslMode: "disable" };
    expect(parsed.store).toEqual({ url: address });
    const url = "postgres://icq@[::1]:6000/state?sslmode=verify-full";
    const full = parseConfig(
      { file: "x", text: withStore(`{ url: "${url}", password: { env: P } }`) },
      schema,
    );
    expect(full.store?.url).toEqual({ ...address, host: "::1", port: 6_000, sslMode: "verify-full" });
    expect(JSON.stringify(full.store?.password)).toBe('"[redacted]"');
    for (const [wrong, text] of [
      [
        "postgres://icq:hunter2@db/state",
        /store: has a password \(.*refer to the password in store\.password/,
      ],
      ["mysql://icq@db/state", /store: is not a PostgreSQL URL/],
      ["postgres://db/state", /is missing the user, host or database/],
      ["postgres://icq@db/state?sslmode=prefer", /has an unsupported sslmode prefer \(.*verify-full/],
      ["postgres://icq@db/state?timeout=3", /unknown parameter timeout/],
    ] as const) {
      const found = errors(withStore(wrong)).join("\n");
      expect(found).toMatch(text);
      expect(found).not.toContain("hunter2");
    }
    expect(errors(`${example}\nstore: postgres://icq@db/state\n`).join("\n")).toMatch(
      /store: cannot be combined with state_dir/,
    );
  });

  it("refuses shards without a connection for each, and an index beyond them", () => {
    const withShards = (text: string): string => errors(`${example}\nshards: ${text}\n`).join("\n");
    expect(withShards("{ count: 1, index: 0 }")).toBe("");
    expect(withShards("{ count: 2, index: 0 }")).toMatch(
      /shards\.count: is greater than the number of connections/,
    );
    expect(withShards("{ count: 1, index: 1 }")).toMatch(/shards: has an index beyond count/);
  });

  it("refuses a batch size that fits into no request of a simulation", () => {
    const batch = (bytes: number): readonly string[] =>
      errors(example.replace(/^ {2}bytes: .*$/m, `  bytes: ${bytes}`));
    expect(batch(499_000)).toEqual([]);
    expect(batch(499_001).join()).toMatch(
      /batch\.bytes: exceeds node limits: .*1,000,000 bytes.* \(expected 499000 or less\)/,
    );
  });

  it("lets a client expire soon at three tenths of its trusting period at most: at a third it is refreshed", () => {
    const withShare = (share: string): string => `chain: { id: a-1, rpc: ["http://127.0.0.1:1"] }
signer: { mnemonic: { env: X } }
connections: [{ id: connection-0, chain_id: b-1, rpc: ["http://127.0.0.1:2"] }]
health: { client_expires_soon: { trusting_period_share: "${share}" } }`;
    expect(errors(withShare("0.3"))).toEqual([]);
    expect(errors(withShare("0.300000000000000001"))).toEqual([
      expect.stringMatching(/trusting_period_share: is not a share of a trusting period .*"0.3"/),
    ]);
  });

  it.each([
    ["no endpoint", 'rpc: ["http://127.0.0.1:1"]', "rpc: []"],
    ["a negative factor", "mnemonic: { env: X } }", 'mnemonic: { env: X } }\ngas: { max_price: "-1" }'],
    [
      "a negative number of blocks",
      "mnemonic: { env: X } }",
      "mnemonic: { env: X } }\nqueries: { skip_unchanged: -1 }",
    ],
    ["a mnemonic in the file", "mnemonic: { env: X }", "mnemonic: abandon abandon"],
    ["an endpoint with a password", "http://127.0.0.1:1", "http://user:pass@127.0.0.1:1"],
  ])("refuses %s", (_case, from, to) => {
    const minimal = `chain: { id: a-1, rpc: ["http://127.0.0.1:1"] }
signer: { mnemonic: { env: X } }
connections: [{ id: connection-0, chain_id: b-1, rpc: ["http://127.0.0.1:2"] }]`;
    expect(errors(minimal)).toEqual([]);
    expect(errors(minimal.replace(from, to)).length).toBeGreaterThan(0);
  });
});
