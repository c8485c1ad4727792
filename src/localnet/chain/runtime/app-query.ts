import { utf8 } from "../../../platform/base/bytes.ts";
import { stringifyJson } from "../../../platform/base/json.ts";
import { SimulationResponse, TxMsgData } from "../../../cosmos/proto/gen/cosmos/base/abci/v1beta1/abci.ts";
import { SimulateRequest, SimulateResponse } from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/service.ts";
import { Tx } from "../../../cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { messageToJson } from "../../../cosmos/proto/json.ts";
import type { QueryRequest, QueryResponse, TxResult } from "../abci.ts";
import { QueryError, type QueryHandler } from "./module.ts";
import { ModuleError } from "./module-error.ts";
import { errorResponse, okResponse } from "./query-router.ts";
import { ErrUnknownRequest } from "./sdk-errors.ts";

/** State behind the queries about the application itself. */
export interface AppQueryState {
  readonly version: string;
  readonly height: bigint;
  readonly chainName: string;
  readonly simulate: (tx: Uint8Array) => TxResult;
}

const GRPC_UNKNOWN = 2;
const GRPC_INVALID_ARGUMENT = 3;

/** Runs "/app/version" and "/app/simulate". `path` holds the segments after "app". */
export function queryApp(
  path: readonly string[],
  request: QueryRequest,
  state: AppQueryState,
): QueryResponse {
  // baseapp sets this codespace on successful responses too, and echoes the requested height.
  const head = { codespace: "sdk", height: request.height === 0n ? state.height : request.height };
  switch (path[0]) {
    case undefined:
      return errorResponse(
        ErrUnknownRequest(
          "expected second parameter to be either 'simulate' or 'version', neither was present",
        ),
      );
    case "version":
      return okResponse({ ...head, value: utf8(state.version) });
    case "simulate":
      return simulateAsJson(request.data, state, head);
    default:
      return errorResponse(ErrUnknownRequest(`unknown query: ${path.join("/")}`));
  }
}

function simulateAsJson(tx: Uint8Array, state: AppQueryState, head: Partial<QueryResponse>): QueryResponse {
  const result = state.simulate(tx);
  if (result.code !== 0)
    return errorResponse(
      new ModuleError(result.codespace, result.code, result.log).wrap("failed to simulate tx"),
    );
  const bytes = SimulationResponse.encode(toSimulation(result)).finish();
  const json = messageToJson("cosmos.base.abci.v1beta1.SimulationResponse", bytes, state.chainName);
  return okResponse({ ...head, value: utf8(stringifyJson(json)) });
}

/** Creates the query `cosmos.tx.v1beta1.Service/Simulate`. Clients also call it through `abci_query`. */
export function createSimulateQuery(simulate: (tx: Uint8Array) => TxResult): QueryHandler {
  return {
    path: "/cosmos.tx.v1beta1.Service/Simulate",
    query: (_context, request) => {
      const { tx, txBytes } = SimulateRequest.decode(request);
      const bytes = tx === undefined ? txBytes : Tx.encode(tx).finish();
      if (bytes.length === 0) throw new QueryError(GRPC_INVALID_ARGUMENT, "empty txBytes is not allowed");
      const result = simulate(bytes);
      if (result.code !== 0)
        throw new QueryError(GRPC_UNKNOWN, `${result.log} with gas used: '${result.gasUsed}'`);
      return SimulateResponse.encode(toSimulation(result)).finish();
    },
  };
}

function toSimulation(result: TxResult): SimulateResponse {
  const { gasWanted, gasUsed, data, log, events } = result;
  return {
    gasInfo: { gasWanted, gasUsed },
    result: {
      data,
      log,
      events: events.map(({ type, attributes }) => ({ type, attributes: [...attributes] })),
      msgResponses: TxMsgData.decode(data).msgResponses,
    },
  };
}
