import type { ChainClient } from "../cosmos/client/chain-client.ts";
import { raceAbort } from "../platform/base/abort.ts";
import type { DaemonContext } from "../platform/process/daemon-context.ts";
import type { LocalQueries } from "./chain/local-queries.ts";
import type { RelayerConfig } from "./config/relayer-config.ts";
import { type CostLedger, createCostLedger } from "./costs/cost-ledger.ts";
import { createProblemTimeline } from "./health/problem-timeline.ts";
import { submitTypeUrl, GAS_PER_CLIENT_UPDATE, GAS_PER_KEY, gasGuess } from "./result/proven-result.ts";
import type { Registry } from "./registry/registry.ts";
import type { RelayerStore } from "./state/store.ts";
import { createChangeSignal } from "../platform/base/waits.ts";
import { MsgSubmitQueryResult } from "../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { MsgUpdateClient } from "../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { AuthInfo, TxBody, TxRaw } from "../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { sha256, upperHex } from "../platform/base/bytes.ts";
import { maxInt } from "../platform/base/integers.ts";
import { errorText } from "../platform/base/errors.ts";
import { formatDuration } from "../platform/base/text.ts";
import type { Clock } from "../platform/base/clock.ts";
import type { Logger } from "../platform/base/logger.ts";
import type { RegisteredQuery } from "./chain/registered-query.ts";
import type { PaidResult, PaidTransaction, PaidUpdate } from "./result/submit-gate.ts";

interface HistoryDeps {
  /** Bech32 addresses of the paying and the signing account. */
  readonly payer: string;
  readonly signer: string;
  readonly store: RelayerStore;
  readonly registry: Pick<Registry, "states">;
  readonly local: Pick<LocalQueries, "clientOfConnection">;
  readonly client: Pick<ChainClient, "comet">;
  /** Called with the reason why payments may be missing, or with undefined if none are missing. */
  readonly recordIncomplete: (reason: string | undefined) => void;
  /** Local chain time, as Unix time in ms. */
  readonly localTimeMs: () => number;
  readonly context: DaemonContext;
}

/** Maximum number of queued payments. Further payments are stored immediately. */
const MAX_WAITING = 20_000;

