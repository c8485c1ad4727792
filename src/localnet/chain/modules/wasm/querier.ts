import { toBase64 } from "../../../../platform/base/bytes.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import { isRecord, type JsonValue, JsonField } from "../../../../platform/base/json.ts";
import { messageToJson } from "../../../../cosmos/proto/json.ts";
import { findService, toCanonicalTypeUrl } from "../../../../cosmos/proto/registry.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalidAddress, ErrNotSupported, QueryError } from "../../runtime/errors.ts";
import { readAddress } from "./loading.ts";
import { ContractError, type MessageJson } from "./contract.ts";
import { ErrQueryFailed } from "./keys.ts";
import { contractStore } from "./keeper.ts";
import { parseMessageJson } from "./message-json.ts";
import type { WasmDeps, WasmOptions } from "./types.ts";

/** Answers a contract's query in CosmWasm's JSON. Throws `ModuleError` or `ContractError`. */
export type ContractQuerier = (context: Context, request: Readonly<Record<string, unknown>>) => MessageJson;

type SmartQuery = (context: Context, address: string, message: Uint8Array) => Uint8Array;

/**
 * Creates the querier. It answers `stargate` (as proto JSON) and `grpc` (as base64 of the encoded response) for allowed
 * gRPC paths, `wasm` smart and raw queries, the `supply` of `bank`, and queries of the chain's own bindings under `custom`.
 */
export function createQuerier(options: WasmOptions, deps: WasmDeps, smart: SmartQuery): ContractQuerier {
  return (context, request) => {
    const [kind, body] = Object.entries(request)[0] ?? ["", null];
    if (!isRecord(body)) throw new ContractError(`query ${kind}: an object was expected`);
    const field = new JsonField(body, "", fieldError);
    switch (kind) {
      case "stargate":
        return queryRoute(context, field, options, deps).json();
      case "grpc":
        return toBase64(queryRoute(context, field, options, deps).bytes);
      case "custom":
        return queryBinding(context, body, deps);
      case "wasm":
        return queryContract(context, field, options, smart);
      case "bank":
        return querySupply(context, field, deps);
      default:
        throw ErrNotSupported(`not implemented: contract queries of kind ${kind}`);
    }
  };
}

interface RouteResponse {
  readonly bytes: Uint8Array;
  readonly json: () => JsonValue;
}

function queryRoute(
  context: Context,
  body: JsonField,
  { chainName, allowedQueries }: WasmOptions,
  deps: WasmDeps,
): RouteResponse {
  const path = body.member("path").required().asText();
  const canonical = toCanonicalTypeUrl(path, chainName);
  if (canonical === undefined || !allowedQueries.includes(canonical))
    throw ErrNotSupported(`'${path}' path is not allowed from the contract`);
  const handler = deps.findQuery(path);
  if (handler === undefined) throw ErrNotSupported(`No route to query '${path}'`);
  const request = body.member("data").required().asBase64();
  const bytes = wrapQueryError(() => handler.query(context, request));
  return { bytes, json: () => messageToJson(responseType(canonical), bytes, chainName) };
}

function responseType(path: string): string {
  const [, service = "", rpc = ""] = path.split("/");
  const method = findService(service)?.methods.find(({ name }) => name === rpc);
  return method?.responseType ?? unreachable(`${path} is allowed, but no service has it`);
}

/** Turns a gRPC status into an error of the contract host. Contracts see only the codespace and code of it. */
function wrapQueryError<T>(query: () => T): T {
  try {
    return query();
  } catch (error) {
    throw error instanceof QueryError ? ErrQueryFailed(error.message) : error;
  }
}

function queryBinding(
  context: Context,
  body: Readonly<Record<string, unknown>>,
  deps: WasmDeps,
): MessageJson {
  const response = deps.customQueries?.(context, body);
  if (response === undefined) throw ErrNotSupported("custom queries of this kind");
  return response;
}

/** Answers `{"bank":{"supply":{"denom":…}}}`. */
function querySupply(context: Context, body: JsonField, deps: WasmDeps): JsonValue {
  const supply = body.member("supply");
  if (!isRecord(supply.value)) throw ErrNotSupported("not implemented: bank queries but supply");
  const denom = supply.member("denom").required().asText();
  return { amount: { denom, amount: deps.bank.supply(context, denom).toString() } };
}

function queryContract(
  context: Context,
  body: JsonField,
  { bech32Prefix }: WasmOptions,
  smart: SmartQuery,
): MessageJson {
  const [smartBody, rawBody] = [body.member("smart"), body.member("raw")];
  if (isRecord(smartBody.value)) {
    const message = smartBody.member("msg").required().asBase64();
    const response = smart(context, smartBody.member("contract_addr").required().asText(), message);
    return parseMessageJson(response);
  }
  if (!isRecord(rawBody.value)) throw ErrNotSupported("not implemented: contract queries but smart and raw");
  const text = rawBody.member("contract_addr").required().asText();
  const address = readAddress(bech32Prefix, text);
  if (!address.ok) throw ErrInvalidAddress(text);
  const value = contractStore(context, address.value).get(rawBody.member("key").required().asBase64());
  return value === undefined ? null : toBase64(value);
}

function fieldError(path: string, expected: string): ContractError {
  return new ContractError(`query field ${path}: not ${expected}`);
}
