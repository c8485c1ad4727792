import { describe, expect, it } from "vitest";
import { recordAlerts, type PastAlert, type AlertState } from "../../src/watchdog/alerts/alert-state.ts";
import { alertsSchema } from "../../src/watchdog/conditions/alerts-config.ts";

const { rules } = alertsSchema.parse({});

function alert(name: string, sinceMs: number, phase: AlertState["phase"] = "firing"): AlertState {
  const reason = `${name} at ${sinceMs}`;
  return { validator: "a", alert: name, phase, sinceMs, lastActiveMs: sinceMs, reason };
}

const at = (nowMs: number, validator = "a") => ({ validator, nowMs });

describe("the history of alerts", () => {
  it("has an alert from its fire to its end, with the reason of the fire", () => {
    const fired = recordAlerts([], [alert("sidecar-down", 1)], at(10), rules);
    expect(fired).toEqual([
      {
        validator: "a",
        alert: "sidecar-down",
        severity: "critical",
        title: "Sidecar down",
        sinceMs: 1,
        firedAtMs: 10,
        reason: "sidecar-down at 1",
      },
    ]);
    expect(recordAlerts(fired, [{ ...alert("sidecar-down", 1), reason: "later" }], at(20), rules)).toBe(
      fired,
    );
    const ended = recordAlerts(fired, [alert("sidecar-down", 1, "resolved")], at(30), rules);
    expect(ended).toEqual([{ ...fired[0], resolvedAtMs: 30 }]);
    expect(recordAlerts(ended, [], at(40), rules)).toBe(ended);
    expect(recordAlerts(ended, [alert("sidecar-down", 50)], at(60), rules)).toHaveLength(2);
  });

  it("leaves pending alerts, unknown ones and other validators alone", () => {
    expect(
      recordAlerts([], [alert("sidecar-down", 1, "pending"), alert("volcano", 2)], at(10), rules),
    ).toEqual([]);
    const other = recordAlerts([], [alert("sidecar-down", 1)], at(10), rules);
    expect(recordAlerts(other, [], at(20, "b"), rules)).toBe(other);
  });

  it("is bounded, and keeps the newest", () => {
    const old: readonly PastAlert[] = Array.from({ length: 5000 }, (_, index) => ({
      validator: "a",
      alert: "sidecar-down",
      severity: "critical",
      title: "Sidecar down",
      sinceMs: index,
      firedAtMs: index,
      resolvedAtMs: index,
      reason: "",
    }));
    const next = recordAlerts(old, [alert("sidecar-down", 9000)], at(9001), rules);
    expect([next.length, next[0]?.sinceMs, next.at(-1)?.sinceMs]).toEqual([5000, 1, 9000]);
  });
});
