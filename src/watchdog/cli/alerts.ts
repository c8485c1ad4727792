import { hostname, userInfo } from "node:os";
import { Command, Option } from "commander";
import { z } from "zod";
import { didYouMean } from "../../platform/base/did-you-mean.ts";
import { DAY_MS } from "../../platform/base/time.ts";
import { CheckExit, CliError, EXIT } from "../../platform/base/errors.ts";
import { systemClock } from "../../platform/base/clock.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import { counted, formatMinute } from "../../platform/base/text.ts";
import { type CauseGroup, consequencesText, underCauses } from "../alerts/under-causes.ts";
import { monthStartMs, nextMonthMs } from "../../platform/base/month.ts";
import { type CliContext, jsonOption } from "../../platform/cli/cli-context.ts";
import {
  addReportOptions,
  askWatchdog,
  lastMonth,
  monthOption,
  oracleOptions,
  readOracle,
  watchdogConfig,
} from "./oracle-source.ts";
import type { OracleOptions, WatchdogCall } from "./oracle-source.ts";
import { parseDuration } from "../../platform/cli/options.ts";
import { printReport, type ReportFormatOptions } from "../../platform/cli/print-report.ts";

interface Options extends OracleOptions {
  readonly json?: true;
}

export function alertsCommand(context: CliContext): Command {
  return new Command()
    .addCommand(listCommand(context))
    .addCommand(testCommand(context))
    .addCommand(deadLettersCommand(context))
    .addCommand(ackCommand(context))
    .addCommand(unackCommand(context))
    .addCommand(silenceCommand(context))
    .addCommand(unsilenceCommand(context))
    .addCommand(backtestCommand(context));
}

function alertCommand(name: string, description: string): Command {
  const command = new Command(name).description(description).addOption(jsonOption());
  for (const option of oracleOptions()) command.addOption(option);
  return command;
}

const silenceReply = z.object({
  id: z.string(),
  alerts: z.array(z.string()),
  validators: z.array(z.string()),
  author: z.string(),
  reason: z.string(),
  ends_at: z.string(),
});

const acknowledged = z.object({ author: z.string(), note: z.string(), at: z.string() });

const listReply = z.object({
  alerts: z.array(
    z.object({
      name: z.string(),
      validator: z.string(),
      severity: z.string(),
      state: z.string(),
      since: z.string().nullable(),
      // Older watchdogs don't send `resolved_at`.
      resolved_at: z.string().nullable().default(null),
      reason: z.string().nullable(),
      quiet: z.string().nullable(),
      // Older watchdogs don't send `acknowledged`, `escalated_at` and `escalates_at`.
      acknowledged: acknowledged.nullable().default(null),
      escalated_at: z.string().nullable().default(null),
      escalates_at: z.string().nullable().default(null),
    }),
  ),
  silences: z.array(silenceReply),
  // Older watchdogs don't send `dead_letters`.
  dead_letters: z
    .array(
      z.object({
        channel: z.string(),
        alert: z.string(),
        validator: z.string(),
        kind: z.string(),
        at: z.string(),
        error: z.string(),
      }),
    )
    .default([]),
});

function listCommand(context: CliContext): Command {
  return alertCommand(
    "list",
    "list pending, firing and recently resolved alerts, silences, and notifications that were never delivered; exits 1 if an alert is firing",
  )
    .option("--all", "also list inactive alerts")
    .action(async (options: Options & { readonly all?: true }) => {
      const reply = await askWatchdog({ path: "/api/alerts" }, options, context);
      const { alerts, silences, dead_letters: letters } = listReply.parse(reply);
      const isOwn = ({ validator }: { readonly validator: string }): boolean =>
        validator === (options.validator ?? validator);
      const own = alerts.filter(isOwn);
      if (options.json) context.print(stringifyJson(reply, 2));
      else {
        const shown = own.filter(({ state }) => options.all === true || state !== "inactive");
        for (const group of underCauses(shown, (alert) => alert))
          for (const line of alertLines(group)) context.print(line);
        if (shown.length === 0) context.print("no alert is pending, firing or recently resolved");
        for (const silence of silences) context.print(silenceLine(silence));
        for (const letter of letters.filter(isOwn)) context.print(deadLetterLine(letter));
      }
      if (own.some(({ state }) => state === "firing")) throw new CheckExit(EXIT.fatal);
    });
}

function deadLetterLine(letter: z.output<typeof listReply>["dead_letters"][number]): string {
  const { channel, alert, validator, kind, at, error } = letter;
  return `never delivered to ${channel}: ${validator}  ${alert}  ${kind} at ${utcMinute(at)}: ${error}`;
}

interface DeadLetterOptions extends Options {
  readonly resend?: true;
  readonly discard?: true;
}

