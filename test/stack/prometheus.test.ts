import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { type CliProcess, getJson, openCliHome, until } from "../support/e2e/cli-process.ts";
import { type PrometheusServer, startPrometheus } from "../support/stack/prometheus-server.ts";

/** Blocks that may separate two counts: a block each second, a scrape each second, a poll each second. */
const TOLERANCE = 4;

const blocks = z.object({ good: z.number(), bad: z.number() });
const statusSchema = z.object({
  blocks: blocks.extend({ unknown: z.number() }),
  backfilled_blocks: blocks,
  prices: z.object({ state: z.string(), pairs: z.array(z.string()) }),
  sources: z.array(z.object({ name: z.string(), up: z.boolean(), error: z.string().nullable() })),
});
type Status = z.output<typeof statusSchema>;

const home = await openCliHome();
const ports = portsAt(home.portOffset);
let prometheus: PrometheusServer;

beforeAll(async () => {
  await home.start("localnet", "start", "--block-time", "1000", "$PORTS").printed(/sidecar metrics/);
  const labels = { validator: "alpha" };
  prometheus = await startPrometheus({
    node: { target: `127.0.0.1:${ports.localMetrics}`, labels },
    sidecar: { target: `127.0.0.1:${ports.sidecarMetrics}`, labels },
  });
});
afterAll(async () => {
  await home.close();
  await prometheus.close();
});

interface Watchdog {
  readonly cli: CliProcess;
  readonly status: () => Promise<Status>;
}

async function startWatchdog(name: string, ...lines: readonly string[]): Promise<Watchdog> {
  const file = join(home.directory, `${name}.yaml`);
  writeFileSync(file, ['http: { listen: "127.0.0.1:0" }', 'interval: "1s"', ...lines].join("\n"));
  const cli = home.start("watchdog", "start", "--config", file);
  await cli.printed(/http:\/\/127\.0\.0\.1:\d+/);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(`${cli.stdout()}${cli.stderr()}`)?.[0] ?? "";
  return { cli, status: async () => statusSchema.parse(await getJson(`${url}/api/status`)) };
}

const urls = (): string =>
  [
    `node: "http://127.0.0.1:${ports.localMetrics}/metrics"`,
    `prices: "http://127.0.0.1:${ports.prices}/"`,
    `sidecar_metrics: "http://127.0.0.1:${ports.sidecarMetrics}/metrics"`,
    "oracle_metrics: null",
  ].join(", ");

const blocksOf = ({ blocks: { good, bad, unknown } }: Status): number => good + bad + unknown;

/** Waits until a watchdog has counted this many more blocks. */
async function after({ status }: Watchdog, more: number): Promise<void> {
  const before = blocksOf(await status());
  await until(`${more} blocks`, async () => (blocksOf(await status()) >= before + more ? true : undefined));
}

function expectClose(actual: Status, expected: Status): void {
  expect(Math.abs(blocksOf(actual) - blocksOf(expected))).toBeLessThanOrEqual(TOLERANCE);
  expect(Math.abs(actual.blocks.bad - expected.blocks.bad)).toBeLessThanOrEqual(TOLERANCE);
  expect(actual.blocks.unknown).toBe(expected.blocks.unknown);
}

describe("a real Prometheus", () => {
  it("shows a watchdog what another one scrapes, and fills what a killed one missed", {
    timeout: 240_000,
  }, async () => {
    const connection = `prometheus: { url: "${prometheus.url}" }`;
    const fillerLines = [
      connection,
      'backfill: { after: "10s" }',
      `state_dir: "${join(home.directory, "filler")}"`,
      `sources: { ${urls()}, labels: { validator: alpha } }`,
    ];
    const scraping = await startWatchdog("scraping", `sources: { ${urls()} }`);
    const reading = await startWatchdog(
      "reading",
      connection,
      "source: prometheus",
      "sources: { labels: { validator: alpha } }",
    );
    const filler = await startWatchdog("filler", ...fillerLines);
    await after(scraping, 10);
    await after(filler, 2);
    filler.cli.kill("SIGKILL");
    await filler.cli.exited;
    const { code } = await home.run("localnet", "fault", "sidecar-down", "--for", "10s", "$PORTS");
    expect(code).toBe(0);
    await until("failed calls", async () => ((await scraping.status()).blocks.bad > 3 ? true : undefined));
    await after(scraping, 15);
    const again = await startWatchdog("filler", ...fillerLines);
    const filled = await until("the filled gap", async () => {
      const status = await again.status();
      return status.backfilled_blocks.bad > 3 ? status : undefined;
    });
    const expected = await scraping.status();
    expectClose(filled, expected);
    expectClose(await reading.status(), await scraping.status());
    const shown = await reading.status();
    expect(shown.sources.filter(({ up }) => !up)).toEqual([]);
    expect(shown.prices.state).toBe("present");
    expect(shown.prices.pairs.length).toBeGreaterThan(0);
    expect(shown.prices.pairs).toEqual((await scraping.status()).prices.pairs);
  });
});
