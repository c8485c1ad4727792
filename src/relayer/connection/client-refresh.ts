import { raceAbort, withTimeout } from "../../platform/base/abort.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { ChainClient } from "../../cosmos/client/chain-client.ts";
import type { WireMessage } from "../../cosmos/client/tx/tx-types.ts";
import type { ClientReading, ClientWatch } from "../health/watches.ts";
import type { LocalQueries } from "../chain/local-queries.ts";
import { RelayError } from "../chain/relay-error.ts";
import { createDryIntermediateHeaders } from "./intermediate-headers.ts";
import {
  createTrustFinder,
  headerAny,
  isUpdatedTo,
  type Trust,
  type TrustDeps,
  updateClientMessage,
} from "../../cosmos/light-client/client-update.ts";
import { createClientOfConnection, viewConnection, type ViewDeps } from "./connection-view.ts";
import type { Upkeep } from "../submit/submit-gate.ts";
import { sendUpdates, type SendUpdatesDeps, type UpdateChain } from "./send-updates.ts";

/** Keeps light clients from expiring, and updates them through headers that results need. */
export interface ClientRefresh extends Upkeep {
  /**
   * Brings updates into blocks in front of all results. Resolves when they are included. Throws `RelayError` when they were
   * not, or not in time.
   */
  readonly send: (chain: UpdateChain, signal: AbortSignal) => Promise<void>;
}

/** A connection whose light client is kept from expiring. */
interface RefreshedConnection {
  readonly connectionId: string;
  readonly remote: Pick<ChainClient, "status" | "lightBlock">;
  readonly watch: Pick<ClientWatch, "view" | "read">;
}

export interface ClientRefreshDeps extends SendUpdatesDeps {
  readonly connections: readonly RefreshedConnection[];
  readonly local: ViewDeps["local"] & TrustDeps["local"] & Pick<LocalQueries, "clientOfConnection">;
  readonly leads: () => boolean;
  readonly logger: Logger;
}

/** Time between two tries for one connection. The watch reads the client again in less. */
const RETRY_MS = 60_000;
/** Longest wait of {@link ClientRefresh.send}. */
const SEND_MS = 180_000;

/** Whether a client needs an update although no result does: two thirds of its trusting period are over. */
export function isRefreshDue(reading: ClientReading | undefined, nowMs: number): boolean {
  if (reading === undefined || reading.status !== "Active" || nowMs >= reading.expiresAtMs) return false;
  return (nowMs - reading.consensusTimeMs) * 3 >= (reading.expiresAtMs - reading.consensusTimeMs) * 2;
}

/** Updates that wait for the account. */
interface Request {
  readonly chain: UpdateChain;
  readonly settle: (work: Promise<unknown>) => void;
}

/**
 * Creates the upkeep of the light clients. A client that no result updates expires after its trusting period, and only
 * governance can replace it then. So it is updated by itself in time.
 */
export function createClientRefresh(deps: ClientRefreshDeps): ClientRefresh {
  const triedAtMs = new Map<string, number>();
  // At most one of each worker, since each waits for its own.
  let requests: readonly Request[] = [];
  const due = (): RefreshedConnection | undefined =>
    deps.connections.find(({ connectionId, watch }) => {
      const sinceTryMs = deps.clock.monotonicMs() - (triedAtMs.get(connectionId) ?? -RETRY_MS);
      return sinceTryMs >= RETRY_MS && isRefreshDue(watch.view().reading, deps.clock.nowMs());
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
    // The rest of a long way follows at once.
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

/** Returns the updates to the newest remote block, or a part of a long way to it; none when the client has it. */
async function newestUpdates(
  { local, window, clock }: ClientRefreshDeps,
  { connectionId, remote }: RefreshedConnection,
  signal: AbortSignal,
): Promise<{ readonly updates: readonly WireMessage[]; readonly reach: "whole" | "part" }> {
  const viewDeps = { connectionId, remote, local, client: createClientOfConnection(local, connectionId) };
  const view = await viewConnection(viewDeps, signal);
  if (view === undefined || isUpdatedTo(view.client, view.headerAt)) return { updates: [], reach: "whole" };
  const finder = createTrustFinder({ local, remote, clock }, view.client, signal);
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
    // A part of the way makes the client younger too.
    if (updates().length === 0) throw error;
    return { updates: updates(), reach: "part" };
  }
  const newest = updateClientMessage(view.client.clientId, headerAny(block, trust), window.address);
  return { updates: [...updates(), newest], reach: "whole" };
}
