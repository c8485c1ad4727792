import { utf8 } from "../../../../../platform/base/bytes.ts";
import {
  isRecord,
  type JsonValue,
  asBase64,
  asText,
  elements,
  isPresent,
  type JsonField,
  member,
} from "../../../../../platform/base/json.ts";
import * as wire from "../../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { toChainTypeUrl } from "../../../../../cosmos/proto/type-urls.ts";
import type { Context } from "../../../runtime/context.ts";
import type { HandlerResult } from "../../../runtime/module.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { registerQuery, removeQuery, updateQuery } from "../handlers.ts";
import { customFields } from "../../wasm/custom-fields.ts";
import type { Environment } from "../types.ts";
import type { KeyList } from "../validation/key-list.ts";
import { asUintNumber } from "./json-number.ts";

/** Result of a custom message: JSON for the `data` of the contract's reply, and the encoded response. */
export interface CustomMessageResult {
  readonly data: Uint8Array;
  readonly response: HandlerResult;
}

/** A custom message with its sender, which is always the calling contract. */
interface CustomMessage {
  readonly sender: string;
  readonly fields: JsonField;
}

/**
 * Runs a contract's `register_interchain_query`, `update_interchain_query` or `remove_interchain_query`. Returns
 * undefined for any other message. If a message has several of these members, the first in this order wins, as in Go.
 */
export function handleCustomMessage(
  context: Context,
  sender: string,
  message: JsonValue,
  environment: Environment,
): CustomMessageResult | undefined {
  if (!isRecord(message)) return undefined;
  const {
    register_interchain_query: register,
    update_interchain_query: update,
    remove_interchain_query: remove,
  } = message;
  if (isRecord(register))
    return wrapAs("register", () =>
      runRegister(context, { sender, fields: customFields(register) }, environment),
    );
  if (isRecord(update))
    return wrapAs("update", () => runUpdate(context, { sender, fields: customFields(update) }, environment));
  if (isRecord(remove))
    return wrapAs("remove", () => runRemove(context, { sender, fields: customFields(remove) }, environment));
  return undefined;
}

/** Wraps errors twice with the same words, as two layers of the Go bindings do. */
function wrapAs(action: string, run: () => CustomMessageResult): CustomMessageResult {
  const words = `failed to ${action} interchain query`;
  return wrapErrors((error) => error.wrap(words).wrap(words), run);
}

function runRegister(
  context: Context,
  { sender, fields }: CustomMessage,
  environment: Environment,
): CustomMessageResult {
  const message = {
    queryType: asText(member(fields, "query_type")),
    keys: keyList(member(fields, "keys")),
    transactionsFilter: asText(member(fields, "transactions_filter")),
    connectionId: asText(member(fields, "connection_id")),
    updatePeriod: asUintNumber(member(fields, "update_period")),
    sender,
  };
  const response = registerQuery(context, message, environment);
  return {
    data: utf8(`{"id":${response.id}}`),
    response: {
      typeUrl: responseTypeUrl("MsgRegisterInterchainQueryResponse", environment),
      response: wire.MsgRegisterInterchainQueryResponse.encode(response).finish(),
    },
  };
}

function runUpdate(
  context: Context,
  { sender, fields }: CustomMessage,
  environment: Environment,
): CustomMessageResult {
  const message = {
    queryId: asUintNumber(member(fields, "query_id")),
    newKeys: keyList(member(fields, "new_keys")),
    newUpdatePeriod: asUintNumber(member(fields, "new_update_period")),
    newTransactionsFilter: asText(member(fields, "new_transactions_filter")),
    sender,
  };
  updateQuery(context, message, environment);
  return emptyResult("MsgUpdateInterchainQueryResponse", environment);
}

function runRemove(
  context: Context,
  { sender, fields }: CustomMessage,
  environment: Environment,
): CustomMessageResult {
  removeQuery(context, { queryId: asUintNumber(member(fields, "query_id")), sender }, environment);
  return emptyResult("MsgRemoveInterchainQueryResponse", environment);
}

function emptyResult(name: string, environment: Environment): CustomMessageResult {
  const typeUrl = responseTypeUrl(name, environment);
  return { data: utf8("{}"), response: { typeUrl, response: new Uint8Array(0) } };
}

function responseTypeUrl(name: string, { chainName }: Environment): string {
  return toChainTypeUrl(`/neutron.interchainqueries.${name}`, chainName);
}

/** Reads a key list. A null element becomes undefined, which the key check rejects; the deployed chain panics on it. */
function keyList(field: JsonField): KeyList {
  return elements(field).map((entry) =>
    isPresent(entry)
      ? { path: asText(member(entry, "path")), key: asBase64(member(entry, "key")) }
      : undefined,
  );
}
