import type { SimulationOutcome, WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import type { RemoteHeight } from "../../cosmos/comet/ibc-height.ts";
import {
  createTrustFinder,
  headerAny,
  isUpdatedTo,
  updateClientMessage,
} from "../../cosmos/light-client/client-update.ts";
import {
  MsgSubmitQueryResult,
  type StorageValue,
} from "../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { equalBytes, concat, toHex, uint64BigEndian } from "../../platform/base/bytes.ts";
import { errorText } from "../../platform/base/errors.ts";
import { maxInt } from "../../platform/base/integers.ts";
import { mapLimit } from "../../platform/base/waits.ts";
import { readQueryResult } from "../chain/local-queries.ts";
import type { RegisteredQuery } from "../chain/registered-query.ts";
import { RelayError } from "../chain/relay-error.ts";
import {
  type ConnectionView,
  createClientOfConnection,
  viewConnection,
} from "../connection/connection-view.ts";
import { createDryIntermediateHeaders } from "../connection/intermediate-headers.ts";
import { proveResults, readKeys } from "../kv/prove.ts";
import { submitTypeUrl } from "../result/proven-result.ts";
import { refreshed } from "../registry/query-state.ts";
import { failureText, isRedundant } from "../submit/apply-failure.ts";
import type { Preview, PreviewConnection } from "./open-preview.ts";
import { parseTxFilter } from "../tx/tx-filter.ts";
import { txFinderOf } from "../tx/tx-finder.ts";
import { createTxProver } from "../tx/tx-prover.ts";

/** The result that a relayer would submit now for one KV query, compared with the chain's last result. */
export interface KvPreview {
  readonly query: RegisteredQuery;
  readonly at: RemoteHeight;
  /**
   * "accepted": the proofs are valid and the local chain accepts the result. "answered": the proofs are valid, but another
   * relayer has delivered a result for this height or a newer one.
   */
  readonly outcome:
    | {
        readonly kind: "accepted";
        readonly gas: bigint;
        /** The share of `gas` that the contract uses; undefined if the chain does not call the contract or the gas cannot be measured. */
        readonly callbackGas: bigint | undefined;
        readonly bytes: number;
        readonly values: readonly StorageValue[];
      }
    | { readonly kind: "unproven" | "refused" | "answered"; readonly reason: string };
  readonly other: Comparison;
}

/** The chain's last result, compared with the remote state at the result's height. */
export type Comparison =
  /** The chain has no result for the query yet. */
  | { readonly kind: "none" }
  | { readonly kind: "same"; readonly at: RemoteHeight }
  | { readonly kind: "differs"; readonly at: RemoteHeight; readonly keys: number }
  | { readonly kind: "unreadable"; readonly at: RemoteHeight; readonly reason: string };

/** Number of queries that are simulated and compared in parallel. */
const CONCURRENCY = 4;

/**
 * Reads, proves and simulates one connection's KV queries at its newest height. Compares each query's last result with the remote
 * chain's state. Sends nothing. Throws `RelayError` and `ClientError` for connection errors.
 */
export async function previewKv(
  preview: Preview,
  connection: PreviewConnection,
  queries: readonly RegisteredQuery[],
  signal: AbortSignal,
): Promise<readonly KvPreview[]> {
  if (queries.length === 0) return [];
  const { local, account, config } = preview;
  const { id: connectionId, remote } = connection;
  const client = createClientOfConnection(local, connectionId);
  const view = await viewConnection({ connectionId, remote, local, client }, signal);
  if (view === undefined)
    throw new RelayError(
      { code: "remote-behind", chainId: connection.chainId, height: 0n },
      `${connection.chainId} does not have enough blocks for a proof`,
    );
  const proven = await proveAt(preview, connection, { queries, at: view.stateAt }, signal);
  const updates = await updateMessages(preview, connection, view, signal);
  const typeUrl = submitTypeUrl(config);
  return mapLimit(proven, CONCURRENCY, async ({ query, result }) => {
    const other = await compare(preview, connection, query, signal);
    const common = { query, at: view.stateAt, other };
    if (!result.ok) return { ...common, outcome: { kind: "unproven", reason: result.reason } as const };
    const simulate = (value: Uint8Array): Promise<SimulationOutcome> =>
      account.simulate([...updates, { typeUrl, value }], signal);
    const simulation = await simulate(result.message);
    if (!simulation.ok) return { ...common, outcome: refusalOf(failureText(simulation)) };
    const values = valuesOf(result.message);
    const callbackGas = config.queries.allow_kv_callbacks
      ? await simulateCallback(simulate, result.message, simulation.gasUsed)
      : undefined;
    const outcome = {
      kind: "accepted",
      gas: simulation.gasUsed,
      callbackGas,
      bytes: result.message.length,
      values,
    } as const;
    return { ...common, outcome };
  });
}

/** Maximum number of simulation pairs. A pair is repeated if the chain changed between its two simulations. */
const CALLBACK_TRIES = 3;

/**
 * Returns the gas of a result's callback: the difference between simulations with and without the callback. Alternates between both
 * until two successive simulations of the same message agree, which shows that the chain did not change. `called` is the gas of the
 * first simulation with the callback.
 *
 * Resolves with undefined if a simulation is refused or the chain changes during every attempt. For example, another account's
 * client update makes the next simulation cheaper.
 */
export async function simulateCallback(
  simulate: (value: Uint8Array) => Promise<SimulationOutcome>,
  message: Uint8Array,
  called: bigint,
): Promise<bigint | undefined> {
  const quietMessage = withoutCallback(message);
  let before = called;
  let quietBefore: bigint | undefined;
  for (let tries = 1; tries <= CALLBACK_TRIES; tries++) {
    const quiet = await simulate(quietMessage);
    if (!quiet.ok) return undefined;
    if (quiet.gasUsed === quietBefore) return maxInt(before - quiet.gasUsed, 0n);
    const after = await simulate(message);
    if (!after.ok) return undefined;
    if (after.gasUsed === before) return maxInt(after.gasUsed - quiet.gasUsed, 0n);
    before = after.gasUsed;
    quietBefore = quiet.gasUsed;
  }
  return undefined;
}

function refusalOf(reason: string): KvPreview["outcome"] {
  return { kind: isRedundant(reason) ? "answered" : "refused", reason };
}

interface ProvenQuery {
  readonly query: RegisteredQuery;
  readonly result:
    | { readonly ok: true; readonly message: Uint8Array }
    | { readonly ok: false; readonly reason: string };
}

async function proveAt(
  { account, config }: Preview,
  { remote }: PreviewConnection,
  { queries, at }: { readonly queries: readonly RegisteredQuery[]; readonly at: RemoteHeight },
  signal: AbortSignal,
): Promise<readonly ProvenQuery[]> {
  const keys = queries.flatMap((query) => query.keys);
  const [block, reads] = await Promise.all([
    remote.lightBlock(at.height + 1n, signal),
    readKeys(remote, keys, at.height, signal),
  ]);
  const states = queries.map((query) => refreshed(undefined, query, 0n));
  const options = { sender: account.address, allowKvCallbacks: config.queries.allow_kv_callbacks };
  const proofs = proveResults(states, reads, { appHash: block.appHash, at }, options);
  return proofs.map(({ state, result }) => ({
    query: state.query,
    result: result.ok
      ? { ok: true, message: result.value.message }
      : { ok: false, reason: `${result.error.code}: ${result.error.reason}` },
  }));
}

async function updateMessages(
  { local, account, context, localTimeMs }: Preview,
  { remote }: PreviewConnection,
  { client, headerAt }: ConnectionView,
  signal: AbortSignal,
): Promise<readonly WireMessage[]> {
  if (isUpdatedTo(client, headerAt)) return [];
  const { clock } = context;
  const { address: signer } = account;
  const nowMs = await localTimeMs(signal);
  const finder = createTrustFinder({ local, remote, localTimeMs: () => nowMs }, client, signal);
  const { intermediate, updates } = createDryIntermediateHeaders({ remote, clock, signer }, client, signal);
  const [block, below] = await Promise.all([
    remote.lightBlock(headerAt.height, signal),
    finder.below(headerAt),
  ]);
  const trust = await intermediate(block, below);
  return [...updates(), updateClientMessage(client.clientId, headerAny(block, trust), signer)];
}

/** Reads the last result from the local chain, and its keys from the remote chain at the result's height. */
async function compare(
  preview: Preview,
  connection: PreviewConnection,
  query: RegisteredQuery,
  signal: AbortSignal,
): Promise<Comparison> {
  const at = query.lastRemoteHeight;
  if (at === undefined) return { kind: "none" };
  try {
    const [stored, proven] = await Promise.all([
      readQueryResult(preview.localClient, preview.config.chain.name, query.id, signal),
      proveAt(preview, connection, { queries: [query], at }, signal),
    ]);
    const result = proven[0]?.result;
    if (result?.ok !== true)
      return { kind: "unreadable", at, reason: result?.reason ?? "nothing was proven" };
    const values = valuesOf(result.message);
    const differing = values.filter(
      ({ value }, index) => !equalBytes(value, stored[index]?.value ?? new Uint8Array()),
    );
    if (differing.length === 0 && values.length === stored.length) return { kind: "same", at };
    return { kind: "differs", at, keys: Math.max(1, differing.length) };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "unreadable", at, reason: errorText(error) };
  }
}

