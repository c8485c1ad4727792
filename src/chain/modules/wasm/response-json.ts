import { fromBase64 } from "../../../base/bytes.ts";
import { isRecord } from "../../../base/json.ts";
import { parseCoins, type Coin } from "../../runtime/coins.ts";
import {
  type ContractAttribute,
  ContractError,
  type ContractMessage,
  type ContractResponse,
  type ReplyOn,
  type SubMessage,
} from "./contract.ts";

const REPLY_ON: ReadonlySet<string> = new Set(["always", "error", "success", "never"]);

/** Reads an answer in CosmWasm's JSON (`{"ok":{messages,attributes,events,data}}` or `{"error":text}`). Throws `ContractError`. */
export function parseContractResult(json: unknown): ContractResponse {
  const result = object(json, "result");
  if (typeof result["error"] === "string") throw new ContractError(result["error"]);
  const ok = object(result["ok"], "result.ok");
  return {
    messages: list(ok["messages"], "messages", parseSubMessage),
    attributes: list(ok["attributes"] ?? [], "attributes", parseAttribute),
    events: list(ok["events"] ?? [], "events", (entry, path) => {
      const event = object(entry, path);
      return {
        type: text(event["type"], `${path}.type`),
        attributes: list(event["attributes"] ?? [], `${path}.attributes`, parseAttribute),
      };
    }),
    data: optional(ok["data"], (value) => base64(value, "data")),
  };
}

function parseSubMessage(json: unknown, path: string): SubMessage {
  const fields = object(json, path);
  const replyOn = text(fields["reply_on"], `${path}.reply_on`);
  if (!isReplyOn(replyOn)) throw new ContractError(`${path}.reply_on: unknown variant ${replyOn}`);
  return {
    id: integer(fields["id"], `${path}.id`),
    message: parseMessage(fields["msg"], `${path}.msg`),
    replyOn,
    gasLimit: optional(fields["gas_limit"], (value) => integer(value, `${path}.gas_limit`)),
  };
}

function isReplyOn(value: string): value is ReplyOn {
  return REPLY_ON.has(value);
}

function parseMessage(json: unknown, path: string): ContractMessage {
  const entries = Object.entries(object(json, path));
  const [name, body] = entries[0] ?? ["", undefined];
  if (entries.length !== 1) throw new ContractError(`${path}: one variant was expected`);
  if (name === "custom") return { kind: "custom", message: JSON.parse(JSON.stringify(body)) };
  const fields = object(body, `${path}.${name}`);
  if (name === "stargate" || name === "any")
    return {
      kind: "any",
      typeUrl: text(fields["type_url"], `${path}.type_url`),
      value: base64(fields["value"], path),
    };
  const [variant, inner] = Object.entries(fields)[0] ?? ["", undefined];
  return parseNested(`${name}.${variant}`, object(inner, `${path}.${name}.${variant}`), path);
}

function parseNested(name: string, fields: Readonly<Record<string, unknown>>, path: string): ContractMessage {
  switch (name) {
    case "bank.send":
      return { kind: "send", to: text(fields["to_address"], path), coins: coins(fields["amount"], path) };
    case "wasm.execute":
      return {
        kind: "execute",
        contract: text(fields["contract_addr"], `${path}.contract_addr`),
        message: base64(fields["msg"], `${path}.msg`),
        funds: coins(fields["funds"], `${path}.funds`),
      };
    case "wasm.instantiate":
      return {
        kind: "instantiate",
        codeId: integer(fields["code_id"], `${path}.code_id`),
        label: text(fields["label"], `${path}.label`),
        admin: optional(fields["admin"], (value) => text(value, `${path}.admin`)) ?? "",
        message: base64(fields["msg"], `${path}.msg`),
        funds: coins(fields["funds"], `${path}.funds`),
      };
    default:
      throw new ContractError(`${path}: not implemented: messages of kind ${name}`);
  }
}

function parseAttribute(json: unknown, path: string): ContractAttribute {
  const fields = object(json, path);
  return { key: text(fields["key"], `${path}.key`), value: text(fields["value"], `${path}.value`) };
}

function coins(json: unknown, path: string): readonly Coin[] {
  const wire = list(json, path, (entry, at) => {
    const fields = object(entry, at);
    return { denom: text(fields["denom"], `${at}.denom`), amount: text(fields["amount"], `${at}.amount`) };
  });
  return parseCoins(wire);
}

function object(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw new ContractError(`${path}: an object was expected`);
}

function list<T>(value: unknown, path: string, parse: (entry: unknown, path: string) => T): readonly T[] {
  if (!Array.isArray(value)) throw new ContractError(`${path}: a list was expected`);
  return value.map((entry: unknown, index) => parse(entry, `${path}[${index}]`));
}

function text(value: unknown, path: string): string {
  if (typeof value === "string") return value;
  throw new ContractError(`${path}: a string was expected`);
}

function integer(value: unknown, path: string): bigint {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  throw new ContractError(`${path}: an unsigned integer was expected`);
}

function base64(value: unknown, path: string): Uint8Array {
  try {
    return fromBase64(text(value, path));
  } catch (error) {
    throw error instanceof ContractError ? error : new ContractError(`${path}: base64 was expected`);
  }
}

function optional<T>(value: unknown, parse: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : parse(value);
}
