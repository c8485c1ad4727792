import { isRecord } from "../../src/platform/base/json.ts";

/** A JSON-RPC call that passes the proxy. */
export interface ProxiedCall {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A call with the id of its response. */
export interface IdentifiedCall extends ProxiedCall {
  readonly id: unknown;
}

/** Returns the calls of a request body. */
export function callsOf(body: string): readonly IdentifiedCall[] {
  const parsed: unknown = body === "" ? [] : JSON.parse(body);
  return (Array.isArray(parsed) ? parsed : [parsed]).flatMap((call: unknown) => {
    if (!isRecord(call) || typeof call["method"] !== "string") return [];
    return [
      { id: call["id"], method: call["method"], params: isRecord(call["params"]) ? call["params"] : {} },
    ];
  });
}

/** Replaces the calls of a request body that `only` selects: the node does not get them, and responds all the same. */
export function withoutCalls(body: string, only: (call: ProxiedCall) => boolean): string {
  const parsed: unknown = body === "" ? [] : JSON.parse(body);
  const one = (call: unknown): unknown => {
    const [known] = callsOf(JSON.stringify(call));
    return known !== undefined && isRecord(call) && only(known)
      ? { ...call, method: "health", params: {} }
      : call;
  };
  return body === "" ? body : JSON.stringify(Array.isArray(parsed) ? parsed.map(one) : one(parsed));
}

/** Changes the results in a response body. */
export function mapResults(
  body: string,
  calls: readonly IdentifiedCall[],
  change: (call: ProxiedCall, result: unknown) => unknown,
): string {
  return mapResponses(body, calls, (call, response) =>
    "result" in response
      ? { ...response, result: change(call, structuredClone(response["result"])) }
      : response,
  );
}

type JsonResponse = Readonly<Record<string, unknown>>;

/** Changes the responses in a response body. */
export function mapResponses(
  body: string,
  calls: readonly IdentifiedCall[],
  change: (call: ProxiedCall, response: JsonResponse) => JsonResponse,
): string {
  const parsed: unknown = JSON.parse(body);
  const one = (response: unknown): unknown => {
    const call = isRecord(response) ? calls.find(({ id }) => id === response["id"]) : undefined;
    return isRecord(response) && call !== undefined ? change(call, response) : response;
  };
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(one) : one(parsed));
}

/** Changes one character in the first proof of a store read. */
export function withWrongProof(call: ProxiedCall, result: unknown): unknown {
  const text = JSON.stringify(result);
  if (call.method !== "abci_query" || call.params["prove"] !== true) return result;
  return JSON.parse(
    text.replace(/"data":"(.{40})(.)/, (_all, start, one) => `"data":"${start}${one === "A" ? "B" : "A"}`),
  );
}

/** Changes the app hash of a header, which its commit then contradicts. */
export function withWrongAppHash({ method }: ProxiedCall, result: unknown): unknown {
  if (method !== "commit") return result;
  const change = (_all: string, one: string): string => `"app_hash":"${one === "7" ? "8" : "7"}`;
  return JSON.parse(JSON.stringify(result).replace(/"app_hash":"(.)/, change));
}

/** Replaces heights above `height` by one that the node does not have either, and the latest height by `height`. */
export function atHeight(body: string, height: bigint): string {
  const change = (call: unknown): unknown => {
    if (!isRecord(call) || !isRecord(call["params"])) return call;
    const asked = call["params"]["height"];
    if (typeof asked !== "string" || !/^\d+$/.test(asked)) return call;
    if (BigInt(asked) > height) return { ...call, params: { ...call["params"], height: "999999999" } };
    return BigInt(asked) === 0n ? { ...call, params: { ...call["params"], height: `${height}` } } : call;
  };
  const parsed: unknown = JSON.parse(body);
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(change) : change(parsed));
}

/** Replaces the latest height in a result of `status`. */
export function withHeight(result: unknown, height: bigint): unknown {
  if (!isRecord(result) || !isRecord(result["sync_info"])) return result;
  return { ...result, sync_info: { ...result["sync_info"], latest_block_height: `${height}` } };
}
