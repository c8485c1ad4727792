import {
  concat,
  decodeBech32,
  prefixEnd,
  readUint64BigEndian,
  toBase64,
  uint64BigEndian,
  utf8,
} from "../../../platform/base/bytes.ts";
import { isRecord, type JsonField, type JsonObject } from "../../../platform/base/json.ts";
import * as wasm from "../modules/wasm/contract.ts";
import { copyMessage, parseMessageJson, printMessageJson } from "../modules/wasm/message-json.ts";
import { byName, respond, text } from "./messages.ts";

/** Key prefix for balances in the SDK's bank store. */
const BALANCES = new Uint8Array([0x02]);

/**
 * A contract that owns interchain queries. The contract registers, updates and removes queries through the chain's bindings, and
 * stores every result that its callbacks receive. The contract can also be configured to reject callbacks. Any account may call the
 * contract, because it is meant for local chains only.
 *
 * The execute messages are `register_kv_query {connection_id, update_period, keys}`, `register_balance_query {connection_id,
 * update_period, addr, denom}`, `register_tx_query {connection_id, update_period, transactions_filter}`, `register_transfers_query
 * {connection_id, update_period, recipient}`, `update_interchain_query`, `remove_interchain_query`, `set_failure {kv, tx}`. The
 * smart queries are `kv_result {query_id}`, `transactions {query_id}` and `failure {}`.
 */
export const icqConsumer: wasm.ContractCode = {
  name: "icq-consumer",
  instantiate: () => wasm.NO_RESPONSE,
  execute: (scope, _caller, message) => execute(scope, message),
  sudo: (scope, message) => sudo(scope, message),
  reply: () => wasm.NO_RESPONSE,
  query: (scope, message) => queryState(scope, message),
};

const KV_QUERY = { query_type: "kv", transactions_filter: "" };
const TX_QUERY = { query_type: "tx", keys: [] };

const execute = byName("ExecuteMsg", {
  register_kv_query: (_scope, fields) =>
    register(fields, { ...KV_QUERY, keys: copyMessage(fields.member("keys").value) }),
  register_balance_query: (_scope, fields) => register(fields, { ...KV_QUERY, keys: [balanceKey(fields)] }),
  register_tx_query: (_scope, fields) =>
    register(fields, { ...TX_QUERY, transactions_filter: text(fields, "transactions_filter") }),
  register_transfers_query: (_scope, fields) =>
    register(fields, { ...TX_QUERY, transactions_filter: transfersFilter(fields) }),
  update_interchain_query: (_scope, fields) =>
    binding({ update_interchain_query: copyMessage(fields.value) }),
  remove_interchain_query: (_scope, fields) =>
    binding({ remove_interchain_query: copyMessage(fields.value) }),
  set_failure: (scope, fields) => {
    callbackFailures.set(scope, {
      kv: fields.member("kv").asBoolean(),
      tx: fields.member("tx").asBoolean(),
    });
    return wasm.NO_RESPONSE;
  },
});

const sudo = byName("SudoMsg", { kv_query_result: recordKvResult, tx_query_result: recordTx });

const queryState = byName<wasm.MessageJson>("QueryMsg", {
  kv_result: (scope, fields) => kvResult(scope, queryIdOf(fields)),
  transactions: (scope, fields) => transactions(scope, queryIdOf(fields)),
  failure: (scope) => ({ ...callbackFailures.get(scope) }),
});

/** Registers a query. `connection_id` and `update_period` are forwarded without checks, because the chain validates them. */
function register(
  fields: JsonField,
  query: Readonly<Record<string, wasm.MessageJson>>,
): wasm.ContractResponse {
  return binding({
    register_interchain_query: {
      ...query,
      connection_id: copyMessage(fields.member("connection_id").value),
      update_period: copyMessage(fields.member("update_period").value),
    },
  });
}

function binding(message: wasm.MessageJson): wasm.ContractResponse {
  return { ...wasm.NO_RESPONSE, messages: [wasm.subMessage({ kind: "custom", message })] };
}

/** Builds the bank store key for a balance: prefix, address length, address, denomination. */
function balanceKey(fields: JsonField): JsonObject {
  const address = addressBytes(text(fields, "addr"));
  const key = concat(BALANCES, new Uint8Array([address.length]), address, utf8(text(fields, "denom")));
  return { path: "bank", key: toBase64(key) };
}

