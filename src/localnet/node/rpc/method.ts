import type { JsonValue } from "../../../platform/base/json.ts";
import type { GenesisDoc } from "../genesis-doc.ts";
import type { CallRouter } from "../grpc/call-router.ts";
import type { NodeView } from "../node-view.ts";
import type { RoundState } from "./round-state.ts";
import type { ParameterList, Parameters } from "./parameters.ts";

/** What RPC methods read. */
export interface RpcContext {
  readonly view: NodeView;
  readonly router: CallRouter;
  readonly genesis: GenesisDoc;
  readonly roundState: () => RoundState;
  /** Maximum wait of `broadcast_tx_commit`. */
  readonly commitTimeoutMs: number;
  /** Address of the RPC server for `status`: "tcp://127.0.0.1:26657". */
  readonly rpcAddress: () => string;
}

export interface RpcMethod {
  /** In the order of positional calls. */
  readonly parameters: ParameterList;
  /** Returns the `result` of the response. Throws, or rejects with, `RpcError`. */
  readonly call: (
    parameters: Parameters,
    context: RpcContext,
    signal: AbortSignal,
  ) => JsonValue | Promise<JsonValue>;
}