/** Creates the record of the relayer's costs and problems, which survives restarts. */
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
    submitTypeUrl: submitTypeUrl(config),
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
    /** Receives this process's payments, which are queued until earlier processes' payments have been read. */
    payments: {
      record: (payment: PaidTransaction): void => {
        if (waiting === undefined || waiting.length >= MAX_WAITING) ledger.record(payment);
        else waiting.push({ payment, atMs: nowMs() });
      },
    },
    /** Reads the problems that other processes stored, and starts the cost sums at `latestHeight` if none are stored yet. */
    load: async (latestHeight: bigint): Promise<void> => {
      await timeline.load();
      ledger.begin(latestHeight);
    },
    /** Starts a background search for payments that earlier processes made but did not record, and adds the payments to the ledger. */
    recover: (): void => {
      // Report the costs as incomplete from now on. If this process is killed before the recovery ends, the next process finds the
      // same gap.
      waiting ??= [];
      deps.recordIncomplete("payments by earlier processes have not been read yet");
      started.wake();
    },
    service: {
      name: "payments by earlier processes",
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

interface FoundTransaction {
  readonly height: number;
  readonly tx: Uint8Array;
  readonly result: { readonly code: number; readonly gasUsed: bigint; readonly events: readonly unknown[] };
}

export interface RecoverDeps {
  readonly ledger: Pick<CostLedger, "newestHeight" | "sinceHeight" | "recordAt">;
  readonly comet: {
    readonly txSearch: (
      search: Parameters<ChainClient["comet"]["txSearch"]>[0],
    ) => Promise<{ readonly txs: readonly FoundTransaction[]; readonly totalCount: number }>;
  };
  /** Returns the time in a block's header, as Unix time in ms. */
  readonly blockTimeMs: (height: number, signal: AbortSignal) => Promise<number>;
  /** Bech32 address of the signing account. */
  readonly address: string;
  /** Bech32 address of the paying account. */
  readonly payer: string;
  readonly denom: string;
  /** Type URL of `MsgSubmitQueryResult`. */
  readonly submitTypeUrl: string;
  readonly queries: () => readonly RegisteredQuery[];
  readonly connectionIds: readonly string[];
  readonly clientOfConnection: (connectionId: string, signal: AbortSignal) => Promise<string>;
  /** Returns the expected gas of a result for `query`, which is undefined if the query is not registered. */
  readonly gasOf: (query: RegisteredQuery | undefined) => bigint;
  readonly gasOfUpdate: bigint;
  /** Called after each page with a human-readable progress message. */
  readonly onProgress: (text: string) => void;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly logger: Logger;
}

/** Number of blocks by which the search starts before the newest known payment. A transaction is in flight for at most 20 blocks. */
const OVERLAP_BLOCKS = 20n;
const PAGE_SIZE = 10;
/** Maximum number of pages to read per address, oldest first. */
const MAX_PAGES = 1_000;

/**
 * Adds payments that earlier processes did not record, e.g. because of a crash. Skips transactions that the ledger already
 * contains. Sending does not wait for the recovery, which may take minutes.
 *
 * Returns why payments may be missing, or undefined if the ledger is complete. Rejects only on abort.
 */
export async function recoverPayments(deps: RecoverDeps, signal: AbortSignal): Promise<string | undefined> {
  const { ledger, logger } = deps;
  try {
    const since = await searchedFrom(ledger);
    if (since === undefined) return undefined;
    const clients = await clientsOf(deps, signal);
    const progress = createProgress(deps);
    let isCut = false;
    // Each step reads one page for the address whose search is at the lower height. In this order, a process killed between two
    // steps leaves no gap below the newest known payment.
    const searches = [...new Set([deps.address, deps.payer])].map((sender) =>
      search(deps, sender, since, signal),
    );
    let pages = await Promise.all(searches.map(async (one) => ({ one, page: await one.next() })));
    while (pages.some(({ page }) => page.done !== true)) {
      const open = pages.flatMap(({ one, page }) => (page.done === true ? [] : [{ one, page: page.value }]));
      const [lowest] = open.toSorted((a, b) => heightOf(a.page) - heightOf(b.page));
      if (lowest === undefined) break;
      const paid = lowest.page.transactions.flatMap((one) => toPaid(one, deps, clients) ?? []);
      const heights = [...new Set(paid.map(({ height }) => height))];
      const times = new Map(
        await Promise.all(
          heights.map(async (height) => [height, await deps.blockTimeMs(Number(height), signal)] as const),
        ),
      );
      for (const one of paid) ledger.recordAt(one, times.get(one.height) ?? 0);
      progress(lowest.one, lowest.page);
      isCut ||= lowest.page.isCut;
      const next = await lowest.one.next();
      pages = pages.map((each) => (each.one === lowest.one ? { ...each, page: next } : each));
    }
    return isCut
      ? `more than ${MAX_PAGES * PAGE_SIZE} transactions were sent since the last known one`
      : undefined;
  } catch (error) {
    signal.throwIfAborted();
    const reason = errorText(error);
    logger.warn("payments by the previous process are unknown, the costs may be incomplete", { reason });
    return reason;
  }
}

function heightOf({ transactions: [first] }: FoundPage): number {
  return first?.height ?? 0;
}

/** Reports the number of transactions read and the estimated remaining time. */
function createProgress({ clock, onProgress }: RecoverDeps): (from: unknown, page: FoundPage) => void {
  const startedMs = clock.monotonicMs();
  const totals = new Map<unknown, number>();
  let read = 0;
  return (from, { transactions, totalCount }) => {
    totals.set(from, totalCount);
    read += transactions.length;
    const total = [...totals.values()].reduce((sum, count) => sum + count, 0);
    const leftMs = ((clock.monotonicMs() - startedMs) / Math.max(1, read)) * Math.max(0, total - read);
    onProgress(
      `read ${read} of ${total} transactions from earlier processes; about ${formatDuration(leftMs)} left`,
    );
  };
}

/** Returns the lowest height whose transactions may be missing: the height at which the sums began, if no payment is known. */
async function searchedFrom({
  newestHeight,
  sinceHeight,
}: RecoverDeps["ledger"]): Promise<bigint | undefined> {
  const [newest, since] = await Promise.all([newestHeight(), sinceHeight()]);
  if (newest === undefined) return since;
  return maxInt(newest - OVERLAP_BLOCKS, since ?? 0n);
}

async function clientsOf(
  { connectionIds, clientOfConnection }: RecoverDeps,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const pairs = await Promise.all(
    connectionIds.map(async (id) => [await clientOfConnection(id, signal), id] as const),
  );
  return new Map(pairs);
}

interface FoundPage {
  readonly transactions: readonly FoundTransaction[];
  /** Total number of transactions on all pages. */
  readonly totalCount: number;
  /** True if the search stopped before the last page. */
  readonly isCut: boolean;
}

/**
 * Finds an account's transactions at or above the height `since`, oldest first. A failed transaction has no message events, so the
 * search matches fee payments, whose sender is the payer.
 */
async function* search(
  { comet }: RecoverDeps,
  sender: string,
  since: bigint,
  signal: AbortSignal,
): AsyncGenerator<FoundPage, undefined> {
  const query = `message.sender='${sender}' AND tx.height>=${since}`;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const one = comet.txSearch({ query, page, per_page: PAGE_SIZE, order_by: "asc" });
    const { txs: transactions, totalCount } = await raceAbort(one, signal);
    const isLast = page * PAGE_SIZE >= totalCount || transactions.length === 0;
    if (transactions.length > 0) yield { transactions, totalCount, isCut: !isLast && page === MAX_PAGES };
    if (isLast) return;
  }
}

