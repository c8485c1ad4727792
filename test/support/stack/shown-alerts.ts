import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { z } from "zod";

const shownAlerts = z.array(
  z.object({
    labels: z.record(z.string(), z.string()),
    annotations: z.record(z.string(), z.string()),
    status: z.object({ state: z.enum(["active", "suppressed", "unprocessed"]) }),
  }),
);

/** An alert as Alertmanager shows it. */
export type Shown = z.output<typeof shownAlerts>[number];

/** Returns the alerts that the Alertmanager at `url` shows now. */
export async function readAlerts(url: string): Promise<readonly Shown[]> {
  return shownAlerts.parse(await (await fetch(`${url}/api/v2/alerts`)).json());
}

/** Waits until `missing` is empty, and fails with what is left. */
export async function untilNone(
  missing: () => Promise<readonly string[]>,
  deadlineMs: number,
): Promise<void> {
  const endMs = Date.now() + deadlineMs;
  for (;;) {
    const left = await missing();
    if (left.length === 0) return;
    if (Date.now() > endMs) expect(left).toEqual([]);
    await sleep(1000);
  }
}
