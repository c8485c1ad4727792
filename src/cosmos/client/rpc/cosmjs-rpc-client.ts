import type { RpcClient } from "@cosmjs/tendermint-rpc";
import { isRecord, type JsonObject, type JsonValue } from "../../../platform/base/json.ts";
import type { RpcCaller } from "./rpc-caller.ts";

/**
 * Adapts a caller to CosmJS: `Comet38Client.create(createCosmjsRpcClient(…))`. CosmJS has no abort signals, so each of
 * its calls ends at its deadline or when `life` aborts. `disconnect` does nothing; the owner closes the caller.
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

/** CosmJS passes an object or an empty array. It never uses positional parameters. */
function toParams(params: unknown): JsonObject {
  return isJsonObject(params) ? params : {};
}

function isJsonObject(value: unknown): value is { readonly [key: string]: JsonValue } {
  return isRecord(value);
}