const UPDATE_TYPE = "/ibc.core.client.v1.MsgUpdateClient";

/** Converts a transaction to a payment. Returns undefined if another program sent the transaction or if it cost nothing. */
function toPaid(
  { tx, height, result }: FoundTransaction,
  deps: RecoverDeps,
  clients: ReadonlyMap<string, string>,
): PaidTransaction | undefined {
  const raw = TxRaw.decode(tx);
  const { messages } = TxBody.decode(raw.bodyBytes);
  const { fee } = AuthInfo.decode(raw.authInfoBytes);
  // The ante handler rejected a transaction without events, so the transaction cost nothing.
  if (result.code !== 0 && result.events.length === 0) return undefined;
  const queries = new Map(deps.queries().map((query) => [query.id, query]));
  const results: PaidResult[] = [];
  const updates: PaidUpdate[] = [];
  for (const { typeUrl, value } of messages) {
    if (typeUrl === deps.submitTypeUrl) {
      const { sender, queryId } = MsgSubmitQueryResult.decode(value);
      if (sender !== deps.address) return undefined;
      const query = queries.get(queryId);
      const { owner = "", connectionId = "" } = query ?? {};
      results.push({ queryId, owner, connectionId, gas: deps.gasOf(query) });
    } else if (typeUrl === UPDATE_TYPE) {
      const { signer, clientId } = MsgUpdateClient.decode(value);
      if (signer !== deps.address) return undefined;
      updates.push({ connectionId: clients.get(clientId) ?? "", gas: deps.gasOfUpdate });
    } else return undefined;
  }
  const amount = fee?.amount.find(({ denom }) => denom === deps.denom)?.amount ?? "";
  if (results.length + updates.length === 0 || !/^\d{1,78}$/.test(amount)) return undefined;
  return {
    hash: upperHex(sha256(tx)),
    height: BigInt(height),
    fee: BigInt(amount),
    gasUsed: result.gasUsed,
    isFailed: result.code !== 0,
    results,
    updates,
  };
}
