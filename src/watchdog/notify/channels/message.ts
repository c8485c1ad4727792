import { counted, cutText, formatFlooredDuration, formatMinute } from "../../../platform/base/text.ts";
import { costText } from "../../policy/cost-text.ts";
import type { AlertEvent } from "../../alerts/alert-event.ts";

const KIND_WORDS = {
  firing: "FIRING",
  reminder: "STILL FIRING",
  escalated: "NOT ACKNOWLEDGED",
  resolved: "RESOLVED",
} as const;

/** A human-readable message about one validator's events. */
export interface AlertMessage {
  /** A line with all titles, such as "[FIRING, critical] neutron-1 val-a: Sidecar down". */
  readonly subject: string;
  /** One plain-text paragraph per event, without its title. */
  readonly paragraphs: readonly string[];
}

/** Formats one validator's events as a message. There must be at least one event, and the oldest must be first. */
export function alertMessage(events: readonly AlertEvent[]): AlertMessage {
  const kindOf = (event: AlertEvent): string => (events.length === 1 ? "" : `[${kindText(event)}] `);
  return {
    subject: subjectOf(events),
    paragraphs: events.map((event) => `${kindOf(event)}${eventText(event)}`),
  };
}

/** Formats the message as text with at most `limit` characters. Omits paragraphs that do not fit, and states their number. */
export function messageText({ subject, paragraphs }: AlertMessage, limit: number): string {
  // Reserve space for a last line with the number of omitted paragraphs.
  const space = limit - 40;
  const shown: string[] = [clip(subject, space)];
  let length = shown[0]?.length ?? 0;
  for (const paragraph of paragraphs) {
    const text = shown.length === 1 ? clip(paragraph, Math.max(0, space - length - 2)) : paragraph;
    if (length + text.length + 2 > space) break;
    shown.push(text);
    length += text.length + 2;
  }
  const hidden = paragraphs.length - (shown.length - 1);
  return [...shown, ...(hidden > 0 ? [`… and ${counted(hidden, "more alert")}.`] : [])].join("\n\n");
}

/** Formats an event without its title. The lines contain the problem, the start and cost, the first step, and the links. */
export function eventText(event: AlertEvent): string {
  const links = linksOf(event).map(({ text, href }) => `${text}: ${href}`);
  const action = event.kind === "resolved" ? [] : [`Do first: ${event.action}`];
  return [stateLine(event), sinceLine(event), ...action, links.join(" · ")].join("\n");
}

/** Describes the problem or the problem's end, with measured values. A name at the beginning, such as a node name, is not capitalized. */
export function stateLine({ kind, reason }: AlertEvent): string {
  if (kind === "resolved") return `Now: ${reason}.`;
  return `${reason.replace(/^[a-z](?=[a-z]*[ '])/, (letter) => letter.toUpperCase())}.`;
}

/** Describes when the alert began and, if votes are missed, the lost blocks. Losses may begin before the alert. */
export function sinceLine({ kind, sinceMs, atMs, cost }: AlertEvent): string {
  const fromMs = Math.min(sinceMs, cost?.sinceMs ?? sinceMs);
  const to = formatMinute(atMs).slice(11);
  const isToday = formatMinute(fromMs).slice(0, 10) === formatMinute(atMs).slice(0, 10);
  const from = formatMinute(fromMs).slice(isToday ? 11 : 0);
  const isOver = kind === "resolved";
  const times = isOver
    ? `From ${from} to ${to} UTC (${formatFlooredDuration(atMs - fromMs)})`
    : `Since ${from} UTC`;
  if (cost === undefined) return `${times}.`;
  // The count stays zero while the node is down, or if the node counts votes without prices as good.
  if (cost.blocks === 0n) return `${times}; no lost block is counted${isOver ? "" : " yet"}.`;
  return `${times}; lost${isOver ? "" : ` by ${to}`}: ${costText(cost)}.`;
}

/** Returns the links to show in an event's notification. The runbook's link may be only a file name. */
export function linksOf({ runbook, dashboard, page }: AlertEvent) {
  return [
    ...(page === undefined ? [] : [{ text: "Page", href: page }]),
    { text: "Runbook", href: runbook },
    ...(dashboard === undefined ? [] : [{ text: "Dashboard", href: dashboard }]),
  ];
}

/** Truncates a text to `limit` characters, including a final "…". */
export function clip(text: string, limit: number): string {
  return text.length <= limit ? text : `${cutText(text, limit - 1)}…`;
}

function kindText({ kind, severity }: AlertEvent): string {
  return kind === "resolved" ? KIND_WORDS[kind] : `${KIND_WORDS[kind]}, ${severity}`;
}

function subjectOf(events: readonly AlertEvent[]): string {
  const [first] = events;
  if (first === undefined) return "";
  const where = `${first.chainId} ${first.validator}`;
  if (events.length === 1) return `[${kindText(first)}] ${where}: ${first.title}`;
  const firing = events.filter(({ kind }) => kind !== "resolved").length;
  const words = [
    ...(firing > 0 ? [`FIRING ${firing}`] : []),
    ...(firing < events.length ? [`RESOLVED ${events.length - firing}`] : []),
  ];
  return `[${words.join(", ")}] ${where}: ${[...new Set(events.map(({ title }) => title))].join(", ")}`;
}

export interface ReportMessage {
  /** The report's id. A repeated delivery has the same id. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
}

/** Formats a report as its subject and a fenced block, because tables need a fixed-width font. `limit` is approximate. */
export function reportBlock({ subject, text }: ReportMessage, limit: number): string {
  // Reserve 10 characters for the line feeds and the two fences. Replace fences in the report, because a fence would end the block.
  const shown = cutLines(text.replaceAll("```", "'''"), limit - subject.length - 10);
  return `${subject}\n\`\`\`\n${shown}\n\`\`\``;
}

const CUT = "\n… cut; relaywatch report prints all of it";

/** Truncates a report's text after the last line that fits. */
export function cutLines(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = cutText(text, limit - CUT.length);
  return `${head.slice(0, Math.max(0, head.lastIndexOf("\n")))}${CUT}`;
}
