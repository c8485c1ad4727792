import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRecord } from "../../../../../src/platform/base/json.ts";
import { orderDifferences, shapeDifferences, shapeOf } from "../../../../support/json-shape.ts";
import { RECORDED_NOW_MS, type RecordedNode, startRecordedNode } from "../../../../support/recorded-node.ts";
import { type RecordedRestCall, recordedRestCalls } from "../../../../support/recorded-rest.ts";

/** Paths that this node does not serve, with the reason. They reply 501, as on a node without the module. */
const NOT_SERVED: readonly (readonly [path: string, reason: string])[] = [
  ["/slinky/marketmap/", "the genesis of the oracle has the pairs"],
];
/** Recorded calls to these paths, without those to which the recorded node replied 501 as well. */
const NOT_SERVED_COUNT = 1;

/** A call to a service that the deployed chain serves over gRPC only. This node serves it over REST too, as other chains do. */
const NODE_CONFIG = 33;
/** The newer form of a query, which the deployed chain lacks. */
const CONNECT_TICKERS = 91;

/** Calls whose response does not depend on the history of the chain. They must be equal, the others only alike. */
const EQUAL: ReadonlySet<number> = new Set([
  0, 1, 3, 6, 7, 8, 9, 12, 13, 14, 18, 19, 27, 34, 37, 38, 39, 42, 43, 44, 45, 48, 60, 61, 62, 64, 69, 70, 71,
  73, 82, 86, 87, 88, 89, 95, 97, 109, 112,
]);

const LATEST = "12";

describe("recorded REST calls", () => {
  let node: RecordedNode;
  beforeAll(async () => {
    node = await startRecordedNode();
  });
  afterAll(() => node.stop());

  it("are complete", () => expect(recordedRestCalls).toHaveLength(113));

  it("are served, except for the listed paths", () => {
    expect(recordedRestCalls.filter(isNotServed)).toHaveLength(NOT_SERVED_COUNT);
    for (const [path] of NOT_SERVED) {
      expect(recordedRestCalls.some((call) => call.path.startsWith(path))).toBe(true);
    }
  });

  it.each(recordedRestCalls.map((call, index) => ({ index, call, name: `${index} ${title(call)}` })))(
    "$name",
    async ({ index, call }) => {
      const answer = await send(node.restUrl, call);
      const body: unknown = await answer.json();
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(answer.headers.get("x-server-time")).toBe(String(RECORDED_NOW_MS / 1000));
      if (isNotServed(call)) {
        expect(answer.status).toBe(501);
        expect(body).toEqual({ code: 12, message: "Not Implemented", details: [] });
      } else if (index === NODE_CONFIG) {
        expect(call.status).toBe(501);
        expect(answer.status).toBe(200);
        expect(body).toMatchObject({ minimum_gas_price: "0.002500000000000000untrn" });
      } else if (index === CONNECT_TICKERS) {
        expect([call.status, answer.status]).toEqual([501, 200]);
      } else {
        expect(answer.status).toBe(call.status);
        expect(answer.headers.get("grpc-metadata-x-cosmos-block-height")).toBe(expectedHeight(call));
        compareBodies(index, call, body);
      }
    },
  );
});

function isNotServed({ path, status }: RecordedRestCall): boolean {
  return status !== 501 && NOT_SERVED.some(([start]) => path.startsWith(start));
}

function expectedHeight(call: RecordedRestCall): string | null {
  if (call.headers["Grpc-Metadata-X-Cosmos-Block-Height"] === undefined) return null;
  return call.request_headers === undefined ? LATEST : "3";
}

function compareBodies(index: number, call: RecordedRestCall, body: unknown): void {
  if (call.status !== 200) {
    expect(withoutBuild(body)).toEqual(withoutBuild(call.body));
  } else if (EQUAL.has(index)) {
    expect(JSON.stringify(body)).toBe(JSON.stringify(call.body));
  } else {
    expect(shapeDifferences(shapeOf(call.body), shapeOf(body))).toEqual([]);
    expect(orderDifferences(call.body, body)).toEqual([]);
  }
}

/** Removes the paths of the build, and the gas, which differs here for a simulation that ends early. */
function withoutBuild(body: unknown): unknown {
  if (!isRecord(body) || typeof body["message"] !== "string") return body;
  const message = body["message"]
    .replaceAll(/ \[\/src\/[^\]]*\]/g, "")
    .replace(/gas used: '\d+'/, "gas used");
  return { ...body, message };
}

/** Sends a recorded call with the heights of this chain instead of the recorded one. */
function send(url: string, call: RecordedRestCall): Promise<Response> {
  const { method, request } = call;
  const body = method === "GET" ? {} : { body: request === undefined ? "" : JSON.stringify(request) };
  const headers = call.request_headers === undefined ? {} : { "x-cosmos-block-height": "3" };
  return fetch(`${url}${call.path.replace(/\/500$/, "/5").replace("1553", LATEST)}`, {
    method,
    headers,
    ...body,
  });
}

function title({ method, path, note }: RecordedRestCall): string {
  return `${method} ${path.slice(0, 90)} ${note}`.trimEnd();
}
