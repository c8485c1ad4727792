import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inhibitRules } from "../../src/cli/generate/alert-files.ts";
import { ruleFile } from "../../src/platform/monitoring/alerts/rule-files.ts";
import { RULE_FILES } from "../../src/cli/generate/rules.ts";
import { SHORT_TIMES } from "../../src/platform/monitoring/alerts/times.ts";
import { WATCHDOG_GROUP } from "../../src/watchdog/monitoring/watchdog-alerts.ts";
import { portsAt } from "../../src/platform/base/localnet-defaults.ts";
import { alertName } from "../../src/watchdog/conditions/condition.ts";
import { openCliHome } from "../support/e2e/cli-process.ts";
import { localnetEndpoints } from "../support/e2e/localnet-endpoints.ts";
import { openWallet } from "../support/e2e/test-wallet.ts";
import { startAlertmanager } from "../support/stack/alertmanager-server.ts";
import { openDoor } from "../support/stack/door.ts";
import { expectAlertsAt, type FaultExpectations } from "../support/stack/fault-expectations.ts";
import { startPageProxy } from "../support/stack/page-proxy.ts";
import { startPrometheus } from "../support/stack/prometheus-server.ts";
import { watchdogFaultCases } from "../support/stack/watchdog-fault-cases.ts";
import {
  ownAddress,
  POWERS,
  type SourceFaults,
  startFaultyWatchdogs,
  VALIDATORS,
} from "../support/stack/watched-validators.ts";
import { startReceiver } from "../support/stack/webhook-receiver.ts";

/** Alerts that no fault here leads to, with the reason. They fire from fed metrics in `monitoring.test.ts`. */
const ONLY_FED: Readonly<Record<string, string>> = {
  "any-reward-lost": "a month that is lost stays lost until its end, so the alert would not be resolved",
  "full-reward-lost": "a month that is lost stays lost until its end, so the alert would not be resolved",
  "any-reward-headroom-low": "headroom does not come back, so the alert would not be resolved",
  "full-reward-headroom-low": "headroom does not come back, so the alert would not be resolved",
  "watchdog-slow": "a busy machine makes a watchdog slow, and all tests on it",
  "clock-not-believed": "it needs a machine whose clock is wrong; test/watchdog/wrong-clock.test.ts has one",
  "notifications-lost": "it needs a channel that refuses for good; test/watchdog/watchdog.test.ts has one",
  "rotation-risk": "it needs a closed month below the boundary",
  "jail-near":
    "a validator of this localnet is jailed within seconds; afternoon-of-faults.test.ts has another one",
  "jail-risk":
    "a validator of this localnet is jailed within seconds; test/watchdog/integration/standing.test.ts has a chain for it",
  "validator-jailed": "a jailed validator is missing in all later faults; the same test has it",
  "validator-tombstoned": "a tombstoned validator never comes back; the same test has it",
  "network-votes-missing":
    "it needs most sidecars of a network to fail; test/watchdog/outages.test.ts has them",
  "upgrade-planned": "these watchdogs read no chain; afternoon-of-faults.test.ts has a plan",
  "upgrade-imminent": "a plan of the fault is two hours ahead; test/watchdog/chain-watch.test.ts has one",
  "payment-missing": "it needs a closed month; afternoon-of-faults.test.ts has one",
  "payment-differs": "the same",
  "prices-differ-from-chain":
    "these watchdogs read no prices of the chain; afternoon-of-faults.test.ts has one that does",
  "prices-differ-from-sidecars": "both localnets have one sidecar each, on different chains for the watchdog",
};

const sidecarHome = await openCliHome();
const chainHome = await openCliHome();
const closing: (() => Promise<unknown>)[] = [sidecarHome.close, chainHome.close];
let cases: ReturnType<typeof watchdogFaultCases>;
let expectations: ReadonlyMap<string, FaultExpectations>;

