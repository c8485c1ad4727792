import { PAYMENT_STATES, paymentState } from "../payment/payment.ts";
import { deviationBps } from "../prices/price-comparison.ts";
import type { Payment } from "../sources/payment.ts";
import type { UpgradeCountdown } from "../upgrade/upgrade-plan.ts";
import type { WatchdogStatus } from "./status.ts";
import { type Series, series, type StatusGauge } from "./status-gauge.ts";

/** Gauges of the comparison of prices. The pairs are those of the configuration. */
const PRICE_GAUGES: readonly StatusGauge[] = [
  {
    name: "oracle_watchdog_price_deviation_ratio",
    help: "Distance of the sidecar's price from the chain's, or from the median of all sidecars of the watchdog, as a share of it. Absent while there is no fresh price to compare.",
    labelNames: ["validator", "chain_id", "node", "pair", "reference"],
    values: ({ validator, chainId, compared }) =>
      chainId === undefined || compared === undefined
        ? []
        : compared.comparisons.map((one) =>
            series(Number(deviationBps(one)) / 10_000, {
              validator,
              chain_id: chainId,
              node: one.node,
              pair: one.pair,
              reference: one.reference,
            }),
          ),
  },
];

/** Gauges of the planned upgrade. There is at most one plan, so at most one name. */
const UPGRADE_GAUGES: readonly StatusGauge[] = [
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

/** Gauges of the payment of the last closed month that was searched. */
const PAYMENT_GAUGES: readonly StatusGauge[] = [
  {
    name: "oracle_watchdog_payment_state",
    help: "1 for the state of the last month's payment: equal to the expected amount, differs, not-compared, failed, none-due or missing. 0 for the other states. Absent before the first search.",
    labelNames: ["validator", "chain_id", "state"],
    values: lastPayment((payment, labels) =>
      PAYMENT_STATES.map((state) => series(paymentState(payment) === state ? 1 : 0, { ...labels, state })),
    ),
  },
  {
    name: "oracle_watchdog_payment_amount",
    help: "Amount of the last month's payment in the base unit of its denomination (paid), and what the watchdog expected by its own count (expected).",
    labelNames: ["validator", "chain_id", "denom", "amount"],
    values: lastPayment(({ amount, expected }, labels) =>
      amount === undefined
        ? []
        : [
            series(Number(amount.amount), { ...labels, denom: amount.denom, amount: "paid" }),
            ...(expected === undefined
              ? []
              : [series(Number(expected), { ...labels, denom: amount.denom, amount: "expected" })]),
          ],
    ),
  },
  {
    name: "oracle_watchdog_payment_timestamp_seconds",
    help: "Time of the block with the last month's payment. Absent while it is missing.",
    labelNames: ["validator", "chain_id"],
    values: lastPayment(({ outcome, timeMs }, labels) =>
      outcome === "missing" ? [] : [series(timeMs / 1000, labels)],
    ),
  },
];

function lastPayment(
  values: (payment: Payment, labels: Series["labels"]) => readonly Series[],
): (status: WatchdogStatus) => readonly Series[] {
  return ({ validator, chainId, payments }) => {
    const payment = payments?.at(-1);
    return chainId === undefined || payment === undefined
      ? []
      : values(payment, { validator, chain_id: chainId });
  };
}

/** Gauges of what the chain says beside the votes: its prices, its planned upgrade, its payments. */
export const CHAIN_GAUGES: readonly StatusGauge[] = [...PRICE_GAUGES, ...UPGRADE_GAUGES, ...PAYMENT_GAUGES];
