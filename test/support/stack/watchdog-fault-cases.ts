import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { CliHome } from "../e2e/cli-process.ts";
import type { TestWallet } from "../e2e/test-wallet.ts";
import type { ExpectedAlerts } from "./fault-expectations.ts";
import { OWN_POWER, type SourceFaults, type ValidatorName } from "./watched-validators.ts";

/** A fault and what it leads to, by validator. */
export interface WatchdogFaultCase {
  readonly expected: Readonly<Partial<Record<ValidatorName, ExpectedAlerts>>>;
  readonly begin: () => Promise<unknown> | void;
  readonly end: () => Promise<unknown> | void;
}

/** What the faults are injected into. */
export interface WatchdogFaultScene {
  readonly sidecarHome: CliHome;
  readonly sources: SourceFaults;
  /** Control of the localnet "chain". */
  readonly control: Awaited<ReturnType<TestWallet["control"]>>;
  /** Consensus address, as hex, of the validator of the node of the localnet "chain". */
  readonly ownAddress: string;
}

/** Returns the cases of two lists that do not disturb each other, each in its order. */
export function watchdogFaultCases(
  scene: WatchdogFaultScene,
): Readonly<Record<"sidecar" | "chain", readonly WatchdogFaultCase[]>> {
  return { sidecar: sidecarCases(scene), chain: [...sourceCases(scene), ...chainCases(scene)] };
}

function sidecarCases({ sidecarHome }: WatchdogFaultScene): readonly WatchdogFaultCase[] {
  const order = async (...args: readonly string[]): Promise<void> =>
    expect((await sidecarHome.run("localnet", "fault", ...args, "$PORTS")).code).toBe(0);
  const of = (faults: readonly string[], expected: Omit<ExpectedAlerts, "fault">): WatchdogFaultCase => ({
    expected: { sidecar: { fault: faults.join(" and "), ...expected } },
    begin: async () => {
      for (const fault of faults) {
        await order(fault);
        // The sidecar updates four times a second: it must not hang before it has the fault before.
        await sleep(500);
      }
    },
    end: () => order("--off"),
  });
  const pay = "the sidecar refuses every call, and no WebSocket provider works";
  return [
    {
      // First, while the month has few good blocks: so the rate falls and rises within seconds.
      expected: {
        "any-pay": {
          fault: pay,
          alerts: ["any-reward-fast-burn"],
          muted: ["any-reward-rate-low", "any-reward-at-risk", "any-reward-slow-burn"],
        },
        "full-pay": {
          fault: pay,
          alerts: ["full-reward-fast-burn"],
          muted: ["full-reward-rate-low", "full-reward-at-risk", "full-reward-slow-burn"],
        },
      },
      begin: async () => {
        await order("websocket-providers-down");
        await order("http-500");
      },
      // The other fault goes on: its condition needs a minute.
      end: () => order("http-500", "--off"),
    },
    of(["slow"], {
      alerts: ["sidecar-too-slow"],
      muted: ["oracle-calls-failing", "sidecar-slow", "websocket-providers-failing"],
    }),
    of(["sidecar-killed"], { alerts: ["sidecar-down"], muted: ["cannot-see-prices"] }),
    of(["all-prices-missing"], { alerts: ["all-prices-missing"], muted: ["empty-prices-counted"] }),
    of(["major-pairs-missing", "timestamp-stale", "pre-block-error"], {
      alerts: ["stale-price-timestamp", "node-not-voting"],
      muted: ["major-pairs-missing"],
    }),
  ];
}

function sourceCases({ sources }: WatchdogFaultScene): readonly WatchdogFaultCase[] {
  const { node, prices, oracleMetrics, sidecarMetrics, rest, grpc, egress } = sources;
  const at = (expected: ExpectedAlerts) => ({ expected: { sources: expected } });
  const clear = (): void => {
    for (const proxy of [node, prices, oracleMetrics, sidecarMetrics, rest]) proxy.set(undefined);
  };
  return [
    {
      ...at({
        fault: "the watchdog does not reach the sidecar, and two ports are closed",
        alerts: [
          "cannot-see-prices",
          "cannot-see-sidecar-metrics",
          "cannot-see-oracle-metrics",
          "grpc-closed",
          "egress-closed",
        ],
      }),
      begin: async () => {
        prices.set({ kind: "reset" });
        sidecarMetrics.set({ kind: "reset" });
        oracleMetrics.set({ kind: "status", status: 502 });
        await grpc.shut();
        await egress.shut();
      },
      end: async () => {
        clear();
        await grpc.open();
        await egress.open();
      },
    },
    {
      ...at({
        fault: "neither the node nor the chain can be reached",
        alerts: ["cannot-see-votes"],
        muted: ["cannot-see-node", "cannot-see-chain"],
      }),
      begin: () => {
        node.set({ kind: "reset" });
        rest.set({ kind: "reset" });
      },
      end: clear,
    },
    {
      ...at({
        fault: "the node catches up and its clock is ahead, and the chain's REST fails",
        alerts: ["node-behind", "clock-skew", "cannot-see-chain"],
      }),
      begin: () => {
        node.set({ kind: "changed", aheadSeconds: 60, lines: "\ncometbft_blocksync_syncing 1\n" });
        rest.set({ kind: "status", status: 502 });
      },
      end: clear,
    },
    {
      ...at({ fault: "the node cannot be reached", alerts: ["cannot-see-node"] }),
      begin: () => node.set({ kind: "reset" }),
      end: clear,
    },
    {
      ...at({
        fault: "the node makes no block, while the chain does",
        alerts: ["node-halted"],
        muted: ["node-behind"],
      }),
      begin: () => node.set({ kind: "frozen" }),
      end: clear,
    },
  ];
}

function chainCases({ control, ownAddress }: WatchdogFaultScene): readonly WatchdogFaultCase[] {
  const at = (fault: string, alerts: readonly string[]) => ({ expected: { chain: { fault, alerts } } });
  return [
    {
      ...at("the chain halts", ["chain-halted"]),
      begin: () => control("halt"),
      end: () => control("resume"),
    },
    {
      ...at("the validator does not sign", ["not-signing"]),
      begin: () => control("absent", { validators: [ownAddress] }),
      end: () => control("absent", { validators: [] }),
    },
    {
      ...at("the validator leaves the set", ["not-in-validator-set"]),
      begin: () => control("validators", { index: 0, power: "0" }),
      end: () => control("validators", { index: 0, power: OWN_POWER }),
    },
  ];
}
