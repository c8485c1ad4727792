import { readFileSync } from "node:fs";
import { fromBase64, fromHex } from "../../../src/platform/base/bytes.ts";

/** A case of `test/fixtures/proofs/kv.json`, with decoded bytes. */
export interface RecordedProof {
  readonly name: string;
  readonly store: string;
  readonly key: Uint8Array;
  readonly height: number;
  readonly root: Uint8Array;
  readonly value: Uint8Array;
  /** Undefined if the node refused the query. */
  readonly operations: readonly Uint8Array[] | undefined;
  readonly log: string;
  readonly expect: {
    readonly kind: "membership" | "non-membership" | "query refused";
    readonly valid: boolean;
    readonly error?: string;
  };
}

interface RawCase {
  readonly name: string;
  readonly store: string;
  readonly key: string;
  readonly height: number;
  readonly app_hash: string;
  readonly abci_query_response: {
    readonly code: number;
    readonly log: string;
    readonly value: string | null;
    readonly proofOps: { readonly ops: readonly { readonly data: string }[] } | null;
  };
  readonly expect: RecordedProof["expect"];
}

/** Reads all recorded `abci_query` responses. */
export function readRecordedProofs(): readonly RecordedProof[] {
  const path = new URL("../../fixtures/proofs/kv.json", import.meta.url);
  const cases: readonly RawCase[] = JSON.parse(readFileSync(path, "utf8"));
  return cases.map((raw) => ({
    name: raw.name,
    store: raw.store,
    key: fromHex(raw.key),
    height: raw.height,
    root: fromHex(raw.app_hash),
    value: fromBase64(raw.abci_query_response.value ?? ""),
    operations: raw.abci_query_response.proofOps?.ops.map((op) => fromBase64(op.data)),
    log: raw.abci_query_response.log,
    expect: raw.expect,
  }));
}
