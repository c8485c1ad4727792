import type { WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import { createTrustFinder } from "../../cosmos/light-client/client-update.ts";
import { MsgSubmitQueryResult } from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { concat, toHex, uint64BigEndian } from "../../platform/base/bytes.ts";
import { errorText } from "../../platform/base/errors.ts";
import { createClientOfConnection, viewConnection } from "../connection/connection-view.ts";
import { createDryIntermediateHeaders } from "../connection/intermediate-headers.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import { submitTypeUrl } from "../result/proven-result.ts";
import { parseTxFilter } from "../tx/tx-filter.ts";
import { txFinderOf } from "../tx/tx-finder.ts";
import { createTxProver } from "../tx/tx-prover.ts";
import type { Preview, PreviewConnection } from "./open-preview.ts";

/**
 * The transactions found by the search, compared with the chain's received transactions. The chain only reveals whether it has a
 * given transaction. A missing transaction was left out if the chain has a later one.
 */
export type TxComparison =
  /** the chain has received none of them */
  | { readonly kind: "none" }
  /** the chain has received all of them up to the last one it has */
  | { readonly kind: "same" }
  /** the chain has received a later one but lacks these, which another relayer left out */
  | { readonly kind: "differs"; readonly missing: readonly string[] }
  | { readonly kind: "unreadable"; readonly reason: string };

/** The transactions that a relayer would send for one TX query if it started now without any state. */
export interface TxPreview {
  readonly query: RegisteredQuery;
  /** Searched remote heights. */
  readonly from: bigint;
  readonly to: bigint;
  readonly txs: readonly {
    /** Lower-case hex. */
    readonly hash: string;
    readonly height: bigint;
    /** Simulated gas. The chain accepts a transaction that it has already received, but does not call the contract. */
    readonly gas: bigint | undefined;
    /** Why the relayer cannot send it; undefined if it can. */
    readonly reason: string | undefined;
    /** True if the chain has received it from any relayer; undefined if that cannot be read. */
    readonly received: boolean | undefined;
  }[];
  readonly other: TxComparison;
  /** Why the search failed; undefined if it succeeded. */
  readonly reason: string | undefined;
}

/** Maximum number of transactions proven and simulated for one query. */
const MAX_TXS = 20;

/**
 * Searches, proves and simulates one query's transactions, starting `tx_lookback_blocks` before the remote chain's tip. Sends
 * nothing.
 */
export async function previewTx(
  preview: Preview,
  connection: PreviewConnection,
  query: RegisteredQuery,
  signal: AbortSignal,
): Promise<TxPreview> {
  const { local, config, context } = preview;
  const { id: connectionId, remote } = connection;
  const client = createClientOfConnection(local, connectionId);
  const view = await viewConnection({ connectionId, remote, local, client }, signal);
  const to = view?.stateAt.height ?? 0n;
  const lookback = config.queries.tx_lookback_blocks;
  const from = to > lookback ? to - lookback + 1n : 1n;
  const filter = parseTxFilter(query.transactionsFilter);
  const empty = { query, from, to, txs: [], other: { kind: "none" } } as const;
  if (view === undefined)
    return { ...empty, reason: "the remote chain does not have enough blocks for a proof" };
  if (!filter.ok) return { ...empty, reason: filter.error };
  try {
    const finder = txFinderOf(remote, { ...context, connectionId });
    const search = { conditions: filter.value, range: { from, to }, isHandled: () => false };
    const { found } = await finder.find(search, signal);
    const nowMs = await preview.localTimeMs(signal);
    const trust = createTrustFinder({ local, remote, localTimeMs: () => nowMs }, view.client, signal);
    const signer = preview.account.address;
    const { intermediate, updates } = createDryIntermediateHeaders(
      { remote, clock: context.clock, signer },
      view.client,
      signal,
    );
    const prover = createTxProver({ remote, trust, intermediate, revision: view.stateAt.revision }, signal);
    const txs: TxPreview["txs"][number][] = [];
    for (const tx of found.slice(0, MAX_TXS)) {
      const height = BigInt(tx.height);
      const common = {
        hash: toHex(tx.hash),
        height,
        received: await isReceived(preview, query.id, tx.hash, signal),
      };
      try {
        const [proven] = await prover.prove(height, [tx]);
        txs.push({
          ...common,
          ...(await simulate(preview, updates(), { query, result: proven?.result }, signal)),
        });
      } catch (error) {
        signal.throwIfAborted();
        txs.push({ ...common, gas: undefined, reason: errorText(error) });
      }
    }
    return { query, from, to, txs, other: compareTxs(txs), reason: undefined };
  } catch (error) {
    signal.throwIfAborted();
    return { ...empty, reason: errorText(error) };
  }
}

/** Key prefix of received transactions in the module's store. */
const RECEIVED_PREFIX = Uint8Array.of(0x03);

/** Reads whether the chain has received a transaction for a query (x/interchainqueries, `types/keys.go`). */
async function isReceived(
  { localClient }: Preview,
  queryId: bigint,
  hash: Uint8Array,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const key = concat(RECEIVED_PREFIX, uint64BigEndian(queryId), hash);
  try {
    const { code, value } = await localClient.readStore(
      { store: "interchainqueries", key, height: 0n },
      signal,
    );
    return code === 0 ? value !== undefined : undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** Compares transactions, in the remote chain's order, with the local chain's received transactions. */
export function compareTxs(
  txs: readonly Pick<TxPreview["txs"][number], "hash" | "received">[],
): TxComparison {
  if (txs.some(({ received }) => received === undefined))
    return {
      kind: "unreadable",
      reason: "the node does not report which transactions the chain has received",
    };
  const last = txs.findLastIndex(({ received }) => received);
  if (last < 0) return { kind: "none" };
  const missing = txs.slice(0, last).filter(({ received }) => received === false);
  return missing.length === 0
    ? { kind: "same" }
    : { kind: "differs", missing: missing.map(({ hash }) => hash) };
}

async function simulate(
  { account, config }: Preview,
  updates: readonly WireMessage[],
  { query, result }: { readonly query: RegisteredQuery; readonly result: MsgSubmitQueryResult["result"] },
  signal: AbortSignal,
): Promise<Pick<TxPreview["txs"][number], "gas" | "reason">> {
  const typeUrl = submitTypeUrl(config);
  const message = { queryId: query.id, sender: account.address, clientId: "", result };
  const value = MsgSubmitQueryResult.encode(message).finish();
  const simulation = await account.simulate([...updates, { typeUrl, value }], signal);
  if (simulation.ok) return { gas: simulation.gasUsed, reason: undefined };
  return { gas: undefined, reason: `${simulation.codespace}/${simulation.code}: ${simulation.log}` };
}
