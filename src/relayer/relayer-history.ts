import type { ChainClient } from "../cosmos/client/chain-client.ts";
import { raceAbort } from "../platform/base/abort.ts";
import type { DaemonContext } from "../platform/process/daemon-context.ts";
import type { LocalQueries } from "./chain/local-queries.ts";
import type { RelayerConfig } from "./config/relayer-config.ts";
import { createCostLedger, type CostLedger } from "./costs/cost-ledger.ts";
import { recoverPayments } from "./costs/recover-payments.ts";
import { createProblemTimeline, type ProblemTimeline } from "./health/problem-timeline.ts";
import { gasGuess, GAS_PER_CLIENT_UPDATE, GAS_PER_KEY } from "./result/gas-guess.ts";
import type { Registry } from "./registry/registry.ts";
import type { RelayerStore } from "./state/store.ts";

interface HistoryDeps {
  /** Bech32 addresses of the accounts that pay and sign. */
  readonly payer: string;
  readonly signer: string;
  readonly store: RelayerStore;
  readonly registry: Pick<Registry, "states">;
  readonly local: Pick<LocalQueries, "clientOfConnection">;
  readonly client: Pick<ChainClient, "comet">;
  /** Called with the reason for which payments may be missing; undefined when none is. */
  readonly recordIncomplete: (reason: string | undefined) => void;
  readonly context: DaemonContext;
}

/** What the relayer remembers over restarts about its costs and its problems. */
interface RelayerHistory {
  readonly ledger: CostLedger;
  readonly timeline: ProblemTimeline;
  /** Reads what other processes have written, and adds the payments that no process has seen. Rejects on abort only. */
  readonly recover: (latestHeight: bigint, signal: AbortSignal) => Promise<void>;
}

/** Opens ledger and time line on the store. */
export async function createHistory(config: RelayerConfig, deps: HistoryDeps): Promise<RelayerHistory> {
  const { payer, signer, store, registry, local, client, context } = deps;
  const { nowMs } = context.clock;
  const chainId = config.chain.id;
  const queries = () => registry.states().map(({ query }) => query);
  const ledger = createCostLedger({
    chainId,
    payer,
    store,
    nowMs,
    sharing: (connectionId) =>
      queries()
        .filter((query) => query.connectionId === connectionId)
        .map(({ id, owner }) => ({ queryId: id, owner })),
  });
  const timeline = createProblemTimeline({ chainId, account: signer, store, nowMs });
  await timeline.load();
  const recoverDeps = {
    ledger,
    comet: client.comet,
    blockTimeMs: async (height: number, signal: AbortSignal) => {
      const { header } = await raceAbort(client.comet.commit(height), signal);
      return header.time.getTime();
    },
    address: signer,
    payer,
    denom: config.gas.denom,
    submitTypeUrl: `/${config.chain.name}.interchainqueries.MsgSubmitQueryResult`,
    queries,
    connectionIds: config.connections.map(({ id }) => id),
    clientOfConnection: local.clientOfConnection,
    gasOf: (query: ReturnType<typeof queries>[number] | undefined) =>
      query === undefined ? GAS_PER_KEY : gasGuess(query, config.queries.allow_kv_callbacks),
    gasOfUpdate: GAS_PER_CLIENT_UPDATE,
    logger: context.logger,
  };
  return {
    ledger,
    timeline,
    recover: async (latestHeight, signal) => {
      await timeline.load();
      ledger.begin(latestHeight);
      deps.recordIncomplete(await recoverPayments(recoverDeps, signal));
    },
  };
}