/** Decodes a bech32 address on the remote chain. Any prefix is accepted, because the contract does not know the remote chain's prefix. */
function addressBytes(address: string): Uint8Array {
  try {
    return decodeBech32(address).bytes;
  } catch {
    throw new wasm.ContractError(`${address} is not an address`);
  }
}

function transfersFilter(fields: JsonField): string {
  return JSON.stringify([{ field: "transfer.recipient", op: "Eq", value: text(fields, "recipient") }]);
}

/** Configures whether the contract rejects the callbacks of KV queries and of TX queries. */
interface CallbackFailures {
  readonly kv: boolean;
  readonly tx: boolean;
}

const FAILURE_KEY = utf8("failure");
const KV_RESULT = utf8("kv/");
const KV_COUNT = utf8("kv-count/");
const TRANSACTION = utf8("tx/");

/** Reads and writes the setting of `set_failure`, i.e. the callbacks that the contract rejects. */
const callbackFailures = {
  get: ({ storage }: wasm.ContractScope): CallbackFailures => {
    const bits = storage.get(FAILURE_KEY)?.[0] ?? 0;
    return { kv: (bits & 1) !== 0, tx: (bits & 2) !== 0 };
  },
  set: ({ storage }: wasm.ContractScope, { kv, tx }: CallbackFailures): void =>
    storage.set(FAILURE_KEY, new Uint8Array([(kv ? 1 : 0) | (tx ? 2 : 0)])),
};

function queryIdOf(fields: JsonField): bigint {
  return fields.member("query_id").required().asUint64();
}

/** Handles the callback `kv_query_result` by reading the result from the chain, storing it, and counting the callback. */
function recordKvResult(scope: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  if (callbackFailures.get(scope).kv) throw new wasm.ContractError("kv callbacks are set to fail");
  const queryId = queryIdOf(fields);
  const { storage } = scope;
  // The callback contains only the query id, so the contract queries the result.
  const result = scope.query({ custom: { interchain_query_result: { query_id: queryId } } });
  storage.set(concat(KV_RESULT, uint64BigEndian(queryId)), utf8(printMessageJson(result)));
  const countKey = concat(KV_COUNT, uint64BigEndian(queryId));
  storage.set(countKey, uint64BigEndian(countAt(scope, countKey) + 1n));
  return respond({ callback: "kv_query_result", query_id: queryId.toString() });
}

/** Handles the callback `tx_query_result` by storing the transaction under the query's next transaction number. */
function recordTx(scope: wasm.ContractScope, fields: JsonField): wasm.ContractResponse {
  if (callbackFailures.get(scope).tx) throw new wasm.ContractError("tx callbacks are set to fail");
  const queryId = queryIdOf(fields);
  const prefix = concat(TRANSACTION, uint64BigEndian(queryId));
  const [last] = scope.storage.iterateReverse(prefix, prefixEnd(prefix));
  const number = last === undefined ? 0n : readUint64BigEndian(last[0], prefix.length) + 1n;
  const entry = printMessageJson({
    height: fields.member("height").value,
    data: fields.member("data").value,
  });
  scope.storage.set(concat(prefix, uint64BigEndian(number)), utf8(entry));
  return respond({ callback: "tx_query_result", query_id: queryId.toString() });
}

/** Returns a query's last result (null before the first callback) and the number of callbacks. */
function kvResult(scope: wasm.ContractScope, id: bigint): wasm.MessageJson {
  const bytes = scope.storage.get(concat(KV_RESULT, uint64BigEndian(id)));
  const stored = bytes === undefined ? null : parseMessageJson(bytes);
  return {
    ...(isRecord(stored) ? stored : { result: null }),
    callbacks: Number(countAt(scope, concat(KV_COUNT, uint64BigEndian(id)))),
  };
}

function transactions(scope: wasm.ContractScope, id: bigint): wasm.MessageJson {
  const prefix = concat(TRANSACTION, uint64BigEndian(id));
  const entries = [...scope.storage.iterate(prefix, prefixEnd(prefix))].map(([, value]) =>
    parseMessageJson(value),
  );
  return { transactions: entries };
}

function countAt({ storage }: wasm.ContractScope, key: Uint8Array): bigint {
  const bytes = storage.get(key);
  return bytes === undefined ? 0n : readUint64BigEndian(bytes);
}
