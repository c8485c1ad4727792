import type { ChainClient, NodeStatus } from "../../cosmos/client/chain-client.ts";
import type { EndpointCheck } from "../../cosmos/client/endpoint-pool.ts";
import type { LightClientState } from "../../cosmos/light-client/client-queries.ts";
import { pause } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { errorText } from "../../platform/base/errors.ts";
import type { Service } from "../../platform/base/service.ts";
import type { LocalQueries } from "../chain/local-queries.ts";
import type { FundsWatch } from "../result/submit-gate.ts";
import { createHeadWatch, type HeadWatch } from "./head-watch.ts";

/** A connection with the chain id of its remote chain. */
export interface WatchedConnection {
  readonly id: string;
  readonly chainId: string;
}

export interface ConnectionWatch extends WatchedConnection {
  readonly remote: HeadWatch;
  readonly client: ClientWatch;
}

/** The watched state of chains, light clients and the account. Cycles and the poller write this state, and the API reads it. */
export interface Watches {
  readonly local: HeadWatch;
  readonly connections: readonly ConnectionWatch[];
  readonly account: AccountWatch;
}

export interface WatchDeps {
  readonly queries: ClientQueries & Pick<LocalQueries, "balance">;
  readonly clock: Clock;
  readonly localHeight: () => bigint;
}

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

/** The account from which the relayer pays transaction fees, and the denomination of these fees. */
interface Account {
  /** Bech32 address with the local chain's prefix. */
  readonly address: string;
  readonly denom: string;
}

export interface AccountView extends Account {
  /** The account's balance; undefined before the first read. */
  readonly balance: bigint | undefined;
  /** Reason why the node refuses transactions for lack of funds; undefined if transactions are accepted or coins have arrived. */
  readonly unpaid: string | undefined;
  /** Time since the last successful read or, before the first, since startup, ms. */
  readonly sinceReadMs: number;
  /** Error of the last read; undefined if the read succeeded. */
  readonly error: string | undefined;
}

/** Reads the account's balance and determines whether it is sufficient. */
interface AccountWatch extends FundsWatch {
  /** Reads the balance. Rejects only on abort. */
  readonly read: (signal: AbortSignal) => Promise<void>;
  readonly view: () => AccountView;
}

export function createAccountWatch(
  local: Pick<LocalQueries, "balance">,
  account: Account,
  clock: Pick<Clock, "monotonicMs">,
): AccountWatch {
  let balance: bigint | undefined;
  let error: string | undefined;
  let readAtMs = clock.monotonicMs();
  let unpaid: { readonly reason: string; readonly balance: bigint | undefined } | undefined;

  return {
    read: async (signal) => {
      try {
        balance = await local.balance(account.address, account.denom, signal);
        [readAtMs, error] = [clock.monotonicMs(), undefined];
      } catch (thrown) {
        signal.throwIfAborted();
        error = errorText(thrown);
      }
    },
    recordAccepted: () => {
      unpaid = undefined;
    },
    recordUnpaid: (reason) => {
      unpaid = { reason, balance };
    },
    view: () => ({
      ...account,
      balance,
      unpaid: hasGrown(unpaid?.balance, balance) ? undefined : unpaid?.reason,
      sinceReadMs: clock.monotonicMs() - readAtMs,
      error,
    }),
  };
}

/** Returns true if the balance has increased. While nothing is due, only an increase shows that the account may be able to pay again. */
function hasGrown(before: bigint | undefined, now: bigint | undefined): boolean {
  return before !== undefined && now !== undefined && now > before;
}

export interface ClientReading extends LightClientState {
  /** The light client's status, for example "Active", "Expired" or "Frozen". */
  readonly status: string;
  /** Time of the newest consensus state, as Unix time in ms. */
  readonly consensusTimeMs: number;
  /** Time at which the client expires unless it is updated again, as Unix time in ms. */
  readonly expiresAtMs: number;
}

export interface ClientView {
  readonly reading: ClientReading | undefined;
  /** Time since the last successful read or, before the first, since startup, ms. */
  readonly sinceReadMs: number;
  /** Error of the last read; undefined if the read succeeded. */
  readonly error: string | undefined;
}

export type ClientWatch = ReturnType<typeof createClientWatch>;

type ClientQueries = Pick<
  LocalQueries,
  "clientOfConnection" | "clientState" | "clientStatus" | "consensusState"
>;

export function createClientWatch(
  local: ClientQueries,
  connectionId: string,
  clock: Pick<Clock, "monotonicMs">,
) {
  let view: Omit<ClientView, "sinceReadMs"> = { reading: undefined, error: undefined };
  let readAtMs = clock.monotonicMs();
  return {
    /** Reads the light client. Rejects only on abort. */
    read: async (signal: AbortSignal): Promise<void> => {
      try {
        view = { reading: await readClient(local, connectionId, signal), error: undefined };
        readAtMs = clock.monotonicMs();
      } catch (error) {
        signal.throwIfAborted();
        view = { ...view, error: errorText(error) };
      }
    },
    view: (): ClientView => ({ ...view, sinceReadMs: clock.monotonicMs() - readAtMs }),
  };
}

async function readClient(
  local: ClientQueries,
  connectionId: string,
  signal: AbortSignal,
): Promise<ClientReading> {
  const clientId = await local.clientOfConnection(connectionId, signal);
  const [state, status] = await Promise.all([
    local.clientState(clientId, signal),
    local.clientStatus(clientId, signal),
  ]);
  // As in ibc-go, a client expires when its latest consensus state expires.
  const { timeNs } = await local.consensusState(clientId, state.latestHeight, signal);
  return {
    ...state,
    status,
    consensusTimeMs: toMs(timeNs),
    expiresAtMs: toMs(timeNs + state.trustingPeriodNs),
  };
}

function toMs(ns: bigint): number {
  return Number(ns / 1_000_000n);
}

/** Wraps a chain client so that `head` records each `status` call. */
export function watchedClient<C extends Pick<ChainClient, "status">>(client: C, head: HeadWatch): C {
  return {
    ...client,
    status: async (signal) => {
      try {
        const status = await client.status(signal);
        head.record(status);
        return status;
      } catch (error) {
        if (!signal.aborted) head.recordError(error);
        throw error;
      }
    },
  };
}

export interface PolledChain {
  readonly check: (signal: AbortSignal) => Promise<readonly EndpointCheck[]>;
  readonly endpoints: number;
}

interface WatchPollerDeps {
  readonly watches: Watches;
  readonly local: PolledChain;
  /** Remote chains to poll, by connection id. */
  readonly remotes: ReadonlyMap<string, PolledChain>;
  readonly clock: Clock;
}

/** Time after which the poller reads a remote chain that no cycle has read. */
const HEAD_MS = 5_000;
/** Interval between reads of all endpoints of a chain, which serve to compare the endpoints' heights. */
const COMPARE_MS = 5_000;
const CLIENT_MS = 15_000;
const BALANCE_MS = 30_000;

/**
 * Creates a service that reads what cycles don't read: remote chains without due queries, all endpoints of a chain, light clients,
 * and the balance. The relayer's state is thus known even if nothing is due. Never fails.
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

/** Records the status of the endpoint with the greatest height, or the first error if no endpoint responded. */
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
