import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { monthOf, nextMonthMs } from "../../src/platform/base/month.ts";
import { type CliProcess, getJson, openCliHome, until } from "../support/e2e/cli-process.ts";

/**
 * Seconds of the chains per second of the machine. Latencies are longer by it too: a response after an eighth of a second is not yet slow.
 */
const RATE = 4;
/** Longest wait for an alert or its end: twelve minutes of the chains. */
const LONGEST_MS = 180_000;

const home = await openCliHome();
const ports = portsAt(home.portOffset);
const url = (port: number): string => `http://127.0.0.1:${port}`;
const WATCHDOG = url(ports.watchdog);
let watchdog: CliProcess;

const alertsReply = z.object({ alerts: z.array(z.object({ name: z.string(), state: z.string() })) });

/** Names of the alerts that fire. */
async function firing(): Promise<readonly string[]> {
  const { alerts } = alertsReply.parse(await getJson(`${WATCHDOG}/api/alerts`));
  return alerts.filter(({ state }) => state === "firing").map(({ name }) => name);
}

async function localnet(...words: readonly string[]): Promise<void> {
  const { code, stderr } = await home.run("localnet", ...words, "$PORTS");
  expect([words.join(" "), code, stderr]).toEqual([words.join(" "), 0, ""]);
}

/** Waits until an alert fires, or does not fire any more. */
async function alert(name: string, isFiring: boolean): Promise<void> {
  const what = `${name} ${isFiring ? "fires" : "ends"}`;
  await until(what, async () => (await firing()).includes(name) === isFiring || undefined, LONGEST_MS);
}

const timeReply = z.object({ time: z.string() });

async function chainMs(): Promise<number> {
  return Date.parse(timeReply.parse(await getJson(`${url(ports.control)}/time`)).time);
}

/** Moves both chains to some time before the end of their month. Returns the end. */
async function nearMonthEnd(beforeMs: number): Promise<number> {
  const endMs = nextMonthMs(await chainMs());
  await localnet("time", "set", new Date(endMs - beforeMs).toISOString());
  return endMs;
}

async function reach(timeMs: number): Promise<void> {
  await until(
    new Date(timeMs).toISOString(),
    async () => (await chainMs()) >= timeMs || undefined,
    LONGEST_MS,
  );
}

beforeAll(async () => {
  await home
    .start("localnet", "start", "--local-validators", "21,20,20,20", "--block-time", "100", "$PORTS")
    .printed(/sidecar metrics/);
  await localnet("time", "rate", String(RATE));
  const file = join(home.directory, "watchdog.yaml");
  const sources = ["--node", `${url(ports.localMetrics)}/metrics`, "--sidecar", `${url(ports.prices)}/`];
  const chain = ["--rpc", url(ports.localRpc), "--rest", url(ports.localRest)];
  const state = ["--state-dir", join(home.directory, "watchdog-state"), "--output", file];
  const init = await home.run("config", "init", "watchdog", "--yes", ...sources, ...chain, ...state);
  expect(init).toMatchObject({ code: 0 });
  // A poll every ten seconds of the chains, as without the faster clock.
  const text = readFileSync(file, "utf8").replace("127.0.0.1:9998", `127.0.0.1:${ports.watchdog}`);
  writeFileSync(file, `${text}\ninterval: ${10_000 / RATE}ms\n`);
  watchdog = home.start("watchdog", "start", "--config", file, "--chain-clock", url(ports.control));
  await until("the watchdog's first poll", () => firing());
}, 120_000);
afterAll(home.close);

describe("a watchdog of config init, against a localnet", () => {
  it("has half an hour of health without a single alert, and shows all of the chain", {
    timeout: 800_000,
  }, async () => {
    const endMs = (await chainMs()) + 1_800_000;
    while ((await chainMs()) < endMs) {
      expect(await firing()).toEqual([]);
      await sleep(2000);
    }
    expect(`${watchdog.stdout()}${watchdog.stderr()}`).not.toContain("alert firing");
    const page = await (await fetch(WATCHDOG)).text();
    for (const part of ["Prices compared", "Signing and jail", "Compared with the other validators"])
      expect(page).toContain(part);
    expect(page).not.toMatch(/The chain has no|[Cc]annot see/);
  });
});

describe("the faults of a localnet's chain", () => {
  it("upgrade-planned: until it is cancelled", { timeout: 300_000 }, async () => {
    await localnet("fault", "upgrade-planned");
    await alert("upgrade-planned", true);
    await localnet("fault", "upgrade-planned", "--off");
    await alert("upgrade-planned", false);
  });

  it("price-deviation: until the chain's price is the sidecar's again", { timeout: 300_000 }, async () => {
    await localnet("fault", "price-deviation");
    await alert("prices-differ-from-chain", true);
    await localnet("fault", "price-deviation", "--off");
    await alert("prices-differ-from-chain", false);
  });

  it("jail-near: until the validator signs again", { timeout: 300_000 }, async () => {
    // Made by hand, so that the window of 100 blocks fills by 20 and not by half, which is jail.
    await localnet("halt");
    await localnet("fault", "jail-near");
    await localnet("mine", "20", "--interval", "1s");
    await alert("jail-near", true);
    await localnet("fault", "jail-near", "--off");
    await localnet("resume");
    await alert("jail-near", false);
  });

  it("payment-differs: until a month is paid as expected", { timeout: 400_000 }, async () => {
    const endMs = await nearMonthEnd(300_000);
    await localnet("fault", "payment-differs");
    await reach(endMs - 60_000);
    // Before the month ends: the next one is to be paid as expected.
    await localnet("fault", "payment-differs", "--off");
    await alert("payment-differs", true);
    const nextEndMs = await nearMonthEnd(60_000);
    expect(monthOf(nextEndMs)).not.toBe(monthOf(endMs));
    await alert("payment-differs", false);
  });

  it("payment-missing: until the payment comes", { timeout: 400_000 }, async () => {
    const endMs = await nearMonthEnd(60_000);
    await localnet("fault", "payment-missing");
    await reach(endMs + 10_000);
    await localnet("time", "add", "7h");
    await alert("payment-missing", true);
    await localnet("fault", "payment-missing", "--off");
    await alert("payment-missing", false);
    await expect
      .poll(firing, { timeout: LONGEST_MS, interval: 1000 })
      .not.toEqual(expect.arrayContaining(["payment-differs"]));
  });
});
