import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { LOCALNET_PARTS } from "../../../src/localnet/network/localnet-options.ts";
import { portsAt } from "../../../src/platform/base/localnet-defaults.ts";
import { runCommand } from "../../support/cli-chain.ts";
import { startParts } from "../../support/localnet-parts.ts";
import { leasePorts, type PortLease } from "../../support/port-lease.ts";

/** Patience on a busy machine. */
const SOON = { timeout: 60_000 };

let lease: PortLease;
let home: string;
const stop = new AbortController();

beforeAll(async () => {
  lease = await leasePorts();
  home = mkdtempSync(join(tmpdir(), "relaywatch-fault-"));
  vi.stubEnv("XDG_STATE_HOME", home);
});

afterAll(() => {
  stop.abort();
  vi.unstubAllEnvs();
  lease.release();
  rmSync(home, { recursive: true, force: true });
});

const cli = (...args: readonly string[]) =>
  runCommand(["localnet", "fault", ...args, "--port-offset", String(lease.offset)], stop.signal);

async function pairCount(): Promise<number> {
  const reply = await fetch(`http://127.0.0.1:${portsAt(lease.offset).prices}/connect/oracle/v2/prices`);
  const body: unknown = await reply.json();
  return Object.keys(typeof body === "object" && body !== null && "prices" in body ? (body.prices ?? {}) : {})
    .length;
}

async function reports(): Promise<string> {
  return (await fetch(`http://127.0.0.1:${portsAt(lease.offset).localMetrics}/metrics`)).text();
}

describe("localnet fault", () => {
  it("cannot see a localnet that does not run", async () => {
    const { exitCode, message } = await cli();
    expect([exitCode, message]).toEqual([3, expect.stringContaining("start relaywatch up")]);
  });

  it.each([
    ["one process", [LOCALNET_PARTS]],
    ["the sidecar in a process of its own", [["local", "remote"], ["sidecar"]]],
  ] as const)("lists and switches faults, with %s", async (_name, processes) => {
    const stops: (() => Promise<void>)[] = [];
    for (const parts of processes) stops.push(await startParts(parts, lease.offset));
    try {
      const list = await cli();
      expect(list).toMatchObject({ exitCode: 0, message: undefined });
      expect(list.out).toMatch(/^sidecar-down {2}off {2}/m);
      expect(list.out).toMatch(/^vote-extensions-missing {2}off {2}/m);
      await expect.poll(pairCount, SOON).toBe(8);
      expect((await cli("pair-missing")).out).toMatch(/^pair-missing {2}on {2}/);
      await expect.poll(pairCount, SOON).toBe(7);
      expect((await cli("all-prices-missing", "--for", "1s")).out).toMatch(
        /^all-prices-missing {2}on until 20/,
      );
      await expect.poll(pairCount, SOON).toBe(0);
      await expect.poll(pairCount, SOON).toBe(7);
      await cli("vote-extensions-missing");
      await expect.poll(reports, SOON).toMatch(/ticker="btc\/usd",status="absent"\} [1-9]/);
      expect((await cli("--off")).out.split("\n").toSorted()).toEqual([
        expect.stringMatching(/^pair-missing {2}off/),
        expect.stringMatching(/^vote-extensions-missing {2}off/),
      ]);
      await expect.poll(pairCount, SOON).toBe(8);
      expect((await cli("--off")).out).toBe("no fault was on");
      expect(await cli("volcano")).toMatchObject({
        exitCode: 2,
        message: 'unknown fault "volcano"; list them with relaywatch localnet fault',
      });
      expect((await cli("oracle-down")).message).toContain("did you mean sidecar-down");
      expect(JSON.parse((await cli("--json")).out)).toMatchObject({ faults: expect.any(Array) });
    } finally {
      for (const end of stops) await end();
    }
  });

  it("says which process is missing", async () => {
    const end = await startParts(["local", "remote"], lease.offset);
    try {
      expect((await cli()).out).not.toContain("sidecar-down");
      const refused = await cli("sidecar-down");
      expect([refused.exitCode, refused.message]).toEqual([
        1,
        expect.stringContaining("start it with relaywatch localnet start sidecar"),
      ]);
    } finally {
      await end();
    }
  });

  it.each([[["--for", "2m"]], [["slow", "--for", "soon"]], [["slow", "--for", "2m", "--off"]]])(
    "refuses %j",
    async (words) => {
      expect((await cli(...words)).exitCode).toBe(2);
    },
  );
});

describe("the sidecar's own metrics", () => {
  it.each([
    ["specification", "connect_", "side_car_"],
    ["deployed", "side_car_", "connect_"],
  ] as const)("have with the profile %s names that begin with %s", async (profile, own, other) => {
    const end = await startParts(["sidecar"], lease.offset, { profile });
    const page = (): Promise<string> =>
      fetch(`http://127.0.0.1:${portsAt(lease.offset).sidecarMetrics}/metrics`).then((reply) => reply.text());
    await expect.poll(page, SOON).toContain(`\n${own}`);
    expect(await page()).not.toContain(`\n${other}`);
    await end();
  });
});
