import { type Command, CommanderError } from "commander";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { silentLogger } from "../../src/platform/base/logger.ts";
import { createProgram } from "../../src/cli/program.ts";
import { toExit } from "../../src/platform/cli/run-process.ts";
import { loadAllCommands } from "../support/command-line.ts";

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly error: unknown;
}

/** Runs a command line in this process. */
async function run(...words: readonly string[]): Promise<Printed> {
  const lines: string[] = [];
  let stderr = "";
  const program = await createProgram({
    words,
    print: (line) => void lines.push(line),
    signal: new AbortController().signal,
    logger: async () => silentLogger,
    isTerminal: false,
  });
  const redirect = (command: Command): void => {
    command.configureOutput({
      writeErr: (text) => {
        stderr += text;
      },
    });
    for (const inner of command.commands) redirect(inner);
  };
  redirect(program);
  const error = await program.parseAsync(words, { from: "user" }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { stdout: lines.join("\n"), stderr, error };
}

describe("config validate", () => {
  const folder = mkdtempSync(join(tmpdir(), "relaywatch-validate-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Values that are checked, by a part of the name of their variable. */
  const SECRETS = [
    ["URL", "https://example.com/"],
    ["TELEGRAM", `1234567:${"a".repeat(35)}`],
  ] as const;

  it.each(["icq-relayer", "oracle-watchdog"])("knows the example of the %s by its keys", async (name) => {
    const example = `config/${name}.example.yaml`;
    for (const variable of readFileSync(example, "utf8").matchAll(/env: (\w+)/g))
      vi.stubEnv(variable[1] ?? "", SECRETS.find(([part]) => variable[1]?.includes(part))?.[1] ?? "x");
    const { stdout, error } = await run("config", "validate", example);
    vi.unstubAllEnvs();
    if (name === "oracle-watchdog") expect([stdout, error]).toEqual([`${example}: good`, undefined]);
    // Its key file does not exist here.
    else expect(stdout).not.toContain("unknown key");
  });

  it.each([
    ["chain: {rest: 'http://a'}\ninterval: 5\n", "interval: is a number"],
    ["chain: {id: a}\nsigner: {}\nconections: []\n", "conections: unknown key"],
  ])("takes the kind that knows most of the keys: %j", async (text, expected) => {
    const file = join(folder, "c.yaml");
    writeFileSync(file, text);
    const { stdout, error } = await run("config", "validate", file);
    expect(stdout).toContain(expected);
    expect(stdout.split("\n").filter((line) => line.includes("unknown key")).length).toBeLessThan(2);
    expect(error).toMatchObject({ facts: { exitCode: 78 } });
  });

  it("says in one clause that a file is missing", async () => {
    const { stdout } = await run("config", "validate", "/nonexistent.yaml");
    expect(stdout).toBe("/nonexistent.yaml: file not found");
  });

  it("reads a file without a size no further than the limit", async () => {
    const { stdout } = await run("config", "validate", "/dev/zero");
    expect(stdout).toBe(
      "/dev/zero: cannot be read: it exceeds 1048576 bytes (expected a readable YAML file)",
    );
  });
});

describe("a file without a size", () => {
  it.each([
    ["config", "from-env", "/dev/zero"],
    ["relayer", "doctor", "--from-env", "/dev/zero"],
    ["relayer", "dead-letters", "resubmit", "--token-file", "/dev/zero", `1/${"0".repeat(64)}`],
    ["tx", "staking", "create-validator", "/dev/zero", "--from", "alice"],
  ])("is read no further than the limit: %s %s %s", async (...words) => {
    const { stderr, error } = await run(...words);
    const causes = [error, error instanceof Error ? error.cause : undefined].map(String);
    expect([stderr, ...causes].join("\n")).toMatch(/it exceeds \d+ bytes/);
  });
});

describe("an unknown command", () => {
  it.each([
    [["upp"], "up"],
    [["localnt"], "localnet"],
    [["relaier", "start"], "relayer"],
    [["watchdogg"], "watchdog"],
    [["configg"], "config"],
    [["localnet", "acounts"], "accounts"],
    [["localnet", "strat"], "start"],
    [["localnet", "time", "sett"], "set"],
    [["localnet", "snapshot", "lst"], "list"],
    [["relayer", "strat"], "start"],
    [["watchdog", "stat"], "start"],
    [["query", "interchainquerie"], "interchainqueries"],
    [["q", "icq", "parms"], "params"],
    [["query", "interchainqueries", "registered_query"], "registered-query"],
    [["tx", "icq", "remov"], "remove"],
    [["keys", "shw"], "show"],
    [["config", "valdate"], "validate"],
    [["localnet", "start", "--blok-time", "3"], "--block-time"],
  ])("of %j is answered with the similar one and with a way to the help", async (words, similar) => {
    const { stderr, error } = await run(...words);
    expect(error).toBeInstanceOf(CommanderError);
    expect(stderr).toMatch(new RegExp(`Did you mean (?:one of )?[^?]*${similar}\\b`));
    expect(stderr).toContain("--help");
  });

  it("that resembles nothing is answered with a way to the help", async () => {
    const { stderr } = await run("zzzzzzzz");
    expect(stderr).toContain("unknown command 'zzzzzzzz'");
    expect(stderr).not.toContain("Did you mean");
    expect(stderr).toContain("--help");
  });

  it("is not passed to a default command without arguments", async () => {
    const { stderr } = await run("localnet", "snapshot", "create");
    expect(stderr).toContain("unknown command 'create'");
    expect(stderr).not.toContain("arguments");
  });
});

describe("a command line that cannot work", () => {
  // In a process of its own, others do the same: test/e2e/bad-input.test.ts.
  it.each([
    [["up", "--nonsense"], /unknown option '--nonsense'/],
    [["up", "--port-offset", "99999"], /'99999' is invalid: expected an integer from 0 to/],
    [["localnet", "start", "middle"], /middle/],
    [["query", "interchainqueries", "params", "--node", "ftp://x"], /expected a URL/],
  ])("ends with 2: %j", async (words, says) => {
    const { stderr, error } = await run(...words);
    const { exitCode, message } = toExit(error);
    expect(exitCode).toBe(2);
    expect(`${stderr}${message ?? ""}`).toMatch(says);
  });
});

describe("localnet start --traffic", () => {
  it.each([
    ["8M", 8_000_000n],
    ["500k", 500_000n],
    ["8000000", 8_000_000n],
  ])("reads %s", async (text, gas) => {
    const start = (await loadAllCommands()).find(({ path }) => path === "localnet start")?.command;
    const option = start?.options.find(({ long }) => long === "--traffic");
    expect(option?.parseArg?.(text, undefined)).toBe(gas);
  });

  it.each(["", "8", "0", "-8M", "8m", "8MB", "8.5M", "199999", "many"])("refuses %j", async (text) => {
    const { stderr, error } = await run("localnet", "start", `--traffic=${text}`);
    expect(error).toBeInstanceOf(CommanderError);
    expect(stderr).toContain('expected a gas amount of at least 200k, e.g. "8M", "500k" or "8000000"');
  });

  it("needs the local chain", async () => {
    const { error } = await run("localnet", "start", "remote", "sidecar", "--traffic", "8M");
    expect(error).toMatchObject({
      facts: { exitCode: 2 },
      message: expect.stringContaining("--traffic requires the local chain in the same process"),
    });
  });
});

describe("localnet start --contract", () => {
  it.each([
    [["--init", "{}", "--contract", "x.wasm"], "Put this option after the --contract to which it applies."],
    [["--contract", "x.wasm", "--init", "{"], "expected JSON"],
  ])("refuses %j", async (options, text) => {
    const { stderr, error } = await run("localnet", "start", ...options);
    expect(error).toBeInstanceOf(CommanderError);
    expect(stderr).toContain(text);
  });

  it.each([
    [["remote", "--contract", "x.wasm"], 2, "--contract requires the local chain"],
    [["--contract", "x.wasm", "--admin", "nobody"], 2, "--admin nobody: expected one of "],
    [["--contract", "no-such-file.wasm"], 78, "no-such-file.wasm: file not found"],
    [["--contract", "package.json"], 78, "package.json: the chain would reject this code: "],
  ])("%j fails", async (options, exitCode, text) => {
    const { error } = await run("localnet", "start", ...options);
    expect(error).toMatchObject({ facts: { exitCode }, message: expect.stringContaining(text) });
  });
});

describe("localnet profile", () => {
  it("lists where specification and deployed chain differ", async () => {
    const { stdout } = await run("localnet", "profile");
    const [titles, ...rows] = stdout.trimEnd().split("\n");
    expect(titles).toMatch(/^MODULE +SWITCH +SUBJECT +SPECIFICATION +DEPLOYED$/);
    expect(rows.find((row) => row.includes("dexTradePairId"))).toMatch(
      /^dex +dexTradePairId +TradePairID field numbers +1, 2 +2, 3$/,
    );
    const printed: unknown = JSON.parse((await run("localnet", "profile", "--json")).stdout);
    const { profiles, differences } = z
      .object({ profiles: z.array(z.string()), differences: z.array(z.record(z.string(), z.unknown())) })
      .parse(printed);
    expect(profiles).toEqual(["specification", "deployed"]);
    expect(differences).toHaveLength(rows.length);
    expect(differences).toContainEqual({
      area: "interchainqueries",
      switch: "icqRemovedEvent",
      subject: "`query_removed` event",
      specification: "four attributes",
      deployed: "eight attributes",
      here: "four attributes, as in the specification's table",
      documented: "The `interchainqueries` module",
    });
  });

  it("is one of two", async () => {
    const { stderr, error } = await run("localnet", "start", "--profile", "mainnet");
    expect(stderr).toContain("Allowed choices are specification, deployed");
    expect(error).toBeInstanceOf(CommanderError);
  });
});

describe("localnet keplr", () => {
  it("describes both chains as the wallet takes them", async () => {
    const chains: unknown = JSON.parse((await run("localnet", "keplr", "--port-offset", "100")).stdout);
    const features = ["ibc-go", "ibc-transfer", "feemarket", "query:/cosmos/bank/v1beta1/spendable_balances"];
    const currency = (coinDenom: string, coinMinimalDenom: string) => ({
      coinDenom,
      coinMinimalDenom,
      coinDecimals: 6,
    });
    expect(chains).toEqual([
      expect.objectContaining({
        chainId: "local-1",
        rpc: "http://127.0.0.1:26757",
        rest: "http://127.0.0.1:1417",
        bip44: { coinType: 118 },
        bech32Config: {
          bech32PrefixAccAddr: "neutron",
          bech32PrefixAccPub: "neutronpub",
          bech32PrefixValAddr: "neutronvaloper",
          bech32PrefixValPub: "neutronvaloperpub",
          bech32PrefixConsAddr: "neutronvalcons",
          bech32PrefixConsPub: "neutronvalconspub",
        },
        currencies: [currency("NTRN", "untrn")],
        feeCurrencies: [
          { ...currency("NTRN", "untrn"), gasPriceStep: { low: 0.0025, average: 0.005, high: 0.01 } },
        ],
        stakeCurrency: currency("NTRN", "untrn"),
        features: [...features, "cosmwasm", "wasmd_0.24+"],
      }),
      expect.objectContaining({
        chainId: "remote-1",
        rpc: "http://127.0.0.1:26857",
        rest: "http://127.0.0.1:1517",
        currencies: [currency("ATOM", "uatom")],
        features,
      }),
    ]);
  });
});

describe("localnet accounts", () => {
  it("shows what a wallet needs: path, amount, denomination and gas price", async () => {
    const { stdout } = await run("localnet", "accounts");
    expect(stdout).toContain("m/44'/118'/0'/0/0");
    expect(stdout).toMatch(/local-1 .*coins: 1000000000000000untrn.*gas price: 0\.0025untrn/s);
    expect(stdout).toMatch(/remote-1 .*coins: 1000000000000000uatom.*gas price: 0\.0025uatom/s);
  });

  it("has the same as JSON", async () => {
    const accounts: unknown = JSON.parse((await run("localnet", "accounts", "--json")).stdout);
    expect(accounts).toContainEqual({
      name: "alice",
      chain_id: "remote-1",
      address: expect.stringMatching(/^cosmos1/),
      mnemonic: expect.stringMatching(/^(?:[a-z]+ ){23}[a-z]+$/),
      hd_path: "m/44'/118'/0'/0/0",
      coins: [{ denom: "uatom", amount: "1000000000000000" }],
      gas_price: { denom: "uatom", amount: "0.0025" },
    });
  });
});
