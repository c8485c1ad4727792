import { join } from "node:path";
import { validate } from "node-cron";
import { z } from "zod";
import { issueText } from "../../platform/config/config-fields.ts";
import { REPORT_FORMATS, type ReportFormat } from "../../platform/report/document.ts";
import { REPORT_KINDS } from "../notify/channels/channel-kinds.ts";
import type { NotifyConfig } from "../notify/notify-config.ts";

export interface ReportsConfig {
  /** The daily report's schedule, as a cron expression in UTC; undefined if there is no daily report. */
  readonly dailyAt: string | undefined;
  readonly monthlyAt: string | undefined;
  /** The folder for report files; undefined if no files are written. */
  readonly directory: string | undefined;
  readonly formats: readonly ReportFormat[];
  /** Names of the notification channels to which reports are sent as text. */
  readonly channels: readonly string[];
}

const schedule = (initial: string) =>
  z
    .string()
    .max(100)
    .refine((text) => /^\S+(?: \S+){4}$/.test(text) && validate(text), {
      error: issueText("is not a schedule", 'a cron expression with five fields, e.g. "0 7 * * *"'),
    })
    .nullable()
    .default(initial);

export const reportsSchema = z
  .strictObject({
    daily_at: schedule("0 7 * * *").describe(
      "schedule of the handover report on the last 24 h, as a cron expression in UTC; null: no report",
    ),
    monthly_at: schedule("30 0 1 * *").describe(
      "schedule of the reports on the previous month, as a cron expression in UTC; null: no reports",
    ),
    directory: z
      .string()
      .min(1)
      .optional()
      .describe(
        "folder to which report files are written; default: the folder reports in state_dir, or no files if state_dir is unset",
      )
      .meta({ example: "/var/lib/relaywatch/oracle-watchdog/reports" }),
    formats: z
      .array(z.enum(REPORT_FORMATS))
      .min(1)
      .default(["text", "json"])
      .describe("formats in which report files are written"),
    channels: z
      .array(z.string())
      .max(20)
      .default([])
      .describe("names of the notification channels that receive the reports as text")
      .meta({ example: ["mail"] }),
  })
  .prefault({})
  .describe(
    "scheduled reports: a daily handover for the last 24 h, and last month's reports once that month is final",
  )
  .transform(
    (file): ReportsConfig => ({
      dailyAt: file.daily_at ?? undefined,
      monthlyAt: file.monthly_at ?? undefined,
      directory: file.directory,
      formats: [...new Set(file.formats)],
      channels: [...new Set(file.channels)],
    }),
  );

/** Adds an issue for every name in `reports.channels` that is not the name of a channel that accepts reports. */
export function refuseReportChannels(
  file: { readonly reports: ReportsConfig; readonly notify: NotifyConfig },
  context: z.RefinementCtx,
): void {
  const usable = file.notify.channels.filter(({ kind }) => REPORT_KINDS.has(kind)).map(({ name }) => name);
  for (const [index, name] of file.reports.channels.entries()) {
    if (usable.includes(name)) continue;
    const expected = `a notify channel of the kind ${[...REPORT_KINDS].join(", ")}${usable.length === 0 ? "" : `: ${usable.join(", ")}`}`;
    const path = ["reports", "channels", index];
    context.addIssue({ code: "custom", path, message: issueText("cannot receive reports", expected) });
  }
}

/** Fills in the default folder, which is `reports` in `state_dir`. */
export function withDirectory(config: ReportsConfig, stateDir: string | undefined): ReportsConfig {
  const directory = config.directory ?? (stateDir === undefined ? undefined : join(stateDir, "reports"));
  return { ...config, directory };
}
