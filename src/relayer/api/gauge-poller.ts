import { pause } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Service } from "../../base/service.ts";
import type { LocalQueries } from "../local-queries.ts";
import type { RelayerMetrics } from "./metrics.ts";

export interface GaugePollerDeps {
  readonly local: Pick<LocalQueries, "balance" | "clientOfConnection" | "clientState" | "consensusTimeNs">;
  /** The account that pays the fees. */
  readonly account: { readonly address: string; readonly denom: string };
  readonly connectionIds: readonly string[];
  readonly metrics: Pick<RelayerMetrics, "accountBalance" | "clientExpiry">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const INTERVAL_MS = 60_000;

/**
 * Creates a service that reads the account balance and the expiry of each client once a minute and sets their gauges.
 * Warns once when the account runs empty. A gauge that cannot be read keeps its last value. The error is logged at debug
 * level only, since the cycles report it.
 */
export function createGaugePoller(deps: GaugePollerDeps): Service {
  return {
    name: "balance and client expiry",
    run: async (signal) => {
      let wasEmpty = false;
      while (!signal.aborted) {
        const attempt = async (gauge: string, read: () => Promise<void>): Promise<void> => {
          try {
            await read();
          } catch (error) {
            if (!signal.aborted)
              deps.logger.debug("gauge cannot be read", { gauge, reason: errorText(error) });
          }
        };
        await Promise.all([
          attempt("balance", async () => {
            wasEmpty = noteBalance(deps, await readBalance(deps, signal), wasEmpty);
          }),
          ...deps.connectionIds.map((id) => attempt(`expiry of ${id}`, () => noteExpiry(deps, id, signal))),
        ]);
        await pause(INTERVAL_MS, deps.clock, signal);
      }
    },
  };
}

function readBalance({ local, account }: GaugePollerDeps, signal: AbortSignal): Promise<bigint> {
  return local.balance(account.address, account.denom, signal);
}

/** Sets the gauge. Returns whether the account is empty. */
function noteBalance(
  { account, metrics, logger }: GaugePollerDeps,
  balance: bigint,
  wasEmpty: boolean,
): boolean {
  metrics.accountBalance.set({ denom: account.denom }, Number(balance));
  const isEmpty = balance === 0n;
  if (isEmpty && !wasEmpty)
    logger.warn("the relayer account is empty and cannot pay fees: send it coins", account);
  return isEmpty;
}

async function noteExpiry(deps: GaugePollerDeps, connectionId: string, signal: AbortSignal): Promise<void> {
  const clientId = await deps.local.clientOfConnection(connectionId, signal);
  const client = await deps.local.clientState(clientId, signal);
  // As in ibc-go: a client expires with its latest consensus state.
  const timeNs = await deps.local.consensusTimeNs(clientId, client.latestHeight, signal);
  const expiryMs = (timeNs + client.trustingPeriodNs) / 1_000_000n;
  deps.metrics.clientExpiry.set({ connection_id: connectionId }, Number(expiryMs) / 1_000);
}
