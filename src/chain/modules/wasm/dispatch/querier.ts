import { fromBase64, fromUtf8, toBase64 } from "../../../../base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../../base/json.ts";
import { messageToJson } from "../../../../proto/json.ts";
import { findService } from "../../../../proto/registry.ts";
import { toCanonicalTypeUrl } from "../../../../proto/type-urls.ts";
import type { Context } from "../../../runtime/context.ts";
import { QueryError } from "../../../runtime/module.ts";
import { ContractError } from "../contract.ts";
import { notSupported, queryFailed } from "../errors.ts";
import { contractStore } from "../keeper.ts";
import { parseAddress } from "../../../runtime/address.ts";
import type { WasmDeps, WasmOptions } from "../types.ts";

/** Answers a contract's question in CosmWasm's JSON. Throws `ModuleError` or `ContractError`. */
export type ContractQuerier = (context: Context, request: JsonObject) => JsonValue;

type SmartQuery = (context: Context, address: string, message: Uint8Array) => Uint8Array;

/**
 * Questions that contracts may ask: `stargate` and `grpc` for allowed gRPC paths (the first answers JSON, the second base64
 * of the encoded response), `wasm` smart and raw, and the chain's own bindings under `custom`.
 */
export function createQuerier(options: WasmOptions, deps: WasmDeps, smart: SmartQuery): ContractQuerier {
  return (context, request) => {
    const [kind, body] = Object.entries(request)[0] ?? ["", null];
    if (!isRecord(body)) throw new ContractError(`query ${kind}: an object was expected`);
    if (kind === "stargate" || kind === "grpc") {
      const answer = askRoute(context, body, options, deps);
      return kind === "grpc" ? toBase64(answer.bytes) : answer.json();
    }
    if (kind === "custom") return askBinding(context, body, deps);
    if (kind === "wasm") return askContract(context, body, options, smart);
    throw notSupported(`not implemented: contract queries of kind ${kind}`);
  };
}

interface RouteAnswer {
  readonly bytes: Uint8Array;
  readonly json: () => JsonValue;
}

function askRoute(
  context: Context,
  body: Readonly<Record<string, unknown>>,
  { chainName, allowedQueries }: WasmOptions,
  deps: WasmDeps,
): RouteAnswer {
  const path = text(body, "path");
  const canonical = toCanonicalTypeUrl(path, chainName);
  if (canonical === undefined || !allowedQueries.includes(canonical))
    throw notSupported(`'${path}' path is not allowed from the contract`);
  const handler = deps.findQuery(path);
  if (handler === undefined) throw notSupported(`No route to query '${path}'`);
  const bytes = inQuery(() => handler.query(context, fromBase64(text(body, "data"))));
  return { bytes, json: () => messageToJson(responseType(canonical), bytes, chainName) };
}

function responseType(path: string): string {
  const [, service = "", rpc = ""] = path.split("/");
  const method = findService(service)?.methods.find(({ name }) => name === rpc);
  if (method === undefined) throw new Error(`this is a bug: ${path} is allowed, but no service has it`);
  return method.responseType;
}

/** A gRPC failure becomes an error of the contract host; contracts see only codespace and code anyway. */
function inQuery<T>(query: () => T): T {
  try {
    return query();
  } catch (error) {
    throw error instanceof QueryError ? queryFailed(error.message) : error;
  }
}

function askBinding(context: Context, body: Readonly<Record<string, unknown>>, deps: WasmDeps): JsonValue {
  const request: JsonObject = JSON.parse(JSON.stringify(body));
  const answer = deps.customQueries?.(context, request);
  if (answer === undefined) throw notSupported("custom queries of this kind");
  return answer;
}

function askContract(
  context: Context,
  body: Readonly<Record<string, unknown>>,
  { bech32Prefix }: WasmOptions,
  smart: SmartQuery,
): JsonValue {
  const { smart: smartBody, raw: rawBody } = body;
  if (isRecord(smartBody)) {
    const answer = smart(context, text(smartBody, "contract_addr"), fromBase64(text(smartBody, "msg")));
    return JSON.parse(fromUtf8(answer));
  }
  if (!isRecord(rawBody)) throw notSupported("not implemented: contract queries but smart and raw");
  const address = parseAddress(bech32Prefix, text(rawBody, "contract_addr"));
  const value = contractStore(context, address).get(fromBase64(text(rawBody, "key")));
  return value === undefined ? null : toBase64(value);
}

function text(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  if (typeof value === "string") return value;
  throw new ContractError(`query field ${name}: a string was expected`);
}
