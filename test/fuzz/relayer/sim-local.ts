import type { NodeStatus } from "../../../src/cosmos/client/chain-client.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import type { ChainSubscription } from "../../../src/cosmos/client/events/subscription.ts";
import type { TxWindow } from "../../../src/cosmos/client/tx/tx-types.ts";
import { revisionOfChainId } from "../../../src/cosmos/comet/ibc-height.ts";
import type { LocalQueries } from "../../../src/relayer/chain/local-queries.ts";
import type { RegisteredQuery } from "../../../src/relayer/chain/registered-query.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import type { Random } from "../random.ts";
import { createSimEvents, type LocalFault } from "./sim-events.ts";
import { clientOf, Refusal, type SimState } from "./sim-execution.ts";
import { BLOCK_GAS, createSimNode, type SimMarket, type SimNode, UPDATE_GAS } from "./sim-node.ts";
import type { SimRemote } from "./sim-remote.ts";

/** The local chain in memory. It checks what the real one checks, and records what a relayer must never do. */
export interface SimLocal {
  readonly queries: LocalQueries;
  readonly status: (signal: AbortSignal) => Promise<NodeStatus>;
  readonly window: TxWindow;
  /** The mempool and the index. */
  readonly node: SimNode;
  readonly subscription: ChainSubscription;
  readonly height: () => bigint;
  /** Makes a block. */
  readonly tick: () => void;
  readonly set: (fault: LocalFault, isOn: boolean) => void;
  /** Registers a query and returns its id. */
  readonly register: (
    query: Pick<RegisteredQuery, "type" | "connectionId" | "updatePeriod"> & Partial<RegisteredQuery>,
  ) => bigint;
  readonly remove: (id: bigint) => void;
  readonly update: (id: bigint, updatePeriod: bigint) => void;
  /** Sets whether the contract of a query rejects its results. */
  readonly reject: (id: bigint, isRejecting: boolean) => void;
  /** Makes the results of a query fail their transactions in the block, without a named message. */
  readonly poison: (id: bigint) => void;
  /** Lets another relayer submit a result of the newest provable remote height into the next block, before all others. */
  readonly submitAsOther: (id: bigint) => void;
  readonly registered: () => readonly RegisteredQuery[];
  /** Returns the hashes of the remote transactions that were delivered for a query. */
  readonly delivered: (id: bigint) => readonly string[];
  /** Returns descriptions of everything that a relayer must never do. */
  readonly violations: () => readonly string[];
  /** Starts again at height 0 with the same queries. The clients get the present heights of the remote chains. */
  readonly reset: () => void;
}

/** What the queries of the chain need. */
interface SimChain {
  readonly state: SimState;
  readonly faults: Set<LocalFault>;
  /** Answers a call after a while. A `Refusal` becomes a `ClientError`. */
  readonly respond: <T>(signal: AbortSignal, read: () => T) => Promise<T>;
}

/** Trusting period of the clients, and an age at which one expires soon. */
const LONG_NS = 10n ** 15n;
const OLD_NS = LONG_NS - 400_000_000_000n;

/** Creates the chain, with a client "client-N" and a connection "connection-N" for each remote chain. */
export function createSimLocal(
  remotes: readonly SimRemote[],
  clock: ManualClock,
  random: Random,
  {
    callMs = 10,
    updateGas = UPDATE_GAS,
    blockGas = BLOCK_GAS,
    market,
  }: {
    readonly callMs?: number;
    readonly updateGas?: bigint;
    readonly blockGas?: bigint;
    readonly market?: SimMarket;
  } = {},
): SimLocal {
  const chain = createChain(remotes, clock, callMs);
  const { state, faults, respond } = chain;
  const node = createSimNode({ state, faults, clock, random, respond, updateGas, blockGas, market });
  const events = createSimEvents(state, faults, random);
  let lastId = 0n;
  const ofOther = new Set<bigint>();
  return {
    height: () => state.height,
    status: (signal) =>
      respond(signal, () => ({
        chainId: "local-1",
        latestHeight: state.height,
        latestTimeNs: 0n,
        earliestHeight: 1n,
        catchingUp: faults.has("catching-up"),
      })),
    queries: {
      ...createSimQueries(chain),
      blockLimits: (signal) => respond(signal, node.blockLimits),
      marketState: (height, signal) => respond(signal, () => node.marketState(height)),
    },
    window: node.window,
    node,
    subscription: events.subscription,
    tick: () => {
      if (faults.has("halts")) return;
      state.height += 1n;
      for (const id of ofOther) storeResult(state, id);
      ofOther.clear();
      node.makeBlock();
      events.publish();
    },
    set: (fault, isOn) => {
      if (isOn) faults.add(fault);
      else faults.delete(fault);
      events.reconnect();
    },
    register: (query) => {
      lastId += 1n;
      const registered: RegisteredQuery = {
        owner: "neutron1owner",
        keys: [],
        transactionsFilter: "",
        registeredAtHeight: state.height,
        lastLocalHeight: 0n,
        lastRemoteHeight: undefined,
        ...query,
        id: lastId,
      };
      state.queries.set(lastId, registered);
      events.emit("query_updated", registered);
      return lastId;
    },
    remove: (id) => {
      const query = state.queries.get(id);
      if (query === undefined) return;
      state.queries.delete(id);
      events.emit("query_removed", query);
    },
    update: (id, updatePeriod) => {
      const query = state.queries.get(id);
      if (query === undefined) return;
      state.queries.set(id, { ...query, updatePeriod });
      events.emit("query_updated", { ...query, updatePeriod });
    },
    reject: (id, isRejecting) => void (isRejecting ? state.rejecting.add(id) : state.rejecting.delete(id)),
    poison: (id) => void state.poison.add(id),
    submitAsOther: (id) => void ofOther.add(id),
    registered: () => [...state.queries.values()],
    delivered: (id) => state.delivered.get(id) ?? [],
    violations: () => state.violations,
    reset: () => {
      state.height = 0n;
      state.queries = new Map(
        [...state.queries].map(([id, query]) => [
          id,
          { ...query, lastLocalHeight: 0n, lastRemoteHeight: undefined },
        ]),
      );
      state.delivered.clear();
      node.reset();
      state.clients = openClients(remotes);
    },
  };
}

