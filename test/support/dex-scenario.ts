import { isRecord, type JsonValue } from "../../src/platform/base/json.ts";
import { parseRfc3339Ns } from "../../src/platform/base/time.ts";
import { moduleParams } from "../../src/localnet/chain/modules/dex/params.ts";
import type { Profile } from "../../src/localnet/chain/deviations/deviations.ts";
import type { ChainEvent } from "../../src/localnet/chain/runtime/context.ts";
import { ModuleError, QueryError } from "../../src/localnet/chain/runtime/errors.ts";
import { CANONICAL_CHAIN_NAME, findService } from "../../src/cosmos/proto/registry.ts";
import { Params } from "../../src/cosmos/proto/gen/neutron/dex/params.ts";
import { messageFromJson, messageToJson } from "../../src/cosmos/proto/json.ts";
import { printState, unbalancedDenoms } from "./dex-state.ts";
import { toProfile, translateEvent } from "./dex-translation.ts";
import type { VectorLine } from "./dex-vector-lines.ts";
import { createDexWorld, type DexWorld } from "./dex-world.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Runs a scenario; returns the first difference to what is expected, or undefined. */
export function runScenario(line: VectorLine, profile: Profile): string | undefined {
  const world = createDexWorld(undefined, profile);
  const startsEmpty = !list(line["steps"]).some((step) => isRecord(step) && step["op"] === "init_genesis");
  const translated = toProfile(line, profile);
  if (!isRecord(translated)) throw new Error("a line is no object");
  for (const [index, step] of list(translated["steps"]).entries()) {
    if (!isRecord(step)) throw new Error(`step ${index} is no object`);
    const found = runStep(world, step) ?? (startsEmpty ? conservation(world) : undefined);
    if (found !== undefined) return `step ${index} (${String(step["op"])}): ${found}`;
  }
  return compareState(world, translated["final"]);
}

/** Returns the elements of a list, or none. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function conservation(world: DexWorld): string | undefined {
  const denoms = world.read(0n, unbalancedDenoms);
  return denoms.length === 0 ? undefined : `the module's balance differs from its reserves: ${denoms.join()}`;
}

function compareState(world: DexWorld, expected: unknown): string | undefined {
  if (!isRecord(expected)) return undefined;
  const actual = world.read(0n, printState);
  const { limit_order_expirations: expirations, pool_share_supply: supply, ...others } = expected;
  const wanted = {
    ...others,
    pool_share_supply: Object.fromEntries(
      Object.entries(isRecord(supply) ? supply : {}).filter(([, amount]) => amount !== "0"),
    ),
    limit_order_expirations: list(expirations).map((entry) => {
      const { expiration_time, tranche_ref_hex } = isRecord(entry) ? entry : {};
      return { expiration_time, tranche_ref_hex };
    }),
  };
  return difference("final", wanted, actual);
}

/** Vectors are JSON. */
export function toJson(value: unknown): JsonValue {
  const json: JsonValue = JSON.parse(JSON.stringify(value));
  return json;
}

/** Runs one step; returns the first difference. */
export function runStep(world: DexWorld, step: Fields): string | undefined {
  switch (step["op"]) {
    case "fund":
      world.fund(
        String(step["address"]),
        list(step["coins"]).map((coin) => {
          const { denom, amount } = isRecord(coin) ? coin : {};
          return { denom: String(denom), amount: BigInt(String(amount)) };
        }),
      );
      return undefined;
    case "set_params":
      world.run(0n, (context) =>
        moduleParams.set(context, Params.decode(messageFromJson("neutron.dex.Params", step["params"]))),
      );
      return undefined;
    case "begin_block":
    case "end_block":
      return runHook(world, step);
    case "tx":
      return runTransaction(world, step);
    case "query":
      return runQuery(world, step);
    case "init_genesis":
      world.clear();
      world.run(0n, (context) => world.module.initGenesis(context, toJson(step["genesis"])));
      return undefined;
    default:
      throw new Error(`unknown step ${String(step["op"])}`);
  }
}

function timeOf(step: Fields): bigint {
  return typeof step["time"] === "string" ? parseRfc3339Ns(step["time"]) : 0n;
}

function runHook(world: DexWorld, step: Fields): string | undefined {
  const { beginBlock, endBlock } = world.module;
  const hook = step["op"] === "begin_block" ? beginBlock : endBlock;
  const { events } = world.run(timeOf(step), (context) => hook?.(context, { lastCommit: [] }));
  return compareEvents(step, events, world.profile);
}

function runTransaction(world: DexWorld, step: Fields): string | undefined {
  const typeUrl = String(step["type"]);
  const handler = world.module.messages.find((candidate) => candidate.typeUrl === typeUrl);
  if (handler === undefined) return `nobody handles ${typeUrl}`;
  const bytes = messageFromJson(typeUrl.slice(1), step["msg"]);
  const outcome = attempt(() => world.run(timeOf(step), (context) => handler.handle(context, bytes)));
  if (outcome instanceof ModuleError) return compareError(step["err"], outcome);
  if (step["err"] !== undefined) return `succeeded, expected ${JSON.stringify(step["err"])}`;
  const { response } = outcome.result;
  return (
    difference("response", step["ok"], messageToJson(`${typeUrl.slice(1)}Response`, response)) ??
    compareEvents(step, outcome.events, world.profile)
  );
}

