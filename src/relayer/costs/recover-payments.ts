import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { MsgSubmitQueryResult } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { MsgUpdateClient } from "../../cosmos/proto/gen/ibc/core/client/v1/tx.ts";
import { AuthInfo, TxBody, TxRaw } from "../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { raceAbort } from "../../platform/base/abort.ts";
import { sha256, upperHex } from "../../platform/base/bytes.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import type { CostLedger } from "./cost-ledger.ts";
import type { PaidResult, PaidTransaction, PaidUpdate } from "../result/paid-transaction.ts";

/** A transaction as a search returns it. */
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
  /** Wall-clock time of a block, ms. */
  readonly blockTimeMs: (height: number, signal: AbortSignal) => Promise<number>;
  /** Bech32 address that signs. */
  readonly address: string;
  /** Bech32 address that pays. */
  readonly payer: string;
  readonly denom: string;
  /** Type URL of `MsgSubmitQueryResult`. */
  readonly submitTypeUrl: string;
  readonly queries: () => readonly RegisteredQuery[];
  /** Ids of the served connections, and a connection's light client id. */
  readonly connectionIds: readonly string[];
  readonly clientOfConnection: (connectionId: string, signal: AbortSignal) => Promise<string>;
  /** Expected gas per query result, and per client update. */
  readonly gasOf: (query: RegisteredQuery | undefined) => bigint;
  readonly gasOfUpdate: bigint;
  readonly logger: Logger;
}

/** Blocks before the newest known payment that are searched too: a transaction is in flight for at most 20. */
const OVERLAP_BLOCKS = 20n;
const PAGE_SIZE = 10;
/** Maximum number of pages for each address, newest first. */
const MAX_PAGES = 30;

/**
 * Adds the transactions of the previous process whose end it did not see, so that no fee is missing after a crash. Those that are
 * in the sums already are not added again. Returns why the payments may be incomplete, and undefined when they are complete.
 * Rejects on abort only.
 */
export async function recoverPayments(deps: RecoverDeps, signal: AbortSignal): Promise<string | undefined> {
  const { ledger, logger } = deps;
  try {
    const since = await searchedFrom(ledger);
    if (since === undefined) return undefined;
    const clients = await clientsOf(deps, signal);
    const found = await search(deps, since, signal);
    // Oldest first: a process that is killed in between must not leave a gap below the newest known payment.
    const paid = found.transactions
      .toSorted((a, b) => a.height - b.height)
      .flatMap((one) => toPaid(one, deps, clients) ?? []);
    for (const one of paid) ledger.recordAt(one, await deps.blockTimeMs(Number(one.height), signal));
    return found.isCut
      ? `more than ${MAX_PAGES * PAGE_SIZE} transactions were sent since the last known one`
      : undefined;
  } catch (error) {
    signal.throwIfAborted();
    const reason = errorText(error);
    logger.warn("payments of the previous process are unknown, the costs may be incomplete", { reason });
    return reason;
  }
}

/** Returns the first height whose transactions may be missing: of sums without a payment, the one at which they began. */
async function searchedFrom({
  newestHeight,
  sinceHeight,
}: RecoverDeps["ledger"]): Promise<bigint | undefined> {
  const [newest, since] = await Promise.all([newestHeight(), sinceHeight()]);
  if (newest === undefined) return since;
  return maxInt(newest - OVERLAP_BLOCKS, since ?? 0n);
}

/** Returns the connection of each light client. */
async function clientsOf(
  { connectionIds, clientOfConnection }: RecoverDeps,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const pairs = await Promise.all(
    connectionIds.map(async (id) => [await clientOfConnection(id, signal), id] as const),
  );
  return new Map(pairs);
}

/**
 * Finds the account's transactions from a height on. A failed transaction's messages leave no events; its fee payment does, with the
 * payer as the sender.
 */
async function search(
  { comet, address, payer }: RecoverDeps,
  since: bigint,
  signal: AbortSignal,
): Promise<{ readonly transactions: readonly FoundTransaction[]; readonly isCut: boolean }> {
  const found = new Map<string, FoundTransaction>();
  let isCut = false;
  for (const sender of new Set([address, payer])) {
    const query = `message.sender='${sender}' AND tx.height>=${since}`;
    for (let page = 1; ; page++) {
      const one = comet.txSearch({ query, page, per_page: PAGE_SIZE, order_by: "desc" });
      const { txs, totalCount } = await raceAbort(one, signal);
      for (const tx of txs) found.set(upperHex(sha256(tx.tx)), tx);
      if (page * PAGE_SIZE >= totalCount || txs.length === 0) break;
      isCut ||= page === MAX_PAGES;
      if (isCut) break;
    }
  }
  return { transactions: [...found.values()], isCut };
}

const UPDATE_TYPE = "/ibc.core.client.v1.MsgUpdateClient";

/** Returns undefined for a transaction of another program, and for one that cost nothing. */
function toPaid(
  { tx, height, result }: FoundTransaction,
  deps: RecoverDeps,
  clients: ReadonlyMap<string, string>,
): PaidTransaction | undefined {
  const raw = TxRaw.decode(tx);
  const { messages } = TxBody.decode(raw.bodyBytes);
  const { fee } = AuthInfo.decode(raw.authInfoBytes);
  // The ante handler refused it: it has no events.
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
