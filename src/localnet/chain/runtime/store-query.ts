import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { QueryRequest, QueryResponse } from "../abci.ts";
import { prefixEnd } from "../../../platform/base/bytes.ts";
import type { StoreView } from "../store/multi-store.ts";
import { registerError } from "./module-error.ts";
import { errorResponse, okResponse } from "./query-router.ts";
import { ErrInvalidRequest } from "./sdk-errors.ts";

/** Errors of codespace "store" (cosmossdk.io/store types/errors.go). `Store` distinguishes them from the errors of codespace "sdk". */
const ErrStoreTxDecode = registerError("store", 3, "tx parse error");
const ErrStoreUnknownRequest = registerError("store", 4, "unknown request");
const ErrStoreInvalidRequest = registerError("store", 7, "invalid request");

/** State that store queries can read. */
export interface StoreQueryState {
  readonly latest: StoreView;
  readonly view: (height: bigint) => StoreView | undefined;
}

/**
 * Runs "store/<name>/key" and "store/<name>/subspace", as the SDK's rootmulti and IAVL stores. `path` holds the segments
 * after "store". A subspace is always read at the latest height; the SDK ignores the requested height too.
 */
export function queryStore(
  path: readonly string[],
  request: QueryRequest,
  state: StoreQueryState,
): QueryResponse {
  const height = request.height === 0n ? state.latest.height : request.height;
  if (height <= 1n && request.prove) {
    return errorResponse(
      ErrInvalidRequest("cannot query with proof when height <= 1; please provide a valid height"),
    );
  }
  const [name = "", ...rest] = path;
  if (!state.latest.has(name)) return errorResponse(ErrStoreUnknownRequest(`no such store: ${name}`));
  if (request.data.length === 0) return errorResponse(ErrStoreTxDecode("query cannot be zero length"));
  const kind = `/${rest.join("/")}`;
  if (kind === "/subspace") return querySubspace(name, request.data, height, state.latest);
  if (kind !== "/key") return errorResponse(ErrStoreUnknownRequest(`unexpected query path: ${kind}`));
  return queryKey(name, { ...request, height }, state.view(height));
}

function queryKey(name: string, request: QueryRequest, view: StoreView | undefined): QueryResponse {
  const { data: key, height } = request;
  // Without a proof the SDK reports a pruned height as a success with this log. The store of an added module has no
  // versions before its upgrade.
  if (view === undefined || !view.has(name)) {
    return request.prove
      ? errorResponse(
          ErrStoreInvalidRequest("proof is unexpectedly empty; ensure height has not been pruned"),
        )
      : okResponse({ key, height, log: "version does not exist" });
  }
  const value = view.store(name).get(key) ?? new Uint8Array(0);
  return okResponse({ key, height, value, proof: request.prove ? view.prove(name, key) : undefined });
}

function querySubspace(name: string, prefix: Uint8Array, height: bigint, view: StoreView): QueryResponse {
  const pairs = new BinaryWriter();
  for (const [key, value] of view.store(name).iterate(prefix, prefixEnd(prefix)))
    writePair(pairs, key, value);
  return okResponse({ key: prefix, height, value: pairs.finish() });
}

/**
 * Appends one entry of `cosmos.store.internal.kv.v1beta1.Pairs`. 10 and 18 are the tags of fields 1 (pair, key) and 2
 * (value). An empty value is omitted, as proto3 requires.
 */
function writePair(pairs: BinaryWriter, key: Uint8Array, value: Uint8Array): void {
  const pair = pairs.uint32(10).fork().uint32(10).bytes(key);
  (value.length === 0 ? pair : pair.uint32(18).bytes(value)).join();
}
