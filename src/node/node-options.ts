import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Application } from "../chain/abci.ts";
import type { StateStorage } from "../chain/store/state-storage.ts";
import type { MempoolOptions } from "./consensus/mempool.ts";
import type { GenesisDoc } from "./genesis-doc.ts";
import type { ServerFactory } from "./node-view.ts";
import type { OracleOptions } from "./oracle/oracle-client.ts";
import type { SubscriptionLimits } from "./rpc/subscriptions.ts";
import type { WebSocketOptions } from "./rpc/websocket-rpc.ts";

/** Where a face listens and which option moves it. */
export interface ServerAddress {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly portOption: string;
}

/** How a node runs. */
export interface NodeOptions {
  readonly moniker: string;
  /** Directory of everything durable; without it the chain lives in memory. */
  readonly home?: string;
  /** Shortest time between two blocks; default 1 s. */
  readonly blockTimeMs?: number;
  /** Starts without making blocks until told to. */
  readonly startHalted?: boolean;
  /** 32-byte seeds of the validators that sign here. */
  readonly validatorSeeds: readonly Uint8Array[];
  /** Human-readable part of consensus addresses, for metrics: "neutronvalcons". */
  readonly consensusPrefix: string;
  readonly rpc: ServerAddress;
  readonly metrics?: ServerAddress;
  readonly oracle?: OracleOptions;
  readonly mempool?: MempoolOptions;
  readonly subscriptions?: SubscriptionLimits;
  readonly websocket?: WebSocketOptions;
  /** Longest wait of broadcast_tx_commit; default 10 s. */
  readonly commitTimeoutMs?: number;
}

/** What a node is made of. */
export interface NodeDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly createApp: (storage: StateStorage) => Application;
  /**
   * Says which genesis document to run: given the one that the home already has, if any. Returning another one than
   * that is a `NodeError` `other-genesis`.
   */
  readonly genesis: (stored: GenesisDoc | undefined, signal: AbortSignal) => GenesisDoc | Promise<GenesisDoc>;
  /** Further faces: REST, gRPC. */
  readonly faces?: readonly ServerFactory[];
}
