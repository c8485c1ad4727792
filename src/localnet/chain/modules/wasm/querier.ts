import { responseTypeOf, toCanonicalTypeUrl } from "../../../../cosmos/proto/registry.ts";
import { messageToJson } from "../../../../cosmos/proto/json.ts";
import { toBase64, toHex, utf8 } from "../../../../platform/base/bytes.ts";
import { goJsonSyntaxError } from "../../../../platform/base/go-json-syntax.ts";
import { GoJsonError, printGoJson, printGoObject, printGoString } from "../../../../platform/base/go-json.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../../../platform/base/json.ts";
import { GAS_MULTIPLIER } from "../../../vm/gas.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Coin } from "../../runtime/coins.ts";
import { type Context, dryRun } from "../../runtime/context.ts";
import * as errors from "../../runtime/errors.ts";
import { createNestedMeter } from "../../runtime/gas.ts";
import { ContractError, type MessageJson } from "./contract.ts";
import { GoField } from "./go-field.ts";
import { queryChannels } from "./ibc-channels.ts";
import { codes, contracts, contractStore, isPinned, type LoadedCode } from "./keeper.ts";
import { ErrEmpty, ErrInvalid, MODULE_NAME } from "./keys.ts";
import { parseMessageJson, printMessageJson } from "./message-json.ts";
import { queryStaking } from "./staking-querier.ts";
import type { WasmDeps, WasmOptions } from "./types.ts";

/**
 * Thrown for a query that the chain cannot run, as opposed to a query that runs and returns an error. The property `json` contains
 * wasmvm's `SystemError`.
 */
class SystemError extends Error {
  readonly json: string;

  constructor(kind: string, members: readonly (readonly [string, string])[]) {
    super(members.map(([, value]) => JSON.parse(value) as unknown).join(" "));
    this.json = printGoObject([[kind, printGoObject(members)]]);
  }
}

function unsupported(kind: string): SystemError {
  return new SystemError("unsupported_request", [["kind", printGoString(kind)]]);
}

/** Runs a query from a contract and returns the bytes that the contract receives. Throws `ModuleError` and `SystemError`. */
export type ContractQuerier = (context: Context, contract: LoadedCode, request: GoField) => Uint8Array;

/** Runs smart queries, and decides whether contracts may see an error's message. */
export interface SmartQueries {
  readonly query: (context: Context, address: string, message: Uint8Array) => Uint8Array;
  readonly isDeterministic: (error: errors.ModuleError) => boolean;
}

export function createQuerier(options: WasmOptions, deps: WasmDeps, smart: SmartQueries): ContractQuerier {
  const kinds: Readonly<Record<string, (body: GoField, scope: QueryScope) => Uint8Array>> = {
    bank: (body, { context }) => queryBank(context, body, deps, options),
    custom: (body, { context }) => queryBinding(context, body, deps),
    ibc: (body, { context, contract }) =>
      orUnsupported("unknown IBCQuery variant", queryChannels(context, contract.bytes, body, deps.channels)),
    staking: (body, { context }) =>
      orUnsupported(
        "unknown Staking variant",
        queryStaking(context, body, deps.staking, options.bech32Prefix),
      ),
    stargate: (body, scope) => utf8(printGoJson(queryRoute(scope, body, options, deps).json())),
    grpc: (body, scope) => queryRoute(scope, body, options, deps).bytes,
    wasm: (body, { context }) => queryContract(context, body, options, smart),
  };
  return (context, contract, request) => {
    const response = request.variant(kinds, { context, contract });
    if (response === undefined) throw new SystemError("unknown", []);
    return response;
  };
}

function orUnsupported(kind: string, response: Uint8Array | undefined): Uint8Array {
  if (response === undefined) throw unsupported(kind);
  return response;
}

interface RouteResponse {
  readonly bytes: Uint8Array;
  readonly json: () => ReturnType<typeof messageToJson>;
}

interface QueryScope {
  readonly context: Context;
  readonly contract: LoadedCode;
}

function mayQuery({ context, contract }: QueryScope, path: string, options: WasmOptions): boolean {
  const { allowedQueries, moreQueries = [] } = options;
  if (allowedQueries.includes(path)) return true;
  const hasMore = contract.isTypeScript === true || !context.profile.deployed("contractQueries");
  return hasMore && moreQueries.includes(path);
}