/** Returns the message with its contract callback disabled. */
function withoutCallback(message: Uint8Array): Uint8Array {
  const decoded = MsgSubmitQueryResult.decode(message);
  const result = decoded.result && { ...decoded.result, allowKvCallbacks: false };
  return MsgSubmitQueryResult.encode({ ...decoded, result }).finish();
}

function valuesOf(message: Uint8Array): readonly StorageValue[] {
  return MsgSubmitQueryResult.decode(message).result?.kvResults ?? [];
}

/**
 * Compares the transactions that the search found with the transactions that the chain has received. The chain reports only whether
 * a given transaction was received. A missing transaction was therefore skipped if the chain has received a later transaction.
 */
export type TxComparison =
  /** The chain has received none of the found transactions. */
  | { readonly kind: "none" }
  /** The chain has received all found transactions up to the last received transaction. */
  | { readonly kind: "same" }
  /** The chain has received a later transaction but not the `missing` transactions, so another relayer skipped them. */
  | { readonly kind: "differs"; readonly missing: readonly string[] }
  | { readonly kind: "unreadable"; readonly reason: string };

/** The transactions that a relayer would send for one TX query if it started now without any state. */
export interface TxPreview {
  readonly query: RegisteredQuery;
  /** The first and last searched remote height. */
  readonly from: bigint;
  readonly to: bigint;
  readonly txs: readonly {
    /** Transaction hash in lower-case hex. */
    readonly hash: string;
    readonly height: bigint;
    /** Simulated gas. The chain accepts a transaction that it has already received, but does not call the contract again. */
    readonly gas: bigint | undefined;
    /** Reason why the relayer cannot send the transaction; undefined if the relayer can send the transaction. */
    readonly reason: string | undefined;
    /** True if the chain has received the transaction from any relayer; undefined if the chain's store cannot be read. */
    readonly received: boolean | undefined;
  }[];
  readonly other: TxComparison;
  /** Reason why the search failed; undefined if the search succeeded. */
  readonly reason: string | undefined;
}

/** Maximum number of transactions proven and simulated for one query. */
const MAX_TXS = 20;

/** Finds, proves and simulates one query's transactions from the last `tx_lookback_blocks` remote blocks. Sends nothing. */
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
          ...(await simulateTx(preview, updates(), { query, result: proven?.result }, signal)),
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

async function simulateTx(
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