async function openSources(): Promise<SourceFaults> {
  const ports = portsAt(chainHome.portOffset);
  const proxied = (port: number) => startPageProxy(`http://127.0.0.1:${port}`);
  const pages = {
    node: await proxied(ports.localMetrics),
    prices: await proxied(ports.prices),
    oracleMetrics: await proxied(ports.oracleMetrics),
    sidecarMetrics: await proxied(ports.sidecarMetrics),
    rest: await proxied(ports.localRest),
  };
  const doors = { grpc: await openDoor(), egress: await openDoor() };
  closing.push(...Object.values(pages).map(({ close }) => close));
  closing.push(...Object.values(doors).map(({ shut }) => shut));
  return { ...pages, ...doors };
}

beforeAll(async () => {
  await chainHome
    .start("localnet", "start", "--local-validators", POWERS, "--remote-validators", POWERS, "$PORTS")
    .printed(/sidecar metrics/);
  const sources = await openSources();
  const alice = await openWallet(chainHome, "alice", localnetEndpoints(chainHome.portOffset).rpc.local);
  const receiver = await startReceiver();
  const alertmanager = await startAlertmanager(receiver.url, {
    inhibitRules: inhibitRules(),
    groupBy: ["..."],
    groupWait: "6s",
  });
  closing.push(receiver.close, alertmanager.close);
  // Last, since its month must have few good blocks when the first fault begins.
  await sidecarHome.start("localnet", "start", "--block-time", "500", "$PORTS").printed(/sidecar metrics/);
  const [pay = "", faults = ""] = await startFaultyWatchdogs({
    sidecarHome,
    chainHome,
    sources,
    alertmanager: alertmanager.url,
  });
  const [file, groups] = [...RULE_FILES].find(([, all]) => all.includes(WATCHDOG_GROUP)) ?? ["", []];
  const prometheus = await startPrometheus(
    { pay: { target: pay, labels: {} }, faults: { target: faults, labels: {} } },
    {
      files: new Map([[file, ruleFile(groups, SHORT_TIMES)]]),
      alertmanager: new URL(alertmanager.url).host,
    },
  );
  closing.push(prometheus.close);
  cases = watchdogFaultCases({
    sidecarHome,
    sources,
    control: await alice.control("local-1"),
    ownAddress: await ownAddress(chainHome),
  });
  const deps = { alertmanager: alertmanager.url, receiver, alertOf: alertName };
  expectations = new Map(
    VALIDATORS.map((validator) => [
      validator,
      expectAlertsAt({ validator, component: "oracle-watchdog" }, deps),
    ]),
  );
}, 120_000);
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
}, 240_000);

describe("the alerts of the watchdog", () => {
  it("have a fault here, or a reason for having none", () => {
    const covered = Object.values(cases)
      .flat()
      .flatMap(({ expected }) => Object.values(expected))
      .flatMap(({ alerts, muted = [] }) => [...alerts, ...muted]);
    const all = WATCHDOG_GROUP.alerts.map(({ name }) => name);
    expect([...new Set([...covered, ...Object.keys(ONLY_FED)])].toSorted()).toEqual(all.toSorted());
    expect(covered.filter((name) => name in ONLY_FED)).toEqual([]);
  });

  it.concurrent.each(["sidecar", "chain"] as const)(
    "fire by faults, on both ways as one, mute what they cause, notify once and are resolved: %s",
    { timeout: 900_000 },
    async (name) => {
      for (const one of cases[name]) {
        const expected = Object.entries(one.expected).flatMap(([validator, alerts]) => {
          const checks = expectations.get(validator);
          return checks === undefined ? [] : [{ checks, alerts }];
        });
        expect(expected).not.toEqual([]);
        await one.begin();
        for (const { checks, alerts } of expected) await checks.fires(alerts);
        await one.end();
        for (const { checks, alerts } of expected) await checks.ends(alerts);
      }
    },
  );
});
