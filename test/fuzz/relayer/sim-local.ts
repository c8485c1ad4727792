import { onAbort } from "../../../src/base/abort.ts";
import type { NodeStatus } from "../../../src/client/chain-client.ts";
import { ClientError } from "../../../src/client/errors.ts";
import type { ChainSubscription } from "../../../src/client/events/subscription.ts";
import type {
  Confirmation,
  SimulationOutcome,
  TxSender,
  WireMessage,
} from "../../../src/client/tx/tx-sender.ts";
import { revisionOfChainId } from "../../../src/comet/chain-revision.ts";
import type { LocalQueries } from "../../../src/relayer/local-queries.ts";
import type { RegisteredQuery } from "../../../src/relayer/registry/registered-query.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import type { Random } from "../random.ts";
import { createSimEvents, type LocalFault } from "./sim-events.ts";
import { clientOf, execute, Refusal, type SimState } from "./sim-execution.ts";
import type { SimRemote } from "./sim-remote.ts";

/** The local chain in memory. It checks what the real one checks, and records what a relayer must never do. */
export interface SimLocal {
  readonly queries: LocalQueries;
  readonly status: (signal: AbortSignal) => Promise<NodeStatus>;
  readonly sender: TxSender;
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
  readonly registered: () => readonly RegisteredQuery[];
  /** Returns the hashes of the remote transactions that were delivered for a query. */
  readonly delivered: (id: bigint) => readonly string[];
  /** Returns descriptions of everything that a relayer must never do. */
  readonly violations: () => readonly string[];
  /** Number of included transactions. */
  readonly transactions: () => number;
  /** Starts again at height 0 with the same queries. The clients get the present heights of the remote chains. */
  readonly reset: () => void;
}

const CALL_MS = 10;
/** Messages in a block while blocks are full. */
const FULL_BLOCK_MESSAGES = 3;
/** Messages of one simulation while the node accepts small requests only. */
const SMALL_REQUEST_MESSAGES = 3;
const MAX_BLOCK_MESSAGES = 1_000;
const LOST_AFTER_MS = 5_000;

interface PendingTx {
  readonly messages: readonly WireMessage[];
  readonly confirm: (confirmation: Confirmation) => void;
}

/** The chain and everything around it that faults affect. */
interface SimNode {
  readonly state: SimState;
  readonly faults: Set<LocalFault>;
  readonly clock: ManualClock;
  readonly random: Random;
  mempool: PendingTx[];
  transactions: number;
  /** Answers a call after {@link CALL_MS}. A `Refusal` becomes a `ClientError`. */
  readonly respond: <T>(signal: AbortSignal, read: () => T) => Promise<T>;
}