/** Stores a result of the newest provable remote height at the height of the state, unless the query has one. */
function storeResult(state: SimState, id: bigint): void {
  const query = state.queries.get(id);
  const remote = state.clients.get(query?.connectionId.replace("connection", "client") ?? "")?.remote;
  const height = (remote?.height() ?? 0n) - 1n;
  if (query === undefined || remote === undefined || height <= (query.lastRemoteHeight?.height ?? 0n)) return;
  const lastRemoteHeight = { revision: revisionOfChainId(remote.chainId), height };
  state.queries.set(id, { ...query, lastLocalHeight: state.height, lastRemoteHeight });
}

function createChain(remotes: readonly SimRemote[], clock: ManualClock, callMs: number): SimChain {
  const faults = new Set<LocalFault>();
  const state: SimState = {
    height: 0n,
    queries: new Map(),
    clients: openClients(remotes),
    rejecting: new Set(),
    poison: new Set(),
    answeredInBlock: new Set(),
    delivered: new Map(),
    violations: [],
  };
  const respond: SimChain["respond"] = async (signal, read) => {
    await clock.sleep(callMs, signal);
    if (faults.has("down"))
      throw new ClientError({ code: "unreachable", endpoint: "sim", reason: "down" }, "sim is unreachable");
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const facts = { code: "abci", path: "", abciCode: 1, codespace: "sim", log: error.message } as const;
      throw new ClientError(facts, error.message);
    }
  };
  return { state, faults, respond };
}

function openClients(remotes: readonly SimRemote[]): SimState["clients"] {
  return new Map(
    remotes.map((remote, index) => {
      const at = remote.height();
      const block = remote.block(at);
      if (block === undefined) throw new Error("the remote chain has no block yet");
      return [`client-${index}`, { remote, latest: at, consensus: new Map([[at, block]]) }];
    }),
  );
}

function createSimQueries({
  state,
  respond,
  faults,
}: SimChain): Omit<LocalQueries, "blockLimits" | "marketState"> {
  return {
    registeredQueries: (connectionId, signal) =>
      respond(signal, () => {
        if (faults.has("no-lists")) throw new Refusal("unknown query path");
        return [...state.queries.values()].filter((query) => query.connectionId === connectionId);
      }),
    registeredQuery: (id, signal) =>
      respond(signal, () => {
        const query = state.queries.get(id);
        if (query === undefined) throw new Refusal("invalid query id");
        return query;
      }),
    balance: (_address, _denom, signal) =>
      respond(signal, () => {
        if (faults.has("no-balances")) throw new Refusal("unknown query path");
        return faults.has("empty-account") ? 0n : 1n;
      }),
    clientOfConnection: (id, signal) => respond(signal, () => id.replace("connection", "client")),
    clientState: (clientId, signal) =>
      respond(signal, () => {
        if (faults.has("no-client-queries")) throw new Refusal("unknown query path");
        const { remote, latest } = clientOf(state, clientId);
        const latestHeight = { revision: revisionOfChainId(remote.chainId), height: latest };
        const longNs = faults.has("short-trust") ? 300_000_000_000n : LONG_NS;
        const trustingPeriodNs = faults.has("client-expired") ? 1_000_000_000n : longNs;
        const trustLevel = { numerator: 1n, denominator: 3n };
        return { clientId, chainId: remote.chainId, latestHeight, trustingPeriodNs, trustLevel };
      }),
    clientStatus: (_clientId, signal) =>
      respond(signal, () => {
        if (faults.has("client-frozen")) return "Frozen";
        return faults.has("client-expired") ? "Expired" : "Active";
      }),
    consensusState: (clientId, at, signal) =>
      respond(signal, () => {
        const consensusState = clientOf(state, clientId).consensus.get(at.height);
        if (consensusState === undefined) throw new Refusal("consensus state not found");
        const timeNs = consensusState.timeNs - (faults.has("client-old") ? OLD_NS : 0n);
        return { timeNs, nextValidatorsHash: new Uint8Array() };
      }),
    consensusHeights: (clientId, signal) =>
      respond(signal, () => {
        const { remote, consensus } = clientOf(state, clientId);
        const revision = revisionOfChainId(remote.chainId);
        return [...consensus.keys()].map((height) => ({ revision, height }));
      }),
  };
}
