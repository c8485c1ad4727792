import type { WatchdogStatus } from "./status.ts";
import { type Series, series, type StatusGauge } from "./status-gauge.ts";
import type { UpgradeCountdown } from "../upgrade/upgrade-plan.ts";

/** Gauges of the planned upgrade. There is at most one plan, so at most one name. */
export const UPGRADE_GAUGES: readonly StatusGauge[] = [
  {
    name: "oracle_watchdog_upgrade_height",
    help: "Height of the upgrade that the chain has planned. Absent while none is planned or known.",
    labelNames: ["validator", "chain_id", "upgrade"],
    values: planned(({ plan }, labels) => [series(Number(plan.height), labels)]),
  },
  {
    name: "oracle_watchdog_upgrade_remaining_blocks",
    help: "Blocks until the height of the planned upgrade.",
    labelNames: ["validator", "chain_id", "upgrade"],
    values: planned(({ remainingBlocks }, labels) =>
      remainingBlocks === undefined ? [] : [series(Number(remainingBlocks), labels)],
    ),
  },
  {
    name: "oracle_watchdog_upgrade_expected_timestamp_seconds",
    help: "Expected time of the height of the planned upgrade (middle), and if blocks were as fast (low) or as slow (high) as in the extreme hours of the last day.",
    labelNames: ["validator", "chain_id", "upgrade", "estimate"],
    values: planned(({ atMs }, labels) =>
      atMs === undefined
        ? []
        : (["low", "middle", "high"] as const).map((estimate) =>
            series(atMs[estimate] / 1000, { ...labels, estimate }),
          ),
    ),
  },
];

function planned(
  values: (countdown: UpgradeCountdown, labels: Series["labels"]) => readonly Series[],
): (status: WatchdogStatus) => readonly Series[] {
  return ({ validator, chainId, upgrade }) =>
    chainId === undefined || upgrade === undefined || upgrade.doneMs !== undefined
      ? []
      : values(upgrade, { validator, chain_id: chainId, upgrade: upgrade.plan.name });
}
