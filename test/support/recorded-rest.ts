import { readFileSync } from "node:fs";
import { isRecord, type JsonObject, type JsonValue } from "../../src/platform/base/json.ts";
import { fixtureFile } from "./fixture-file.ts";
import { list, record, text } from "./recorded-client.ts";

/** A recorded REST call. `request` is the JSON body. */
export interface RecordedRestCall {
  readonly note: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly request?: JsonValue;
  readonly request_headers?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** All recorded REST calls, in order. */
export const recordedRestCalls: readonly RecordedRestCall[] = JSON.parse(
  readFileSync(fixtureFile("rest.json"), "utf8"),
);

/** The recorded response to a path. Throws when there is none. */
export function recordedBody(path: string): JsonObject {
  const found = recordedRestCalls.find((call) => call.path === path && call.status === 200);
  if (found === undefined) throw new Error(`no recorded response of ${path}`);
  return found.body;
}

/** The recorded transaction: a client update and a KV result for query 309. */
export function recordedTxBase64(): string {
  const call = recordedRestCalls.find(({ note }) => note === "decode");
  return text(record(call?.request)["tx_bytes"]);
}

/** The signer of the recorded transaction, with account number and sequence as its signature requires them. */
export const RECORDED_SIGNER = {
  address: "neutron14xcrdjwwxtf9zr7dvaa97wy056se6r5erln9pf",
  accountNumber: "4",
  sequence: "2624",
} as const;

const QUERIES = "/neutron/interchainqueries";

/** Genesis of the module with every query and result in the recording, and with query 309 as it was registered. */
export function recordedQueriesGenesis(owner: string): JsonObject {
  const queries = new Map<string, JsonObject>();
  for (const { path, body } of recordedRestCalls) {
    if (!path.startsWith(`${QUERIES}/registered_quer`)) continue;
    const recorded = isRecord(body["registered_query"])
      ? [body["registered_query"]]
      : body["registered_queries"];
    for (const query of Array.isArray(recorded) ? recorded.map(record) : [])
      queries.set(text(query["id"]), query);
  }
  queries.set("309", query309(owner));
  const inOrder = [...queries.values()].toSorted((a, b) => Number(a["id"]) - Number(b["id"]));
  return {
    params: recordedBody(`${QUERIES}/params`)["params"] ?? null,
    registered_queries: inOrder,
    query_results: ["1", "2"].map((id) => ({
      query_id: id,
      result: recordedBody(`${QUERIES}/query_result?query_id=${id}`)["result"] ?? null,
    })),
  };
}

/** The query of the recorded transaction, before its first result. */
function query309(owner: string): JsonObject {
  const decoded = record(recordedRestCalls.find(({ note }) => note === "decode")?.body["tx"]);
  const message = record(list(record(decoded["body"])["messages"])[1]);
  const keys = list(record(message["result"])["kv_results"]).map((result) => ({
    path: record(result)["storage_prefix"] ?? null,
    key: record(result)["key"] ?? null,
  }));
  return {
    id: "309",
    owner,
    query_type: "kv",
    keys,
    transactions_filter: "",
    connection_id: "connection-0",
    update_period: "5",
    last_submitted_result_local_height: "0",
    last_submitted_result_remote_height: null,
    deposit: [{ denom: "untrn", amount: "1000000" }],
    submit_timeout: "1036800",
    registered_at_height: "1",
  };
}
