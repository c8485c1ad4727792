import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bootSystemd, type SystemdMachine } from "../support/stack/systemd-machine.ts";

/** After an outage of a minute, the node connects to its sidecar again within another one. */
const TIMEOUT_MS = 180_000;

/** The commands of the page by the word in italics that begins the text before them. */
function afternoon(): ReadonlyMap<string, string> {
  const parts = readFileSync("docs/afternoon.md", "utf8").matchAll(
    /^\*([^*]+?)\.?\*[\s\S]*?```sh\n([\s\S]*?)```/gm,
  );
  return new Map(Array.from(parts, ([, title = "", commands = ""]) => [title, commands]));
}

const commands = afternoon();
let machine: SystemdMachine;
let work: string;

/** Runs a part of the page as it stands: in bash, which ends at the first command that fails. */
function run(title: string): Promise<string> {
  const text = commands.get(title) ?? "";
  return machine.must(
    `cat > /tmp/part <<'END'\n${text}END\nexport HOME=/var/tmp/home; bash -e -o pipefail /tmp/part`,
  );
}

/** A fresh clone with what `npm ci && npm run build` makes, as folders of the machine: the packages, and the programs of this folder. */
function cloneOf(name: string, version: string): Readonly<Record<string, string>> {
  const folder = join(work, name);
  execFileSync("git", ["clone", "--quiet", resolve("."), folder]);
  cpSync("dist/program", join(folder, "dist/program"), { recursive: true });
  const file = join(folder, "package.json");
  writeFileSync(file, readFileSync(file, "utf8").replace(/"version": "[^"]+"/, `"version": "${version}"`));
  // Not a link: the machine has a /tmp of its own, and this folder may be below /tmp.
  return { [name]: folder, [`${name}/node_modules`]: resolve("node_modules") };
}

/** Alerts that a person is notified of: neither silenced nor muted by their cause. */
async function criticalAlerts(): Promise<readonly string[]> {
  const url = "http://127.0.0.1:9093/api/v2/alerts?silenced=false&inhibited=false&filter=severity=critical";
  const alerts: readonly { readonly labels: { readonly alertname: string } }[] = JSON.parse(
    await machine.must(`curl -sfg '${url}'`),
  );
  return alerts.map(({ labels }) => labels.alertname);
}

/** Runs a part, and returns with its output the critical alerts that there were at any time of it. */
async function runWatched(
  title: string,
): Promise<{ readonly output: string; readonly paged: readonly string[] }> {
  const paged = new Set<string>();
  const over = new AbortController();
  const watching = (async () => {
    for (;;) {
      // A part may end as soon as there is an alert: the last look comes after its end.
      const isLast = over.signal.aborted;
      for (const name of await criticalAlerts()) paged.add(name);
      if (isLast) return;
      await sleep(1_000);
    }
  })();
  let output: string;
  try {
    output = await run(title);
  } finally {
    over.abort();
    await watching;
  }
  return { output, paged: [...paged] };
}

beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), "afternoon-"));
  machine = await bootSystemd({
    ...cloneOf("relaywatch", "1.0.0"),
    ...cloneOf("relaywatch-next", "1.1.0"),
  });
  await machine.must("mkdir /var/tmp/home");
}, TIMEOUT_MS);
afterAll(async () => {
  await machine.close();
  rmSync(work, { recursive: true });
});

describe("docs/afternoon.md", { timeout: TIMEOUT_MS }, () => {
  it("has these parts", () => {
    expect([...commands.keys()]).toEqual([
      "Install",
      "Configure",
      "Start",
      "An outage",
      "Recovery",
      "Upgrade",
      "Restore",
    ]);
  });

  it("Install: the command is that of the clone", async () => {
    await run("Install");
    expect(await machine.must("relaywatch version")).toContain("1.0.0");
  });

  it("Configure: the doctor accepts what config init writes", async () => {
    const configured = await run("Configure");
    expect(configured).toMatch(/^good +connection-0: proof: query 1/m);
    expect(configured).not.toMatch(/^bad/m);
  });

  it("Start: units and monitoring, without an alert", async () => {
    await run("Start");
    expect(await criticalAlerts()).toEqual([]);
  });

  it("An outage: one page, with its runbook and its cause", async () => {
    const { output, paged } = await runWatched("An outage");
    expect(output).toContain("# Sidecar down");
    expect(output).toMatch(/^default: Sidecar down \(critical\)$/m);
    expect(paged).toEqual(["OracleSidecarDown"]);
    expect(await criticalAlerts()).toEqual(["OracleSidecarDown"]);
  });

  it("Recovery: no page follows, and the report has the outage", async () => {
    const { output, paged } = await runWatched("Recovery");
    expect(output).toContain("Sidecar down");
    expect(paged).toEqual(["OracleSidecarDown"]);
    expect(await criticalAlerts()).toEqual([]);
  });

  it("Upgrade: both daemons run the new version", async () => {
    expect(await run("Upgrade")).toContain("1.1.0");
    for (const port of [9999, 9998])
      expect(await machine.must(`curl -sf http://127.0.0.1:${port}/metrics | grep build_info`)).toContain(
        'version="1.1.0"',
      );
  });

  it("Restore: the report has the outage again, and nobody is paged", async () => {
    expect(await run("Restore")).toContain("Sidecar down");
    expect(await criticalAlerts()).toEqual([]);
  });
});
