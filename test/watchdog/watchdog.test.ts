import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openLedgerFile, STATE_FILE } from "../../src/watchdog/state/sqlite-state.ts";
import { statusView } from "../../src/watchdog/polling/status-json.ts";
import { WatchdogError } from "../../src/watchdog/state/state-store.ts";
import { createReceiver, type Receiver, type Rig, rigConfig, startRig } from "../support/watchdog/rig.ts";
import { createWorld, type World } from "../support/watchdog/world.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const MINUTE = 60_000;

let clock: ManualClock;
let world: World;
let receiver: Receiver;
let folder: string;
const rigs: Rig[] = [];

async function start(extra: Parameters<typeof rigConfig>[0] = {}): Promise<Rig> {
  const rig = await startRig(rigConfig(extra), clock, world, receiver);
  rigs.push(rig);
  return rig;
}

const statusOf = (rig: Rig): Readonly<Record<string, unknown>> => statusView.json(rig.watchdog.status());
/** State of one alert. */
const stateOf = (rig: Rig, name: string): string | undefined =>
  rig.watchdog.status().alerts.find(({ rule }) => rule.condition.name === name)?.state?.phase;
const sentOf = (name: string): readonly unknown[] =>
  receiver.alerts.filter(({ alert }) => alert === name).map(({ kind }) => kind);
const sent = (): readonly unknown[] => receiver.alerts.map(({ kind }) => kind);

beforeEach(() => {
  clock = createManualClock(NOON);
  world = createWorld(clock);
  receiver = createReceiver();
  folder = mkdtempSync(join(tmpdir(), "relaywatch-watchdog-"));
});

afterEach(async () => {
  await Promise.all(rigs.splice(0).map((rig) => rig.stop()));
  rmSync(folder, { recursive: true });
});

