import type { Clock } from "../../platform/base/clock.ts";
import type { LocalQueries } from "../local-queries.ts";
import { type Account, type AccountWatch, createAccountWatch } from "./account-watch.ts";
import { type ClientQueries, type ClientWatch, createClientWatch } from "./client-watch.ts";
import { createHeadWatch, type HeadWatch } from "./head-watch.ts";

/** A connection and the chain at its other end. */
export interface WatchedConnection {
  readonly id: string;
  readonly chainId: string;
}

/** What is known about one connection. */
export interface ConnectionWatch extends WatchedConnection {
  readonly remote: HeadWatch;
  readonly client: ClientWatch;
}

/** Everything that the relayer watches besides its queries. The cycles and the poller write, the API reads. */
export interface Watches {
  readonly local: HeadWatch;
  readonly connections: readonly ConnectionWatch[];
  readonly account: AccountWatch;
}

export interface WatchDeps {
  readonly queries: ClientQueries & Pick<LocalQueries, "balance">;
  readonly clock: Clock;
  /** Latest local height. */
  readonly localHeight: () => bigint;
}

/** Creates watches that have seen nothing. */
export function createWatches(
  connections: readonly WatchedConnection[],
  account: Account,
  { queries, clock, localHeight }: WatchDeps,
): Watches {
  return {
    local: createHeadWatch(clock, localHeight),
    connections: connections.map(({ id, chainId }) => ({
      id,
      chainId,
      remote: createHeadWatch(clock, localHeight),
      client: createClientWatch(queries, id, clock),
    })),
    account: createAccountWatch(queries, account, clock),
  };
}
