import { z } from "zod";
import { durationField, issueText } from "../../platform/config/config-fields.ts";
import { SEVERITIES } from "../../platform/monitoring/severity.ts";
import { type ChannelConfig, STATE_KINDS } from "./channels/channel-kinds.ts";
import type { Escalation } from "../alerts/notifications.ts";

/** Section `notify.escalation`. If there are no steps, nobody is notified. */
export const escalationSchema = z
  .strictObject({
    min_severity: z.enum(SEVERITIES).default("critical").describe("less severe alerts are not escalated"),
    steps: z
      .array(
        z.strictObject({
          after: durationField(1000).describe("time since the first notification without an acknowledgement"),
          channels: z
            .array(z.string())
            .min(1)
            .max(20)
            .describe("names of the channels that are notified then; they get no other alerts"),
        }),
      )
      .max(5)
      .default([])
      .describe("steps, shortest time first; without any, nothing is escalated")
      .meta({ example: [{ after: "15m", channels: ["on-call"] }], commentedOut: true }),
  })
  .prefault({})
  .describe("other channels for alerts that nobody acknowledges; Alertmanager has its own escalation")
  .transform(({ min_severity: minSeverity, steps }) => ({
    minSeverity,
    steps: steps.map(({ after, channels }) => ({ afterMs: after, channels })),
  }));

type EscalationConfig = z.output<typeof escalationSchema>;

/** Adds an issue for each step that cannot be executed. */
export function refuseEscalation(
  file: { readonly channels: readonly ChannelConfig[]; readonly escalation: EscalationConfig },
  context: z.RefinementCtx,
): void {
  const { steps } = file.escalation;
  const usable = file.channels.filter(({ kind }) => !STATE_KINDS.has(kind)).map(({ name }) => name);
  for (const [index, { afterMs, channels }] of steps.entries()) {
    const path = ["escalation", "steps", index];
    if (index > 0 && afterMs <= (steps[index - 1]?.afterMs ?? 0))
      context.addIssue({
        code: "custom",
        path: [...path, "after"],
        message: issueText("is not later than the step before", "a longer time"),
      });
    for (const [at, name] of channels.entries())
      if (!usable.includes(name))
        context.addIssue({
          code: "custom",
          path: [...path, "channels", at],
          message: issueText(
            "is not a channel that can be escalated to",
            `a notify channel of a kind other than ${[...STATE_KINDS].join(", ")}${usable.length === 0 ? "" : `: ${usable.join(", ")}`}`,
          ),
        });
  }
}

/** Replaces the names of channels with their settings. */
export function toEscalation(
  { minSeverity, steps }: EscalationConfig,
  channels: readonly ChannelConfig[],
): Escalation {
  return {
    minSeverity,
    steps: steps.map((step) => ({
      afterMs: step.afterMs,
      channels: channels.filter(({ name }) => step.channels.includes(name)),
    })),
  };
}