function queryRoute(scope: QueryScope, body: GoField, options: WasmOptions, deps: WasmDeps): RouteResponse {
  const { context } = scope;
  const { chainName } = options;
  const path = body.member("path").text();
  const canonical = toCanonicalTypeUrl(path, chainName);
  if (canonical === undefined || !mayQuery(scope, canonical, options))
    throw unsupported(`'${path}' path is not allowed from the contract`);
  const handler = deps.findQuery(path);
  if (handler === undefined) throw unsupported(`No route to query '${path}'`);
  const request = body.member("data").bytes();
  const bytes = withoutStatus(() => handler.query(context, request));
  const json = (): ReturnType<typeof messageToJson> =>
    messageToJson(responseTypeOf(canonical), bytes, chainName, context.profile.proto);
  return { bytes, json };
}

/** Runs a query. Converts a gRPC status to an unregistered error. */
function withoutStatus<T>(query: () => T): T {
  try {
    return query();
  } catch (error) {
    throw error instanceof errors.QueryError ? errors.unregisteredError(error.message) : error;
  }
}

function queryBinding(context: Context, body: GoField, deps: WasmDeps): Uint8Array {
  const request = body.message();
  const response = isRecord(request) ? deps.customQueries?.(context, request) : undefined;
  if (response === undefined) throw unsupported("unknown neutron query type");
  return utf8(printMessageJson(response));
}

function queryBank(context: Context, body: GoField, { bank }: WasmDeps, options: WasmOptions): Uint8Array {
  const accountOf = (request: GoField): Uint8Array => addressOf(request.member("address").text(), options);
  const amount = body.variant<[], JsonValue>({
    balance: (request) => {
      const denom = request.member("denom").text();
      return coinJson({ denom, amount: bank.balance(context, accountOf(request), denom).amount });
    },
    all_balances: (request) => {
      request.member("denom").text();
      return [...bank.balances(context, accountOf(request))].map(coinJson);
    },
    supply: (request) => {
      const denom = request.member("denom").text();
      return coinJson({ denom, amount: bank.supply(context, denom) });
    },
  });
  if (amount === undefined) throw unsupported("unknown BankQuery variant");
  return utf8(printGoJson({ amount }));
}

function coinJson({ denom, amount }: Coin): JsonObject {
  return { denom, amount: amount.toString() };
}

function addressOf(text: string, { bech32Prefix }: WasmOptions): Uint8Array {
  return errors.orThrow(
    () => parseAddress(bech32Prefix, text),
    () => errors.ErrInvalidAddress(text),
  );
}

function queryContract(
  context: Context,
  body: GoField,
  options: WasmOptions,
  smart: SmartQueries,
): Uint8Array {
  const contractIn = (request: GoField): readonly [text: string, address: Uint8Array] => {
    const text = request.member("contract_addr").text();
    return [text, addressOf(text, options)];
  };
  return orUnsupported(
    "unknown WasmQuery variant",
    body.variant({
      smart: (request) => {
        const [text] = contractIn(request);
        const message = request.member("msg").bytes();
        if (goJsonSyntaxError(message) !== undefined) throw ErrInvalid().wrap("json msg");
        return querySmart(context, text, message, smart);
      },
      raw: (request) => {
        const [, address] = contractIn(request);
        return contractStore(context, address).get(request.member("key").bytes()) ?? new Uint8Array(0);
      },
      contract_info: (request) => {
        const [text, address] = contractIn(request);
        return contractInfo(context, address, text);
      },
      code_info: (request) => codeInfo(context, request.member("code_id").uint64()),
    }),
  );
}

/** wasmd's error code for ErrNoSuchContract. */
const NO_SUCH_CONTRACT = 22;

function querySmart(context: Context, address: string, message: Uint8Array, smart: SmartQueries): Uint8Array {
  try {
    return smart.query(context, address, message);
  } catch (error) {
    if (
      error instanceof errors.ModuleError &&
      error.codespace === MODULE_NAME &&
      error.code === NO_SUCH_CONTRACT
    )
      throw noSuchContract(address);
    throw error;
  }
}

