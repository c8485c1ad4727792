import { concat, fromUtf8, prefixEnd, readUint64BigEndian, uint64BigEndian, utf8 } from "../../base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../base/json.ts";
import {
  ContractError,
  type ContractResponse,
  type ContractScope,
  NO_RESPONSE,
} from "../modules/wasm/contract.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Which callbacks the contract refuses. */
export interface Failure {
  readonly kv: boolean;
  readonly tx: boolean;
}

const FAILURE_KEY = utf8("failure");
const KV_RESULT = utf8("kv/");
const KV_COUNT = utf8("kv-count/");
const TRANSACTION = utf8("tx/");

/** The switch that makes callbacks fail. */
export const failureSwitch = {
  get: ({ storage }: ContractScope): Failure => {
    const bytes = storage.get(FAILURE_KEY)?.[0] ?? 0;
    return { kv: (bytes & 1) !== 0, tx: (bytes & 2) !== 0 };
  },
  set: ({ storage }: ContractScope, { kv, tx }: Failure): void =>
    storage.set(FAILURE_KEY, new Uint8Array([(kv ? 1 : 0) | (tx ? 2 : 0)])),
};

/** Reads a KV result from the chain and keeps it with the number of results so far. */
export function recordKvResult(scope: ContractScope, queryId: bigint): ContractResponse {
  if (failureSwitch.get(scope).kv) throw new ContractError("kv callbacks are told to fail");
  const { storage } = scope;
  const result = scope.query({ custom: { interchain_query_result: { query_id: Number(queryId) } } });
  storage.set(concat(KV_RESULT, uint64BigEndian(queryId)), utf8(JSON.stringify(result)));
  const countKey = concat(KV_COUNT, uint64BigEndian(queryId));
  storage.set(countKey, uint64BigEndian(countAt(scope, countKey) + 1n));
  return noted("kv_query_result", queryId);
}

/** Keeps a transaction after those that came before it. */
export function recordTx(scope: ContractScope, queryId: bigint, fields: Fields): ContractResponse {
  if (failureSwitch.get(scope).tx) throw new ContractError("tx callbacks are told to fail");
  const prefix = concat(TRANSACTION, uint64BigEndian(queryId));
  const [last] = scope.storage.iterateReverse(prefix, prefixEnd(prefix));
  const number = last === undefined ? 0n : readUint64BigEndian(last[0], prefix.length) + 1n;
  const kept = JSON.stringify({ height: fields["height"], data: fields["data"] });
  scope.storage.set(concat(prefix, uint64BigEndian(number)), utf8(kept));
  return noted("tx_query_result", queryId);
}

/** The contract's smart queries. */
export function answer(scope: ContractScope, name: string, fields: Fields): JsonValue {
  if (name === "failure") return { ...failureSwitch.get(scope) };
  const id = fields["query_id"];
  if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 0)
    throw new ContractError("query_id: an unsigned integer was expected");
  if (name === "kv_result") return kvResult(scope, BigInt(id));
  if (name === "transactions") return transactions(scope, BigInt(id));
  throw new ContractError(`unknown variant ${name}`);
}

/** The last result, null before the first, and how many there were. */
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
  const kept: JsonValue[] = [...scope.storage.iterate(prefix, prefixEnd(prefix))].map(([, value]) =>
    JSON.parse(fromUtf8(value)),
  );
  return { transactions: kept };
}

function countAt({ storage }: ContractScope, key: Uint8Array): bigint {
  const bytes = storage.get(key);
  return bytes === undefined ? 0n : readUint64BigEndian(bytes);
}

function noted(callback: string, queryId: bigint): ContractResponse {
  return {
    ...NO_RESPONSE,
    attributes: [
      { key: "callback", value: callback },
      { key: "query_id", value: queryId.toString() },
    ],
  };
}
