import { type Html, html } from "../../platform/web/html.ts";
import { grouped } from "../../platform/web/parts.ts";
import { type Bar, barPlot } from "../../platform/web/plots.ts";
import type { ActivitySample } from "./activity.ts";

type Samples = readonly (ActivitySample | undefined)[];

/** What was sent in the last hour, minute by minute. */
export function activitySection(samples: Samples): Html {
  const known = samples.filter((sample) => sample !== undefined);
  const sum = (read: (sample: ActivitySample) => number): number =>
    known.reduce((total, sample) => total + read(sample), 0);
  const plot = (title: string, summary: string, bar: (sample: ActivitySample) => Bar): Html =>
    barPlot({
      title,
      summary,
      bars: samples.map((sample) => sample && bar(sample)),
      from: "1 h ago",
      to: "now",
      format: (value) => grouped(Math.round(value)),
    });
  const gas = known.reduce((total, sample) => total + sample.gas, 0n);
  return html`<h2>Last hour</h2><div class="plots">${plot(
    "Results a minute",
    `${grouped(sum(({ included }) => included))} included, ${failedText(sum(({ failed }) => failed))}`,
    ({ included, failed }) => [
      { style: "good", value: included },
      { style: "bad", value: failed },
    ],
  )}${plot(
    "Transactions a minute",
    `${grouped(sum(({ transactions }) => transactions))} in blocks`,
    ({ transactions }) => [{ style: "plain", value: transactions }],
  )}${plot("Gas a minute", `${grouped(gas)} used`, (sample) => [{ style: "plain", value: Number(sample.gas) }])}</div>`;
}

function failedText(failed: number): string {
  if (failed === 0) return "none failed";
  return `${grouped(failed)} failed (red, on top)`;
}
