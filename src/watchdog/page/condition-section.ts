import { formatDuration } from "../../platform/base/text.ts";
import { type Html, html } from "../../platform/web/html.ts";
import { timeText } from "../../platform/web/page-shell.ts";
import { badge, grouped } from "../../platform/web/parts.ts";
import type { AlertStatus } from "../api/alert-json.ts";
import type { AlertState } from "../alerts/alert-state.ts";
import { runbookFile } from "../conditions/condition.ts";

/** What {@link conditionSection} needs besides the alerts. */
export interface ConditionContext {
  readonly nowMs: number;
  /** Whether a poll has ended. */
  readonly isJudged: boolean;
  /** URL of the folder of the runbooks, with a slash at its end; empty: not known. */
  readonly runbooks: string;
  /** Failed blocks of the validator over all months. */
  readonly badBlocks: bigint;
}

type OpenAlert = AlertStatus & { readonly state: AlertState };

/** The alerts that are firing, pending, or resolved lately: what each means, what it costs, what to do. */
export function conditionSection(alerts: readonly AlertStatus[], context: ConditionContext): Html {
  const open = alerts.flatMap((alert): readonly OpenAlert[] =>
    alert.state === undefined ? [] : [{ ...alert, state: alert.state }],
  );
  if (open.length === 0)
    return html`<h3>Conditions</h3><p>${context.isJudged ? `None of ${alerts.length} conditions held at the last poll.` : "None was judged yet: the first poll has not ended."}</p>`;
  const sorted = open.toSorted((a, b) => rank(a) - rank(b));
  return html`<h3>Conditions</h3><ul class="problems">${sorted.map((alert) => item(alert, context))}</ul>`;
}

const PHASES: readonly AlertState["phase"][] = ["firing", "pending", "resolved"];
const SEVERITY_RANK = { critical: 0, warning: 1, info: 2 } as const;

function rank({ rule, state }: OpenAlert): number {
  const isMuted = state.quietReason?.startsWith("muted by") === true;
  return PHASES.indexOf(state.phase) * 10 + (isMuted ? 5 : 0) + SEVERITY_RANK[rule.severity];
}

function item(alert: OpenAlert, context: ConditionContext): Html {
  const { rule, state, validator } = alert;
  const { condition } = rule;
  const { name, title, description, impact, action } = condition;
  return html`<li id="condition-${validator}-${name}">${phaseBadge(alert)} <strong>${title}</strong>: ${state.reason}.
<small class="muted">Since ${timeText(state.sinceMs)}${costText(state, context)}. ${nextText(alert, context)}${
    state.quietReason !== undefined && html` Not notified: ${state.quietReason}.`
  }</small>${
    state.phase !== "resolved" &&
    html`<br>${description} ${impact}<br><strong>To do:</strong> ${action} ${runbook(name, context.runbooks)}`
  }</li>
`;
}

function phaseBadge({ rule: { severity }, state: { phase } }: OpenAlert): Html {
  if (phase === "resolved") return badge("good", "resolved");
  if (phase === "pending") return badge("warn", `pending, ${severity}`);
  return badge(severity === "critical" ? "bad" : severity === "warning" ? "warn" : "unknown", severity);
}

function costText({ badBlocksBefore, phase }: AlertState, { badBlocks }: ConditionContext): string {
  const blocks = badBlocks - badBlocksBefore;
  return blocks > 0n && phase !== "resolved" ? `, ${grouped(blocks)} blocks missed since` : "";
}

function nextText({ rule, state }: OpenAlert, { nowMs }: ConditionContext): Html | string {
  if (state.phase === "resolved")
    return html`Resolved at ${state.resolvedAtMs === undefined ? "–" : timeText(state.resolvedAtMs)}.`;
  if (state.phase === "firing")
    return `Firing; resolved when it is clear for ${formatDuration(rule.resolveForMs)}.`;
  const atMs = state.sinceMs + rule.forMs;
  return html`Fires at ${timeText(atMs)}, in ${formatDuration(atMs - nowMs)}, unless it ends before.`;
}

function runbook(name: string, runbooks: string): Html {
  const file = runbookFile(name);
  if (runbooks === "") return html`Runbook: <code>alerts/runbooks/${file}</code>.`;
  return html`<a href="${runbooks}${file}">Runbook</a>.`;
}
