import { createPrometheusTextParser } from "../../src/watchdog/prometheus-text.ts";

/** What the parser did on a page of about 5 MB. */
export interface ParserBench {
  readonly bytes: number;
  readonly samples: number;
  /** Median of the runs. */
  readonly medianMs: number;
  readonly megabytesPerSecond: number;
}

/** Parses a made-up page of about 5 MB, in chunks of 64 KiB as a socket gives them, `runs` times. */
export function benchParser(runs = 11): ParserBench {
  const page = new TextEncoder().encode(makePage(5_000_000));
  const times: number[] = [];
  let samples = 0;
  for (let run = 0; run < runs; run++) {
    samples = 0;
    const begin = performance.now();
    const parser = createPrometheusTextParser({
      sample: () => {
        samples += 1;
      },
    });
    for (let at = 0; at < page.length; at += 65_536) parser.push(page.subarray(at, at + 65_536));
    parser.end();
    times.push(performance.now() - begin);
  }
  const medianMs = times.toSorted((a, b) => a - b)[Math.floor(runs / 2)] ?? 0;
  return { bytes: page.length, samples, medianMs, megabytesPerSecond: page.length / 1000 / medianMs };
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
