import { fromBase64, toHex, sha256 } from "../../../src/platform/base/bytes.ts";
import type { PooledChainClient } from "../../../src/cosmos/client/create-chain-client.ts";
import { ClientError } from "../../../src/cosmos/client-error.ts";
import { BaseAccount } from "../../../src/cosmos/proto/gen/cosmos/auth/v1beta1/auth.ts";
import { QueryAccountResponse } from "../../../src/cosmos/proto/gen/cosmos/auth/v1beta1/query.ts";
import {
  SimulateRequest,
  SimulateResponse,
} from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { AuthInfo, TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { GasPriceResponse } from "../../../src/cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import { blockResult } from "./rpc-server.ts";

/** Result of a broadcast, decided by the test. */
type BroadcastResult =
  /** accepted and included in the next block */
  | "good"
  /** accepted, never included */
  | "vanish"
  /** accepted and included, but the response is lost */
  | "unanswered"
  /** never arrives, no response */
  | "unreachable"
  /** refused by CheckTx after it counted the sequence, as a real node does when gas runs out in the fee step */
  | "out-of-gas"
  /** refused by CheckTx before it counted the sequence */
  | "no-funds"
  /** included, with code 5 */
  | "fails-in-block"
  /** JSON-RPC errors */
  | "mempool-full"
  | "too-large";

/** A decoded transaction. */
interface DecodedTx {
  readonly hash: string;
  readonly body: TxBody;
  readonly authInfo: AuthInfo;
  readonly raw: TxRaw;
}

/** A chain in memory with one account, behind the part of the client that a sender uses. */
export interface FakeChain {
  readonly client: Pick<PooledChainClient, "grpcQuery" | "status" | "pool">;
  /** Produces a block from the mempool. */
  readonly mine: () => void;
  /** Results of the next broadcasts, in order; "good" when empty. */
  readonly broadcastResults: BroadcastResult[];
  /** All transactions broadcast so far. */
  readonly broadcasts: readonly DecodedTx[];
  readonly calls: readonly string[];
  /** Raises the sequence, as a transaction of another process does. */
  readonly useElsewhere: () => void;
  /** Drops the transactions behind a sequence that is missing, as the next block of a real node does. */
  readonly dropGaps: () => void;
  /** Whether the node finds transactions by hash. It finds those of a block a moment after the block. */
  isIndexed: boolean;
  /** Gas price in 10^-18 units. Undefined means that the chain has no fee market. */
  gasPrice: bigint | undefined;
  /** Error log of simulations. Undefined lets them succeed. */
  simulationLog: string | undefined;
  /** Largest transaction that a simulation accepts. */
  maxSimulatedBytes: number;
}

/** Creates a chain at height 100. The account has number 7 and sequence 40. */
export function createFakeChain(address: string): FakeChain {
  let height = 100n;
  let committed = 40n;
  let mempoolSequence = 40n;
  let mempool: { readonly tx: DecodedTx; readonly result: BroadcastResult }[] = [];
  const blocks = new Map<string, { readonly height: bigint; readonly code: number }>();
  const broadcasts: DecodedTx[] = [];
  const calls: string[] = [];

  const mine = (): void => {
    height += 1n;
    for (const { tx, result } of mempool) {
      if (result === "vanish") continue;
      committed += 1n;
      blocks.set(tx.hash, { height, code: result === "fails-in-block" ? 5 : 0 });
    }
    mempool = [];
    mempoolSequence = committed;
  };

  const mismatch = (got: bigint): string =>
    `account sequence mismatch, expected ${mempoolSequence}, got ${got}: incorrect account sequence`;

  const broadcast = (bytes: Uint8Array): unknown => {
    const tx = readTx(bytes);
    const result = chain.broadcastResults.shift() ?? "good";
    broadcasts.push(tx);
    if (result === "mempool-full") throw rpcError("broadcast_tx_sync", "mempool is full: number of txs 5000");
    if (result === "too-large")
      throw rpcError("broadcast_tx_sync", "Tx too large. Max size is 1048576, but got 2000000");
    if (result === "unreachable") throw unreachable();
    const sequence = tx.authInfo.signerInfos[0]?.sequence ?? 0n;
    if (mempool.some((pending) => pending.tx.hash === tx.hash))
      throw rpcError("broadcast_tx_sync", "tx already exists in cache");
    if (result === "no-funds") return { code: 5, codespace: "sdk", log: "insufficient funds" };
    if (sequence !== mempoolSequence) return { code: 32, codespace: "sdk", log: mismatch(sequence) };
    mempoolSequence += 1n;
    if (result === "out-of-gas")
      return { code: 11, codespace: "sdk", log: "out of gas in location: WriteFlat" };
    mempool.push({ tx, result });
    if (result === "unanswered") throw unreachable();
    return { code: 0, codespace: "", log: "" };
  };

  const findTx = (hash: Uint8Array): unknown => {
    const found = blocks.get(toHex(hash));
    if (found === undefined || !chain.isIndexed) throw rpcError("tx", `tx (${toHex(hash)}) not found`);
    return {
      height: found.height.toString(),
      tx_result: {
        code: found.code,
        codespace: "sdk",
        log: "reason",
        gas_used: "90000",
        gas_wanted: "100000",
      },
    };
  };

  const simulate = (request: Uint8Array): Uint8Array => {
    const { txBytes } = SimulateRequest.decode(request);
    if (txBytes.length > chain.maxSimulatedBytes)
      throw new ClientError({ code: "http-status", endpoint: "fake", status: 413 }, "the body is too large");
    const tx = readTx(txBytes);
    const sequence = tx.authInfo.signerInfos[0]?.sequence ?? 0n;
    if (sequence !== mempoolSequence) throw refusal(18, `${mismatch(sequence)}: invalid request`);
    if (chain.simulationLog !== undefined) throw refusal(18, chain.simulationLog);
    return SimulateResponse.encode({
      gasInfo: { gasWanted: 0n, gasUsed: 136_165n },
      result: undefined,
    }).finish();
  };

  const query = (path: string, request: Uint8Array): Uint8Array => {
    if (path.endsWith("/Simulate")) return simulate(request);
    if (path.endsWith("/GasPrice")) {
      if (chain.gasPrice === undefined) throw refusal(6, "unknown query path: unknown request");
      const price = { denom: "untrn", amount: chain.gasPrice.toString() };
      return GasPriceResponse.encode({ price }).finish();
    }
    const account = { address, pubKey: undefined, accountNumber: 7n, sequence: committed };
    const value = BaseAccount.encode(account).finish();
    return QueryAccountResponse.encode({
      account: { typeUrl: "/cosmos.auth.v1beta1.BaseAccount", value },
    }).finish();
  };

  const call = (method: string, params: Readonly<Record<string, unknown>>): unknown => {
    calls.push(method);
    if (method === "block") return blockResult([]);
    if (method === "broadcast_tx_sync") return broadcast(fromBase64(String(params["tx"])));
    return findTx(fromBase64(String(params["hash"])));
  };

  const chain: FakeChain = {
    client: {
      grpcQuery: async (path, request) => {
        calls.push(path);
        return query(path, request);
      },
      status: async () => ({
        chainId: "test-1",
        latestHeight: height,
        latestTimeNs: 0n,
        earliestHeight: 1n,
        catchingUp: false,
      }),
      pool: {
        call: async (method, params) => call(method, params),
        read: async ({ method, params, decode }) => decode(call(method, params), "fake"),
        run: ({ run }) => run(async (method, params) => call(method, params), "fake"),
        check: async () => [],
        health: () => [],
        order: () => [],
        distrust: () => {},
        close: () => {},
      },
    },
    mine,
    broadcastResults: [],
    broadcasts,
    calls,
    useElsewhere: () => {
      committed += 1n;
      mempoolSequence += 1n;
    },
    dropGaps: () => {
      let next = committed;
      mempool = mempool.filter(({ tx }) => {
        const isNext = tx.authInfo.signerInfos[0]?.sequence === next;
        if (isNext) next += 1n;
        return isNext;
      });
    },
    isIndexed: true,
    gasPrice: 2_500_000_000_000_000n,
    simulationLog: undefined,
    maxSimulatedBytes: 500_000,
  };
  return chain;
}

function readTx(bytes: Uint8Array): DecodedTx {
  const raw = TxRaw.decode(bytes);
  return {
    hash: toHex(sha256(bytes)),
    body: TxBody.decode(raw.bodyBytes),
    authInfo: AuthInfo.decode(raw.authInfoBytes),
    raw,
  };
}

function rpcError(method: string, data: string): ClientError {
  return new ClientError({ code: "rpc", endpoint: "fake", method, rpcCode: -32603, data }, data);
}

function refusal(abciCode: number, log: string): ClientError {
  return new ClientError({ code: "abci", path: "", abciCode, codespace: "sdk", log }, log);
}

function unreachable(): ClientError {
  return new ClientError(
    { code: "unreachable", endpoint: "fake", reason: "ECONNRESET", method: "broadcast_tx_sync" },
    "fake is unreachable",
  );
}
