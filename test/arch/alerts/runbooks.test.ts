import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ALERTS } from "../../../src/cli/generate/rules.ts";
import { checksOf, runbookFiles } from "../../../src/cli/generate/runbook-files.ts";
import { COMMANDS } from "../../../src/platform/monitoring/alerts/runbook-spec.ts";
import { ORACLE_FAULTS } from "../../../src/localnet/node/oracle/oracle-client.ts";
import { TRAFFIC_FAULTS } from "../../../src/localnet/network/traffic.ts";
import { SIDECAR_FAULTS } from "../../../src/localnet/sidecar/faults.ts";
import { ROOT } from "../source-files.ts";

const pages = runbookFiles();
const names = [...new Set(ALERTS.map(({ name }) => name))];
const runbooks = new Map(ALERTS.map(({ name, runbook }) => [name, runbook]));
const checks = ALERTS.flatMap((alert) => checksOf(alert).map((one) => ({ name: alert.name, ...one })));

describe("the runbooks", () => {
  it("are one for each alert, and no more", () => {
    for (const { name, runbook } of ALERTS) expect([name, runbooks.get(name)]).toEqual([name, runbook]);
    const files = readdirSync(join(ROOT, "alerts/runbooks")).filter((name) => name.endsWith(".md"));
    expect(files.toSorted()).toEqual(names.map((name) => `${name}.md`).toSorted());
  });

  it.each([...pages])("%s has all parts, each one not empty", (_path, page) => {
    const parts = page.split(/^## /m).slice(1);
    expect(parts.map((part) => part.split("\n")[0])).toEqual([
      "Meaning",
      "Impact",
      "Diagnosis",
      "Mitigation",
      "Afterwards",
      "Rule",
    ]);
    for (const part of parts) expect(part.length).toBeGreaterThan(40);
    expect(page).not.toMatch(/undefined|\{\{/);
  });

  it("have a diagnosis and a mitigation of their own", () => {
    const byName = new Map(ALERTS.map((alert) => [alert.name, alert]));
    const parts = [...byName.values()].map((alert) => ({ checks: checksOf(alert), fix: alert.runbook.fix }));
    for (const part of ["checks", "fix"] as const) {
      const texts = parts.map((one) => JSON.stringify(one[part]));
      expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
    }
  });

  it("show samples with what the command always prints, and use each command", () => {
    for (const { name, run, sample } of checks)
      if (run !== undefined)
        for (const always of COMMANDS[run].always)
          expect([name, run, sample]).toEqual([name, run, expect.stringContaining(always)]);
    const used = new Set(checks.flatMap(({ run }) => run ?? []));
    expect(Object.keys(COMMANDS).filter((name) => ![...used].some((one) => one === name))).toEqual([]);
  });

  it("name faults that a localnet has", () => {
    const faults = Object.keys({ ...SIDECAR_FAULTS, ...ORACLE_FAULTS, ...TRAFFIC_FAULTS });
    for (const [name, { fault }] of runbooks)
      if (fault !== undefined) expect([name, faults.includes(fault)]).toEqual([name, true]);
  });

  it("have a reason of the watchdog for each of its conditions", () => {
    for (const { name, component } of ALERTS)
      if (component === "oracle-watchdog")
        expect([name, runbooks.get(name)?.reason]).toEqual([name, expect.stringMatching(/[^.]$/)]);
  });
});