function noSuchContract(address: string): SystemError {
  return new SystemError("no_such_contract", [["addr", printGoString(address)]]);
}

/** Returns a list that contains one JSON member. Like Go's `omitempty`, returns an empty list if the value is empty. */
function optional(name: string, value: string): readonly (readonly [string, string])[] {
  return value === "" ? [] : [[name, printGoString(value)]];
}

function contractInfo(context: Context, address: Uint8Array, text: string): Uint8Array {
  const info = contracts.get(context, address);
  if (info === undefined) throw noSuchContract(text);
  return utf8(
    printGoObject([
      ["code_id", info.codeId.toString()],
      ["creator", printGoString(info.creator)],
      ...optional("admin", info.admin),
      ["pinned", String(isPinned(context, info.codeId))],
      ...optional("ibc_port", info.ibcPortId),
    ]),
  );
}

function codeInfo(context: Context, codeId: bigint): Uint8Array {
  if (codeId === 0n) throw ErrEmpty("code id");
  const info = codes.get(context, codeId);
  if (info === undefined) throw new SystemError("no_such_code", [["code_id", codeId.toString()]]);
  return utf8(
    printGoObject([
      ["code_id", codeId.toString()],
      ["creator", printGoString(info.creator)],
      ["checksum", printGoString(toHex(info.codeHash))],
    ]),
  );
}

/**
 * Runs a binary contract's encoded query (wasmd `QueryHandler`) without writes. The query has a separate gas meter with a limit of
 * `gas` (VM gas), and the used gas is charged to the call. Returns the encoded `QuerierResult`. Throws only panics.
 */
export function answerQuery(
  querier: ContractQuerier,
  caller: { readonly context: Context; readonly contract: LoadedCode; readonly gas: bigint },
  request: Uint8Array,
  smart: Pick<SmartQueries, "isDeterministic">,
): Uint8Array {
  const { context, contract } = caller;
  const meter = createNestedMeter(context.gas, caller.gas / GAS_MULTIPLIER);
  let result: string;
  try {
    const parsed = GoField.parse(request);
    const response = dryRun(context.withGas(meter), (inner) => querier(inner, contract, parsed));
    result = printGoJson({ ok: { ok: toBase64(response) } });
  } catch (error) {
    result = printFailure(error, request, smart);
  } finally {
    context.gas.consume(meter.used(), "contract sub-query");
  }
  return utf8(result);
}

function printFailure(
  error: unknown,
  request: Uint8Array,
  smart: Pick<SmartQueries, "isDeterministic">,
): string {
  if (error instanceof SystemError) return printGoObject([["error", error.json]]);
  if (error instanceof GoJsonError) {
    const invalid = { error: error.message, request: toBase64(request) };
    return printGoJson({ error: { invalid_request: invalid } });
  }
  if (!(error instanceof errors.ModuleError) || error instanceof errors.ChainPanic) throw error;
  const text = smart.isDeterministic(error) ? error.message : redacted(error);
  return printGoJson({ ok: { error: text } });
}

/**
 * Returns the part of an error that contracts may see. The message is omitted, because it may differ between nodes and must not
 * affect the state.
 */
export function redacted({ codespace, code }: errors.ModuleError): string {
  return `codespace: ${codespace}, code: ${code}`;
}

/**
 * Runs a TypeScript contract's query with the call's gas. A `grpc` query returns the response in base64, and a raw query returns
 * the value in base64, or null. Throws `ModuleError` and `ContractError`.
 */
export function queryFromTypeScript(
  querier: ContractQuerier,
  context: Context,
  contract: LoadedCode,
  request: Readonly<Record<string, MessageJson>>,
): MessageJson {
  const field = GoField.parse(utf8(printMessageJson(request)));
  let response: Uint8Array;
  try {
    response = querier(context, { ...contract, isTypeScript: true }, field);
  } catch (error) {
    if (error instanceof SystemError) throw errors.ErrNotSupported(error.message);
    throw error instanceof GoJsonError ? new ContractError(`query: ${error.message}`) : error;
  }
  const isRaw = field.member("wasm").member("raw").isPresent();
  if (!isRaw && !field.member("grpc").isPresent()) return parseMessageJson(response);
  return isRaw && response.length === 0 ? null : toBase64(response);
}