function runQuery(world: DexWorld, step: Fields): string | undefined {
  const path = String(step["method"]);
  const handler = world.module.queries.find((candidate) => candidate.path === path);
  if (handler === undefined) return `nobody answers ${path}`;
  const { requestType, responseType } = findMethod(path);
  const request = messageFromJson(requestType, step["request"]);
  try {
    const result = world.read(timeOf(step), (context) => handler.query(context, request));
    if (step["err"] !== undefined) return `${path} answered, expected ${JSON.stringify(step["err"])}`;
    return difference(
      path,
      step["ok"],
      messageToJson(responseType, result, CANONICAL_CHAIN_NAME, world.profile.proto),
    );
  } catch (thrown) {
    return compareQueryError(step["err"], thrown);
  }
}

function findMethod(path: string): { readonly requestType: string; readonly responseType: string } {
  const methods = findService("neutron.dex.Query")?.methods ?? [];
  const method = methods.find((candidate) => candidate.path === path);
  if (method === undefined) throw new Error(`there is no method ${path}`);
  return method;
}

function compareQueryError(expected: unknown, thrown: unknown): string | undefined {
  if (!isRecord(expected)) return `failed with ${String(thrown)}`;
  if (expected["panic"] === true) return undefined;
  if (!(thrown instanceof ModuleError) && !(thrown instanceof QueryError)) throw thrown;
  const grpcCode = thrown instanceof QueryError ? thrown.grpcCode : 2;
  const { codespace = "undefined", code = 1 } = thrown instanceof ModuleError ? thrown : {};
  const isSameCode =
    grpcCode === expected["grpc_code"] &&
    (expected["code"] === undefined || (code === expected["code"] && codespace === expected["codespace"]));
  if (isSameCode && sameText(String(expected["log"]), thrown.message)) return undefined;
  return `failed with gRPC ${grpcCode} ${codespace}/${code} ${thrown.message}, expected ${JSON.stringify(expected)}`;
}

function attempt<T>(run: () => T): T | ModuleError {
  try {
    return run();
  } catch (thrown) {
    if (thrown instanceof ModuleError) return thrown;
    throw thrown;
  }
}

function compareError(expected: unknown, { codespace, code, message }: ModuleError): string | undefined {
  const actual = `${codespace}/${code} ${JSON.stringify(message)}`;
  if (!isRecord(expected)) return `failed with ${actual}`;
  if (expected["panic"] === true) return undefined;
  if (codespace !== expected["codespace"] || code !== expected["code"])
    return `failed with ${actual}, expected ${JSON.stringify(expected)}`;
  return sameText(String(expected["log"]), message)
    ? undefined
    : `failed with ${actual}, expected ${JSON.stringify(expected)}`;
}

/** Details of bech32 errors differ: the vectors were recorded with a stand-in for the decoder. */
function sameText(expected: string, actual: string): boolean {
  const withoutDetail = (text: string): string =>
    text.replace(/(decoding bech32 failed).*?(?=\): |, $|$)/, "$1");
  return withoutDetail(actual) === withoutDetail(expected);
}

function compareEvents(step: Fields, actual: readonly ChainEvent[], profile: Profile): string | undefined {
  const wanted = list(step["events"]).map((event) => translateEvent(event, step["msg"], profile));
  const printed = foldBankEvents(actual);
  const count = Math.max(wanted.length, printed.length);
  for (let at = 0; at < count; at++) {
    const [a, b] = [JSON.stringify(wanted[at]), JSON.stringify(printed[at])];
    if (a !== b) return `event ${at}:\n  expected ${a}\n  got      ${b}`;
  }
  return undefined;
}

/** Joins the events of one movement of coins to the form of the vectors. */
function foldBankEvents(events: readonly ChainEvent[]): readonly unknown[] {
  const folded: unknown[] = [];
  for (let at = 0; at < events.length; at++) {
    const [event, next] = [events[at], events[at + 1]];
    const own = attributesOf(event);
    const other = attributesOf(next);
    if (event?.type === "coin_spent" && next?.type === "burn") {
      folded.push({ bank: "burn", from: own["spender"], amount: own["amount"] });
      at += 1;
    } else if (event?.type === "coin_spent") {
      folded.push({ bank: "send", from: own["spender"], to: other["receiver"], amount: own["amount"] });
      at += 3;
    } else if (event?.type === "coin_received") {
      folded.push({ bank: "mint", to: own["receiver"], amount: own["amount"] });
      at += 1;
    } else if (event !== undefined) {
      folded.push({ type: event.type, attributes: own });
    }
  }
  return folded;
}

function attributesOf(event: ChainEvent | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries((event?.attributes ?? []).map(({ key, value }) => [key, value]));
}

/** Compares JSON without regard to the order of fields; returns the first difference with its path. */
export function difference(path: string, expected: unknown, actual: unknown): string | undefined {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length)
      return `${path}: expected ${expected.length} elements, got ${actual.length}: ${JSON.stringify(expected)} / ${JSON.stringify(actual)}`;
    return firstOf(expected.map((element, index) => [`${path}[${index}]`, element, actual[index]]));
  }
  if (isRecord(expected) && isRecord(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return firstOf([...keys].map((key) => [`${path}.${key}`, expected[key], actual[key]]));
  }
  return expected === actual
    ? undefined
    : `${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
}

function firstOf(pairs: readonly (readonly [string, unknown, unknown])[]): string | undefined {
  for (const [path, expected, actual] of pairs) {
    const found = difference(path, expected, actual);
    if (found !== undefined) return found;
  }
  return undefined;
}
