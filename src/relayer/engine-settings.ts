import { truncateDec18 } from "../platform/base/decimal.ts";
import { gasPricePolicy } from "./chain-access.ts";
import type { RelayerConfig } from "./config/relayer-config.ts";
import type { WorkerSettings } from "./connection/worker.ts";
import type { EngineDeps } from "./engine.ts";

export function workerSettings(config: RelayerConfig): WorkerSettings {
  return {
    allowKvCallbacks: config.queries.allow_kv_callbacks,
    minKvUpdatePeriod: config.queries.min_kv_update_period,
    skipUnchanged: BigInt(config.queries.skip_unchanged),
    maxResultBytes: config.batch.bytes,
    backoff: { minMs: config.retry.first / 2, baseMs: config.retry.first, maxMs: config.retry.most },
  };
}

export function submitterOptions({ chain, gas, batch }: RelayerConfig): EngineDeps["submission"] {
  return {
    submitTypeUrl: `/${chain.name}.interchainqueries.MsgSubmitQueryResult`,
    gasAdjustmentPermille: truncateDec18(gas.adjustment * 1_000n),
    limits: batch,
    gasPrice: gasPricePolicy(gas),
    blockSharePermille: truncateDec18(batch.block_share * 1_000n),
  };
}
