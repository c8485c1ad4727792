import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import { feeFor } from "../../cosmos/client/tx/tx-queries.ts";
import type { FinalTx, FlightTx, TxWindow, WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import {
  createTrustFinder,
  headerAny,
  isUpdatedTo,
  type Trust,
  type TrustDeps,
  updateClientMessage,
} from "../../cosmos/light-client/client-update.ts";
import { pause, raceAbort, withTimeout } from "../../platform/base/abort.ts";
import { upperHex } from "../../platform/base/bytes.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { RelayerMetrics } from "../result/relayer-metrics.ts";
import type { LocalQueries } from "../chain/local-queries.ts";
import { RelayError } from "../chain/relay-error.ts";
import type { ClientReading, ClientWatch } from "../watch/watches.ts";
import {
  type FundsWatch,
  isLackOfFunds,
  type SubmitGate,
  type Upkeep,
  isPaid,
  type PaymentSink,
} from "../result/submit-gate.ts";
import { createClientOfConnection, viewConnection, type ViewDeps } from "./connection-view.ts";
import { createDryIntermediateHeaders } from "./intermediate-headers.ts";
import type { HeightSignal } from "../registry/registry.ts";

/** Upkeep that prevents the expiry of light clients and sends client updates for intermediate headers. */
export interface ClientRefresh extends Upkeep {
  /**
   * Sends client updates before any queued result, and resolves once blocks include the updates. Throws `RelayError` if an update
   * fails or times out.
   */
  readonly send: (chain: UpdateChain, signal: AbortSignal) => Promise<void>;
}

interface RefreshedConnection {
  readonly connectionId: string;
  readonly remote: Pick<ChainClient, "status" | "lightBlock">;
  readonly watch: Pick<ClientWatch, "view" | "read">;
}

export interface ClientRefreshDeps extends SendUpdatesDeps {
  readonly connections: readonly RefreshedConnection[];
  readonly local: ViewDeps["local"] & TrustDeps["local"] & Pick<LocalQueries, "clientOfConnection">;
  readonly leads: () => boolean;
  readonly localTimeMs: TrustDeps["localTimeMs"];
  readonly logger: Logger;
}

/** Minimum time between two attempts to refresh a connection's client. The client watch reads the client more often. */
const RETRY_MS = 60_000;
/** Maximum time for which {@link ClientRefresh.send} waits until blocks include the updates. */
const SEND_MS = 180_000;

/** Returns true if a client needs an update because 2/3 of its trusting period has passed at the local chain time `nowMs`. */
export function isRefreshDue(reading: ClientReading | undefined, nowMs: number): boolean {
  if (reading === undefined || reading.status !== "Active" || nowMs >= reading.expiresAtMs) return false;
  return (nowMs - reading.consensusTimeMs) * 3 >= (reading.expiresAtMs - reading.consensusTimeMs) * 2;
}

/** A worker's request to send client updates once the signing account is idle. */
interface Request {
  readonly chain: UpdateChain;
  readonly settle: (work: Promise<unknown>) => void;
}

/**
 * Creates the upkeep that keeps light clients from expiring. If no result updates a client, the upkeep sends a separate update
 * before the trusting period ends, because only governance can replace an expired client.
 */
export function createClientRefresh(deps: ClientRefreshDeps): ClientRefresh {
  const triedAtMs = new Map<string, number>();
  // Each worker has at most one request, because a worker waits until its request is done.
  let requests: readonly Request[] = [];
  const due = (): RefreshedConnection | undefined =>
    deps.connections.find(({ connectionId, watch }) => {
      const sinceTryMs = deps.clock.monotonicMs() - (triedAtMs.get(connectionId) ?? -RETRY_MS);
      return sinceTryMs >= RETRY_MS && isRefreshDue(watch.view().reading, deps.localTimeMs());
    });
  return {
    isDue: () => deps.leads() && (requests.length > 0 || due() !== undefined),
    run: async (signal) => {
      const [request] = requests;
      if (request === undefined) return runRefresh(deps, due(), triedAtMs, signal);
      requests = requests.slice(1);
      const work = sendUpdates(deps, request.chain, signal);
      request.settle(work);
      await work.catch(() => signal.throwIfAborted());
    },
    send: async (chain, signal) => {
      let request: Request | undefined;
      const sent = new Promise<unknown>((resolve) => {
        request = { chain, settle: resolve };
        requests = [...requests, request];
      });
      deps.height.wake();
      try {
        const done = await withTimeout(SEND_MS, deps.clock, signal, async (inner) => {
          await raceAbort(sent, inner);
          return true;
        });
        if (done !== true) throw notInTime(chain);
      } finally {
        requests = requests.filter((other) => other !== request);
      }
    },
  };
}

function notInTime({ connectionId }: UpdateChain): RelayError {
  return new RelayError(
    { code: "transaction-lost", connectionId },
    `the client update was not included within ${SEND_MS / 1_000} s`,
  );
}

async function runRefresh(
  deps: ClientRefreshDeps,
  connection: RefreshedConnection | undefined,
  triedAtMs: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  if (connection === undefined) return;
  const { connectionId, watch } = connection;
  triedAtMs.set(connectionId, deps.clock.monotonicMs());
  try {
    // Send the remaining updates of a long series without a pause.
    if ((await refresh(deps, connection, signal)) === "part") triedAtMs.delete(connectionId);
  } catch (error) {
    signal.throwIfAborted();
    deps.logger.warn("light client could not be refreshed", { connectionId, reason: errorText(error) });
  }
  await watch.read(signal);
}

async function refresh(
  deps: ClientRefreshDeps,
  connection: RefreshedConnection,
  signal: AbortSignal,
): Promise<"whole" | "part"> {
  const { connectionId } = connection;
  const { updates, reach } = await newestUpdates(deps, connection, signal);
  if (updates.length === 0) return reach;
  const localHeight = await sendUpdates(deps, { connectionId, updates }, signal);
  deps.logger.info("light client refreshed, since no result had updated it", { connectionId, localHeight });
  return reach;
}

/**
 * Returns the client updates up to the newest remote block. If the path to the block is too long or unreadable, returns only the
 * first updates. Returns an empty list if the client already has the newest remote block.
 */
async function newestUpdates(
  { local, window, clock, localTimeMs }: ClientRefreshDeps,
  { connectionId, remote }: RefreshedConnection,
  signal: AbortSignal,
): Promise<{ readonly updates: readonly WireMessage[]; readonly reach: "whole" | "part" }> {
  const viewDeps = { connectionId, remote, local, client: createClientOfConnection(local, connectionId) };
  const view = await viewConnection(viewDeps, signal);
  if (view === undefined || isUpdatedTo(view.client, view.headerAt)) return { updates: [], reach: "whole" };
  const finder = createTrustFinder({ local, remote, localTimeMs }, view.client, signal);
  const [block, below] = await Promise.all([
    remote.lightBlock(view.headerAt.height, signal),
    finder.below(view.headerAt),
  ]);
  const { intermediate, updates } = createDryIntermediateHeaders(
    { remote, clock, signer: window.address },
    view.client,
    signal,
  );
  let trust: Trust;
  try {
    trust = await intermediate(block, below);
  } catch (error) {
    // Send the updates that could be read, because even a few updates postpone the client's expiry.
    if (updates().length === 0) throw error;
    return { updates: updates(), reach: "part" };
  }
  const newest = updateClientMessage(view.client.clientId, headerAny(block, trust), window.address);
  return { updates: [...updates(), newest], reach: "whole" };
}

interface SendUpdatesDeps {
  readonly window: TxWindow;
  readonly gate: SubmitGate;
  readonly funds: FundsWatch;
  readonly height: HeightSignal;
  readonly metrics: Pick<RelayerMetrics, "clientUpdates" | "fees" | "gasUsed">;
  /** Receives each transaction that paid a fee. */
  readonly payments?: PaymentSink;
  readonly clock: Clock;
  /** Maximum size of a transaction's encoded messages. */
  readonly maxTxBytes: number;
}

/** One connection's client updates. The light client verifies each update from the previous update's header. */
interface UpdateChain {
  readonly connectionId: string;
  readonly updates: readonly WireMessage[];
}

/** Maximum wait for the transaction's final state before the submitter takes over its confirmation. */
const FINAL_MS = 120_000;
const SETTLE_MS = 1_000;
/** Ratio of the gas limit to the simulated gas, per mille. */
const GAS_PERMILLE = 1_300n;

/**
 * Broadcasts client updates in dedicated transactions, one after another. The caller must have exclusive use of the account.
 * Returns the local height of the block that includes the last update.
 *
 * Throws `RelayError`: "transaction-refused" if an update is refused at no cost, "transaction-lost" if a broadcast update does not
 * succeed.
 */
export async function sendUpdates(
  deps: SendUpdatesDeps,
  { connectionId, updates }: UpdateChain,
  signal: AbortSignal,
): Promise<bigint> {
  let height = 0n;
  for (const messages of splitByBytes(updates, deps.maxTxBytes)) {
    const { tx, confirmation } = await send(deps, { connectionId, messages }, signal);
    const labels = { connection_id: connectionId };
    if (isPaid(confirmation)) {
      deps.metrics.fees.inc(labels, Number(tx.feeAmount));
      deps.payments?.record({
        hash: upperHex(tx.hash),
        height: confirmation.height,
        fee: tx.feeAmount,
        gasUsed: confirmation.gasUsed,
        isFailed: confirmation.kind === "failed",
        results: [],
        updates: [{ connectionId, gas: confirmation.gasUsed }],
      });
    }
    if (confirmation.kind !== "included")
      throw new RelayError(
        { code: "transaction-lost", connectionId },
        `the client update did not succeed: ${confirmation.kind}`,
      );
    deps.metrics.clientUpdates.inc(labels, messages.length);
    deps.metrics.gasUsed.inc(labels, Number(confirmation.gasUsed));
    height = confirmation.height;
  }
  return height;
}

/** Splits messages into transactions of at most `maxBytes`, in order. A message larger than `maxBytes` gets its own transaction. */
function splitByBytes(
  messages: readonly WireMessage[],
  maxBytes: number,
): readonly (readonly WireMessage[])[] {
  const parts: WireMessage[][] = [];
  let bytes = 0;
  for (const message of messages) {
    bytes += message.value.length;
    const open = parts.at(-1);
    if (open !== undefined && bytes <= maxBytes) open.push(message);
    else {
      parts.push([message]);
      bytes = message.value.length;
    }
  }
  return parts;
}

async function send(
  deps: SendUpdatesDeps,
  { connectionId, messages }: { readonly connectionId: string; readonly messages: readonly WireMessage[] },
  signal: AbortSignal,
): Promise<FinalTx> {
  const { window, gate, height } = deps;
  const refused = (reason: string): RelayError => {
    if (isLackOfFunds(reason)) deps.funds.recordUnpaid(reason);
    return new RelayError(
      { code: "transaction-refused", connectionId },
      `the client update was refused: ${reason}`,
    );
  };
  const simulation = await window.simulate(messages, signal);
  if (!simulation.ok) throw refused(simulation.log);
  const gasLimit = (simulation.gasUsed * GAS_PERMILLE) / 1_000n;
  const gasPrice = await window.gasPrice(signal);
  const fee = feeFor(gasPrice, gasLimit);
  const admission = await gate.admit({ gas: gasLimit, fee, gasByOwner: new Map() }, signal);
  if (!admission.admitted) throw refused(admission.reason);
  const at = { gasPrice, height: height.now() };
  const [sent] = await window.broadcast([{ messages, gasLimit }], at, signal).catch((error: unknown) => {
    // An error without an abort means that nothing was sent. After an abort, the transaction may have been sent.
    if (!signal.aborted) admission.release();
    throw error;
  });
  if (sent?.kind !== "in-flight") {
    admission.release();
    throw refused(sent?.kind === "refused" ? sent.log : (sent?.reason ?? "it was not sent"));
  }
  deps.funds.recordAccepted();
  const final = await finalState(deps, sent.tx, signal);
  if (!isPaid(final.confirmation)) admission.release();
  return final;
}

async function finalState(
  { window, height, clock }: SendUpdatesDeps,
  tx: FlightTx,
  signal: AbortSignal,
): Promise<FinalTx> {
  const untilMs = clock.monotonicMs() + FINAL_MS;
  while (clock.monotonicMs() < untilMs) {
    const final = (await window.confirm(height.now(), signal)).find((one) => one.tx === tx);
    if (final !== undefined) return final;
    await pause(SETTLE_MS, clock, signal);
    signal.throwIfAborted();
  }
  return { tx, confirmation: { kind: "lost", reason: `no final state within ${FINAL_MS} ms` } };
}
