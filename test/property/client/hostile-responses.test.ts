import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../../src/base/json.ts";
import { decodeBroadcast } from "../../../src/client/tx/broadcast.ts";
import { decodeFound } from "../../../src/client/tx/confirmation.ts";
import { ClientError } from "../../../src/client/errors.ts";
import { decodeEventFrame } from "../../../src/client/events/event-frame.ts";
import {
  decodeHeader,
  decodeSignedHeader,
  decodeValidatorsPage,
} from "../../../src/client/read/light-block.ts";
import { decodeStatus } from "../../../src/client/read/node-status.ts";
import { parseRpcResponses } from "../../../src/client/rpc/rpc-response.ts";
import { decodeGrpcResponse, decodeStoreAnswer } from "../../../src/client/read/store-read.ts";
import { isTransaction } from "../../../src/client/events/wire-transaction.ts";
import { fixtureText, recordedCalls } from "../../support/client/fixture.ts";

const decoders: Readonly<Record<string, (result: unknown) => unknown>> = {
  status: (result) => decodeStatus(result, "node"),
  header: (result) => decodeHeader(result, "node"),
  commit: (result) => decodeSignedHeader(result, "node"),
  validators: (result) => decodeValidatorsPage(result, 500n, "node"),
  tx: (result) => decodeFound(result, "node"),
  broadcast_tx_sync: (result) => decodeBroadcast(result, "node"),
  abci_query: (result) => [decodeStoreAnswer(result, "node"), decodeGrpcResponse(result, "/path", "node")],
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

describe("a response of a hostile node", () => {
  it("with one value changed is decoded or throws a ClientError", () => {
    expect(recorded.length).toBeGreaterThan(20);
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
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => typeof isTransaction(bytes) === "boolean"),
    );
  });
});
