import { pause } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Service } from "../../base/service.ts";
import type { LocalQueries } from "../registry/local-queries.ts";
import type { RelayerMetrics } from "./metrics.ts";

/** What the relayer lives on: the money of its account, and the time that is left to each client. */
export interface ReservesDeps {
  readonly local: Pick<LocalQueries, "balance" | "clientOfConnection" | "clientState" | "consensusTimeNs">;
  readonly account: { readonly address: string; readonly denom: string };
  readonly connectionIds: readonly string[];
  readonly metrics: Pick<RelayerMetrics, "accountBalance" | "clientExpiry">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const EVERY_MS = 60_000;

/** Measures the reserves once a minute. What can't be read keeps its last value; the rounds tell of the error. */
export function createReservesWatch(deps: ReservesDeps): Service {
  return {
    name: "reserves",
    run: async (signal) => {
      let wasEmpty = false;
      while (!signal.aborted) {
        const attempt = async (what: string, read: () => Promise<void>): Promise<void> => {
          try {
            await read();
          } catch (error) {
            if (!signal.aborted)
              deps.logger.debug("reserve can't be read", { what, reason: errorText(error) });
          }
        };
        await Promise.all([
          attempt("balance", async () => {
            wasEmpty = noteBalance(deps, await readBalance(deps, signal), wasEmpty);
          }),
          ...deps.connectionIds.map((id) => attempt(id, () => noteExpiry(deps, id, signal))),
        ]);
        await pause(EVERY_MS, deps.clock, signal);
      }
    },
  };
}

function readBalance({ local, account }: ReservesDeps, signal: AbortSignal): Promise<bigint> {
  return local.balance(account.address, account.denom, signal);
}

/** Sets the gauge; an account that has become empty is told of once. */
function noteBalance(
  { account, metrics, logger }: ReservesDeps,
  balance: bigint,
  wasEmpty: boolean,
): boolean {
  metrics.accountBalance.set({ denom: account.denom }, Number(balance));
  const isEmpty = balance === 0n;
  if (isEmpty && !wasEmpty)
    logger.warn("relayer account has no coins to pay fees with: send it some", account);
  return isEmpty;
}

async function noteExpiry(deps: ReservesDeps, connectionId: string, signal: AbortSignal): Promise<void> {
  const clientId = await deps.local.clientOfConnection(connectionId, signal);
  const client = await deps.local.clientState(clientId, signal);
  const timeNs = await deps.local.consensusTimeNs(clientId, client.latestHeight, signal);
  const expiryMs = (timeNs + client.trustingPeriodNs) / 1_000_000n;
  deps.metrics.clientExpiry.set({ connection_id: connectionId }, Number(expiryMs) / 1_000);
}