describe("rate and tier", () => {
  it("are known after the first poll, and follow the node", async () => {
    await clock.advance(100_000);
    const rig = await start();
    expect(statusOf(rig)).toMatchObject({
      chain_id: "test-1",
      month: "2026-11",
      success_rate_percent: "100.0000",
      tier: "full",
      blocks: { good: 100, bad: 0, unknown: 0 },
      prices: { state: "present", pairs: ["BTC/USD", "ETH/USD"] },
    });
    world.set("sidecar-down", true);
    await clock.advance(3000);
    world.set("sidecar-down", false);
    await clock.advance(2000);
    expect(statusOf(rig)).toMatchObject({ blocks: { good: 102, bad: 3 }, tier: "proportional" });
    const tiers = () => rig.log.filter((line) => line.includes("reward tier"));
    // One block of ten that is bad is no tier to warn of.
    expect(tiers()).toEqual([]);
    await clock.advance(1_700_000);
    expect(tiers()).toEqual([expect.stringMatching(/^info reward tier .*"percent":"99.83/)]);
  });

  it("are the same in the headline of the page and in its plots, from the first blocks on", async () => {
    await clock.advance(5_000);
    const rig = await start();
    await clock.advance(5_000);
    const page = await (await fetch(`${rig.url}/validators/default/month`)).text();
    expect(page).toMatch(/10 good.*0 bad, 0 unknown/s);
    expect(page).toContain("10 good, 0 bad and 0 unknown blocks;");
  });

  it("are on the metrics page", async () => {
    await clock.advance(50_000);
    const rig = await start();
    const page = await (await fetch(`${rig.url}/metrics`)).text();
    expect(page).toContain(
      'oracle_watchdog_month_blocks{validator="default",chain_id="test-1",result="good"} 50',
    );
    expect(page).toContain('oracle_watchdog_month_success_ratio{validator="default",chain_id="test-1"} 1');
    expect(page).toContain('oracle_watchdog_month_tier{validator="default",chain_id="test-1",tier="full"} 1');
    expect(page).toContain('oracle_watchdog_source_up{validator="default",node="node",source="node"} 1');
    expect(page).toContain(
      'oracle_watchdog_source_up{validator="default",node="node",source="oracle-metrics"} 0',
    );
    expect(page).toContain(
      'oracle_watchdog_notification_attempts_total{channel="webhook",outcome="delivered"} 0',
    );
  });

  it("begin at zero in a new month", async () => {
    clock = createManualClock(Date.UTC(2026, 10, 30, 23, 59, 0));
    world = createWorld(clock);
    const rig = await start();
    await clock.advance(2 * MINUTE);
    // Polls are at the edge of the month, 3 s after it, and then every 5 s: the last one at 00:00:58.
    expect(statusOf(rig)).toMatchObject({ month: "2026-12", blocks: { good: 58, bad: 0 } });
    const { months } = rig.watchdog.status();
    expect(months.map(({ month, counts }) => [month, counts.good])).toEqual([
      ["2026-12", 58n],
      ["2026-11", 60n],
    ]);
  });
});

describe("a test at the start", () => {
  it("goes to every channel once, and what fails is in the log", async () => {
    const { notify } = rigConfig();
    const rig = await start({ notify: { ...notify, testsAtStart: true } });
    expect(sentOf("test")).toEqual(["firing", "resolved"]);
    expect(receiver.alerts[0]).toMatchObject({ reason: "this is a test: the oracle watchdog started" });
    await clock.advance(MINUTE);
    expect(sentOf("test")).toHaveLength(2);
    expect(rig.log.join("\n")).not.toContain("test at the start");
    await rigs.pop()?.stop();
    receiver.status = 403;
    const failing = await start({ notify: { ...notify, testsAtStart: true } });
    expect(failing.log.join("\n")).toContain("channel failed its startup test");
    expect(failing.log.join("\n")).not.toContain("secret-path");
  });

  it("is not made without the option", async () => {
    await start();
    expect(sentOf("test")).toEqual([]);
  });
});

describe("all prices missing", () => {
  it("fires once after five minutes and is resolved once, in the log and at the webhook", async () => {
    const rig = await start();
    world.set("no-prices", true);
    await clock.advance(5 * MINUTE);
    expect(sent()).toEqual([]);
    await clock.advance(30 * MINUTE);
    expect(sent()).toEqual(["firing"]);
    expect(receiver.alerts[0]).toMatchObject({
      alert: "all-prices-missing",
      chain_id: "test-1",
      severity: "critical",
      since: "2026-11-21T12:00:05.000Z",
      at: "2026-11-21T12:05:10.000Z",
      reason: "the sidecar responds without any price",
    });
    expect(receiver.texts[0]).toContain("[FIRING, critical] test-1 default: All prices missing");
    expect(statusOf(rig)).toMatchObject({
      alerts: expect.arrayContaining([
        expect.objectContaining({ name: "all-prices-missing", state: "firing" }),
      ]),
      pending_notifications: 0,
      tier: "full",
    });
    world.set("no-prices", false);
    await clock.advance(MINUTE);
    expect(sent()).toEqual(["firing", "resolved"]);
    expect(receiver.alerts[1]).toMatchObject({ reason: "2 pairs have a price", cost: { blocks: "0" } });
    expect(rig.log.filter((line) => /alert (firing|resolved).*all-prices/.test(line))).toHaveLength(2);
  });

  it("does not fire while the prices cannot be read", async () => {
    const rig = await start();
    world.set("blind-prices", true);
    await clock.advance(60 * MINUTE);
    expect(sent()).toEqual([]);
    expect(statusOf(rig)).toMatchObject({ prices: { state: "unknown" } });
    expect(stateOf(rig, "cannot-see-prices")).toBe("firing");
    expect(rig.log.filter((line) => line.startsWith("warn") && line.includes("oracle-metrics"))).toEqual([]);
  });
});

describe("a sidecar that is down", () => {
  it("fires after a minute with the cause, mutes its consequences, and costs every block", async () => {
    const rig = await start();
    // Without earlier blocks, a first minute of failures is the whole month.
    await clock.advance(10 * MINUTE);
    world.set("sidecar-down", true);
    await clock.advance(6 * MINUTE);
    expect(receiver.alerts.map(({ alert }) => alert)).toEqual(["sidecar-down"]);
    expect(receiver.alerts[0]).toMatchObject({ reason: expect.stringContaining("connection refused") });
    expect(stateOf(rig, "cannot-see-prices")).toBe("firing");
    world.set("sidecar-down", false);
    await clock.advance(MINUTE);
    expect(sentOf("sidecar-down")).toEqual(["firing", "resolved"]);
    expect(receiver.alerts[1]).toMatchObject({ cost: { blocks: "360" } });
  });

  it("does not fire for a restart", async () => {
    await start();
    await clock.advance(10 * MINUTE);
    world.set("sidecar-down", true);
    await clock.advance(50_000);
    world.set("sidecar-down", false);
    await clock.advance(10 * MINUTE);
    expect(sent()).toEqual([]);
  });

  it("fires also with polls that are more frequent than blocks, and while the chain halts it cannot be seen", async () => {
    const rig = await start({ intervalMs: 400 });
    world.set("blind-prices", true);
    await clock.advance(6 * MINUTE);
    expect(sent()).toEqual([]);
    world.set("blind-prices", false);
    world.set("sidecar-down", true);
    await clock.advance(6 * MINUTE);
    expect(sent()).toEqual(["firing"]);
    world.set("sidecar-down", false);
    await clock.advance(MINUTE);
    world.set("halted", true);
    world.set("blind-prices", true);
    await clock.advance(7 * MINUTE);
    expect(sentOf("sidecar-down")).toEqual(["firing", "resolved"]);
    expect(sentOf("chain-halted")).toEqual(["firing"]);
    expect(stateOf(rig, "sidecar-down")).not.toBe("firing");
  });
});

describe("delivery", () => {
  it("retries with backoff until the receiver accepts, and keeps the order", async () => {
    const rig = await start();
    receiver.status = undefined;
    world.set("no-prices", true);
    await clock.advance(6 * MINUTE);
    world.set("no-prices", false);
    await clock.advance(10 * MINUTE);
    expect(statusOf(rig)).toMatchObject({ pending_notifications: 2 });
    receiver.status = 500;
    await clock.advance(10 * MINUTE);
    const tries = receiver.alerts.length;
    expect(tries).toBeGreaterThan(1);
    expect(tries).toBeLessThan(10);
    receiver.alerts.length = 0;
    receiver.status = 200;
    await clock.advance(10 * MINUTE);
    expect(sent()).toEqual(["firing", "resolved"]);
    expect(rig.log.join("\n")).not.toContain("secret-path");
    expect(rig.log.join("\n")).toContain("notification not delivered");
  });

  it("drops a notification after one day", async () => {
    const rig = await start({ intervalMs: MINUTE });
    receiver.status = 404;
    world.set("no-prices", true);
    await clock.advance(8 * MINUTE);
    world.set("no-prices", false);
    await clock.advance(26 * 60 * MINUTE);
    // The alert about it is pending.
    expect(statusOf(rig)).toMatchObject({ pending_notifications: 1 });
    const expired = rig.log.filter((line) => line.includes("notification expired"));
    expect(expired).toEqual([expect.stringMatching(/firing.*resolved/)]);
  });
});

describe("restart of the watchdog", () => {
  it("loses no block, repeats no notification and resolves an earlier alert", async () => {
    const first = await start({ stateDir: folder });
    world.set("no-prices", true);
    await clock.advance(7 * MINUTE);
    await first.stop();
    await clock.advance(20 * MINUTE);
    const second = await start({ stateDir: folder });
    await clock.advance(20 * MINUTE);
    expect(sent()).toEqual(["firing"]);
    expect(statusOf(second)).toMatchObject({
      blocks: { good: 47 * 60, bad: 0, unknown: 0 },
    });
    expect(stateOf(second, "all-prices-missing")).toBe("firing");
    world.set("no-prices", false);
    await clock.advance(MINUTE);
    expect(sent()).toEqual(["firing", "resolved"]);
  });

  it("delivers pending notifications", async () => {
    receiver.status = undefined;
    const first = await start({ stateDir: folder });
    world.set("no-prices", true);
    await clock.advance(6 * MINUTE);
    await first.stop();
    receiver.status = 200;
    await start({ stateDir: folder });
    await clock.advance(0);
    expect(sent()).toEqual(["firing"]);
  });

  it("starts from the node's count when it has no state", async () => {
    const first = await start();
    await clock.advance(10 * MINUTE);
    await first.stop();
    expect(statusOf(await start())).toMatchObject({ blocks: { good: 600 } });
  });
});

describe("restart of the node", () => {
  it("keeps the count, and counts blocks without a result as unknown", async () => {
    const rig = await start();
    await clock.advance(10_000 + 3000);
    world.restartNode();
    await clock.advance(7000);
    expect(statusOf(rig)).toMatchObject({ blocks: { good: 17, bad: 0, unknown: 3 } });
    expect(rig.log.filter((line) => line.includes("node restarted"))).toHaveLength(1);
    expect(await rig.registry.metrics()).toContain("oracle_watchdog_node_restarts_total 1");
  });
});

describe("wrong sources", () => {
  it("are in the status, and counting continues when they recover", async () => {
    const rig = await start();
    world.set("html-node", true);
    await clock.advance(MINUTE);
    expect(statusOf(rig)["sources"]).toContainEqual(
      expect.objectContaining({
        name: "node",
        up: false,
        error: expect.stringContaining("the page is HTML, not metrics"),
      }),
    );
    world.set("html-node", false);
    await clock.advance(MINUTE);
    expect(statusOf(rig)).toMatchObject({ blocks: { good: 120 } });
  });

  it("end the watchdog at its first poll when the node is on another chain", async () => {
    const rig = await start({ chainId: "neutron-1" });
    const error = await rig.stop();
    expect(error).toBeInstanceOf(WatchdogError);
    expect(error).toMatchObject({ facts: { code: "wrong-chain", expected: "neutron-1" } });
    expect(String(error)).toContain("the node is on chain test-1, expected neutron-1");
  });

  it("end it when the state belongs to another chain", async () => {
    await (await start({ stateDir: folder })).stop();
    world = createWorld(clock, "other-2");
    expect(String(await (await start({ stateDir: folder })).stop())).toContain(
      "belongs to chain test-1, so use another state_dir for another chain, or set chain_id to start a new ledger",
    );
  });

  it("is a new ledger when the operator sets the chain_id of a relaunched network; the old one stays", async () => {
    const first = await start({ stateDir: folder });
    await clock.advance(30_000);
    await first.stop();
    world = createWorld(clock, "test-2");
    const rig = await start({ stateDir: folder, chainId: "test-2" });
    await clock.advance(10_000);
    expect(statusOf(rig)).toMatchObject({ chain_id: "test-2", blocks: { good: 10, bad: 0, unknown: 0 } });
    await rig.stop();
    const file = openLedgerFile(folder);
    const goodOf = (name: string) =>
      file
        .view(name)
        ?.months()
        .map(({ counts }) => counts.good);
    expect([goodOf("default"), goodOf("default on test-1")]).toEqual([[10n], [30n]]);
    expect(
      file
        .view("default")
        ?.days(0, Infinity)
        .map(({ counts }) => counts.good),
    ).toEqual([10n]);
    file.close();
  });
});

describe("state folder", () => {
  it("is locked by one watchdog", async () => {
    await start({ stateDir: folder });
    const error = await (await start({ stateDir: folder })).stop();
    expect(error).toMatchObject({ facts: { code: "state-in-use", folder } });
  });

  it("is rejected when the file is not a state file", async () => {
    writeFileSync(join(folder, STATE_FILE), "not a database, but long enough to be read as one".repeat(50));
    const error = await (await start({ stateDir: folder })).stop();
    expect(error).toMatchObject({ facts: { code: "state-unusable" } });
    expect(String(error)).toContain("damaged; restore a backup, or move the file away");
    const other = await (await start({ stateDir: "/proc/none/state" })).stop();
    expect(String(other)).toContain("check state_dir");
  });
});

it("has polled once every validator has been polled, not only the first", async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const config = rigConfig();
  const [first] = config.validators;
  if (first === undefined) throw new Error("the rig has a validator");
  const nodes = first.target.nodes.map((node) => ({ ...node, node: "http://second.example/metrics" }));
  const second = { ...first, target: { ...first.target, name: "second", nodes } };
  const read: World["read"] = async (...request) => {
    if (JSON.stringify(request[0]).includes("second.example")) await held;
    return world.read(...request);
  };
  const rig = await startRig({ ...config, validators: [first, second] }, clock, { read }, receiver);
  rigs.push(rig);
  const polled = vi.fn();
  void rig.watchdog.polled.then(polled);
  await clock.advance(1_000);
  expect(statusOf(rig)).toMatchObject({ chain_id: "test-1" });
  expect(polled).not.toHaveBeenCalled();
  release();
  await clock.advance(0);
  expect(polled).toHaveBeenCalledOnce();
});
