import type { JsonValue } from "../../base/json.ts";
import type { GenesisDoc } from "../genesis-doc.ts";
import type { NodeView } from "../node-view.ts";
import type { RoundState } from "./round-state.ts";
import type { ParameterList, Parameters } from "./parameters.ts";

/** What methods work on. */
export interface RpcContext {
  readonly view: NodeView;
  readonly genesis: GenesisDoc;
  readonly roundState: () => RoundState;
  /** Longest wait of broadcast_tx_commit, ms. */
  readonly commitTimeoutMs: number;
  /** Where the RPC listens, for `status`. */
  readonly rpcAddress: () => string;
}

/** A method of the RPC: its parameters in positional order, and what it answers. Throws `RpcError`. */
export interface RpcMethod {
  readonly parameters: ParameterList;
  readonly call: (
    parameters: Parameters,
    context: RpcContext,
    signal: AbortSignal,
  ) => JsonValue | Promise<JsonValue>;
}
