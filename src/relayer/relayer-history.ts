import type { ChainClient } from "../cosmos/client/chain-client.ts";
import { raceAbort } from "../platform/base/abort.ts";
import type { DaemonContext } from "../platform/process/daemon-context.ts";
import type { LocalQueries } from "./chain/local-queries.ts";
import type { RelayerConfig } from "./config/relayer-config.ts";
import { createCostLedger } from "./costs/cost-ledger.ts";
import { recoverPayments } from "./costs/recover-payments.ts";
import { createProblemTimeline } from "./health/problem-timeline.ts";
import { gasGuess, GAS_PER_CLIENT_UPDATE, GAS_PER_KEY } from "./result/gas-guess.ts";
import type { Registry } from "./registry/registry.ts";
import type { PaidTransaction } from "./result/paid-transaction.ts";
import type { RelayerStore } from "./state/store.ts";
import { createChangeSignal } from "../platform/base/waits.ts";

interface HistoryDeps {
  /** Bech32 addresses of the paying and the signing account. */
  readonly payer: string;
  readonly signer: string;
  readonly store: RelayerStore;
  readonly registry: Pick<Registry, "states">;
  readonly local: Pick<LocalQueries, "clientOfConnection">;
  readonly client: Pick<ChainClient, "comet">;
  /** Called with the reason why payments may be missing; undefined if none are. */
  readonly recordIncomplete: (reason: string | undefined) => void;
  /** Local chain time, in wall-clock ms. */
  readonly localTimeMs: () => number;
  readonly context: DaemonContext;
}

/** Maximum number of queued payments. Any further payment is stored immediately. */
const MAX_WAITING = 20_000;

/** Creates the record of the relayer's costs and problems, stored across restarts. */
export async function createHistory(config: RelayerConfig, deps: HistoryDeps) {
  const { payer, signer, store, registry, local, client, localTimeMs, context } = deps;
  const { nowMs } = context.clock;
  const chainId = config.chain.id;
  const queries = () => registry.states().map(({ query }) => query);
  const ledger = createCostLedger({
    chainId,
    payer,
    store,
    nowMs,
    localTimeMs,
    sharing: (connectionId) =>
      queries()
        .filter((query) => query.connectionId === connectionId)
        .map(({ id, owner }) => ({ queryId: id, owner })),
  });
  const timeline = createProblemTimeline({ chainId, account: signer, store, nowMs, localTimeMs });
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
    onProgress: deps.recordIncomplete,
    clock: context.clock,
    logger: context.logger,
  };
  const started = createChangeSignal(context.clock);
  let waiting: { readonly payment: PaidTransaction; readonly atMs: number }[] | undefined;
  return {
    ledger,
    timeline,
    /** Receives this process's payments. The payments are queued until earlier processes' payments have been read. */
    payments: {
      record: (payment: PaidTransaction): void => {
        if (waiting === undefined || waiting.length >= MAX_WAITING) ledger.record(payment);
        else waiting.push({ payment, atMs: nowMs() });
      },
    },
    /** Reads what other processes stored. Rejects only on abort. */
    load: async (latestHeight: bigint): Promise<void> => {
      await timeline.load();
      ledger.begin(latestHeight);
    },
    /** Starts adding the payments that no process has seen. Nothing waits for it. */
    recover: (): void => {
      // Report this from now on: a process that is killed before the recovery ends finds the same gap again.
      waiting ??= [];
      deps.recordIncomplete("the payments of earlier processes have not been read yet");
      started.wake();
    },
    service: {
      name: "payments of earlier processes",
      run: async (signal: AbortSignal) => {
        let seen = 0;
        while (!signal.aborted) {
          await started.changed(seen, signal).catch(() => undefined);
          if (signal.aborted) return;
          seen = started.version();
          const incomplete = await recoverPayments(recoverDeps, signal);
          for (const { payment, atMs } of waiting ?? []) ledger.recordAt(payment, atMs);
          waiting = undefined;
          deps.recordIncomplete(incomplete);
        }
      },
    },
  };
}
