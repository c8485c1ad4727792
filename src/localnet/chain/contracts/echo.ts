import {
  asBase64,
  asText,
  asUint64,
  elements,
  isPresent,
  isRecord,
  type JsonField,
  type JsonValue,
  member,
  required,
} from "../../../platform/base/json.ts";
import {
  type ContractAttribute,
  type ContractCode,
  ContractError,
  type ContractMessage,
  type ContractResponse,
  NO_RESPONSE,
  type ReplyOn,
  type SubMessage,
} from "../modules/wasm/contract.ts";
import { type Coin, parseCoins } from "../runtime/coins.ts";

/**
 * A contract that returns what its caller sends. `execute` reads its own message as a contract result
 * (`{"ok":{"messages":[…],…}}` or `{"error":"…"}`), so the caller can make it emit any sub-message. `sudo` returns the
 * message as the attribute `sudo`, `reply` returns nothing, `query` returns its own message.
 */
export const echo: ContractCode = {
  name: "echo",
  instantiate: () => NO_RESPONSE,
  execute: (_scope, _caller, message) => parseContractResult(message),
  sudo: (_scope, message) => ({
    ...NO_RESPONSE,
    attributes: [{ key: "sudo", value: JSON.stringify(message) }],
  }),
  reply: () => NO_RESPONSE,
  query: (_scope, message): JsonValue => message,
};

const REPLY_ON: ReadonlySet<string> = new Set(["always", "error", "success", "never"]);

/**
 * Parses a contract's result in CosmWasm's JSON: `{"ok":{messages,attributes,events,data}}` or `{"error":text}`. Throws
 * `ContractError`: with the text of `error`, or with the path of an invalid field.
 */
function parseContractResult(json: unknown): ContractResponse {
  const result: JsonField = { value: json, path: "", error: fieldError };
  const error = member(result, "error");
  if (typeof error.value === "string") throw new ContractError(error.value);
  const { value: ok } = requireRecord(member(result, "ok"));
  // Paths below begin at "ok": texts read "messages[0].reply_on".
  const response: JsonField = { value: ok, path: "", error: fieldError };
  const data = member(response, "data");
  return {
    messages: elements(required(member(response, "messages"))).map(parseSubMessage),
    attributes: elements(member(response, "attributes")).map(parseAttribute),
    events: elements(member(response, "events")).map((event) => ({
      type: requiredText(event, "type"),
      attributes: elements(member(event, "attributes")).map(parseAttribute),
    })),
    data: isPresent(data) ? asBase64(data) : undefined,
  };
}

function parseSubMessage(field: JsonField): SubMessage {
  const replyOn = requiredText(field, "reply_on");
  if (!isReplyOn(replyOn)) throw new ContractError(`${field.path}.reply_on: unknown variant ${replyOn}`);
  const gasLimit = member(field, "gas_limit");
  return {
    id: asUintNumber(required(member(field, "id"))),
    message: parseMessage(member(field, "msg")),
    replyOn,
    gasLimit: isPresent(gasLimit) ? asUintNumber(gasLimit) : undefined,
  };
}

function isReplyOn(value: string): value is ReplyOn {
  return REPLY_ON.has(value);
}

function parseMessage(field: JsonField): ContractMessage {
  const variant = onlyVariant(field);
  switch (variant.name) {
    case "custom":
      return { kind: "custom", message: JSON.parse(JSON.stringify(variant.body.value)) };
    case "stargate":
    case "any":
      return {
        kind: "any",
        typeUrl: requiredText(variant.body, "type_url"),
        value: asBase64(required(member(variant.body, "value"))),
      };
    default: {
      const inner = onlyVariant(requireRecord(variant.body));
      return parseModuleMessage(`${variant.name}.${inner.name}`, requireRecord(inner.body));
    }
  }
}

function parseModuleMessage(kind: string, field: JsonField): ContractMessage {
  switch (kind) {
    case "bank.send":
      return {
        kind: "send",
        to: requiredText(field, "to_address"),
        coins: requiredCoins(field, "amount"),
      };
    case "wasm.execute":
      return {
        kind: "execute",
        contract: requiredText(field, "contract_addr"),
        message: asBase64(required(member(field, "msg"))),
        funds: requiredCoins(field, "funds"),
      };
    case "wasm.instantiate":
      return {
        kind: "instantiate",
        codeId: asUintNumber(required(member(field, "code_id"))),
        label: requiredText(field, "label"),
        admin: asText(member(field, "admin")),
        message: asBase64(required(member(field, "msg"))),
        funds: requiredCoins(field, "funds"),
      };
    default:
      throw new ContractError(`${field.path}: not implemented: messages of kind ${kind}`);
  }
}

/** Returns the single member of an object, as serde reads an enum. */
function onlyVariant(field: JsonField): { readonly name: string; readonly body: JsonField } {
  const names = isRecord(field.value) ? Object.keys(field.value) : [];
  const [name] = names;
  if (name === undefined || names.length !== 1) throw field.error(field.path, "an object with one variant");
  return { name, body: member(field, name) };
}

function parseAttribute(field: JsonField): ContractAttribute {
  return { key: requiredText(field, "key"), value: requiredText(field, "value") };
}

function requiredCoins(field: JsonField, name: string): readonly Coin[] {
  const coins = elements(required(member(field, name)));
  return parseCoins(
    coins.map((coin) => ({ denom: requiredText(coin, "denom"), amount: requiredText(coin, "amount") })),
  );
}

function requiredText(field: JsonField, name: string): string {
  return asText(required(member(field, name)));
}

/** Returns an unsigned integer. CosmWasm writes integers of this size as JSON numbers only. */
function asUintNumber(field: JsonField): bigint {
  if (typeof field.value === "string") throw field.error(field.path, "an unsigned integer");
  return asUint64(field);
}

function requireRecord(field: JsonField): JsonField {
  if (!isRecord(field.value)) throw field.error(field.path, "an object");
  return field;
}

function fieldError(path: string, expected: string): ContractError {
  return new ContractError(`${path === "" ? "result" : path}: not ${expected}`);
}
