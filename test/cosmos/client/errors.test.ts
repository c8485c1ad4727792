import { describe, expect, it } from "vitest";
import {
  ClientError,
  type ClientErrorFacts,
  classifyClientError,
  isEndpointError,
  isHeightUnavailable,
} from "../../../src/cosmos/client/errors.ts";

const endpoint = "node";
const errors: readonly (readonly [ClientErrorFacts, string, boolean])[] = [
  [{ code: "unreachable", endpoint, reason: "ECONNREFUSED" }, "retry", true],
  [{ code: "timeout", endpoint, method: "status", afterMs: 1 }, "retry", true],
  [{ code: "http-status", endpoint, status: 503 }, "retry", true],
  [{ code: "http-status", endpoint, status: 429 }, "retry", true],
  [{ code: "http-status", endpoint, status: 401 }, "fatal", true],
  [{ code: "too-large", endpoint, limitBytes: 1 }, "skip", false],
  [{ code: "request-too-large", endpoint }, "skip", false],
  [{ code: "bad-answer", endpoint, where: "body" }, "retry", true],
  [{ code: "overloaded", endpoint, limit: 1 }, "retry", false],
  [{ code: "rpc", endpoint, method: "tx", rpcCode: -32603, data: "mempool is full" }, "retry", false],
  [{ code: "rpc", endpoint, method: "tx", rpcCode: -32602, data: "" }, "skip", false],
  [{ code: "rpc", endpoint, method: "no", rpcCode: -32601, data: "" }, "skip", false],
  [
    { code: "rpc", endpoint, method: "tx", rpcCode: -32603, data: "transaction indexing is disabled" },
    "fatal",
    false,
  ],
  [{ code: "abci", path: "/a", abciCode: 4, codespace: "store", log: "" }, "skip", false],
  [{ code: "wrong-chain", endpoint, expected: "a", found: "b" }, "fatal", true],
  [{ code: "no-account", address: "a" }, "retry", false],
  [{ code: "gas-price-above-cap", denom: "untrn", price: "2", cap: "1" }, "retry", false],
  [{ code: "bad-key", kind: "mnemonic" }, "fatal", false],
  [{ code: "bad-endpoint", endpoint }, "fatal", false],
  [{ code: "closed" }, "aborted", false],
];

describe("classifyClientError", () => {
  it.each(errors)("classifies %j as %s", (facts, expected, isOfEndpoint) => {
    const error = new ClientError(facts, "text");
    expect(classifyClientError(error)).toBe(expected);
    expect(isEndpointError(error)).toBe(isOfEndpoint);
    // Another node would be asked, and a trusted height taken for pruned.
    expect(isHeightUnavailable(error)).toBe(false);
  });

  it("classifies the signal's reason as aborted and an unknown error as fatal", () => {
    const stop = new AbortController();
    stop.abort(new Error("stop"));
    expect(classifyClientError(stop.signal.reason, stop.signal)).toBe("aborted");
    expect(classifyClientError(new TypeError("bug"))).toBe("fatal");
  });
});

describe("isHeightUnavailable", () => {
  const rpc = (data: string): ClientErrorFacts => ({
    code: "rpc",
    endpoint,
    method: "commit",
    rpcCode: -32603,
    data,
  });

  it.each([
    [{ code: "height-unavailable", endpoint, height: 5n }, true],
    [rpc("height 9 must be less than or equal to the current blockchain height 8"), true],
    [rpc("height 1 is not available, lowest height is 5"), true],
    [rpc("height must be greater than 0, but got 0"), false],
  ] satisfies (readonly [ClientErrorFacts, boolean])[])("of case %# is right", (facts, expected) => {
    expect(isHeightUnavailable(new ClientError(facts, "text"))).toBe(expected);
  });

  it("is false for an error of another kind", () => {
    expect(isHeightUnavailable(new Error("lowest height is 5"))).toBe(false);
  });
});
