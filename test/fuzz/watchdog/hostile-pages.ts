import { readFileSync } from "node:fs";
import { fixtureFile } from "../../support/fixture-file.ts";
import type { Random } from "../random.ts";

/** Response of a hostile source. */
export interface HostilePage {
  readonly status: number;
  readonly chunks: readonly Uint8Array[];
  /** The connection breaks after the chunks. */
  readonly breaks: boolean;
}

/** Pages and responses of real programs. */
const RECORDED = [
  "metrics/node-26660-healthy.prom",
  "metrics/sidecar-8002.prom",
  "samples/node-26660.prom",
  "samples/oracle-8001.prom",
  "samples/prices.json",
  "samples/prices-startup.json",
  "samples/prices-error-500.json",
].map((path) => readFileSync(fixtureFile(path), "utf8"));

/** Text of a source that a page must escape: no page has an element of this name. */
export const HOSTILE_TAG = "<hostile>";

const CHAINS = ["test-1", "test-1", "test-1", "other-2", "", HOSTILE_TAG, "x".repeat(300)];
const NUMBERS = (
  "0 1 -1 -0 1.5 NaN +Inf -Inf 1e308 -1e308 1e-320 1e20 -1e15 1e15 9007199254740991 9007199254740992 1e12 1e13 " +
  "9223372036854775807 9223372036854775808 1795262370 1795262370.31 253402300799 253402300800 0x10 1_000 1e --1 １ "
).split(" ");
const NAMES = [
  "app_oracle_responses",
  "app_oracle_responses",
  "process_start_time_seconds",
  "cometbft_consensus_latest_block_height",
  "tendermint_consensus_height",
  "side_car_health_check_system_updates_total",
  "connect_health_check_ticker_updates_total",
  "app_other",
  "__proto__",
];
const PIECES = [
  "{",
  "}",
  '"',
  "\\",
  "\n",
  "\r\n",
  ",",
  "=",
  "#",
  "# TYPE x counter\n",
  "\u0000",
  "\uFEFF",
  " ",
  "\t",
  "💥",
  "<",
];
const JSON_VALUES = [
  "null",
  "0",
  "-1",
  "1e400",
  '""',
  '"9712345000"',
  '"-5"',
  '"1.5"',
  "[]",
  "{}",
  "true",
  '"1e9"',
];
const TIMES = [
  '"2026-11-21T12:00:00Z"',
  '"2026-13-45T99:99:99Z"',
  '"2026-11-21T12:00:00+99:99"',
  '"0001-01-01T00:00:00Z"',
  '"9999-12-31T23:59:59.999999999Z"',
  '"soon"',
  '""',
  "7",
  "null",
];

function pick<T>(random: Random, from: readonly T[]): T {
  const picked = from[random.int(from.length)];
  if (picked === undefined) throw new Error("the list is empty");
  return picked;
}

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Draws a response. It may be good by chance. */
export function hostilePage(random: Random): HostilePage {
  const text = pick(random, [metricsText, metricsText, metricsText, pricesText, recordedText, junkText])(
    random,
  );
  const damaged = random.chance(0.3) ? damage(random, text) : text;
  const bytes = new TextEncoder().encode(damaged);
  const bent = random.chance(0.1) ? withBadByte(random, bytes) : bytes;
  const status = random.chance(0.9) ? 200 : pick(random, [204, 301, 404, 404, 429, 500, 503, 999]);
  return { status, chunks: split(random, bent), breaks: random.chance(0.05) };
}

/** A page with the series that the watchdog reads, and hostile values, labels and repetitions. */
function metricsText(random: Random): string {
  const chain = pick(random, CHAINS);
  const number = (): string => (random.chance(0.85) ? String(random.int(100_000)) : pick(random, NUMBERS));
  const good = [
    `app_oracle_responses{chain_id="${chain}",status="Success"} ${number()}`,
    `app_oracle_responses{chain_id="${chain}",status="Failure"} ${number()}`,
    `cometbft_consensus_latest_block_height{chain_id="${chain}"} ${number()}`,
    `process_start_time_seconds ${random.chance(0.5) ? pick(random, NUMBERS) : String(1_795_000_000 + random.int(500_000))}`,
  ].filter(() => random.chance(0.85));
  const odd = times(random.chance(0.3) ? 1 + random.int(3) : 0, () => {
    const labels = times(
      random.int(3),
      () =>
        `${pick(random, ["chain_id", "status", "le", "__name__"])}="${pick(random, [...CHAINS, "Success"])}"`,
    );
    return `${pick(random, NAMES)}{${labels.join(",")}} ${number()}${random.chance(0.1) ? ` ${number()}` : ""}`;
  });
  const many = random.chance(0.05)
    ? times(
        1_100,
        (index) =>
          `app_oracle_responses{chain_id="${chain}",status="Success",n="${index}"} ${pick(random, NUMBERS)}`,
      )
    : [];
  const lines = [...good, ...odd, ...many];
  const repeated =
    random.chance(0.2) && lines.length > 0 ? times(1 + random.int(50), () => pick(random, lines)) : [];
  return [...lines, ...repeated].join(random.chance(0.1) ? "\r\n" : "\n");
}

function pricesText(random: Random): string {
  const names = ["BTC/USD", "ETH/USD", "__proto__", "", HOSTILE_TAG, "x".repeat(200)];
  const prices = times(random.int(6), () => `"${pick(random, names)}":${pick(random, JSON_VALUES)}`);
  const body = random.chance(0.9) ? `{${prices.join(",")}}` : pick(random, JSON_VALUES);
  return `{"prices":${body},"timestamp":${pick(random, TIMES)},"version":${pick(random, JSON_VALUES)}}`;
}

function recordedText(random: Random): string {
  return pick(random, RECORDED);
}

function junkText(random: Random): string {
  const size = pick(random, [0, 1, 50, 3_000, 70_000]);
  return pick(random, [
    () => "",
    () => "\n".repeat(size),
    () => `<!doctype html><html>${"x".repeat(size)}`,
    () => `a{b="${"x".repeat(size)}"} 1`,
    () => "[".repeat(size),
    () => `{"prices":${'{"a":'.repeat(size)}`,
    () => times(Math.min(size, 300), () => pick(random, PIECES)).join(""),
    () => `app_oracle_responses ${"9".repeat(size)}`,
  ])();
}

/** Cuts, repeats, inserts or removes a part. */
function damage(random: Random, text: string): string {
  const at = random.int(text.length + 1);
  const to = Math.min(text.length, at + random.int(80));
  return pick(random, [
    () => text.slice(0, at),
    () => text.slice(0, at) + text.slice(to),
    () => text.slice(0, to) + text.slice(at),
    () => text.slice(0, at) + pick(random, PIECES) + text.slice(at),
    () => text.slice(0, at) + pick(random, NUMBERS) + text.slice(to),
    () => text + text,
  ])();
}

function withBadByte(random: Random, bytes: Uint8Array): Uint8Array {
  const bent = bytes.slice();
  if (bent.length > 0) bent[random.int(bent.length)] = random.int(256);
  return bent;
}

function split(random: Random, bytes: Uint8Array): readonly Uint8Array[] {
  if (bytes.length === 0) return [];
  const at = random.int(bytes.length);
  return random.chance(0.5) ? [bytes] : [bytes.subarray(0, at), bytes.subarray(at)];
}
