import {
  concat,
  fromUtf8,
  prefixEnd,
  readUint64BigEndian,
  uint64BigEndian,
  utf8,
} from "../../../platform/base/bytes.ts";
import {
  isRecord,
  type JsonObject,
  type JsonValue,
  asUint64,
  type JsonField,
  member,
  required,
} from "../../../platform/base/json.ts";
import {
  ContractError,
  type ContractResponse,
  type ContractScope,
  NO_RESPONSE,
} from "../modules/wasm/contract.ts";
import { unknownVariant } from "./messages.ts";

/** Callbacks that the contract rejects. */
export interface CallbackFailures {
  readonly kv: boolean;
  readonly tx: boolean;
}

const FAILURE_KEY = utf8("failure");
const KV_RESULT = utf8("kv/");
const KV_COUNT = utf8("kv-count/");
const TRANSACTION = utf8("tx/");

/** Stored switch that makes callbacks fail. */
export const callbackFailures = {
  get: ({ storage }: ContractScope): CallbackFailures => {
    const bits = storage.get(FAILURE_KEY)?.[0] ?? 0;
    return { kv: (bits & 1) !== 0, tx: (bits & 2) !== 0 };
  },
  set: ({ storage }: ContractScope, { kv, tx }: CallbackFailures): void =>
    storage.set(FAILURE_KEY, new Uint8Array([(kv ? 1 : 0) | (tx ? 2 : 0)])),
};

/** Reads the field `query_id` of a message. */
function queryIdOf(fields: JsonField): bigint {
  return asUint64(required(member(fields, "query_id")));
}

/** Handles `kv_query_result`: reads the result from the chain, stores it and counts it. */
export function recordKvResult(scope: ContractScope, fields: JsonField): ContractResponse {
  if (callbackFailures.get(scope).kv) throw new ContractError("kv callbacks are set to fail");
  const queryId = queryIdOf(fields);
  const { storage } = scope;
  // The callback has only the id of the query, so the contract queries the result.
  const result = scope.query({ custom: { interchain_query_result: { query_id: Number(queryId) } } });
  storage.set(concat(KV_RESULT, uint64BigEndian(queryId)), utf8(JSON.stringify(result)));
  const countKey = concat(KV_COUNT, uint64BigEndian(queryId));
  storage.set(countKey, uint64BigEndian(countAt(scope, countKey) + 1n));
  return callbackResponse("kv_query_result", queryId);
}

/** Handles `tx_query_result`: stores the transaction under the next number of its query. */
export function recordTx(scope: ContractScope, fields: JsonField): ContractResponse {
  if (callbackFailures.get(scope).tx) throw new ContractError("tx callbacks are set to fail");
  const queryId = queryIdOf(fields);
  const prefix = concat(TRANSACTION, uint64BigEndian(queryId));
  const [last] = scope.storage.iterateReverse(prefix, prefixEnd(prefix));
  const number = last === undefined ? 0n : readUint64BigEndian(last[0], prefix.length) + 1n;
  const entry = JSON.stringify({
    height: member(fields, "height").value,
    data: member(fields, "data").value,
  });
  scope.storage.set(concat(prefix, uint64BigEndian(number)), utf8(entry));
  return callbackResponse("tx_query_result", queryId);
}

/** Runs a smart query of the contract. */
export function queryState(scope: ContractScope, name: string, fields: JsonField): JsonValue {
  switch (name) {
    case "failure":
      return { ...callbackFailures.get(scope) };
    case "kv_result":
      return kvResult(scope, queryIdOf(fields));
    case "transactions":
      return transactions(scope, queryIdOf(fields));
    default:
      throw unknownVariant("QueryMsg", name, ["kv_result", "transactions", "failure"]);
  }
}

/** Returns the last result (null before the first) and the number of callbacks. */
function kvResult(scope: ContractScope, id: bigint): JsonObject {
  const bytes = scope.storage.get(concat(KV_RESULT, uint64BigEndian(id)));
  const stored: JsonValue = bytes === undefined ? null : JSON.parse(fromUtf8(bytes));
  return {
    ...(isRecord(stored) ? stored : { result: null }),
    callbacks: Number(countAt(scope, concat(KV_COUNT, uint64BigEndian(id)))),
  };
}

function transactions(scope: ContractScope, id: bigint): JsonObject {
  const prefix = concat(TRANSACTION, uint64BigEndian(id));
  const entries: JsonValue[] = [...scope.storage.iterate(prefix, prefixEnd(prefix))].map(([, value]) =>
    JSON.parse(fromUtf8(value)),
  );
  return { transactions: entries };
}

function countAt({ storage }: ContractScope, key: Uint8Array): bigint {
  const bytes = storage.get(key);
  return bytes === undefined ? 0n : readUint64BigEndian(bytes);
}

function callbackResponse(callback: string, queryId: bigint): ContractResponse {
  return {
    ...NO_RESPONSE,
    attributes: [
      { key: "callback", value: callback },
      { key: "query_id", value: queryId.toString() },
    ],
  };
}
