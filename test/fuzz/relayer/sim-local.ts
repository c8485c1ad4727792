import type { ManualClock } from "../../support/manual-clock.ts";
import { revisionOfChainId } from "../../../src/comet/chain-revision.ts";
import { onAbort } from "../../../src/base/abort.ts";
import { equalBytes, toHex, utf8 } from "../../../src/base/bytes.ts";
import { sha256 } from "../../../src/base/sha256.ts";
import type { NodeStatus } from "../../../src/client/chain-client.ts";
import { ClientError } from "../../../src/client/errors.ts";
import { createNoticeQueue } from "../../../src/client/events/notice-queue.ts";
import type { ChainNotice, ChainSubscription } from "../../../src/client/events/subscription.ts";
import type {
  Confirmation,
  SimulationOutcome,
  TxSender,
  WireMessage,
} from "../../../src/client/tx/tx-sender.ts";
import { txResultLeaf } from "../../../src/comet/block-hashes.ts";
import { createProofVerifier } from "../../../src/merkle/ics23/proof-verifier.ts";
import { verifySimpleProof } from "../../../src/merkle/simple-tree.ts";
import { MsgUpdateClient } from "../../../src/proto/gen/ibc/core/client/v1/tx.ts";
import { Header } from "../../../src/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import { MsgSubmitQueryResult } from "../../../src/proto/gen/neutron/interchainqueries/tx.ts";
import type { LocalQueries } from "../../../src/relayer/registry/local-queries.ts";
import type { RegisteredQuery } from "../../../src/relayer/registry/registered-query.ts";
import type { Random } from "./random.ts";
import type { SimRemote } from "./sim-remote.ts";

/** What is wrong with the local chain or the way to it. */
type LocalFault = "down" | "no-events" | "events-shuffled" | "full-blocks" | "loses-txs" | "no-funds";

interface SimClient {
  readonly remote: SimRemote;
  latest: bigint;
  readonly consensus: Map<bigint, { readonly timeNs: bigint; readonly appHash: Uint8Array }>;
}

/** The local chain in memory: it checks all that the real one checks, and notes what a relayer must never do. */
export interface SimLocal {
  readonly queries: LocalQueries;
  readonly status: (signal: AbortSignal) => Promise<NodeStatus>;
  readonly sender: TxSender;
  readonly subscription: ChainSubscription;
  readonly height: () => bigint;
  readonly tick: () => void;
  readonly set: (fault: LocalFault, isOn: boolean) => void;
  /** Registers a query and gives its id. */
  readonly register: (
    query: Pick<RegisteredQuery, "type" | "connectionId" | "updatePeriod"> & Partial<RegisteredQuery>,
  ) => bigint;
  readonly remove: (id: bigint) => void;
  readonly update: (id: bigint, updatePeriod: bigint) => void;
  /** Has the owner of a query refuse its results. */
  readonly reject: (id: bigint, isRejecting: boolean) => void;
  readonly registered: () => readonly RegisteredQuery[];
  /** Hashes of remote transactions handed over, by query. */
  readonly delivered: (id: bigint) => readonly string[];
  /** What must never happen, in words. */
  readonly violations: () => readonly string[];
  readonly transactions: () => number;
  /** Begins again at height 1 with the same queries, and clients at their chains' heights. */
  readonly startOver: () => void;
}

const CALL_MS = 10;
/** Messages that a full block has room for. */
const ROOM = 3;
const LOST_AFTER_MS = 5_000;
const BETWEEN_LOOPS = 12n;

class Refusal extends Error {}

