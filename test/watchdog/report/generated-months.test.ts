import { describe, expect, it } from "vitest";
import { alertsSchema } from "../../../src/watchdog/conditions/alerts-config.ts";
import { notifySchema } from "../../../src/watchdog/notify/notify-config.ts";
import {
  type GeneratedMonth,
  GENERATED_MONTHS,
  type PlayedMonth,
  playGenerated,
  timeText,
} from "../../support/watchdog/generated-months.ts";
import { earlierAssessment, earlierRules } from "../../support/watchdog/earlier-rules.ts";

const { rules, graceMs } = alertsSchema.parse({});
const { reminders } = notifySchema.parse({});
const options = { rules, graceMs, reminders };
const earlier = { ...options, rules: earlierRules(rules), reassess: earlierAssessment };

interface Row {
  readonly before: PlayedMonth;
  readonly now: PlayedMonth;
}

const rows = new Map<GeneratedMonth, Row>();

function rowOf(month: GeneratedMonth): Row {
  const row = rows.get(month) ?? playBoth(month);
  rows.set(month, row);
  return row;
}

function playBoth(month: GeneratedMonth): Row {
  const [before, now] = playGenerated(month, [earlier, options]);
  if (before === undefined || now === undefined) throw new Error("there are two sets of rules");
  return { before, now };
}

/** Two months of some thousand polls, on a busy machine. */
const PLAY_MS = 600_000;

const HEAD = `# Pages of generated months

Thirteen months of one validator, each with one kind of failure, polled as a watchdog does (\`test/support/watchdog/generated-months.ts\`). "Before" are the
rules whose forecast applied the losses of 28 days to the rest of the month, and for which a low rate, a lost month and little headroom were
pages (\`test/support/watchdog/earlier-rules.ts\`); "now" are the present ones. The numbers are the same in each run.

- **Pages**: critical notifications with their reminders.
- **After the end**: those that came when the failure was over, so that nobody could do anything.
- **First page**: the longest time from the begin of a failure to its first page. A dash: none.
- **First notification**: the same, also of tickets (warnings).

Use it to see which failures page and how soon, before you change a threshold or a severity. This file is written by
\`npx vitest run -u --project "in process" test/watchdog/report/generated-months.test.ts\`.

| month | ends at | pages before | now | after the end before | now | first page before | now | tickets before | now | first notification before | now |
|---|---|---|---|---|---|---|---|---|---|---|---|
`;

const FOOT = `
- **No page for a loss of 3 % all month.** It costs part of the pay and nothing else. It is a ticket within hours.
- **A loss of 9 %** from the 11th on is a ticket within a day. It is a page when a week is left until all pay is lost.
- Where the numbers are equal, one alert about the cause paged, with its reminders after 1, 5 and 13 hours and then daily. When a part of
  the calls fails (restarts, a slow sidecar), that is the burn of six hours, as before.
`;

describe("generated months", () => {
  it.each(GENERATED_MONTHS)(
    "$kind: not more pages than before, none after the end, and none later",
    (month) => {
      const { before, now } = rowOf(month);
      expect(now.pages).toBeLessThanOrEqual(before.pages);
      expect(now.late).toBe(0);
      if (before.pageAfterMs !== undefined) expect(now.pageAfterMs).toBeLessThanOrEqual(before.pageAfterMs);
      if (before.ticketAfterMs !== undefined)
        expect(now.ticketAfterMs).toBeLessThanOrEqual(before.ticketAfterMs);
    },
    PLAY_MS,
  );

  it("have the pages of docs/alert-backtest.md", async () => {
    const table = GENERATED_MONTHS.map((month) => `| ${cellsOf(rowOf(month)).join(" | ")} |\n`).join("");
    await expect(`${HEAD}${table}${FOOT}`).toMatchFileSnapshot("../../../docs/alert-backtest.md");
  });
});

function cellsOf({ before, now }: Row): readonly string[] {
  const { rate } = now;
  return [
    now.kind,
    rate === undefined ? "–" : `${((100 * Number(rate.good)) / Number(rate.total)).toFixed(2)} %`,
    ...[before.pages, now.pages, before.late, now.late].map(String),
    ...[before.pageAfterMs, now.pageAfterMs].map(timeText),
    ...[before.tickets, now.tickets].map(String),
    ...[before.ticketAfterMs, now.ticketAfterMs].map(timeText),
  ];
}
