import { fromBase64, toBase64 } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import {
  QueryClientStatusResponse,
  QueryConsensusStateResponse,
} from "../../../src/cosmos/proto/gen/ibc/core/client/v1/query.ts";
import { ParamsResponse, StateResponse } from "../../../src/cosmos/proto/gen/feemarket/feemarket/v1/query.ts";
import { ConsensusState } from "../../../src/cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { ProxyFault } from "../fault-proxy.ts";

/** Lets a node say that the light clients have this status. */
export function clientStatus(status: string): ProxyFault {
  return rewrite("/ibc.core.client.v1.Query/ClientStatus", () =>
    QueryClientStatusResponse.encode({ status }).finish(),
  );
}

/** Lets a node say that the consensus states of the light clients are this much older. */
export function olderConsensus(seconds: number): ProxyFault {
  return rewrite("/ibc.core.client.v1.Query/ConsensusState", (bytes) => {
    const response = QueryConsensusStateResponse.decode(bytes);
    const any = response.consensusState;
    if (any === undefined) return bytes;
    const state = ConsensusState.decode(any.value);
    const time = state.timestamp;
    const timestamp = time && { ...time, seconds: time.seconds - BigInt(seconds) };
    const value = ConsensusState.encode({ ...state, timestamp }).finish();
    return QueryConsensusStateResponse.encode({ ...response, consensusState: { ...any, value } }).finish();
  });
}

/**
 * Lets a node say that its fee market has this maximum, half of which is the target, and this constant price (a decimal times
 * 10^18, at least the minimum of 0.0025).
 */
export function feeMarket({
  maximum,
  price,
}: {
  readonly maximum: bigint;
  readonly price: bigint;
}): ProxyFault {
  return rewriteAll({
    "/feemarket.feemarket.v1.Query/Params": (bytes) => {
      const { params } = ParamsResponse.decode(bytes);
      return ParamsResponse.encode({
        params: params && { ...params, maxBlockUtilization: maximum },
      }).finish();
    },
    "/feemarket.feemarket.v1.Query/State": (bytes) => {
      const { state } = StateResponse.decode(bytes);
      return StateResponse.encode({ state: state && { ...state, baseGasPrice: `${price}` } }).finish();
    },
  });
}

function rewrite(path: string, change: (value: Uint8Array) => Uint8Array): ProxyFault {
  return rewriteAll({ [path]: change });
}

/** Replaces the responses to ABCI queries, by path. */
function rewriteAll(changes: Readonly<Record<string, (value: Uint8Array) => Uint8Array>>): ProxyFault {
  return {
    kind: "rewrite",
    result: ({ method, params }, result) => {
      const change = method === "abci_query" ? changes[String(params["path"])] : undefined;
      if (change === undefined) return result;
      const response = isRecord(result) ? result["response"] : undefined;
      if (!isRecord(result) || !isRecord(response) || typeof response["value"] !== "string") return result;
      const value = toBase64(change(fromBase64(response["value"])));
      return { ...result, response: { ...response, value } };
    },
  };
}
