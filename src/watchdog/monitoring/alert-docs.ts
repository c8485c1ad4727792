import { durationText } from "../../platform/config/config-fields.ts";
import type { Condition, Threshold } from "../conditions/condition.ts";

/** The table of alerts as Markdown. */
export function alertTable(conditions: readonly Condition[]): string {
  const rows = conditions.map(({ name, severity, when, for: lasting, thresholds, inhibits }) =>
    [
      `\`${name}\``,
      severity,
      when.replaceAll("|", "\\|"),
      lasting,
      thresholdTexts(thresholds).join(", "),
      inhibits.map((other) => `\`${other}\``).join(", "),
    ].join(" | "),
  );
  return [
    "| alert | severity | fires when | for | thresholds | mutes |",
    "|---|---|---|---|---|---|",
    ...rows.map((row) => `| ${row} |`),
    "",
  ].join("\n");
}

function thresholdTexts(thresholds: Condition["thresholds"]): readonly string[] {
  return Object.entries(thresholds).map(([key, threshold]) => `\`${key}\` ${valueText(threshold)}`);
}

function valueText({ unit, initial }: Threshold): string {
  if (unit === "duration") return durationText(initial);
  return unit === "percent" ? `${initial} %` : String(initial);
}
