import { pause } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import type { RelayerMetrics } from "./metrics.ts";
import type { RelayerStatus } from "./status.ts";

export interface SummaryLogDeps {
  readonly status: () => RelayerStatus;
  readonly metrics: Pick<RelayerMetrics, "results" | "gasUsed">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const INTERVAL_MS = 60_000;
const NO_FAILURE: ReadonlySet<string> = new Set(["included", "redundant"]);

interface Totals {
  readonly included: number;
  /** Another relayer was faster. */
  readonly redundant: number;
  readonly failed: number;
  readonly gas: number;
}

/** Creates a service that logs one line a minute: what was included since the last one, and what is late. Never fails. */
export function createSummaryLog(deps: SummaryLogDeps): Service {
  const { clock, logger } = deps;
  return {
    name: "summary log",
    run: async (signal) => {
      let before = await readTotals(deps.metrics);
      while (!signal.aborted) {
        await pause(INTERVAL_MS, clock, signal);
        if (signal.aborted) return;
        const now = await readTotals(deps.metrics);
        logger.info("summary", summaryFields(before, now, deps.status()));
        before = now;
      }
    },
  };
}

function summaryFields(
  before: Totals,
  now: Totals,
  { localHeight, queries, problems, account }: RelayerStatus,
): Readonly<Record<string, unknown>> {
  return {
    results: now.included - before.included,
    redundant: now.redundant - before.redundant,
    failures: now.failed - before.failed,
    gas: now.gas - before.gas,
    localHeight,
    queries: queries.length,
    overdue: queries.filter(({ lateness }) => lateness.isOverdue).length,
    mostLateBlocks: queries.reduce((most, { lateness }) => Math.max(most, Number(lateness.blocks)), 0),
    balance: account.balance,
    problems: problems.map(({ code }) => code),
  };
}

async function readTotals({ results, gasUsed }: SummaryLogDeps["metrics"]): Promise<Totals> {
  const outcomes = (await results.get()).values;
  return {
    included: sum(outcomes.filter(({ labels }) => labels.outcome === "included")),
    redundant: sum(outcomes.filter(({ labels }) => labels.outcome === "redundant")),
    failed: sum(outcomes.filter(({ labels }) => !NO_FAILURE.has(String(labels.outcome)))),
    gas: sum((await gasUsed.get()).values),
  };
}

function sum(values: readonly { readonly value: number }[]): number {
  return values.reduce((total, { value }) => total + value, 0);
}
