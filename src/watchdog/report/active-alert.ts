import { z } from "zod";

/** A pending or firing alert, as `GET /api/alerts` of the watchdog shows it. */
export interface ActiveAlert {
  /** Name of the condition: "sidecar-down". */
  readonly alert: string;
  readonly validator: string;
  readonly severity: string;
  readonly title: string;
  readonly state: "pending" | "firing";
  readonly sinceMs: number;
  readonly reason: string;
  /** Why the alert does not notify; null when it does. */
  readonly quiet: string | null;
  readonly description: string;
  readonly impact: string;
  readonly action: string;
  readonly runbook: string;
  readonly inhibits: readonly string[];
}

const wireAlert = z.object({
  name: z.string(),
  validator: z.string(),
  severity: z.string(),
  title: z.string(),
  state: z.string(),
  since: z.string().nullable(),
  reason: z.string().nullable(),
  quiet: z.string().nullable(),
  description: z.string(),
  impact: z.string(),
  action: z.string(),
  runbook: z.string(),
  inhibits: z.array(z.string()),
});

const wireAlerts = z.object({ alerts: z.array(wireAlert) });

/** Decodes the pending and firing alerts of the body of `GET /api/alerts`, firing ones first. Throws a `ZodError`. */
export function parseActiveAlerts(body: unknown): readonly ActiveAlert[] {
  return wireAlerts
    .parse(body)
    .alerts.flatMap(({ name, state, since, reason, ...rest }): readonly ActiveAlert[] => {
      if (state !== "pending" && state !== "firing") return [];
      return [{ ...rest, alert: name, state, sinceMs: Date.parse(since ?? ""), reason: reason ?? "" }];
    })
    .toSorted((a, b) => Number(b.state === "firing") - Number(a.state === "firing") || a.sinceMs - b.sinceMs);
}