function deadLettersCommand(context: CliContext): Command {
  return alertCommand(
    "dead-letters",
    "list undelivered notifications, send them again, or drop them; exits 1 if it lists any",
  )
    .argument("[channel...]", "channel names; default: all channels")
    .addOption(new Option("--resend", "send the notifications again").conflicts("discard"))
    .option("--discard", "drop the notifications, so that the alert about them ends")
    .action(async (channels: readonly string[], options: DeadLetterOptions) => {
      const isOwn = ({ channel }: { readonly channel: string }): boolean =>
        channels.length === 0 || channels.includes(channel);
      if (options.resend === undefined && options.discard === undefined) {
        const listed = listReply.parse(await askWatchdog({ path: "/api/alerts" }, options, context));
        const own = listed.dead_letters.filter(isOwn);
        if (options.json) context.print(stringifyJson({ dead_letters: own }, 2));
        else for (const letter of own) context.print(deadLetterLine(letter));
        if (own.length > 0) throw new CheckExit(EXIT.fatal);
        if (!options.json)
          context.print("no dead letters: every notification was delivered or is still being retried");
        return;
      }
      const what = options.resend === undefined ? "discard" : "resend";
      const path = `/api/alerts/dead-letters/${what}`;
      const body = channels.length === 0 ? {} : { channels };
      const reply = await askWatchdog({ path, method: "POST", body }, options, context);
      const { resent, discarded = 0 } = changedLetters.parse(reply);
      const done =
        resent === undefined
          ? "dropped"
          : "sent again; check for another rejection with relaywatch alerts dead-letters";
      const text = `${counted(resent ?? discarded, "notification")} ${done}`;
      context.print(options.json ? stringifyJson(reply, 2) : text);
    });
}

const changedLetters = z.object({ resent: z.number().optional(), discarded: z.number().optional() });

type ListedAlert = z.output<typeof listReply>["alerts"][number];

/** Formats an alert, and its consequences on a second line. */
function alertLines({ alert, consequences }: CauseGroup<ListedAlert>): readonly string[] {
  const names = consequences.map(({ name, state }) => ({ title: name, state }));
  return [alertLine(alert), ...(names.length === 0 ? [] : [`  ${consequencesText(names)}`])];
}

function alertLine(alert: ListedAlert): string {
  const { name, validator, severity, state, since, resolved_at: resolvedAt, reason, quiet } = alert;
  const from = since === null ? "" : ` since ${utcMinute(since)}`;
  const time = resolvedAt === null ? from : ` at ${utcMinute(resolvedAt)}`;
  const cause = reason === null ? "" : `: ${reason}`;
  return `${validator}  ${name}  ${severity}  ${state}${time}${cause}${quiet === null ? "" : ` (${quiet})`}${careText(alert)}`;
}

/** Describes who has acknowledged an alert. If nobody has, describes when the alert was escalated and will next be escalated. */
function careText({
  acknowledged: by,
  escalated_at: escalatedAt,
  escalates_at: escalatesAt,
}: ListedAlert): string {
  if (by !== null) return `; acknowledged at ${utcMinute(by.at)} by ${by.author}: ${by.note}`;
  const past = escalatedAt === null ? "" : `; escalated at ${utcMinute(escalatedAt)}`;
  return escalatesAt === null ? past : `${past}; not acknowledged, escalates at ${utcMinute(escalatesAt)}`;
}

function utcMinute(time: string): string {
  return `${formatMinute(Date.parse(time))} UTC`;
}

function silenceLine(silence: z.output<typeof silenceReply>): string {
  const { id, alerts, validators, author, reason, ends_at: endsAt } = silence;
  const what = alerts.length === 0 ? "all alerts" : alerts.join(", ");
  const whom = validators.length === 0 ? "" : ` of ${validators.join(", ")}`;
  return `silence ${id}: ${what}${whom} until ${utcMinute(endsAt)}, by ${author}: ${reason}`;
}

const testReply = z.object({
  channels: z.array(z.object({ channel: z.string(), kind: z.string(), error: z.string().nullable() })),
});

function testCommand(context: CliContext): Command {
  return alertCommand(
    "test",
    "send a test notification to every channel; exits 1 if any channel rejects it",
  ).action(async (options: Options) => {
    const call = { path: "/api/alerts/test", method: "POST", accepts: [502] } as const;
    const reply = await askWatchdog(call, options, context);
    const { channels } = testReply.parse(reply);
    if (options.json) context.print(stringifyJson(reply, 2));
    else if (channels.length === 0)
      context.print("no channel is configured, so notifications go only to the log");
    else
      for (const { channel, kind, error } of channels)
        context.print(`${channel} (${kind}): ${error === null ? "accepted" : `failed: ${error}`}`);
    if (channels.some(({ error }) => error !== null)) throw new CheckExit(EXIT.fatal);
  });
}

