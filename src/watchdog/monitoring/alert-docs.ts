import { sectionKey } from "../conditions/alerts-config.ts";
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

/** The sections of all alerts as YAML, with their defaults. */
export function alertSections(conditions: readonly Condition[]): string {
  return conditions
    .map(({ name, severity, when, for: lasting, resolveFor, thresholds }) =>
      [
        ...wrapped(`Fires when ${when.replaceAll("`", "")}.`).map((line) => `  # ${line}`),
        `  ${sectionKey(name)}:`,
        "    enabled: true",
        `    severity: ${severity}`,
        `    for: "${lasting}"`,
        `    resolve_for: "${resolveFor}"`,
        ...Object.entries(thresholds).map(([key, threshold]) => `    ${key}: ${yamlValue(threshold)}`),
        "",
      ].join("\n"),
    )
    .join("");
}

function thresholdTexts(thresholds: Condition["thresholds"]): readonly string[] {
  return Object.entries(thresholds).map(([key, threshold]) => `\`${key}\` ${valueText(threshold)}`);
}

function valueText({ unit, initial }: Threshold): string {
  if (unit === "duration") return durationText(initial);
  return unit === "percent" ? `${initial} %` : String(initial);
}

function yamlValue({ unit, initial }: Threshold): string {
  return unit === "duration" ? `"${durationText(initial)}"` : String(initial);
}

/** Breaks a text into lines of at most 110 characters. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 110) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
