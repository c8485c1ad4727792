import { describe, expect, it } from "vitest";
import { assess } from "../../../src/watchdog/policy/assess.ts";
import { SPECIFIED_POLICY } from "../../../src/watchdog/policy/assessment.ts";
import { exportedStatus } from "../../../src/watchdog/status-page/status-page.ts";
import { publicPage } from "../../../src/watchdog/status-page/public-page.ts";
import { publicJson } from "../../../src/watchdog/status-page/public-status.ts";
import { EVENTFUL, EVENTFUL_ALERTS, ledgerScene, pastAlert } from "../../support/pages/status-page-scenes.ts";
import { SCENE_MS } from "../../support/pages/watchdog-scenes.ts";

const CONFIG = {
  listen: { host: "127.0.0.1", port: 0 },
  title: "Example",
  validators: [{ name: "default", title: "One", components: ["prices"] as const }],
  hasAmounts: false,
};

function exported(alerts = EVENTFUL_ALERTS, polledAtMs = SCENE_MS - 2_000) {
  const ledger = ledgerScene(EVENTFUL);
  const assessment = assess({ ledger, nowMs: SCENE_MS, policy: SPECIFIED_POLICY, blockTimeMs: 2_000 });
  const episodes = alerts.map((past) => {
    const { acknowledged: _, resolvedAtMs, ...alert } = past;
    return { ...alert, resolvedAtMs, inhibits: [] };
  });
  const data = { ledger, policy: SPECIFIED_POLICY, assessment, alerts: episodes };
  return exportedStatus(CONFIG, { nowMs: SCENE_MS, polledAtMs, validators: [data] });
}

describe("the exported status page", () => {
  it("says what the served one says", () => {
    expect(publicJson(exported())).toMatchObject({
      state: "operational",
      as_of: "2026-11-21T12:05:03.000Z",
      validators: [
        {
          name: "One",
          components: [{ uptime_percent: "99.7452", known_days: 78 }],
          incidents: [
            { cause: "Requests for prices failed" },
            { cause: "The cause is not known" },
            { cause: "The price service did not respond" },
          ],
        },
      ],
    });
  });

  it("is an outage while an alert fires, and unknown when the poll is old, the node is not seen or the validator is missing", () => {
    const stateOf = (status: ReturnType<typeof exported>) => status.validators[0]?.present.state;
    const begun = SCENE_MS - 60_000;
    expect(stateOf(exported([pastAlert("sidecar-down", begun)]))).toBe("outage");
    expect(stateOf(exported([pastAlert("sidecar-down", begun), pastAlert("cannot-see-node", begun)]))).toBe(
      "unknown",
    );
    expect(stateOf(exported([], SCENE_MS - 121_000))).toBe("unknown");
    const missing = exportedStatus(CONFIG, { nowMs: SCENE_MS, polledAtMs: SCENE_MS, validators: [] });
    expect(stateOf(missing)).toBe("unknown");
  });

  it("never loads itself, and brings its policy with it", () => {
    const text = publicPage(exported(), { reloadSeconds: undefined });
    expect(text).not.toMatch(/http-equiv="refresh"|data-reload/);
    expect(text).toMatch(/http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;/);
    expect(text).not.toContain("frame-ancestors");
    expect(publicPage(exported(), { reloadSeconds: 60 })).not.toContain("Content-Security-Policy");
  });
});
