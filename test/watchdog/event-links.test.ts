import { describe, expect, it } from "vitest";
import { DASHBOARDS, pageLinks, panelId, panelPath } from "../../src/platform/monitoring/alerts/links.ts";
import { CONDITIONS } from "../../src/watchdog/conditions/conditions.ts";
import { RUNBOOK_ROUTE } from "../../src/watchdog/monitoring/watchdog-alerts.ts";
import { eventLinks } from "../../src/watchdog/alerts/event-links.ts";

const EVENT = {
  alert: "sidecar-down",
  validator: "a b",
  chainId: "c-1",
  sinceMs: 10_000_000,
  atMs: 11_000_000,
};

describe("the links of a notification", () => {
  it("are the file of the runbook alone while no URL is configured", () => {
    expect(eventLinks({ runbooks: "" }, EVENT)).toEqual({ runbook: "sidecar-down.md" });
  });

  it("lead to the configured runbooks, or else to those of the watchdog", () => {
    const watchdog = "https://w.example/";
    expect(eventLinks({ runbooks: "https://r.example/", watchdog }, EVENT).runbook).toBe(
      "https://r.example/sidecar-down.md",
    );
    expect(eventLinks({ runbooks: "", watchdog }, EVENT)).toEqual({
      runbook: "https://w.example/runbooks/sidecar-down.md",
      page: "https://w.example/validators/a%20b#condition-a b-sidecar-down",
    });
  });

  it("lead to the panel that shows the cause, with the validator selected, at the time of the alert", () => {
    const dashboardFor = (alert: string) =>
      eventLinks({ runbooks: "", grafana: "https://g.example/" }, { ...EVENT, alert }).dashboard;
    expect(dashboardFor("sidecar-down")).toBe(
      `https://g.example/d/relaywatch-am-i-paid?viewPanel=${panelId("Sources")}&var-chain=c-1&var-validator=a%20b&from=2800000&to=14600000`,
    );
    expect(dashboardFor("any-reward-at-risk")).toContain(
      panelPath({ dashboard: DASHBOARDS.paid, panel: "Headroom" }),
    );
  });
});

it("pages lead to each other and to their dashboard, as far as the URLs are configured", () => {
  const links = {
    watchdog: "https://w.example/",
    relayer: "https://r.example/",
    localnet: "https://l.example/",
    status_page: "https://s.example/",
    grafana: "https://g.example/",
  };
  expect(pageLinks(links, "watchdog", "uid")).toEqual([
    { path: "https://r.example/", text: "relayer" },
    { path: "https://l.example/", text: "localnet" },
    { path: "https://s.example/", text: "public status page" },
    { path: "https://g.example/d/uid", text: "dashboard" },
  ]);
  expect(pageLinks(links, "relayer", "uid").map(({ text }) => text)).toEqual([
    "oracle watchdog",
    "localnet",
    "public status page",
    "dashboard",
  ]);
  expect(pageLinks(links, "localnet", "uid").map(({ text }) => text)).toEqual([
    "oracle watchdog",
    "relayer",
    "public status page",
    "dashboard",
  ]);
  expect(pageLinks({}, "watchdog", "uid")).toEqual([]);
});

describe("the watchdog's runbooks", () => {
  const read = async (file: string) => {
    const request = {
      method: "GET",
      path: "",
      headers: {},
      query: new URLSearchParams(),
      body: new Uint8Array(),
    };
    return RUNBOOK_ROUTE.handle({ ...request, params: { file }, signal: new AbortController().signal });
  };

  it.each(CONDITIONS.map(({ name }) => name))("has one of %s", async (name) => {
    const { status, body } = await read(`${name}.md`);
    expect(status).toBe(200);
    expect(body).toMatch(/^# .+\n\n## Meaning\n[\s\S]+## Diagnosis\n[\s\S]+## Mitigation\n[\s\S]+## Rule\n/);
  });

  it("names those that there are", async () => {
    const { status, body } = await read("../config.yaml");
    expect(status).toBe(404);
    expect(body).toContain("sidecar-down.md");
  });
});
