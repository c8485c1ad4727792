import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ROOT } from "../arch/source-files.ts";
import { type CliResult, runCommand } from "../support/cli-chain.ts";

const WATCHDOG = join(ROOT, "config/oracle-watchdog.example.yaml");
const RELAYER = join(ROOT, "config/icq-relayer.example.yaml");

function run(...args: readonly string[]): Promise<CliResult> {
  return runCommand(args, new AbortController().signal);
}

afterEach(() => vi.unstubAllEnvs());

describe("config validate", () => {
  it("needs the secrets, and without them checks everything else", async () => {
    const strict = await run("config", "validate", WATCHDOG, RELAYER);
    expect(strict.exitCode).toBe(78);
    expect(strict.out).toContain("environment variable ORACLE_WATCHDOG_SLACK_URL is not set");
    const loose = await run("config", "validate", "--no-secrets", WATCHDOG, RELAYER);
    expect(loose).toMatchObject({ exitCode: 0, out: `${WATCHDOG}: good\n${RELAYER}: good` });
    const file = join(mkdtempSync(join(tmpdir(), "relaywatch-config-")), "w.yaml");
    writeFileSync(file, "interval: 1\nnotify: {channels: [{kind: slack, name: a, url: text}]}\n");
    const bad = await run("config", "validate", "--no-secrets", file);
    expect(bad.exitCode).toBe(78);
    expect(bad.out.split("\n")).toHaveLength(2);
  });

  it("checks the variables too, which take precedence", async () => {
    vi.stubEnv("RELAYWATCH_RELAYER_GAS_MAX_PRICE", "much");
    vi.stubEnv("RELAYWATCH_RELAYER_GAS_PRISE_COMFORTABLE", "1");
    const { out, exitCode } = await run("config", "validate", "--no-secrets", RELAYER);
    expect(exitCode).toBe(78);
    expect(out).toContain("expected for example RELAYWATCH_RELAYER_GAS_PRICE_COMFORTABLE");
    expect(out).toContain("RELAYWATCH_RELAYER_GAS_MAX_PRICE: gas.max_price: is not a positive decimal");
  });
});

describe("config show", () => {
  it("prints effective values with their origins, and secrets never", async () => {
    vi.stubEnv("RELAYWATCH_RELAYER_SIGNER_MNEMONIC", "twelve secret words");
    vi.stubEnv("RELAYWATCH_RELAYER_QUERIES_IDS", '["7"]');
    const { out } = await run("config", "show", RELAYER, "--origin");
    expect(out).toContain('mnemonic: "[redacted]" # RELAYWATCH_RELAYER_SIGNER_MNEMONIC');
    expect(out).toMatch(/max_price: "1" # \S+icq-relayer\.example\.yaml:\d+/);
    expect(out).toMatch(/# RELAYWATCH_RELAYER_QUERIES_IDS\n {2}ids:\n {4}- "7"/);
    expect(out).not.toContain("twelve");
    const plain = await run("config", "show", "--config", RELAYER, "--no-redacted", "-o", "json");
    expect(JSON.parse(plain.out)).toMatchObject({
      signer: { mnemonic: { env: "RELAYWATCH_RELAYER_SIGNER_MNEMONIC" } },
    });
    expect(plain.out).not.toContain("twelve");
  });

  it("cuts from endpoints what may be a key, in each of their forms", async () => {
    vi.stubEnv("RELAYWATCH_WATCHDOG_CHAIN_REST", "https://rest.example/KEY1?k=KEY2");
    vi.stubEnv(
      "RELAYWATCH_WATCHDOG_CHAIN_FALLBACKS",
      '[{url: "https://b.example/KEY3", name: b}, "https://c.example"]',
    );
    vi.stubEnv("RELAYWATCH_WATCHDOG_SOURCES_NODE", "http://10.0.0.1:26660/metrics?k=KEY4");
    vi.stubEnv(
      "RELAYWATCH_WATCHDOG_SOURCES_SIDECAR_METRICS",
      '{url: "http://10.0.0.1:8002/metrics", headers: {x-key: {env: RELAYWATCH_TEST_KEY5}}}',
    );
    vi.stubEnv("RELAYWATCH_TEST_KEY5", "k");
    const { out } = await run("config", "show", "--kind", "oracle-watchdog", "--origin", "-o", "json");
    expect(out).not.toContain("KEY");
    expect(JSON.parse(out).values).toMatchObject({
      chain: {
        rest: "https://rest.example/[redacted]",
        fallbacks: [{ url: "https://b.example/[redacted]", name: "b" }, "https://c.example"],
      },
      sources: {
        node: "http://10.0.0.1:26660/metrics?[redacted]",
        prices: "http://127.0.0.1:8080/",
        sidecar_metrics: { url: "http://10.0.0.1:8002/metrics", headers: { "x-key": "[redacted]" } },
      },
    });
  });

  it("shows a daemon without a file, and wants to know which one", async () => {
    expect((await run("config", "show", "--kind", "oracle-watchdog")).out).toContain(
      "listen: 127.0.0.1:9998",
    );
    expect(await run("config", "show")).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("--kind"),
    });
    expect((await run("config", "show", RELAYER, "--config", RELAYER)).exitCode).toBe(2);
  });
});
