import { pause } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { ChainClient } from "../../client/chain-client.ts";
import { feeFor } from "../../client/tx/gas-price.ts";
import type { WireMessage } from "../../client/tx/tx-sender.ts";
import type { FinalTx, FlightTx, TxWindow } from "../../client/tx/tx-window.ts";
import type { RelayerMetrics } from "../api/metrics.ts";
import type { ClientReading, ClientWatch } from "../health/client-watch.ts";
import type { LocalQueries } from "../local-queries.ts";
import { RelayError } from "../relay-error.ts";
import type { HeightSignal } from "../registry/height-signal.ts";
import type { SubmitGate } from "../submit/submit-gate.ts";
import { createTrustFinder, headerAny, isUpdatedTo, updateClientMessage } from "./client-update.ts";
import { createClientOfConnection, viewConnection } from "./connection-view.ts";

/** Work that needs the account for itself. The submitter calls it while it has nothing in flight. */
export interface Upkeep {
  readonly isDue: () => boolean;
  /** Never rejects, except with the signal's reason. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** A connection whose light client is kept from expiring. */
interface RefreshedConnection {
  readonly connectionId: string;
  readonly remote: Pick<ChainClient, "status" | "lightBlock">;
  readonly watch: Pick<ClientWatch, "view" | "read">;
}

export interface ClientRefreshDeps {
  readonly connections: readonly RefreshedConnection[];
  readonly local: LocalQueries;
  readonly window: TxWindow;
  readonly gate: SubmitGate;
  readonly height: HeightSignal;
  readonly metrics: Pick<RelayerMetrics, "clientUpdates" | "fees" | "gasUsed">;
  readonly leads: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Time between two tries for one connection. The watch reads the client again in less. */
const RETRY_MS = 60_000;
/** Longest wait for the final state. After it the submitter settles the transaction. */
const FINAL_MS = 120_000;
const SETTLE_MS = 1_000;
/** Gas limit = simulated gas × this / 1000. */
const GAS_PERMILLE = 1_300n;

/** Whether a client needs an update although no result does: two thirds of its trusting period are over. */
export function isRefreshDue(reading: ClientReading | undefined, nowMs: number): boolean {
  if (reading === undefined || reading.status !== "Active" || nowMs >= reading.expiresAtMs) return false;
  return (nowMs - reading.consensusTimeMs) * 3 >= (reading.expiresAtMs - reading.consensusTimeMs) * 2;
}

/**
 * Creates the upkeep of the light clients. A client that no result updates expires after its trusting period, and only
 * governance can replace it then. So it is updated by itself in time.
 */
export function createClientRefresh(deps: ClientRefreshDeps): Upkeep {
  const triedAtMs = new Map<string, number>();
  const due = (): RefreshedConnection | undefined =>
    deps.connections.find(({ connectionId, watch }) => {
      const sinceTryMs = deps.clock.monotonicMs() - (triedAtMs.get(connectionId) ?? -RETRY_MS);
      return sinceTryMs >= RETRY_MS && isRefreshDue(watch.view().reading, deps.clock.nowMs());
    });
  return {
    isDue: () => deps.leads() && due() !== undefined,
    run: async (signal) => {
      const connection = due();
      if (connection === undefined) return;
      const { connectionId, watch } = connection;
      triedAtMs.set(connectionId, deps.clock.monotonicMs());
      try {
        await refresh(deps, connection, signal);
      } catch (error) {
        signal.throwIfAborted();
        deps.logger.warn("light client could not be refreshed", { connectionId, reason: errorText(error) });
      }
      await watch.read(signal);
    },
  };
}

async function refresh(
  deps: ClientRefreshDeps,
  connection: RefreshedConnection,
  signal: AbortSignal,
): Promise<void> {
  const { connectionId } = connection;
  const message = await updateMessage(deps, connection, signal);
  if (message === undefined) return;
  const { tx, confirmation } = await send(deps, message, signal);
  const labels = { connection_id: connectionId };
  if (confirmation.kind !== "lost") deps.metrics.fees.inc(labels, Number(tx.feeAmount));
  if (confirmation.kind !== "included")
    throw new RelayError(
      { code: "transaction-lost", connectionId },
      `the client update ended as ${confirmation.kind}`,
    );
  deps.metrics.clientUpdates.inc(labels);
  deps.metrics.gasUsed.inc(labels, Number(confirmation.gasUsed));
  deps.logger.info("light client refreshed, since no result had updated it", {
    connectionId,
    localHeight: confirmation.height,
  });
}

/** Returns the update to the newest remote block; undefined when the client has it. */
async function updateMessage(
  { local, window, clock }: ClientRefreshDeps,
  { connectionId, remote }: RefreshedConnection,
  signal: AbortSignal,
): Promise<WireMessage | undefined> {
  const viewDeps = { connectionId, remote, local, client: createClientOfConnection(local, connectionId) };
  const view = await viewConnection(viewDeps, signal);
  if (view === undefined || isUpdatedTo(view.client, view.headerAt)) return undefined;
  const finder = createTrustFinder({ local, remote, clock }, view.client, signal);
  const [block, trust] = await Promise.all([
    remote.lightBlock(view.headerAt.height, signal),
    finder.below(view.headerAt),
  ]);
  return updateClientMessage(view.client.clientId, headerAny(block, trust), window.address);
}

/** Sends one message in a transaction of its own. Throws `RelayError` "transaction-refused" when it costs nothing. */
async function send(deps: ClientRefreshDeps, message: WireMessage, signal: AbortSignal): Promise<FinalTx> {
  const { window, gate, height } = deps;
  const simulation = await window.simulate([message], signal);
  if (!simulation.ok) throw refused(simulation.log);
  const gasLimit = (simulation.gasUsed * GAS_PERMILLE) / 1_000n;
  const gasPrice = await window.gasPrice(signal);
  const fee = feeFor(gasPrice, gasLimit);
  const admission = await gate.admit({ gas: gasLimit, fee, gasByOwner: new Map() }, signal);
  if (!admission.admitted) throw refused(admission.reason);
  const [sent] = await window.broadcast(
    [{ messages: [message], gasLimit }],
    { gasPrice, height: height.now() },
    signal,
  );
  if (sent?.kind !== "in-flight") {
    admission.release();
    throw refused(sent?.kind === "refused" ? sent.log : (sent?.reason ?? "it was not sent"));
  }
  const final = await finalState(deps, sent.tx, signal);
  if (final.confirmation.kind === "lost") admission.release();
  return final;
}

async function finalState(
  { window, height, clock }: ClientRefreshDeps,
  tx: FlightTx,
  signal: AbortSignal,
): Promise<FinalTx> {
  const untilMs = clock.monotonicMs() + FINAL_MS;
  while (clock.monotonicMs() < untilMs) {
    const final = (await window.settle(height.now(), signal)).find((one) => one.tx === tx);
    if (final !== undefined) return final;
    await pause(SETTLE_MS, clock, signal);
    signal.throwIfAborted();
  }
  return { tx, confirmation: { kind: "lost", reason: `no final state within ${FINAL_MS} ms` } };
}

function refused(reason: string): RelayError {
  return new RelayError(
    { code: "transaction-refused", connectionId: "" },
    `the client update was refused: ${reason}`,
  );
}