/** Creates the chain, with a client "client-N" and a connection "connection-N" for each remote chain. */
export function createSimLocal(remotes: readonly SimRemote[], clock: ManualClock, random: Random): SimLocal {
  const node = createNode(remotes, clock, random);
  const { state, respond } = node;
  const events = createSimEvents(state, node.faults, random);
  let lastId = 0n;
  return {
    height: () => state.height,
    status: (signal) =>
      respond(signal, () => ({
        chainId: "local-1",
        latestHeight: state.height,
        latestTimeNs: 0n,
        earliestHeight: 1n,
        catchingUp: false,
      })),
    queries: createSimQueries(node),
    sender: createSimSender(node),
    subscription: events.subscription,
    tick: () => {
      if (node.faults.has("halts")) return;
      state.height += 1n;
      makeBlock(node);
      events.publish();
    },
    set: (fault, isOn) => {
      if (isOn) node.faults.add(fault);
      else node.faults.delete(fault);
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
    registered: () => [...state.queries.values()],
    delivered: (id) => state.delivered.get(id) ?? [],
    violations: () => state.violations,
    transactions: () => node.transactions,
    reset: () => {
      state.height = 0n;
      state.queries = new Map(
        [...state.queries].map(([id, query]) => [
          id,
          { ...query, lastLocalHeight: 0n, lastRemoteHeight: undefined },
        ]),
      );
      state.delivered.clear();
      state.clients = openClients(remotes);
    },
  };
}

function createNode(remotes: readonly SimRemote[], clock: ManualClock, random: Random): SimNode {
  const faults = new Set<LocalFault>();
  const state: SimState = {
    height: 0n,
    queries: new Map(),
    clients: openClients(remotes),
    rejecting: new Set(),
    delivered: new Map(),
    violations: [],
  };
  const respond: SimNode["respond"] = async (signal, read) => {
    await clock.sleep(CALL_MS, signal);
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
  return { state, faults, clock, random, mempool: [], transactions: 0, respond };
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

function createSimQueries({ state, respond, faults }: SimNode): LocalQueries {
  return {
    registeredQueries: (connectionId, signal) =>
      respond(signal, () =>
        [...state.queries.values()].filter((query) => query.connectionId === connectionId),
      ),
    registeredQuery: (id, signal) =>
      respond(signal, () => {
        const query = state.queries.get(id);
        if (query === undefined) throw new Refusal("invalid query id");
        return query;
      }),
    balance: (_address, _denom, signal) => respond(signal, () => (faults.has("empty-account") ? 0n : 1n)),
    clientOfConnection: (id, signal) => respond(signal, () => id.replace("connection", "client")),
    clientState: (clientId, signal) =>
      respond(signal, () => {
        const { remote, latest } = clientOf(state, clientId);
        const latestHeight = { revision: revisionOfChainId(remote.chainId), height: latest };
        const trustingPeriodNs = faults.has("client-expired") ? 1_000_000_000n : 10n ** 15n;
        return { clientId, chainId: remote.chainId, latestHeight, trustingPeriodNs };
      }),
    clientStatus: (_clientId, signal) =>
      respond(signal, () => {
        if (faults.has("client-frozen")) return "Frozen";
        return faults.has("client-expired") ? "Expired" : "Active";
      }),
    consensusTimeNs: (clientId, at, signal) =>
      respond(signal, () => {
        const consensusState = clientOf(state, clientId).consensus.get(at.height);
        if (consensusState === undefined) throw new Refusal("consensus state not found");
        return consensusState.timeNs;
      }),
    consensusHeights: (clientId, signal) =>
      respond(signal, () => {
        const { remote, consensus } = clientOf(state, clientId);
        const revision = revisionOfChainId(remote.chainId);
        return [...consensus.keys()].map((height) => ({ revision, height }));
      }),
  };
}

function createSimSender(node: SimNode): TxSender {
  const { state, faults, clock, random, respond } = node;
  const confirm = async (
    messages: readonly WireMessage[],
    hasFunds: boolean,
    signal: AbortSignal,
  ): Promise<Confirmation> => {
    if (!hasFunds) return { kind: "refused", code: 5, codespace: "sdk", log: "insufficient funds" };
    if (faults.has("loses-txs") && random.chance(0.7)) {
      await clock.sleep(LOST_AFTER_MS, signal);
      return { kind: "lost", reason: "not included" };
    }
    return new Promise((resolve, reject) => {
      const unwatch = onAbort(signal, reject);
      const onConfirmation = (confirmation: Confirmation): void => {
        unwatch();
        resolve(confirmation);
      };
      node.mempool.push({ messages, confirm: onConfirmation });
    });
  };
  return {
    address: "neutron1relayer",
    simulate: (messages, signal) =>
      respond(signal, (): SimulationOutcome => {
        if (faults.has("small-requests") && messages.length > SMALL_REQUEST_MESSAGES)
          return { ok: false, code: 21, codespace: "sdk", log: "body too large", failedMessage: undefined };
        try {
          execute(state, messages);
          return { ok: true, gasUsed: BigInt(messages.length) * 1_000n };
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          const index = /message index: (\d+)/.exec(error.message)?.[1];
          const failedMessage = index === undefined ? undefined : Number(index);
          return { ok: false, code: 1, codespace: "sim", log: error.message, failedMessage };
        }
      }),
    send: async (messages, gasLimit, signal) => {
      const hasFunds = await respond(signal, () => !faults.has("no-funds"));
      const confirmation = await confirm(messages, hasFunds, signal);
      return { hash: new Uint8Array(32), bytes: 100, gasLimit, feeAmount: 1n, confirmation };
    },
  };
}

/** Executes the transactions of the mempool and confirms each one. */
function makeBlock(node: SimNode): void {
  let room = node.faults.has("full-blocks") ? FULL_BLOCK_MESSAGES : MAX_BLOCK_MESSAGES;
  const txs = node.mempool;
  node.mempool = [];
  for (const { messages, confirm } of txs) {
    if (messages.length > room) {
      confirm(failedTx(node, "undefined", "block utilization exceeds"));
      continue;
    }
    room -= messages.length;
    confirm(include(node, messages));
  }
}

function include(node: SimNode, messages: readonly WireMessage[]): Confirmation {
  try {
    execute(node.state, messages)();
    node.transactions += 1;
    const { height } = node.state;
    return { kind: "included", height, gasUsed: 1n, gasWanted: 2n, data: new Uint8Array(0) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return failedTx(node, "sim", error.message);
  }
}

function failedTx({ state }: SimNode, codespace: string, log: string): Confirmation {
  return { kind: "failed", height: state.height, code: 1, codespace, log, gasUsed: 1n };
}
