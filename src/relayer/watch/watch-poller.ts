import type { NodeStatus } from "../../cosmos/client/chain-client.ts";
import type { EndpointCheck } from "../../cosmos/client/endpoint-pool.ts";
import { pause } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Service } from "../../platform/base/service.ts";
import type { HeadWatch } from "./head-watch.ts";
import type { Watches } from "./watches.ts";

/** The endpoints of one chain. */
export interface PolledChain {
  /** Reads the status of every endpoint. */
  readonly check: (signal: AbortSignal) => Promise<readonly EndpointCheck[]>;
  readonly endpoints: number;
}

interface WatchPollerDeps {
  readonly watches: Watches;
  readonly local: PolledChain;
  /** By connection id. */
  readonly remotes: ReadonlyMap<string, PolledChain>;
  readonly clock: Clock;
}

/** A remote chain is read when no cycle has read it for this long. */
const HEAD_MS = 5_000;
/** Interval at which all endpoints of a chain are read, to compare their heights. */
const COMPARE_MS = 5_000;
const CLIENT_MS = 15_000;
const BALANCE_MS = 30_000;

/**
 * Creates a service that reads what no cycle reads: remote chains without due queries, all endpoints of a chain that has
 * several, light clients, and the balance. So the relayer's state is known even when nothing is due. Never fails.
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
      // Reads record their own errors, so only an abort rejects here.
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
    recordChecks(head, await check(signal));
  };
}

/** Records the status of the endpoint that is furthest ahead, or the first error when no endpoint responded. */
function recordChecks(head: HeadWatch, checks: readonly EndpointCheck[]): void {
  const statuses = checks.flatMap((check) => (check.ok ? [check.status] : []));
  const [first] = statuses;
  const failed = checks.find((check) => !check.ok);
  if (first !== undefined) head.record(statuses.reduce(further, first));
  else if (failed !== undefined) head.recordError(failed.error);
}

function further(a: NodeStatus, b: NodeStatus): NodeStatus {
  if (a.catchingUp !== b.catchingUp) return a.catchingUp ? b : a;
  return b.latestHeight > a.latestHeight ? b : a;
}
