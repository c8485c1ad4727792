import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readBuildInfo } from "../../../src/platform/process/build-info.ts";
import {
  certificatesField,
  durationField,
  parseListenAddress,
  secretField,
} from "../../../src/platform/config/config-fields.ts";
import { parseDurationMs } from "../../../src/platform/config/setting-texts.ts";
import { createMetricsRegistry } from "../../../src/platform/process/metrics.ts";
import { keyTable } from "../../../src/cli/generate/config-files.ts";
import { keySchema } from "../../../src/platform/config/key-schema.ts";

describe("parseDurationMs", () => {
  it.each([
    ["250ms", 250],
    ["30s", 30_000],
    ["1h30m", 5_400_000],
    ["2d", 172_800_000],
    ["0s", 0],
    ["", undefined],
    ["30", undefined],
    ["-5s", undefined],
    ["1.5s", undefined],
    ["5 s", undefined],
    ["367d", undefined],
  ])("%s", (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });
});

describe("parseListenAddress", () => {
  it.each([
    ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
    ["[::1]:8080", { host: "::1", port: 8080 }],
    ["localhost:65535", { host: "localhost", port: 65_535 }],
    ["localhost:65536", undefined],
    ["[1.2.3.4]:1", undefined],
    [":8080", undefined],
    ["8080", undefined],
  ])("%s", (text, address) => {
    expect(parseListenAddress(text)).toEqual(address);
  });
});

describe("certificatesField", () => {
  const PEM = "-----BEGIN CERTIFICATE-----";
  const messagesOf = (file: () => string): readonly string[] | undefined => {
    const field = certificatesField({ file, environment: () => undefined });
    return field.safeParse("ca.pem").error?.issues.map(({ message }) => message);
  };

  it("returns the file's text", () => {
    const field = certificatesField({ file: () => PEM, environment: () => undefined });
    expect(field.parse("ca.pem")).toBe(PEM);
  });

  it.each([
    [
      "text without a certificate",
      () => "hello",
      `file ca.pem contains no certificate (expected PEM: ${PEM})`,
    ],
    ["an empty file", () => "", "file ca.pem is empty (expected the secret in it)"],
  ])("refuses %s with its reason", (_, file, message) => {
    expect(messagesOf(file)).toEqual([message]);
  });
});

describe("the JSON Schema of configuration fields", () => {
  const schema = z.strictObject({
    interval: durationField().prefault("5s").describe("time between two scrapes"),
    hook: z.strictObject({ url: secretField() }).optional(),
  });

  it("has types and defaults", () => {
    expect(keySchema(schema)).toMatchObject({
      type: "object",
      additionalProperties: false,
      properties: { interval: { type: "string", default: "5s" } },
    });
  });

  it("gives a table with one row for each key", () => {
    expect(keyTable({ schema }).trim().split("\n")).toEqual([
      "| key | default, or type | what it does |",
      "|---|---|---|",
      '| `interval` | `"5s"` | time between two scrapes |',
      "| `hook.url` | secret, required |  |",
    ]);
  });
});

describe("createMetricsRegistry", () => {
  it("has build info and process metrics, without gauges that have names of counters", async () => {
    const build = readBuildInfo();
    expect(build.name).toBe("relaywatch");
    const page = await createMetricsRegistry({ build, program: "test", processMetrics: true }).metrics();
    expect(page).toContain(
      `relaywatch_build_info{program="test",version="${build.version}",commit="unknown",node_version="${process.version}"} 1`,
    );
    expect(page).toContain("process_start_time_seconds");
    expect(page).not.toMatch(/nodejs_active_/);
    const plain = await createMetricsRegistry({ build, program: "test", processMetrics: false }).metrics();
    expect(plain).not.toContain("process_");
  });
});
