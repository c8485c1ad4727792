import { toHex } from "../../base/bytes.ts";
import { errorText } from "../../base/errors.ts";
import { createTrustFinder } from "../connection/client-update.ts";
import { createClientOfConnection, viewConnection } from "../connection/connection-view.ts";
import type { RegisteredQuery } from "../registry/registered-query.ts";
import { MsgSubmitQueryResult } from "../../proto/gen/neutron/interchainqueries/tx.ts";
import { parseTxFilter } from "../tx/tx-filter.ts";
import { txFinderOf } from "../tx/tx-finder.ts";
import { createTxProver } from "../tx/tx-prover.ts";
import type { Preview, PreviewConnection } from "./open-preview.ts";

/** What a relayer would send for one TX query if it started now without state. */
export interface TxPreview {
  readonly query: RegisteredQuery;
  /** Searched remote heights. */
  readonly from: bigint;
  readonly to: bigint;
  readonly txs: readonly {
    /** Lower-case hex. */
    readonly hash: string;
    readonly height: bigint;
    /** Simulated gas. The chain accepts a transaction that it has already received, without calling the contract. */
    readonly gas: bigint | undefined;
    /** Why it cannot be sent; undefined when it can. */
    readonly reason: string | undefined;
  }[];
  /** Why nothing could be searched; undefined when it could. */
  readonly reason: string | undefined;
}

/** Transactions that are proven and simulated for one query. */
const MAX_TXS = 20;

/** Searches, proves and simulates the transactions of one query since `tx_lookback_blocks` before the tip. Sends nothing. */
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
  const empty = { query, from, to, txs: [] };
  if (view === undefined) return { ...empty, reason: "the remote chain has too few blocks for proofs" };
  if (!filter.ok) return { ...empty, reason: filter.error };
  try {
    const finder = txFinderOf(remote.comet, { ...context, connectionId });
    const search = { conditions: filter.value, range: { from, to }, isHandled: () => false };
    const { found } = await finder.find(search, signal);
    const trust = createTrustFinder({ local, remote, clock: context.clock }, view.client, signal);
    const prover = createTxProver(remote, trust, view.stateAt.revision, signal);
    const txs: TxPreview["txs"][number][] = [];
    for (const tx of found.slice(0, MAX_TXS)) {
      const height = BigInt(tx.height);
      const common = { hash: toHex(tx.hash), height };
      try {
        const [proven] = await prover.prove(height, [tx]);
        txs.push({ ...common, ...(await simulate(preview, query, proven?.result, signal)) });
      } catch (error) {
        signal.throwIfAborted();
        txs.push({ ...common, gas: undefined, reason: errorText(error) });
      }
    }
    return { query, from, to, txs, reason: undefined };
  } catch (error) {
    signal.throwIfAborted();
    return { ...empty, reason: errorText(error) };
  }
}

async function simulate(
  { account, config }: Preview,
  query: RegisteredQuery,
  result: MsgSubmitQueryResult["result"],
  signal: AbortSignal,
): Promise<Pick<TxPreview["txs"][number], "gas" | "reason">> {
  const message = { queryId: query.id, sender: account.address, clientId: "", result };
  const typeUrl = `/${config.chain.name}.interchainqueries.MsgSubmitQueryResult`;
  const value = MsgSubmitQueryResult.encode(message).finish();
  const simulation = await account.simulate([{ typeUrl, value }], signal);
  if (simulation.ok) return { gas: simulation.gasUsed, reason: undefined };
  return { gas: undefined, reason: `${simulation.codespace}/${simulation.code}: ${simulation.log}` };
}
