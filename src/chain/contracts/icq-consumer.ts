import { concat, toBase64, utf8 } from "../../base/bytes.ts";
import { decodeBech32 } from "../../base/bech32.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../base/json.ts";
import {
  type ContractCode,
  ContractError,
  type ContractResponse,
  type ContractScope,
  NO_RESPONSE,
  subMessage,
} from "../modules/wasm/contract.ts";
import { answer, failureSwitch, recordKvResult, recordTx } from "./icq-consumer-state.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Prefix of balances in the SDK's bank store. */
const BALANCES = new Uint8Array([0x02]);

/**
 * A contract that owns interchain queries. It registers, updates and removes them through the chain's bindings, keeps
 * every result that its callbacks bring, and can be told to refuse callbacks. Anybody may call it: it is for local runs.
 *
 * Execute: `register_kv_query {connection_id, update_period, keys}`, `register_balance_query {connection_id,
 * update_period, addr, denom}`, `register_tx_query {connection_id, update_period, transactions_filter}`,
 * `register_transfers_query {connection_id, update_period, recipient}`, `update_interchain_query`,
 * `remove_interchain_query`, `set_failure {kv, tx}`. Query: `kv_result`, `transactions` (both `{query_id}`), `failure`.
 */
export const icqConsumer: ContractCode = {
  name: "icq-consumer",
  instantiate: () => NO_RESPONSE,
  execute: (scope, _caller, message) => {
    const [name, fields] = variant(message);
    return execute(scope, name, fields);
  },
  sudo: (scope, message) => {
    const [name, fields] = variant(message);
    if (name === "kv_query_result") return recordKvResult(scope, idOf(fields));
    if (name === "tx_query_result") return recordTx(scope, idOf(fields), fields);
    throw new ContractError(`unknown variant ${name}`);
  },
  reply: () => NO_RESPONSE,
  query: (scope, message): JsonValue => {
    const [name, fields] = variant(message);
    return answer(scope, name, fields);
  },
};

function execute(scope: ContractScope, name: string, fields: Fields): ContractResponse {
  switch (name) {
    case "register_kv_query":
      return register(fields, { query_type: "kv", keys: json(fields["keys"]), transactions_filter: "" });
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
      return binding({ [name]: json(fields) });
    case "set_failure":
      failureSwitch.set(scope, { kv: fields["kv"] === true, tx: fields["tx"] === true });
      return NO_RESPONSE;
    default:
      throw new ContractError(`unknown variant ${name}`);
  }
}

function register(fields: Fields, query: JsonObject): ContractResponse {
  const { connection_id: connectionId, update_period: updatePeriod } = fields;
  return binding({
    register_interchain_query: {
      ...query,
      connection_id: json(connectionId),
      update_period: json(updatePeriod),
    },
  });
}

function binding(message: JsonValue): ContractResponse {
  return { ...NO_RESPONSE, messages: [subMessage({ kind: "custom", message })] };
}

/** The bank store's key of a balance: prefix, length of the address, address, denom. */
function balanceKey(fields: Fields): JsonObject {
  const address = addressBytes(text(fields, "addr"));
  const key = concat(BALANCES, new Uint8Array([address.length]), address, utf8(text(fields, "denom")));
  return { path: "bank", key: toBase64(key) };
}

function addressBytes(address: string): Uint8Array {
  try {
    return decodeBech32(address).bytes;
  } catch {
    throw new ContractError(`${address} is no address`);
  }
}

function transfersFilter(fields: Fields): string {
  return JSON.stringify([{ field: "transfer.recipient", op: "Eq", value: text(fields, "recipient") }]);
}

/** The only member of a message object. */
function variant(message: JsonValue): readonly [name: string, fields: Fields] {
  const entries = isRecord(message) ? Object.entries(message) : [];
  const [name, fields] = entries[0] ?? ["", undefined];
  if (entries.length !== 1 || !isRecord(fields))
    throw new ContractError("Error parsing into type Message: one variant with fields was expected");
  return [name, fields];
}

function idOf(fields: Fields): bigint {
  const id = fields["query_id"];
  if (typeof id === "number" && Number.isSafeInteger(id) && id >= 0) return BigInt(id);
  throw new ContractError("query_id: an unsigned integer was expected");
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === "string") return value;
  throw new ContractError(`${name}: a string was expected`);
}

function json(value: unknown): JsonValue {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}
