import { pause } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Service } from "../../platform/base/service.ts";
import type { NodeStatus } from "../../cosmos/client/chain-client.ts";
import type { EndpointCheck } from "../../cosmos/client/endpoints/endpoint-pool.ts";
import type { HeadWatch } from "./head-watch.ts";
import type { Watches } from "./watches.ts";

/** The endpoints of one chain. */
export interface PolledChain {
  /** Reads the status of every endpoint. */
  readonly check: (signal: AbortSignal) => Promise<readonly EndpointCheck[]>;
  readonly endpoints: number;
}

export interface WatchPollerDeps {
  readonly watches: Watches;
  readonly local: PolledChain;
  /** By connection id. */
  readonly remotes: ReadonlyMap<string, PolledChain>;
  readonly clock: Clock;
}

/** A remote chain is read when nothing else has read it for this long. */
const HEAD_MS = 5_000;
/** Endpoints that are compared with each other are all read at this interval. */
const COMPARE_MS = 5_000;
const CLIENT_MS = 15_000;
const BALANCE_MS = 30_000;

/**
 * Creates a service that reads what no cycle reads: remote chains without due queries, all endpoints of a chain that has
 * several, light clients, and the balance. So the state of the relayer is known even when nothing is due. Never fails.
 */
export function createWatchPoller(deps: WatchPollerDeps): Service {
  const { watches, clock, local, remotes } = deps;
  return {
    name: "health",
    run: async (signal) => {
      const every = (ms: number, work: () => Promise<unknown>): Promise<void> =>
        repeat(work, ms, clock, signal);
      await Promise.all([
        every(BALANCE_MS, () => watches.account.read(signal)),
        ...(local.endpoints > 1 ? [every(COMPARE_MS, () => local.check(signal))] : []),
        ...watches.connections.flatMap(({ id, remote, client }) => {
          const chain = remotes.get(id);
          return [
            every(CLIENT_MS, () => client.read(signal)),
            ...(chain === undefined ? [] : [every(HEAD_MS, createHeadRead(remote, chain, clock, signal))]),
          ];
        }),
      ]);
    },
  };
}

async function repeat(
  work: () => Promise<unknown>,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      // Reads store their errors. They reject when the signal aborts.
      if (!signal.aborted) throw error;
    }
    await pause(ms, clock, signal);
  }
}

function createHeadRead(
  head: HeadWatch,
  { check, endpoints }: PolledChain,
  clock: Clock,
  signal: AbortSignal,
): () => Promise<void> {
  let comparedMs = -Infinity;
  return async () => {
    const nowMs = clock.monotonicMs();
    const mustCompare = endpoints > 1 && nowMs - comparedMs >= COMPARE_MS;
    const { height, sinceReadMs } = head.view();
    if (height !== undefined && sinceReadMs < HEAD_MS && !mustCompare) return;
    comparedMs = nowMs;
    noteChecks(head, await check(signal));
  };
}

/** Notes the status of the endpoint that is furthest, or the error of the first one when none responded. */
function noteChecks(head: HeadWatch, checks: readonly EndpointCheck[]): void {
  const statuses = checks.flatMap((check) => (check.ok ? [check.status] : []));
  const [first] = statuses;
  const failed = checks.find((check) => !check.ok);
  if (first !== undefined) head.note(statuses.reduce(further, first));
  else if (failed !== undefined) head.noteError(failed.error);
}

function further(a: NodeStatus, b: NodeStatus): NodeStatus {
  if (a.catchingUp !== b.catchingUp) return a.catchingUp ? b : a;
  return b.latestHeight > a.latestHeight ? b : a;
}
