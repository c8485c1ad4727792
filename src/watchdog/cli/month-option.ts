import { InvalidArgumentError, Option } from "commander";
import { systemClock } from "../../platform/base/clock.ts";
import { monthOf, monthsBefore } from "../../platform/base/month.ts";

/** The `--month MONTH` option. Its value is undefined if not given; see {@link lastMonth}. */
export function monthOption(): Option {
  return new Option(
    "--month <month>",
    "the month, such as 2026-10; default: the last closed month",
  ).argParser((text) => {
    if (/^20\d\d-(?:0[1-9]|1[0-2])$/.test(text)) return text;
    throw new InvalidArgumentError("expected a month such as 2026-10");
  });
}

/** Returns the most recent closed month. */
export function lastMonth(): string {
  const now = monthOf(systemClock.nowMs());
  return monthsBefore(now, 1)[0] ?? now;
}
