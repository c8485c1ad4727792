import { parsePrometheusText } from "../../support/watchdog/prometheus-page.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createPrometheusTextParser,
  PrometheusTextError,
  type Sample,
} from "../../../src/watchdog/prometheus/text-parser.ts";

const metricName = fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,20}$/);
const labelName = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,10}$/);
/** A replacement character is what invalid UTF-8 becomes. */
const labelText = fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => !text.includes("\uFFFD"));
const labels = fc
  .array(fc.tuple(labelName, fc.oneof(labelText, fc.constantFrom("\\", '"', "\n", '\\"', "}", "\\n"))), {
    maxLength: 5,
  })
  .map((pairs) => new Map(pairs));
const sample: fc.Arbitrary<Sample> = fc
  .tuple(metricName, labels, fc.double())
  .map(([name, given, value]) => ({ name, labels: given, value }));
/** What a line can have besides its sample: a timestamp in ms or s, an exemplar. */
const rest = fc.constantFrom(
  "",
  " 1395066363000",
  " -1",
  " 1700000000.123",
  ' # {trace_id="}"} 1 2',
  " 5 # {} 1",
);

function writeSample({ name, labels: given, value }: Sample, more: string, quoted: boolean): string {
  const pairs = [...given].map(([key, text]) => `${quoted ? `"${key}"` : key}="${escape(text)}"`);
  const items = quoted ? [`"${name}"`, ...pairs] : pairs;
  const block = items.length === 0 ? "" : `{${items.join(",")}}`;
  return `${quoted ? "" : name}${block} ${writeNumber(value)}${more}`;
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
        fc.record({ crlf: fc.boolean(), quoted: fc.boolean(), more: rest }),
        (samples, size, { crlf, quoted, more }) => {
          const page = new TextEncoder().encode(
            samples.map((one) => `${writeSample(one, more, quoted)}${crlf ? "\r\n" : "\n"}`).join(""),
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
            expect(lines.some((line) => line.trimStart().replace(/^\{"/, "").startsWith(name))).toBe(true);
          parsed += 1;
        } catch (error) {
          expect(error).toBeInstanceOf(PrometheusTextError);
        }
      }
    expect(parsed).toBeGreaterThan(1_000);
  });
});
