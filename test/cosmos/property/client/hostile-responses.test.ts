import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../../../src/platform/base/json.ts";
import { decodeBroadcast, decodeFound } from "../../../../src/cosmos/client/tx/flights.ts";
import { ClientError } from "../../../../src/cosmos/client-error.ts";
import { decodeEventFrame, isTransaction } from "../../../../src/cosmos/client/events/subscription.ts";
import {
  decodeGrpcResponse,
  decodeStoreResponse,
} from "../../../../src/cosmos/client/create-chain-client.ts";
import { decodeSignedHeader, decodeValidatorsPage } from "../../../../src/cosmos/client/light-block.ts";
import { decodeStatus, parseRpcResponses } from "../../../../src/cosmos/client/rpc-response.ts";
import { fixtureText, recordedCalls } from "../../../support/client/fixture.ts";

const decoders: Readonly<Record<string, (result: unknown) => unknown>> = {
  status: (result) => decodeStatus(result, "node"),
  commit: (result) => decodeSignedHeader(result, "node"),
  validators: (result) => decodeValidatorsPage(result, 500n, "node"),
  tx: (result) => decodeFound(result, "node"),
  broadcast_tx_sync: (result) => decodeBroadcast(result, "node"),
  abci_query: (result) => [
    decodeStoreResponse(result, "node"),
    decodeGrpcResponse(result, { path: "/path", height: { atLeast: 1n } }, "node"),
  ],
};

const recorded = recordedCalls().flatMap(({ request, response }) =>
  request !== undefined && isRecord(response) && request.method in decoders && "result" in response
    ? [{ method: request.method, result: response["result"] }]
    : [],
);

const frames = fixtureText("websocket.jsonl")
  .split("\n")
  .filter((line) => line !== "")
  .map((line): unknown => JSON.parse(line).frame);

/** Paths to all values inside `value`, without the root. */
function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, child]) => pathsOf(child, [...path, key]));
  return path.length === 0 ? inner : [path, ...inner];
}

/** Copies `value` and replaces the value at `path`. */
function withChange(value: unknown, path: readonly string[], change: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change;
  if (Array.isArray(value))
    return value.map((child: unknown, at) => (String(at) === key ? withChange(child, rest, change) : child));
  return isRecord(value) ? { ...value, [key]: withChange(value[key], rest, change) } : value;
}

const odd = fc.oneof(
  fc.constantFrom(
    null,
    undefined,
    "",
    "-1",
    "99999999999999999999",
    "zz",
    "=",
    1e300,
    -1,
    0.5,
    true,
    [],
    {},
    [null],
    "\u0000",
  ),
  fc.jsonValue(),
);

/** Whether a decoder returns a value or throws a `ClientError`. */
function settles(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch (error) {
    if (error instanceof ClientError) return true;
    throw error;
  }
}

/** Describes where `value` has another type than `expected`, a value decoded from a good response. */
function typeDifferences(value: unknown, expected: unknown, path = "result"): readonly string[] {
  // A missing part is decoded as undefined or as an empty value.
  if (value === undefined || expected === undefined) return [];
  if (Array.isArray(expected))
    return Array.isArray(value)
      ? value.flatMap((item: unknown, at) =>
          typeDifferences(item, expected[at] ?? expected[0], `${path}[${at}]`),
        )
      : [`${path} is no list`];
  if (expected instanceof Uint8Array) return value instanceof Uint8Array ? [] : [`${path} is not bytes`];
  if (isRecord(expected))
    return isRecord(value)
      ? Object.keys(expected).flatMap((key) => typeDifferences(value[key], expected[key], `${path}.${key}`))
      : [`${path} is no object`];
  return typeof value === typeof expected ? [] : [`${path} is ${typeof value} instead of ${typeof expected}`];
}

describe("a response of a hostile node", () => {
  it("with one value changed is decoded to values of the right types", () => {
    let decoded = 0;
    // The entries of a page of validators are decoded later.
    const changed = fc
      .constantFrom(...recorded.filter(({ method }) => method !== "validators"))
      .chain((one) => fc.tuple(fc.constant(one), fc.constantFrom(...pathsOf(one.result)), odd));
    fc.assert(
      fc.property(changed, ([{ method, result }, path, change]) => {
        let good: unknown;
        let value: unknown;
        try {
          good = decoders[method]?.(result);
          value = decoders[method]?.(withChange(result, path, change));
        } catch (error) {
          if (error instanceof ClientError) return;
          throw error;
        }
        decoded += 1;
        expect(typeDifferences(value, good)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
    expect(decoded).toBeGreaterThan(100);
  });

  it("with one value changed is decoded or throws a ClientError", () => {
    expect(recorded).toHaveLength(20);
    const changed = fc
      .constantFrom(...recorded)
      .chain((one) => fc.tuple(fc.constant(one), fc.constantFrom(...pathsOf(one.result)), odd));
    fc.assert(
      fc.property(changed, ([one, path, change]) =>
        settles(() => decoders[one.method]?.(withChange(one.result, path, change))),
      ),
      { numRuns: 3_000 },
    );
  });

  it("of arbitrary JSON is decoded or throws a ClientError", () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(decoders)), fc.jsonValue(), (method, value) =>
        settles(() => decoders[method]?.(value)),
      ),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (body) => settles(() => parseRpcResponses(body, "node"))),
    );
  });

  it("over WebSocket, with one value changed, is decoded or throws a ClientError", () => {
    const changed = fc
      .constantFrom(...frames)
      .chain((frame) => fc.tuple(fc.constant(frame), fc.constantFrom(...pathsOf(frame)), odd));
    fc.assert(
      fc.property(changed, ([frame, path, change]) =>
        settles(() => decodeEventFrame(JSON.stringify(withChange(frame, path, change)), "node")),
      ),
      { numRuns: 2_000 },
    );
  });

  it("with arbitrary bytes instead of a transaction never makes isTransaction throw", () => {
    // Length-delimited fields 1 to 3, as a transaction has, with arbitrary content.
    const framed = fc
      .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.uint8Array({ maxLength: 60 })), { maxLength: 6 })
      .map((fields) =>
        concat(...fields.map(([field, bytes]) => concat([field * 8 + 2, bytes.length], bytes))),
      );
    fc.assert(
      fc.property(
        fc.oneof(framed, fc.uint8Array({ maxLength: 200 })),
        (bytes) => typeof isTransaction(bytes) === "boolean",
      ),
      { numRuns: 500 },
    );
  });
});

function concat(...parts: readonly Iterable<number>[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
