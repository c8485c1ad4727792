import { fromUtf8 } from "../../platform/base/bytes.ts";
import { errorText } from "../../platform/base/errors.ts";
import { isRecord, stringifyJson } from "../../platform/base/json.ts";
import {
  type HttpReply,
  type HttpRoute,
  type RouteRequest,
  textReply,
} from "../../platform/http/http-route.ts";
import type { Journal } from "../state/journal.ts";
import type { DeadLetter } from "../state/journal-entries.ts";
import type { Resubmissions } from "../tx/resubmissions.ts";

export interface GoRouteDeps {
  readonly journal: Pick<Journal, "deadLetters">;
  readonly resubmissions: Pick<Resubmissions, "resubmit">;
  /** Whether `POST /resubmit-txs` needs no token. */
  readonly openResubmit: boolean;
}

/**
 * The two paths of the Go relayer, with its fields, number formats, statuses and texts (v0.3.0, `internal/http/webserver.go`),
 * so that client libraries and scripts that were written for it work unchanged.
 */
export function goRelayerRoutes(deps: GoRouteDeps): readonly HttpRoute[] {
  const list = (): HttpReply => unsuccessfulTxs(deps.journal.deadLetters());
  return [
    // The Go relayer answers every method here.
    { method: "GET", path: "/unsuccessful-txs", handle: list },
    { method: "POST", path: "/unsuccessful-txs", handle: list },
    {
      method: "POST",
      path: "/resubmit-txs",
      guarded: !deps.openResubmit,
      handle: (request) => resubmitTxs(deps, request),
    },
  ];
}

function unsuccessfulTxs(letters: readonly DeadLetter[]): HttpReply {
  const list = letters.map((letter) => ({
    query_id: Number(letter.queryId),
    submitted_tx_hash: letter.hash,
    neutron_hash: "",
    error_time: new Date(letter.atMs).toISOString(),
    status: "ErrorOnSubmit",
    message: letter.reason,
  }));
  return {
    status: 200,
    headers: { "Content-Type": "application/json; charset=utf-8", "X-Content-Type-Options": "nosniff" },
    body: `${stringifyJson(list, 2)}\n`,
  };
}

interface TxName {
  readonly queryId: bigint;
  readonly hash: string;
}

async function resubmitTxs({ resubmissions }: GoRouteDeps, request: RouteRequest): Promise<HttpReply> {
  let txs: readonly TxName[];
  try {
    txs = parseTxs(fromUtf8(request.body));
  } catch (error) {
    return failure(errorText(error));
  }
  // One after the other, and none after the first failure, as in the Go relayer.
  for (const { queryId, hash } of txs) {
    const outcome = await resubmissions.resubmit(queryId, hash, request.signal);
    if (outcome.kind === "unknown")
      return textReply(400, `no tx found with queryID=${queryId} and hash=${hash}\n`);
    if (outcome.kind === "timeout") return failure(`${hash} was not included in time; it is still listed`);
    // A transaction that its contract rejects again is listed again, and is no error here either.
  }
  return textReply(200, "");
}

function failure(reason: string): HttpReply {
  return textReply(500, `Error processing request: ${reason}\n`);
}

/** Parses `{"txs": [{"query_id": 1, "hash": "…"}]}`. A missing list or field counts as empty, as in Go. Throws. */
function parseTxs(text: string): readonly TxName[] {
  if (text.trim() === "") throw new Error("EOF");
  const body: unknown = JSON.parse(text);
  if (!isRecord(body)) throw new Error("the body is not an object");
  const txs = body["txs"] ?? [];
  if (!Array.isArray(txs)) throw new Error("txs is not a list");
  return txs.map((tx: unknown) => {
    const { query_id: id = 0, hash = "" } = isRecord(tx) ? tx : {};
    if (typeof id !== "number" || !Number.isSafeInteger(id) || id < 0)
      throw new Error("query_id is not a whole number");
    if (typeof hash !== "string") throw new Error("hash is not text");
    return { queryId: BigInt(id), hash };
  });
}
