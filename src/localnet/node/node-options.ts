import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Application } from "../chain/runtime/abci.ts";
import type { StateStorage } from "../chain/store/multi-store.ts";
import type { HttpAccess } from "../../platform/http/http-access.ts";
import type { MempoolOptions } from "./consensus/mempool.ts";
import type { GenesisDoc } from "./genesis-doc.ts";
import type { ServerFactory } from "./node-server.ts";
import type { OracleOptions } from "./oracle/oracle-client.ts";
import type { SubscriptionLimits } from "./rpc/subscriptions.ts";
import type { WebSocketOptions } from "./rpc/websocket-rpc.ts";

/** Address of a server, and the command line option that changes its port. */
export interface ServerAddress {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly portOption: string;
  /** Host names and web pages that may use the server. The gRPC server ignores it: browsers have no plain HTTP/2. */
  readonly access?: HttpAccess;
}

export interface NodeOptions {
  readonly moniker: string;
  /** First part of the type URLs of the chain's own modules: "neutron". */
  readonly chainName: string;
  /** Directory of the database. Without it, the chain is in memory. */
  readonly home?: string;
  /** Number of recent blocks that stay readable; 0 keeps all. Default 100,000 with a home, 10,000 in memory. */
  readonly keepBlocks?: number;
  /** Time between the starts of two blocks. Default 1 s. */
  readonly blockTimeMs?: number;
  /** Makes no blocks before `resume`. */
  readonly startHalted?: boolean;
  /** 32-byte seeds of the validators that sign in this node. */
  readonly validatorSeeds: readonly Uint8Array[];
  /** Bech32 prefix of consensus addresses: "neutronvalcons". */
  readonly consensusPrefix: string;
  readonly rpc: ServerAddress;
  readonly metrics?: ServerAddress;
  readonly oracle?: OracleOptions;
  readonly mempool?: MempoolOptions;
  readonly subscriptions?: Partial<SubscriptionLimits>;
  readonly websocket?: WebSocketOptions;
  /** Deadline of `broadcast_tx_commit`. Default 10 s. */
  readonly commitTimeoutMs?: number;
}

export interface NodeDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly createApp: (storage: StateStorage) => Application;
  /**
   * Returns the genesis document of the chain. `stored` is the document in the home, if any; the node fails with `NodeError`
   * `other-genesis` when the returned document differs from it.
   */
  readonly genesis: (stored: GenesisDoc | undefined, signal: AbortSignal) => GenesisDoc | Promise<GenesisDoc>;
  /** More servers than RPC and metrics: REST, gRPC. */
  readonly servers?: readonly ServerFactory[];
}
