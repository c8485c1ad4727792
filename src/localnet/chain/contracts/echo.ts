import { MsgSend } from "../../../cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import type { Coin as WireCoin } from "../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import { MsgExecuteContract, MsgInstantiateContract } from "../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { TYPE_URL } from "../../../cosmos/proto/registry.ts";
import { isRecord, JsonField } from "../../../platform/base/json.ts";
import * as wasm from "../modules/wasm/contract.ts";
import { copyMessage, printMessageJson } from "../modules/wasm/message-json.ts";
import { any, wasmAny } from "../modules/wasm/contract-message.ts";
import { asUintNumber } from "../modules/wasm/custom-json.ts";
import { parseCoins, toWireCoin } from "../runtime/coins.ts";

/**
 * A contract that returns its caller's messages. `execute` interprets its message as a contract result (`{"ok":{"messages":[…],…}}`
 * or `{"error":"…"}`), so the caller can make the contract emit any sub-message. `sudo` returns the message in the attribute
 * `sudo`, `reply` returns nothing, and `query` returns the query message.
 */
export const echo: wasm.ContractCode = {
  name: "echo",
  instantiate: () => wasm.NO_RESPONSE,
  execute: ({ address }, _caller, message) => parseContractResult(message, address),
  sudo: (_scope, message) => ({
    ...wasm.NO_RESPONSE,
    attributes: [{ key: "sudo", value: printMessageJson(message) }],
  }),
  reply: () => wasm.NO_RESPONSE,
  query: (_scope, message) => message,
};

const REPLY_ON: ReadonlySet<string> = new Set(["always", "error", "success", "never"]);

/**
 * Parses a contract's result from CosmWasm's JSON, which is `{"ok":{messages,attributes,events,data}}` or `{"error":text}`. Throws
 * a `ContractError` with the text in `error`, or with the path of an invalid field.
 */
function parseContractResult(json: unknown, sender: string): wasm.ContractResponse {
  const result = new JsonField(json, "", fieldError);
  const error = result.member("error");
  if (typeof error.value === "string") throw new wasm.ContractError(error.value);
  const { value: ok } = requireRecord(result.member("ok"));
  // Paths in error messages omit the leading "ok", as in "messages[0].reply_on".
  const response = new JsonField(ok, "", fieldError);
  const data = response.member("data");
  return {
    messages: response
      .member("messages")
      .required()
      .elements()
      .map((each) => parseSubMessage(each, sender)),
    attributes: response.member("attributes").elements().map(parseAttribute),
    events: response
      .member("events")
      .elements()
      .map((event) => ({
        type: requiredText(event, "type"),
        attributes: event.member("attributes").elements().map(parseAttribute),
      })),
    data: data.isPresent() ? data.asBase64() : undefined,
  };
}

function parseSubMessage(field: JsonField, sender: string): wasm.SubMessage {
  const replyOn = requiredText(field, "reply_on");
  if (!isReplyOn(replyOn)) throw new wasm.ContractError(`${field.path}.reply_on: unknown variant ${replyOn}`);
  const gasLimit = field.member("gas_limit");
  return {
    id: asUintNumber(field.member("id").required()),
    message: parseMessage(field.member("msg"), sender),
    replyOn,
    gasLimit: gasLimit.isPresent() ? asUintNumber(gasLimit) : undefined,
  };
}

function isReplyOn(value: string): value is wasm.ReplyOn {
  return REPLY_ON.has(value);
}

function parseMessage(field: JsonField, sender: string): wasm.ContractMessage {
  const variant = onlyVariant(field);
  switch (variant.name) {
    case "custom":
      return { kind: "custom", message: copyMessage(variant.body.value) };
    case "stargate":
    case "any":
      return {
        kind: "any",
        typeUrl: requiredText(variant.body, "type_url"),
        value: variant.body.member("value").required().asBase64(),
      };
    default: {
      const inner = onlyVariant(requireRecord(variant.body));
      return parseModuleMessage(`${variant.name}.${inner.name}`, requireRecord(inner.body), sender);
    }
  }
}

function parseModuleMessage(kind: string, field: JsonField, sender: string): wasm.ContractMessage {
  switch (kind) {
    case "bank.send":
      return any(TYPE_URL.send, MsgSend, {
        fromAddress: sender,
        toAddress: requiredText(field, "to_address"),
        amount: requiredCoins(field, "amount"),
      });
    case "wasm.execute":
      return wasmAny("MsgExecuteContract", MsgExecuteContract, {
        sender,
        contract: requiredText(field, "contract_addr"),
        msg: field.member("msg").required().asBase64(),
        funds: requiredCoins(field, "funds"),
      });
    case "wasm.instantiate":
      return wasmAny("MsgInstantiateContract", MsgInstantiateContract, {
        sender,
        codeId: asUintNumber(field.member("code_id").required()),
        label: requiredText(field, "label"),
        admin: field.member("admin").asText(),
        msg: field.member("msg").required().asBase64(),
        funds: requiredCoins(field, "funds"),
      });
    default:
      throw new wasm.ContractError(`${field.path}: not implemented: messages of kind ${kind}`);
  }
}

/** Returns the name and value of an object's only member, which is how serde encodes an enum. */
function onlyVariant(field: JsonField): { readonly name: string; readonly body: JsonField } {
  const names = isRecord(field.value) ? Object.keys(field.value) : [];
  const [name] = names;
  if (name === undefined || names.length !== 1) throw field.error(field.path, "an object with one variant");
  return { name, body: field.member(name) };
}

function parseAttribute(field: JsonField): wasm.ContractAttribute {
  return { key: requiredText(field, "key"), value: requiredText(field, "value") };
}

function requiredCoins(field: JsonField, name: string): WireCoin[] {
  const coins = field.member(name).required().elements();
  return parseCoins(
    coins.map((coin) => ({ denom: requiredText(coin, "denom"), amount: requiredText(coin, "amount") })),
  ).map(toWireCoin);
}

function requiredText(field: JsonField, name: string): string {
  return field.member(name).required().asText();
}

function requireRecord(field: JsonField): JsonField {
  if (!isRecord(field.value)) throw field.error(field.path, "an object");
  return field;
}

function fieldError(path: string, expected: string): wasm.ContractError {
  return new wasm.ContractError(`${path === "" ? "result" : path}: not ${expected}`);
}
