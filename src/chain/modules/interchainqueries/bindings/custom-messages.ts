import { fromBase64, utf8 } from "../../../../base/bytes.ts";
import { isRecord, type JsonValue } from "../../../../base/json.ts";
import * as wire from "../../../../proto/gen/neutron/interchainqueries/tx.ts";
import { toChainTypeUrl } from "../../../../proto/type-urls.ts";
import type { Context } from "../../../runtime/context.ts";
import type { HandlerResult } from "../../../runtime/module.ts";
import { ModuleError } from "../../../runtime/module-error.ts";
import { wrapErrors } from "../../../runtime/wrap-errors.ts";
import { type Environment, registerQuery, removeQuery, updateQuery } from "../handlers.ts";
import type { KeyList } from "../validation/key-list.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a contract gets back: JSON for its reply's `data`, and the encoded response. */
export interface BindingResult {
  readonly data: Uint8Array;
  readonly response: HandlerResult;
}

/**
 * Runs a contract's own message about queries: `register_interchain_query`, `update_interchain_query` or
 * `remove_interchain_query`; the contract is the sender. Undefined when the message is none of these.
 */
export function handleBinding(
  context: Context,
  contract: string,
  message: JsonValue,
  environment: Environment,
): BindingResult | undefined {
  if (!isRecord(message)) return undefined;
  const {
    register_interchain_query: register,
    update_interchain_query: update,
    remove_interchain_query: remove,
  } = message;
  if (isRecord(register))
    return named("register", () => runRegister(context, contract, register, environment));
  if (isRecord(update)) return named("update", () => runUpdate(context, contract, update, environment));
  if (isRecord(remove)) return named("remove", () => runRemove(context, contract, remove, environment));
  return undefined;
}

/** The deployed bindings put their words in front twice. */
function named(action: string, run: () => BindingResult): BindingResult {
  const words = `failed to ${action} interchain query`;
  return wrapErrors((error) => error.wrap(words).wrap(words), run);
}

function runRegister(
  context: Context,
  sender: string,
  fields: Fields,
  environment: Environment,
): BindingResult {
  const response = registerQuery(
    context,
    {
      queryType: text(fields, "query_type"),
      keys: keyList(fields, "keys"),
      transactionsFilter: text(fields, "transactions_filter"),
      connectionId: text(fields, "connection_id"),
      updatePeriod: uint(fields, "update_period"),
      sender,
    },
    environment,
  );
  return result(
    environment,
    "MsgRegisterInterchainQueryResponse",
    `{"id":${response.id}}`,
    wire.MsgRegisterInterchainQueryResponse.encode(response).finish(),
  );
}

function runUpdate(
  context: Context,
  sender: string,
  fields: Fields,
  environment: Environment,
): BindingResult {
  const message = {
    queryId: uint(fields, "query_id"),
    newKeys: keyList(fields, "new_keys"),
    newUpdatePeriod: uint(fields, "new_update_period"),
    newTransactionsFilter: text(fields, "new_transactions_filter"),
    sender,
  };
  updateQuery(context, message, environment);
  return result(environment, "MsgUpdateInterchainQueryResponse", "{}", new Uint8Array(0));
}

function runRemove(
  context: Context,
  sender: string,
  fields: Fields,
  environment: Environment,
): BindingResult {
  removeQuery(context, { queryId: uint(fields, "query_id"), sender }, environment);
  return result(environment, "MsgRemoveInterchainQueryResponse", "{}", new Uint8Array(0));
}

function result({ chainName }: Environment, name: string, data: string, response: Uint8Array): BindingResult {
  const typeUrl = toChainTypeUrl(`/neutron.interchainqueries.${name}`, chainName);
  return { data: utf8(data), response: { typeUrl, response } };
}

/** An absent or null list is empty; a null element stays as a gap for the key check to find. */
function keyList(fields: Fields, name: string): KeyList {
  const value: unknown = fields[name] ?? [];
  if (!Array.isArray(value)) throw malformed(`${name}: a list was expected`);
  return value.map((entry: unknown, index) => {
    if (entry === null) return undefined;
    if (!isRecord(entry)) throw malformed(`${name}[${index}]: an object was expected`);
    return { path: text(entry, "path"), key: base64(text(entry, "key"), `${name}[${index}].key`) };
  });
}

function text(fields: Fields, name: string): string {
  const value: unknown = fields[name] ?? "";
  if (typeof value === "string") return value;
  throw malformed(`${name}: a string was expected`);
}

function uint(fields: Fields, name: string): bigint {
  const value: unknown = fields[name] ?? 0;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  throw malformed(`${name}: an unsigned integer was expected`);
}

function base64(value: string, path: string): Uint8Array {
  try {
    return fromBase64(value);
  } catch {
    throw malformed(`${path}: base64 was expected`);
  }
}

function malformed(what: string): ModuleError {
  return new ModuleError("undefined", 1, `failed to decode incoming custom cosmos message: ${what}`);
}
