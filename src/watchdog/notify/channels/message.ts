import { counted, cutText, formatFlooredDuration } from "../../../platform/base/text.ts";
import { costText } from "../../policy/cost-text.ts";
import type { AlertEvent } from "../../alerts/alert-event.ts";

/** Words of the event kinds in messages. */
const KIND_WORDS = {
  firing: "FIRING",
  reminder: "STILL FIRING",
  escalated: "NOT ACKNOWLEDGED",
  resolved: "RESOLVED",
} as const;

/** A message for people about some events of one validator. */
export interface AlertMessage {
  /** One line: "[FIRING] neutron-1 val-a: Sidecar down". */
  readonly subject: string;
  /** One paragraph for each event, plain text. */
  readonly paragraphs: readonly string[];
}

/** Formats events of one validator, oldest first, as a message. `events` is not empty. */
export function alertMessage(events: readonly AlertEvent[]): AlertMessage {
  return { subject: subjectOf(events), paragraphs: events.map(eventText) };
}

/** Formats the message as text of at most `limit` characters. Paragraphs that do not fit are counted, not cut. */
export function messageText({ subject, paragraphs }: AlertMessage, limit: number): string {
  // Reserves space for the last line.
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

/** Formats one event as one paragraph: what, since when, what it cost, what to do. */
export function eventText(event: AlertEvent): string {
  const { title, kind, severity, reason, atMs, sinceMs } = event;
  const duration = formatFlooredDuration(atMs - sinceMs);
  if (kind === "resolved")
    return [
      `[${KIND_WORDS[kind]}] ${title}, after ${duration}. Now: ${reason}.${costLine(event)}`,
      ...linkTexts(event),
    ].join("\n");
  const head = `[${KIND_WORDS[kind]}, ${severity}] ${title} for ${duration}: ${reason}.`;
  return [
    head,
    event.description,
    `Impact: ${event.impact}${costLine(event)}`,
    `Action: ${event.action}`,
    ...linkTexts(event),
  ].join("\n");
}

function costLine({ cost }: AlertEvent): string {
  return cost === undefined ? "" : ` Cost: ${costText(cost)}.`;
}

function linkTexts(event: AlertEvent): readonly string[] {
  return linksOf(event).map(({ text, href }) => `${text}: ${href}`);
}

/** Links of an event that are known. The runbook's can be the name of a file. */
export function linksOf({ runbook, dashboard, page }: AlertEvent): readonly EventLink[] {
  return [
    { text: "Runbook", href: runbook },
    ...(dashboard === undefined ? [] : [{ text: "Dashboard", href: dashboard }]),
    ...(page === undefined ? [] : [{ text: "Watchdog", href: page }]),
  ];
}

/** One link of an event. */
interface EventLink {
  readonly text: string;
  readonly href: string;
}

/** Cuts a text at `limit` characters. */
export function clip(text: string, limit: number): string {
  return text.length <= limit ? text : `${cutText(text, limit - 1)}…`;
}

function subjectOf(events: readonly AlertEvent[]): string {
  const [first] = events;
  if (first === undefined) return "";
  const where = `${first.chainId} ${first.validator}`;
  if (events.length === 1) return `[${KIND_WORDS[first.kind]}] ${where}: ${first.title}`;
  const firing = events.filter(({ kind }) => kind !== "resolved").length;
  const words = [
    ...(firing > 0 ? [`FIRING ${firing}`] : []),
    ...(firing < events.length ? [`RESOLVED ${events.length - firing}`] : []),
  ];
  return `[${words.join(", ")}] ${where}: ${[...new Set(events.map(({ title }) => title))].join(", ")}`;
}

/** A report as a message. */
export interface ReportMessage {
  /** Identifies the report: a repeated delivery has the same one. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
}

/** Formats a report as its subject and a block of fixed width, which tables need, in about `limit` characters. */
export function reportBlock({ subject, text }: ReportMessage, limit: number): string {
  // 10: the line feeds and the two fences. The report's own fences would end the block.
  const shown = cutLines(text.replaceAll("```", "'''"), limit - subject.length - 10);
  return `${subject}\n\`\`\`\n${shown}\n\`\`\``;
}

const CUT = "\n… cut; relaywatch report prints all of it";

/** Cuts a report's text at the end of the last line that fits. */
export function cutLines(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = cutText(text, limit - CUT.length);
  return `${head.slice(0, Math.max(0, head.lastIndexOf("\n")))}${CUT}`;
}
