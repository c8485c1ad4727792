import { utf8 } from "../../../src/platform/base/bytes.ts";
import {
  createNoticeQueue,
  type ChainNotice,
  type ChainSubscription,
} from "../../../src/cosmos/client/events/subscription.ts";
import type { RegisteredQuery } from "../../../src/relayer/chain/registered-query.ts";
import type { Random } from "../random.ts";
import type { SimState } from "./sim-execution.ts";

/** A simulated fault of the local chain or of the connection to it. */
export type LocalFault =
  | "down"
  | "halts"
  | "client-expired"
  | "short-trust"
  | "client-frozen"
  /** the newest consensus state is old */
  | "client-old"
  /** the node does not respond to queries of light clients */
  | "no-client-queries"
  /** the node does not respond to queries of balances */
  | "no-balances"
  /** the node does not respond to queries of the list of queries */
  | "no-lists"
  | "catching-up"
  | "empty-account"
  | "no-events"
  | "events-shuffled"
  | "full-blocks"
  | "small-requests"
  | "loses-txs"
  | "no-funds"
  /** the node refuses some transactions after it counted their sequence */
  | "refuses-some"
  /** broadcasts arrive, their responses do not */
  | "no-answers"
  /** some blocks leave transactions in the mempool */
  | "late-txs"
  /** another program uses the account */
  | "shared-account";

/** The WebSocket of the local chain. */
export interface SimEvents {
  readonly subscription: ChainSubscription;
  /** Adds an event to the next block. */
  readonly emit: (action: "query_updated" | "query_removed", query: RegisteredQuery) => void;
  /** Sends the notices of the new block. */
  readonly publish: () => void;
  /** Connects or disconnects, as the faults require. */
  readonly reconnect: () => void;
}

/** Creates a connected WebSocket. */
export function createSimEvents(
  state: Pick<SimState, "height">,
  faults: ReadonlySet<LocalFault>,
  random: Random,
): SimEvents {
  let events: ChainNotice[] = [];
  let isConnected = true;
  const notices = createNoticeQueue(50);
  notices.offer({ kind: "connected" });
  return {
    subscription: {
      run: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
        }),
      next: notices.next,
      isConnected: () => isConnected,
    },
    emit: (action, query) => {
      const { id, connectionId } = query;
      const values = {
        module: "interchainqueries",
        action,
        query_id: `${id}`,
        connection_id: connectionId,
      };
      const attributes = Object.entries(values).map(([key, value]) => ({ key, value }));
      const event = { type: "neutron", attributes };
      events.push({ kind: "tx", height: state.height, hash: utf8(`${id}`), code: 0, events: [event] });
    },
    publish: () => {
      const published: ChainNotice[] = [{ kind: "block", height: state.height, timeNs: 0n }, ...events];
      events = [];
      if (faults.has("events-shuffled")) published.sort(() => random.next() - 0.5);
      if (isConnected) for (const notice of published) notices.offer(notice);
    },
    reconnect: () => {
      const shouldBe = !faults.has("no-events") && !faults.has("down");
      if (shouldBe && !isConnected) {
        notices.offer({ kind: "missed", reason: "the stream was cut" });
        notices.offer({ kind: "connected" });
      }
      isConnected = shouldBe;
    },
  };
}
