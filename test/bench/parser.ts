import { createPrometheusTextParser } from "../../src/watchdog/prometheus/text-parser.ts";
import type { BenchRow } from "./bench-row.ts";
import { median, processorMs } from "./measure.ts";

const PAGE_BYTES = 5_000_000;
/** Size of the chunks that a socket delivers. */
const CHUNK_BYTES = 65_536;
const RUNS = 11;

/** Parses a generated page of 5 MB, the size of the page of a large validator's node. */
export function benchParser(): readonly BenchRow[] {
  const page = new TextEncoder().encode(makePage(PAGE_BYTES));
  const runs = Array.from({ length: RUNS }, () => parse(page));
  const ms = median(runs.map((run) => run.ms));
  const note = `median of ${RUNS} runs, ${runs[0]?.samples ?? 0} samples, processor time`;
  return [
    { name: "metrics page of 5 MB", value: ms, unit: "ms", note },
    { name: "metrics pages", value: page.length / 1_000 / ms, unit: "MB/s", note },
  ];
}

function parse(page: Uint8Array): { readonly ms: number; readonly samples: number } {
  let samples = 0;
  const start = processorMs();
  const parser = createPrometheusTextParser({
    sample: () => {
      samples += 1;
    },
  });
  for (let at = 0; at < page.length; at += CHUNK_BYTES) parser.push(page.subarray(at, at + CHUNK_BYTES));
  parser.end();
  return { ms: processorMs() - start, samples };
}

function makePage(bytes: number): string {
  const lines: string[] = [];
  let length = 0;
  for (let index = 0; length < bytes; index++) {
    const line = `app_report_status_per_validator{chain_id="neutron-1",status="with_price",ticker="btc/usd",validator="neutronvalcons1${index}"} ${(1.5e6 + index).toExponential()}`;
    lines.push(line);
    length += line.length + 1;
  }
  return `${lines.join("\n")}\n`;
}
