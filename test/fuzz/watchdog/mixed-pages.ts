import { readFileSync } from "node:fs";
import { isNodeMetric, isNodeSample, toNodeReading } from "../../../src/watchdog/sources/node-reading.ts";
import { readMetricsPage } from "../../../src/watchdog/sources/page-reader.ts";
import { isSidecarMetric, toSidecarReading } from "../../../src/watchdog/sources/sidecar-reading.ts";
import { errorText, unreachable } from "../../../src/platform/base/errors.ts";
import { fixtureFile } from "../../support/fixture-file.ts";
import { type CampaignBudget, type CampaignReport, inputNumbers } from "../campaign.ts";
import { createRandom, type Random } from "../random.ts";

/** Pages of real programs, and what reads them. */
const PAGES = [
  ["node", "metrics/node-26660-healthy.prom"],
  ["node", "metrics/node-26660-sidecar-down.prom"],
  ["node", "metrics/node-26660-after-restart-of-sidecar.prom"],
  ["node", "samples/node-26660.prom"],
  ["sidecar", "metrics/sidecar-8002.prom"],
  ["sidecar", "samples/sidecar-8002.prom"],
] as const;
type Kind = (typeof PAGES)[number][0];

const ADDRESS = "neutronvalcons1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqg4vkkz";

async function readingOf(kind: Kind, page: Uint8Array, sizes: readonly number[]): Promise<string> {
  async function* body(): AsyncGenerator<Uint8Array> {
    for (let at = 0, part = 0; at < page.length; part++) {
      const size = sizes[part % sizes.length] ?? page.length;
      yield page.subarray(at, at + size);
      at += size;
    }
  }
  const [needs, wants] =
    kind === "node"
      ? ([
          isNodeMetric,
          (sample: Parameters<typeof isNodeSample>[0]) => isNodeSample(sample, ADDRESS),
        ] as const)
      : ([isSidecarMetric, () => true] as const);
  const { samples } = await readMetricsPage(
    { url: "http://page/", maxBytes: 10_000_000, needs, wants },
    async () => ({ status: 200, body: body() }),
    new AbortController().signal,
  );
  const reading = kind === "node" ? toNodeReading(samples) : toSidecarReading(samples);
  return JSON.stringify(reading, (_key, value: unknown) =>
    typeof value === "bigint" ? `${value}n` : value instanceof Map ? [...value.entries()] : value,
  );
}

const NUMBERS: readonly [string, ...string[]] = [
  "1",
  "0",
  "-1.5e3",
  "NaN",
  "+Inf",
  "1e308",
  "0x10",
  "",
  "one",
];
const AFTER: readonly [string, ...string[]] = [
  "",
  " 1700000000.123",
  " 1395066363000",
  ' # {trace_id="a } b"} 0.4 1700000000',
  " # {} 1",
  " 1 2 3",
];
const LABELS: readonly [string, ...string[]] = [
  "",
  "{}",
  '{a="b"}',
  '{"a.b"="c"}',
  '{a="\\"\\\\\\n}"}',
  '{a="b"',
  '{a="1",a="2"}',
  "{a=b}",
  '{le="+Inf"}',
];

function oneOf<T>(random: Random, list: readonly [T, ...T[]]): T {
  return list[random.int(list.length)] ?? list[0];
}

/** A line as OpenMetrics 1.0 and Prometheus 3 have them, and as they are when a program writes them wrong. */
function mixedLine(random: Random): string | Uint8Array {
  const name = `mixed_${oneOf(random, ["a", "b_total", "c_created", "d_bucket", "e_info", "f_gsum"])}`;
  const value = oneOf(random, NUMBERS);
  const after = oneOf(random, AFTER);
  return oneOf<() => string | Uint8Array>(random, [
    () =>
      `# TYPE ${name} ${oneOf(random, ["info", "stateset", "gaugehistogram", "unknown", "histogram", "x"])}`,
    () => `# UNIT ${name} seconds`,
    () => `# HELP ${name} a \\n "text" <b>`,
    () => `# TYPE "mixed.name" counter`,
    () => "# EOF",
    () => "",
    () => `${name}${oneOf(random, LABELS)} ${value}${after}`,
    () => `{"mixed.${name}"${oneOf(random, ["", ',a="b"', ',"c.d"="e"', ",a=b"])}} ${value}${after}`,
    () =>
      `${name} {count:24,sum:100,schema:0,zero_threshold:1e-128,zero_count:2,positive_spans:[0:2],positive_buckets:[1,1]}`,
    () => `${name}${"y".repeat(oneOf(random, [10, 70_000]))} 1`,
    () => oneOf(random, ["}{", "=", '"', "\t", "mixed_a", "💥 1", "\u0000", "mixed_a\r"]),
    () => new Uint8Array([...Buffer.from(`${name}{a="`), 0xff, 0xc3, ...Buffer.from('"} 1')]),
  ])();
}

/** Mixes random lines of other families into the known pages: the reading stays the same. */
export async function fuzzMixedPages(seed: number, budget: CampaignBudget): Promise<CampaignReport> {
  const failures: string[] = [];
  const known = await Promise.all(
    PAGES.map(async ([kind, path]) => {
      const text = readFileSync(fixtureFile(path), "utf8");
      return {
        kind,
        path,
        lines: text.trimEnd().split("\n"),
        reading: await readingOf(kind, Buffer.from(text), [65_536]),
      };
    }),
  );
  let inputs = 0;
  for (const input of inputNumbers(budget, failures)) {
    inputs += 1;
    const random = createRandom(seed * 1_000_003 + input);
    const { kind, path, lines, reading } = known[random.int(known.length)] ?? unreachable("there are pages");
    const parts: Uint8Array[] = [];
    const chance = oneOf(random, [0.01, 0.1, 0.5]);
    const end = Buffer.from(oneOf(random, ["\n", "\r\n"]));
    for (const line of lines) {
      while (random.chance(chance)) parts.push(Buffer.from(mixedLine(random)), end);
      parts.push(Buffer.from(line), end);
    }
    const sizes = Array.from({ length: 5 }, () => oneOf(random, [13, 100, 4096, 65_536]));
    try {
      const mixed = await readingOf(kind, Buffer.concat(parts), sizes);
      if (mixed !== reading) failures.push(`input ${input}: ${path} reads ${mixed.slice(0, 300)}`);
    } catch (error) {
      failures.push(`input ${input}: ${path}: ${errorText(error)}`);
    }
  }
  return { inputs, failures };
}
