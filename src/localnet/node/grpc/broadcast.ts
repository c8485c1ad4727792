import type { TxResponse } from "../../../cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import {
  BroadcastMode,
  type BroadcastTxRequest,
} from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { sha256 } from "../../../platform/base/bytes.ts";
import { QueryError } from "../../chain/runtime/errors.ts";
import { MempoolError, type MempoolErrorFacts } from "../errors.ts";
import type { NodeView } from "../node-view.ts";
import { GRPC } from "./grpc-status.ts";
import { broadcastResponse, emptyTxResponse } from "./tx-response.ts";

/** The SDK's codes for transactions that the mempool rejects before CheckTx (`client/broadcast.go`). */
const MEMPOOL_CODES: Readonly<Record<MempoolErrorFacts["code"], number>> = {
  "tx-in-cache": 19,
  "mempool-full": 20,
  "tx-too-large": 21,
};

/**
 * Broadcasts as the SDK's client does. Sync mode returns the result of CheckTx, async mode only the hash. Block mode does
 * not exist since SDK 0.47. Throws `QueryError`.
 */
export function broadcast({ txBytes, mode }: BroadcastTxRequest, view: NodeView): TxResponse {
  if (txBytes.length === 0) throw new QueryError(GRPC.invalidArgument, "invalid empty tx");
  if (mode !== BroadcastMode.BROADCAST_MODE_SYNC && mode !== BroadcastMode.BROADCAST_MODE_ASYNC) {
    throw new QueryError(GRPC.unknown, "unsupported return type unspecified; supported types: sync, async");
  }
  try {
    const result = view.broadcast(txBytes);
    return mode === BroadcastMode.BROADCAST_MODE_SYNC
      ? broadcastResponse(result)
      : emptyTxResponse(result.hash);
  } catch (thrown) {
    if (!(thrown instanceof MempoolError)) throw thrown;
    const code = MEMPOOL_CODES[thrown.facts.code];
    return { ...emptyTxResponse(sha256(txBytes)), codespace: "sdk", code };
  }
}
