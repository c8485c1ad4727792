import type { AlertEvent } from "../../../src/watchdog/alerts/alert-event.ts";

/** An event with hostile text in its reason, which comes from other hosts. */
export function alertEvent(changes: Partial<AlertEvent> = {}): AlertEvent {
  const { alert = "sidecar-down", sinceMs = Date.UTC(2026, 10, 21, 12), kind = "firing" } = changes;
  return {
    id: `test-1/default/${alert}/${sinceMs}/${kind}`,
    key: `test-1/default/${alert}`,
    alert,
    kind,
    severity: "critical",
    validator: "default",
    chainId: "test-1",
    title: "Sidecar down",
    sinceMs,
    atMs: sinceMs + 65_000,
    reason: 'refused <!channel> & @everyone "quoted"',
    description: "Neither the watchdog nor the node reaches the sidecar.",
    action: "Start it.",
    impact: "One block each.",
    runbook: "https://runbooks.example/sidecar-down.md",
    cost: { blocks: 61n, allowed: 2_651n, payCents: 1_250n },
    ...changes,
  };
}
