import { concat, toBase64, utf8, decodeBech32 } from "../../../platform/base/bytes.ts";
import {
  type JsonObject,
  type JsonValue,
  asBoolean,
  type JsonField,
  member,
} from "../../../platform/base/json.ts";
import {
  type ContractCode,
  ContractError,
  type ContractResponse,
  type ContractScope,
  NO_RESPONSE,
  subMessage,
} from "../modules/wasm/contract.ts";
import { callbackFailures, queryState, recordKvResult, recordTx } from "./icq-consumer-state.ts";
import { readMessage, text, unknownVariant } from "./messages.ts";

/** Prefix of balances in the SDK's bank store. */
const BALANCES = new Uint8Array([0x02]);

const EXECUTE_MESSAGES = [
  "register_kv_query",
  "register_balance_query",
  "register_tx_query",
  "register_transfers_query",
  "update_interchain_query",
  "remove_interchain_query",
  "set_failure",
];

/**
 * A contract that owns interchain queries. It registers, updates and removes queries through the chain's bindings,
 * stores every result that its callbacks receive, and can be set to reject callbacks. Anybody may call it: it is for
 * local chains.
 *
 * Execute: `register_kv_query {connection_id, update_period, keys}`, `register_balance_query {connection_id,
 * update_period, addr, denom}`, `register_tx_query {connection_id, update_period, transactions_filter}`,
 * `register_transfers_query {connection_id, update_period, recipient}`, `update_interchain_query`,
 * `remove_interchain_query`, `set_failure {kv, tx}`. Query: `kv_result {query_id}`, `transactions {query_id}`,
 * `failure {}`.
 */
export const icqConsumer: ContractCode = {
  name: "icq-consumer",
  instantiate: () => NO_RESPONSE,
  execute: (scope, _caller, message) => {
    const [name, fields] = readMessage(message);
    return execute(scope, name, fields);
  },
  sudo: (scope, message) => {
    const [name, fields] = readMessage(message);
    if (name === "kv_query_result") return recordKvResult(scope, fields);
    if (name === "tx_query_result") return recordTx(scope, fields);
    throw unknownVariant("SudoMsg", name, ["kv_query_result", "tx_query_result"]);
  },
  reply: () => NO_RESPONSE,
  query: (scope, message): JsonValue => {
    const [name, fields] = readMessage(message);
    return queryState(scope, name, fields);
  },
};

function execute(scope: ContractScope, name: string, fields: JsonField): ContractResponse {
  switch (name) {
    case "register_kv_query":
      return register(fields, {
        query_type: "kv",
        keys: toJson(member(fields, "keys").value),
        transactions_filter: "",
      });
    case "register_balance_query":
      return register(fields, { query_type: "kv", keys: [balanceKey(fields)], transactions_filter: "" });
    case "register_tx_query":
      return register(fields, {
        query_type: "tx",
        keys: [],
        transactions_filter: text(fields, "transactions_filter"),
      });
    case "register_transfers_query":
      return register(fields, { query_type: "tx", keys: [], transactions_filter: transfersFilter(fields) });
    case "update_interchain_query":
    case "remove_interchain_query":
      return binding({ [name]: toJson(fields.value) });
    case "set_failure":
      callbackFailures.set(scope, {
        kv: asBoolean(member(fields, "kv")),
        tx: asBoolean(member(fields, "tx")),
      });
      return NO_RESPONSE;
    default:
      throw unknownVariant("ExecuteMsg", name, EXECUTE_MESSAGES);
  }
}

/** Registers a query. The chain checks `connection_id` and `update_period`, so they pass through unread. */
function register(fields: JsonField, query: JsonObject): ContractResponse {
  return binding({
    register_interchain_query: {
      ...query,
      connection_id: toJson(member(fields, "connection_id").value),
      update_period: toJson(member(fields, "update_period").value),
    },
  });
}

function binding(message: JsonValue): ContractResponse {
  return { ...NO_RESPONSE, messages: [subMessage({ kind: "custom", message })] };
}

/** Builds the bank store's key of a balance: prefix, length of the address, address, denomination. */
function balanceKey(fields: JsonField): JsonObject {
  const address = addressBytes(text(fields, "addr"));
  const key = concat(BALANCES, new Uint8Array([address.length]), address, utf8(text(fields, "denom")));
  return { path: "bank", key: toBase64(key) };
}

/** Decodes an address of the remote chain. Its prefix is not known here, so any is accepted. */
function addressBytes(address: string): Uint8Array {
  try {
    return decodeBech32(address).bytes;
  } catch {
    throw new ContractError(`${address} is not an address`);
  }
}

function transfersFilter(fields: JsonField): string {
  return JSON.stringify([{ field: "transfer.recipient", op: "Eq", value: text(fields, "recipient") }]);
}

function toJson(value: unknown): JsonValue {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}
