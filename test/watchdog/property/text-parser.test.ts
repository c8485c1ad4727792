import { parsePrometheusText } from "../../support/watchdog/prometheus-page.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Sample } from "../../../src/watchdog/prometheus/line-parser.ts";
import {
  createPrometheusTextParser,
  PrometheusTextError,
} from "../../../src/watchdog/prometheus/text-parser.ts";

const metricName = fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,20}$/);
const labelName = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,10}$/);
const labelText = fc.string({ unit: "grapheme", maxLength: 20 });
const labels = fc
  .array(fc.tuple(labelName, fc.oneof(labelText, fc.constantFrom("\\", '"', "\n", '\\"', "}", "\\n"))), {
    maxLength: 5,
  })
  .map((pairs) => new Map(pairs));
const timestamp = fc.option(fc.integer({ min: -1e14, max: 1e14 }), { nil: undefined });
const sample: fc.Arbitrary<Sample> = fc
  .tuple(metricName, labels, fc.double(), timestamp)
  .map(([name, given, value, timestampMs]) => ({
    name,
    labels: given,
    value,
    ...(timestampMs === undefined ? {} : { timestampMs }),
  }));

function writeSample({ name, labels: given, value, timestampMs }: Sample): string {
  const pairs = [...given].map(([key, text]) => `${key}="${escape(text)}"`);
  const block = pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
  return `${name}${block} ${writeNumber(value)}${timestampMs === undefined ? "" : ` ${timestampMs}`}`;
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

function writeNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  return Object.is(value, -0) ? "-0" : String(value);
}

describe("Prometheus text", () => {
  it("is parsed to the samples that were written, for any chunk size", () => {
    fc.assert(
      fc.property(
        fc.array(sample, { maxLength: 20 }),
        fc.integer({ min: 1, max: 50 }),
        fc.boolean(),
        (samples, size, crlf) => {
          const page = new TextEncoder().encode(
            samples.map((one) => `${writeSample(one)}${crlf ? "\r\n" : "\n"}`).join(""),
          );
          const read: Sample[] = [];
          const parser = createPrometheusTextParser({ sample: (one) => read.push(one) });
          for (let at = 0; at < page.length; at += size) parser.push(page.subarray(at, at + size));
          parser.end();
          expect(read).toEqual(samples);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("is either parsed or rejected with PrometheusTextError", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        try {
          parsePrometheusText(new TextEncoder().encode(text));
        } catch (error) {
          expect(error).toBeInstanceOf(PrometheusTextError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("with one damaged byte has at most as many samples as lines", () => {
    let parsed = 0;
    const page = new TextEncoder().encode('a{b="c"} 1\n# TYPE a gauge\na{b="d"} 2.5e+06\n');
    for (const at of page.keys())
      for (let byte = 0; byte < 256; byte++) {
        const damaged = page.slice();
        damaged[at] = byte;
        try {
          const { samples } = parsePrometheusText(damaged);
          const lines = new TextDecoder().decode(damaged).split("\n");
          expect(samples.length).toBeLessThanOrEqual(lines.filter((line) => /^[^#]/.test(line)).length);
          for (const { name } of samples)
            expect(lines.some((line) => line.trimStart().startsWith(name))).toBe(true);
          parsed += 1;
        } catch (error) {
          expect(error).toBeInstanceOf(PrometheusTextError);
        }
      }
    expect(parsed).toBeGreaterThan(1_000);
  });
});