const ackReply = z.object({
  alerts: z.array(
    z.object({ validator: z.string(), name: z.string(), acknowledged: acknowledged.nullable() }),
  ),
});

interface AckOptions extends Options {
  readonly note: string;
  readonly author: string;
}

function ackCommand(context: CliContext): Command {
  return alertCommand(
    "ack",
    "acknowledge firing alerts: shows others on call who is working on them, and stops reminders and escalation until the alerts end",
  )
    .argument("[name...]", "alert names; default: all firing alerts")
    .requiredOption("--note <text>", "note for others on call, e.g. what you are doing about the alert")
    .option("--author <name>", "name shown as the author", `${userInfo().username}@${hostname()}`)
    .action(async (names: readonly string[], options: AckOptions) => {
      await checkAlertNames(names);
      const body = { ...selected(names, options), author: options.author, note: options.note };
      await changeAcknowledged({ path: "/api/alerts/ack", method: "POST", body }, options, context);
    });
}

function unackCommand(context: CliContext): Command {
  return alertCommand("unack", "withdraw acknowledgements so that reminders and escalations resume")
    .argument("[name...]", "alert names; default: all firing alerts")
    .action(async (names: readonly string[], options: Options) => {
      await checkAlertNames(names);
      const body = selected(names, options);
      await changeAcknowledged({ path: "/api/alerts/unack", method: "POST", body }, options, context);
    });
}

/** Throws `CliError` if any name is not the name of an alert. */
async function checkAlertNames(names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const { CONDITIONS } = await import("../conditions/conditions.ts");
  const known = CONDITIONS.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const hint = didYouMean(unknown, known) || "; list the names with relaywatch alerts list --all";
  throw new CliError(EXIT.usage, `unknown alert ${JSON.stringify(unknown.slice(0, 80))}${hint}`);
}

function selected(names: readonly string[], { validator }: Options) {
  return { alerts: names, validators: validator === undefined ? [] : [validator] };
}

async function changeAcknowledged(call: WatchdogCall, options: Options, context: CliContext): Promise<void> {
  const reply = await askWatchdog(call, options, context);
  if (options.json) return context.print(stringifyJson(reply, 2));
  for (const { validator, name, acknowledged: by } of ackReply.parse(reply).alerts) {
    const state = by === null ? "no longer acknowledged" : `acknowledged by ${by.author}: ${by.note}`;
    context.print(`${validator}  ${name}  ${state}`);
  }
}

interface SilenceOptions extends Options {
  readonly for: number;
  readonly reason: string;
  readonly author: string;
}

function silenceCommand(context: CliContext): Command {
  return alertCommand("silence", "temporarily mute notifications; alerts are still evaluated and counted")
    .argument("[name...]", "alert names; default: all alerts")
    .requiredOption("--for <duration>", 'how long the silence lasts, e.g. "2h"', parseDuration)
    .requiredOption("--reason <text>", "reason for the silence, shown to others on call")
    .option("--author <name>", "name shown as the author", `${userInfo().username}@${hostname()}`)
    .action(async (names: readonly string[], options: SilenceOptions) => {
      await checkAlertNames(names);
      const body = {
        ...selected(names, options),
        author: options.author,
        reason: options.reason,
        ends_at: new Date(systemClock.nowMs() + options.for).toISOString(),
      };
      const reply = await askWatchdog({ path: "/api/silences", method: "POST", body }, options, context);
      context.print(options.json ? stringifyJson(reply, 2) : silenceLine(silenceReply.parse(reply)));
    });
}

function unsilenceCommand(context: CliContext): Command {
  return alertCommand("unsilence", "end a silence now")
    .argument("<id>", "id of the silence, from the output of alerts list")
    .action(async (id: string, options: Options) => {
      const path = `/api/silences/${encodeURIComponent(id)}`;
      const reply = await askWatchdog({ path, method: "DELETE" }, options, context);
      context.print(options.json ? stringifyJson(reply, 2) : `silence ${id} ended`);
    });
}

type BacktestCommand = OracleOptions & ReportFormatOptions & { readonly month?: string };

function backtestCommand(context: CliContext): Command {
  const command = new Command("backtest")
    .description(
      "evaluate the alert rules on a month's stored data and list the alerts that would have fired",
    )
    .addOption(monthOption());
  return addReportOptions(command).action(async (options: BacktestCommand) => {
    const month = options.month ?? lastMonth();
    const fromMs = monthStartMs(month);
    // Also read the 28 days before the month, which the forecast needs. The rules alone would only need three days.
    const range = { fromMs: fromMs - 28 * DAY_MS, toMs: nextMonthMs(fromMs) };
    const { validators } = await readOracle(options, context, range);
    const { alerts, intervalMs } = await watchdogConfig(options.config);
    const { backtestReport } = await import("../report/backtest.ts");
    printReport(backtestReport(validators, month, { ...alerts, intervalMs }), options, context);
  });
}
