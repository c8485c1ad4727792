import type { RpcClient } from "@cosmjs/tendermint-rpc";
import { isRecord, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { RpcCaller } from "./rpc-caller.ts";

/**
 * Puts a caller under CosmJS' clients: `Comet38Client.create(createCosmjsRpcClient(…))`. CosmJS knows no signals, so its
 * calls end with their deadline or with `life`. Disconnecting is left to whoever owns the caller.
 */
export function createCosmjsRpcClient(caller: RpcCaller, life: AbortSignal): RpcClient {
  return {
    execute: async (request) => ({
      jsonrpc: "2.0",
      id: request.id,
      result: await caller.call(request.method, toParams(request.params), life),
    }),
    disconnect: () => {},
  };
}

/** CosmJS sends an object or an empty list; a list with entries would be positional parameters, which it never uses. */
function toParams(params: unknown): JsonObject {
  return isJsonObject(params) ? params : {};
}

function isJsonObject(value: unknown): value is { readonly [key: string]: JsonValue } {
  return isRecord(value);
}