/** Creates the chain, with a client and a connection "connection-N" for each remote chain. */
export function createSimLocal(remotes: readonly SimRemote[], clock: ManualClock, random: Random): SimLocal {
  const faults = new Set<LocalFault>();
  const violations: string[] = [];
  const rejecting = new Set<bigint>();
  const delivered = new Map<bigint, string[]>();
  let queries = new Map<bigint, RegisteredQuery>();
  let clients = new Map<string, SimClient>();
  let height = 0n;
  let lastId = 0n;
  let transactions = 0;
  let mempool: { readonly messages: readonly WireMessage[]; readonly done: (end: Confirmation) => void }[] =
    [];
  let events: ChainNotice[] = [];
  let isConnected = true;
  const notices = createNoticeQueue(50);
  notices.offer({ kind: "connected" });

  const openClients = (): void => {
    clients = new Map(
      remotes.map((remote, index) => {
        const at = remote.height();
        const block = remote.block(at);
        if (block === undefined) throw new Error("the remote chain has no block yet");
        return [`client-${index}`, { remote, latest: at, consensus: new Map([[at, block]]) }];
      }),
    );
  };
  openClients();
  const clientOf = (id: string): SimClient => {
    const client = clients.get(id);
    if (client === undefined) throw new Refusal(`client ${id} not found`);
    return client;
  };

  const answer = async <T>(signal: AbortSignal, give: () => T): Promise<T> => {
    await clock.sleep(CALL_MS, signal);
    if (faults.has("down"))
      throw new ClientError({ code: "unreachable", endpoint: "sim", reason: "down" }, "sim can't be reached");
    try {
      return give();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const facts = { code: "abci", path: "", abciCode: 1, codespace: "sim", log: error.message } as const;
      throw new ClientError(facts, error.message);
    }
  };

  const checkHeader = (client: SimClient, value: Uint8Array, consensus: SimClient["consensus"]): bigint => {
    const header = Header.decode(value);
    const at = header.signedHeader?.header?.height ?? 0n;
    const trusted = header.trustedHeight?.revisionHeight ?? 0n;
    if (!consensus.has(trusted)) throw new Refusal(`no consensus state at ${trusted}`);
    if (trusted >= at) violations.push(`header ${at} from trusted height ${trusted}`);
    const block = client.remote.block(at);
    const appHash = header.signedHeader?.header?.appHash ?? new Uint8Array();
    if (block === undefined || !equalBytes(block.appHash, appHash)) {
      throw new Refusal("header is invalid: it is not of this chain");
    }
    consensus.set(at, block);
    return at;
  };

  /** Executes messages on copies; gives how to make it last. */
  const execute = (messages: readonly WireMessage[]): (() => void) => {
    const effects: (() => void)[] = [];
    const consensus = new Map([...clients].map(([id, client]) => [id, new Map(client.consensus)]));
    const answeredHere = new Set<string>();
    const states = (id: string): SimClient["consensus"] => consensus.get(id) ?? new Map();
    for (const [index, message] of messages.entries()) {
      try {
        if (message.typeUrl.endsWith("MsgUpdateClient")) {
          const { clientId, clientMessage } = MsgUpdateClient.decode(message.value);
          const client = clientOf(clientId);
          const at = checkHeader(client, clientMessage?.value ?? new Uint8Array(), states(clientId));
          // Of the two loops of a connection the other may be some blocks ahead.
          if (at + BETWEEN_LOOPS < client.latest)
            violations.push(`${clientId} is updated to ${at}, it knows ${client.latest}`);
          effects.push(() => (client.latest = at > client.latest ? at : client.latest));
        } else effects.push(submitResult(MsgSubmitQueryResult.decode(message.value), answeredHere, states));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        throw new Refusal(`failed to execute message; message index: ${index}: ${error.message}`);
      }
    }
    return () => {
      for (const [id, client] of clients)
        for (const [at, state] of states(id)) client.consensus.set(at, state);
      for (const effect of effects) effect();
    };
  };

  const submitResult = (
    { queryId, result }: MsgSubmitQueryResult,
    answeredHere: Set<string>,
    states: (clientId: string) => SimClient["consensus"],
  ): (() => void) => {
    const query = queries.get(queryId);
    if (query === undefined) throw new Refusal("invalid query id: there is none");
    const clientId = query.connectionId.replace("connection", "client");
    const client = clientOf(clientId);
    if (result === undefined) throw new Refusal("empty result");
    if (query.type === "tx") return submitTx(query, client, result.block, states(clientId));
    if (answeredHere.has(`${queryId}`)) violations.push(`two results of query ${queryId} in one transaction`);
    answeredHere.add(`${queryId}`);
    if (query.keys.some(({ path }) => path !== "bank")) violations.push(`query ${queryId} can't be answered`);
    const last = query.lastRemoteHeight?.height ?? 0n;
    if (result.height <= last) throw new Refusal("height is invalid");
    const root = states(clientId).get(result.height + 1n)?.appHash;
    if (root === undefined) throw new Refusal("no consensus state");
    const verifier = createProofVerifier();
    for (const [index, value] of result.kvResults.entries()) {
      const key = query.keys[index];
      if (key === undefined || !equalBytes(key.key, value.key))
        throw new Refusal("invalid result: keys differ");
      const proof = verifier.decode(value.Proof?.ops.map(({ data }) => data));
      if (!proof.ok) throw new Refusal("merkle proof is invalid");
      const claim = { root, store: key.path, key: key.key, proof: proof.value };
      const verdict =
        value.value.length > 0
          ? verifier.verifyMembership(claim, value.value)
          : verifier.verifyNonMembership(claim);
      if (!verdict.ok) throw new Refusal("merkle proof is invalid");
    }
    if (rejecting.has(queryId)) throw new Refusal("the contract does not want it");
    const lastRemoteHeight = { revision: result.revision, height: result.height };
    return () => queries.set(queryId, { ...query, lastLocalHeight: height, lastRemoteHeight });
  };

  const submitTx = (
    query: RegisteredQuery,
    client: SimClient,
    block: NonNullable<MsgSubmitQueryResult["result"]>["block"],
    consensus: SimClient["consensus"],
  ): (() => void) => {
    const own = checkHeader(client, block?.header?.value ?? new Uint8Array(), consensus);
    const next = checkHeader(client, block?.nextBlockHeader?.value ?? new Uint8Array(), consensus);
    if (next !== own + 1n) throw new Refusal("headers are not consecutive");
    const tx = block?.tx;
    const headers = [block?.header, block?.nextBlockHeader].map(
      (any) => Header.decode(any?.value ?? new Uint8Array()).signedHeader?.header,
    );
    if (tx?.inclusionProof === undefined || tx.deliveryProof === undefined || tx.response === undefined)
      throw new Refusal("internal error: proofs are missing");
    const leaf = txResultLeaf(tx.response);
    const root = headers[0]?.dataHash ?? new Uint8Array();
    if (!verifySimpleProof(root, sha256(tx.data), tx.inclusionProof).ok)
      throw new Refusal("internal error: inclusion");
    const results = headers[1]?.lastResultsHash ?? new Uint8Array();
    if (!verifySimpleProof(results, leaf, tx.deliveryProof).ok) throw new Refusal("internal error: delivery");
    if (tx.response.code !== 0) violations.push("a failed transaction is submitted");
    if (rejecting.has(query.id)) throw new Refusal("the contract does not want it");
    return () => {
      client.latest = next > client.latest ? next : client.latest;
      const list = delivered.get(query.id) ?? [];
      const hash = toHex(sha256(tx.data));
      if (list.includes(hash)) violations.push(`transaction ${hash} is paid for twice`);
      delivered.set(query.id, [...list, hash]);
      queries.set(query.id, { ...query, lastLocalHeight: height });
    };
  };

  const include = (messages: readonly WireMessage[], room: number): { end: Confirmation; used: number } => {
    const failed = (codespace: string, log: string): Confirmation => ({
      kind: "failed",
      height,
      code: 1,
      codespace,
      log,
      gasUsed: 1n,
    });
    if (messages.length > room) return { end: failed("undefined", "block utilization exceeds"), used: 0 };
    try {
      execute(messages)();
      transactions += 1;
      return { end: { kind: "included", height, gasUsed: 1n, gasWanted: 2n }, used: messages.length };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { end: failed("sim", error.message), used: messages.length };
    }
  };

  const tell = (action: string, query: RegisteredQuery): void => {
    const values = {
      module: "interchainqueries",
      action,
      query_id: `${query.id}`,
      connection_id: query.connectionId,
    };
    const attributes = Object.entries(values).map(([key, value]) => ({ key, value }));
    const told = [{ type: "neutron", attributes }];
    events.push({ kind: "tx", height, hash: utf8(`${query.id}`), code: 0, events: told });
  };

  return {
    height: () => height,
    status: (signal) =>
      answer(signal, () => ({
        chainId: "local-1",
        latestHeight: height,
        latestTimeNs: 0n,
        earliestHeight: 1n,
        catchingUp: false,
      })),
    queries: {
      registeredQueries: (connectionId, signal) =>
        answer(signal, () => [...queries.values()].filter((query) => query.connectionId === connectionId)),
      registeredQuery: (id, signal) =>
        answer(signal, () => {
          const query = queries.get(id);
          if (query === undefined) throw new Refusal("invalid query id");
          return query;
        }),
      balance: (_address, _denom, signal) => answer(signal, () => 1n),
      clientOfConnection: (id, signal) => answer(signal, () => id.replace("connection", "client")),
      clientState: (clientId, signal) =>
        answer(signal, () => {
          const { remote, latest } = clientOf(clientId);
          const latestHeight = { revision: revisionOfChainId(remote.chainId), height: latest };
          return { clientId, chainId: remote.chainId, latestHeight, trustingPeriodNs: 10n ** 15n };
        }),
      clientStatus: (_clientId, signal) => answer(signal, () => "Active"),
      consensusTimeNs: (clientId, at, signal) =>
        answer(signal, () => {
          const state = clientOf(clientId).consensus.get(at.height);
          if (state === undefined) throw new Refusal("consensus state not found");
          return state.timeNs;
        }),
      consensusHeights: (clientId, signal) =>
        answer(signal, () => {
          const { remote, consensus } = clientOf(clientId);
          return [...consensus.keys()].map((at) => ({
            revision: revisionOfChainId(remote.chainId),
            height: at,
          }));
        }),
    },
    sender: {
      address: "neutron1relayer",
      simulate: (messages, signal) =>
        answer(signal, (): SimulationOutcome => {
          try {
            execute(messages);
            return { ok: true, gasUsed: BigInt(messages.length) * 1_000n };
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
            const named = /message index: (\d+)/.exec(error.message)?.[1];
            const failedMessage = named === undefined ? undefined : Number(named);
            return { ok: false, code: 1, codespace: "sim", log: error.message, failedMessage };
          }
        }),
      send: async (messages, gasLimit, signal) => {
        const confirmation = await answer(signal, () => faults.has("no-funds")).then(async (isPoor) => {
          if (isPoor)
            return { kind: "refused", code: 5, codespace: "sdk", log: "insufficient funds" } as const;
          if (faults.has("loses-txs") && random.chance(0.7)) {
            await clock.sleep(LOST_AFTER_MS, signal);
            return { kind: "lost", reason: "not seen in a block" } as const;
          }
          return new Promise<Confirmation>((resolve, reject) => {
            const forget = onAbort(signal, reject);
            const done = (end: Confirmation): void => {
              forget();
              resolve(end);
            };
            mempool.push({ messages, done });
          });
        });
        return { hash: new Uint8Array(32), bytes: 100, gasLimit, feeAmount: 1n, confirmation };
      },
    },
    subscription: {
      run: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        }),
      next: notices.next,
      isConnected: () => isConnected,
    },
    tick: () => {
      height += 1n;
      let room = faults.has("full-blocks") ? ROOM : 1_000;
      const txs = mempool;
      mempool = [];
      for (const { messages, done } of txs) {
        const { end, used } = include(messages, room);
        room -= used;
        done(end);
      }
      const told: ChainNotice[] = [{ kind: "block", height, timeNs: 0n }, ...events];
      events = [];
      if (faults.has("events-shuffled")) told.sort(() => random.next() - 0.5);
      if (isConnected) for (const notice of told) notices.offer(notice);
    },
    set: (fault, isOn) => {
      if (isOn) faults.add(fault);
      else faults.delete(fault);
      const shouldBe = !faults.has("no-events") && !faults.has("down");
      if (shouldBe && !isConnected) {
        notices.offer({ kind: "missed", reason: "the stream was cut" });
        notices.offer({ kind: "connected" });
      }
      isConnected = shouldBe;
    },
    register: (query) => {
      lastId += 1n;
      const full: RegisteredQuery = {
        owner: "neutron1owner",
        keys: [],
        transactionsFilter: "",
        lastLocalHeight: 0n,
        lastRemoteHeight: undefined,
        ...query,
        id: lastId,
      };
      queries.set(lastId, full);
      tell("query_updated", full);
      return lastId;
    },
    remove: (id) => {
      const query = queries.get(id);
      if (query === undefined) return;
      queries.delete(id);
      tell("query_removed", query);
    },
    update: (id, updatePeriod) => {
      const query = queries.get(id);
      if (query === undefined) return;
      queries.set(id, { ...query, updatePeriod });
      tell("query_updated", { ...query, updatePeriod });
    },
    reject: (id, isRejecting) => void (isRejecting ? rejecting.add(id) : rejecting.delete(id)),
    registered: () => [...queries.values()],
    delivered: (id) => delivered.get(id) ?? [],
    violations: () => violations,
    transactions: () => transactions,
    startOver: () => {
      height = 0n;
      queries = new Map(
        [...queries].map(([id, query]) => [
          id,
          { ...query, lastLocalHeight: 0n, lastRemoteHeight: undefined },
        ]),
      );
      delivered.clear();
      openClients();
    },
  };
}
