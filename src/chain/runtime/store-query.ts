import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { QueryRequest, QueryResponse } from "../abci.ts";
import { prefixEnd } from "../../base/bytes.ts";
import type { StoreView } from "../store/multi-store.ts";
import { registerError } from "./module-error.ts";
import { errorAnswer, goodAnswer } from "./query-router.ts";
import { ErrInvalidRequest } from "./sdk-errors.ts";

/** Errors of codespace "store" (cosmossdk.io/store types/errors.go); "Store" keeps them apart from the SDK's own. */
const ErrStoreTxDecode = registerError("store", 2, "tx parse error");
const ErrStoreUnknownRequest = registerError("store", 4, "unknown request");
const ErrStoreInvalidRequest = registerError("store", 7, "invalid request");

/** The state that a store query may look at. */
export interface StoreQueryState {
  readonly latest: StoreView;
  readonly view: (height: bigint) => StoreView | undefined;
}

/**
 * Answers "store/<name>/key" and "store/<name>/subspace" (`path` is what follows "store"), as rootmulti and its IAVL
 * stores do. A subspace is read at the latest height whatever height was asked for, as there.
 */
export function queryStore(
  path: readonly string[],
  request: QueryRequest,
  state: StoreQueryState,
): QueryResponse {
  const height = request.height === 0n ? state.latest.height : request.height;
  if (height <= 1n && request.prove) {
    return errorAnswer(
      ErrInvalidRequest("cannot query with proof when height <= 1; please provide a valid height"),
    );
  }
  const [name = "", ...rest] = path;
  if (!state.latest.has(name)) return errorAnswer(ErrStoreUnknownRequest(`no such store: ${name}`));
  if (request.data.length === 0) return errorAnswer(ErrStoreTxDecode("query cannot be zero length"));
  const kind = `/${rest.join("/")}`;
  if (kind === "/subspace") return querySubspace(name, request.data, height, state.latest);
  if (kind !== "/key") return errorAnswer(ErrStoreUnknownRequest(`unexpected query path: ${kind}`));
  return queryKey(name, { ...request, height }, state.view(height));
}

function queryKey(name: string, request: QueryRequest, view: StoreView | undefined): QueryResponse {
  const { data: key, height } = request;
  if (view === undefined) {
    return request.prove
      ? errorAnswer(ErrStoreInvalidRequest("proof is unexpectedly empty; ensure height has not been pruned"))
      : goodAnswer({ key, height, log: "version does not exist" });
  }
  const value = view.store(name).get(key) ?? new Uint8Array(0);
  return goodAnswer({ key, height, value, proof: request.prove ? view.prove(name, key) : undefined });
}

function querySubspace(name: string, prefix: Uint8Array, height: bigint, view: StoreView): QueryResponse {
  const pairs = new BinaryWriter();
  for (const [key, value] of view.store(name).iterate(prefix, prefixEnd(prefix)))
    writePair(pairs, key, value);
  return goodAnswer({ key: prefix, height, value: pairs.finish() });
}

/** One entry of `cosmos.store.internal.kv.v1beta1.Pairs`: field 1, holding the key (1) and, unless empty, the value (2). */
function writePair(pairs: BinaryWriter, key: Uint8Array, value: Uint8Array): void {
  const pair = pairs.uint32(10).fork().uint32(10).bytes(key);
  (value.length === 0 ? pair : pair.uint32(18).bytes(value)).join();
}
