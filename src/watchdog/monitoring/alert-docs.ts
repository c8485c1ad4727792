import { durationText } from "../../platform/config/setting-texts.ts";
import type { Condition, Threshold } from "../conditions/condition.ts";

export function alertTable(conditions: readonly Condition[]): string {
  const monthAlerts = conditions.map(({ name }) => name).filter((name) => /-reward-(?!lost)/.test(name));
  const rows = conditions.map(({ name, severity, when, for: lasting, thresholds, inhibits }) =>
    [
      `\`${name}\``,
      severity,
      when.replaceAll("|", "\\|"),
      lasting,
      thresholdTexts(thresholds).join(", "),
      mutedTexts(inhibits, monthAlerts).join(", "),
    ].join(" | "),
  );
  return [
    "| alert | severity | fires when | for | thresholds | mutes |",
    "|---|---|---|---|---|---|",
    ...rows.map((row) => `| ${row} |`),
    "",
  ].join("\n");
}

/** Describes the muted alerts. Alerts about the month's rate form a single entry if they are all muted. */
function mutedTexts(names: readonly string[], monthAlerts: readonly string[]): readonly string[] {
  const hasAll = monthAlerts.length > 0 && monthAlerts.every((name) => names.includes(name));
  const others = names.filter((name) => !hasAll || !monthAlerts.includes(name)).map((name) => `\`${name}\``);
  return hasAll ? [...others, "*month*"] : others;
}

function thresholdTexts(thresholds: Condition["thresholds"]): readonly string[] {
  return Object.entries(thresholds).map(([key, threshold]) => `\`${key}\` ${valueText(threshold)}`);
}

function valueText({ unit, initial }: Threshold): string {
  if (unit === "duration") return durationText(initial);
  return unit === "percent" ? `${initial} %` : String(initial);
}
