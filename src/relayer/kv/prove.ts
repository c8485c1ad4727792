import { bad, good, type Result } from "../../base/result.ts";
import type { StoreAnswer } from "../../client/chain-client.ts";
import type { ProofFailure, ProofFailureCode } from "../../merkle/ics23/proof-failure.ts";
import { createProofVerifier, type ProofVerifier } from "../../merkle/ics23/proof-verifier.ts";
import type { StorageValue } from "../../proto/gen/neutron/interchainqueries/tx.ts";
import type { ProvenResult } from "../submit/plan.ts";
import type { QueryFailure, QueryState } from "../registry/query-state.ts";
import { type KeyAnswers, keyName } from "./read-keys.ts";
import type { QueryKey, RemoteHeight } from "../registry/registered-query.ts";
import { submitMessage } from "../submit/submission.ts";

/** The state that was read: all keys at one height, under the app hash that the next block's header holds. */
export interface ProofPoint {
  readonly appHash: Uint8Array;
  readonly at: RemoteHeight;
}

/** What a result is made for. */
export interface ProofOptions {
  /** Bech32 address that submits. */
  readonly sender: string;
  readonly allowKvCallbacks: boolean;
}

/** A query with its proven result, or the reason why it has none. */
export interface ProofOutcome {
  readonly state: QueryState;
  readonly result: Result<ProvenResult, QueryFailure>;
}

/** A contract that reads and keeps its result takes about as much gas as this many keys (77,000 measured on localnet). */
const KEYS_PER_CALLBACK = 3;

/**
 * Verifies the proofs of all queries before anybody pays for them, each key once. A query that can't be answered gets
 * its reason; it costs the others nothing.
 */
export function proveResults(
  states: readonly QueryState[],
  answers: KeyAnswers,
  point: ProofPoint,
  options: ProofOptions,
): readonly ProofOutcome[] {
  const verifier = createProofVerifier();
  const proven = new Map<string, Result<StorageValue, QueryFailure>>();
  const valueOf = (key: QueryKey): Result<StorageValue, QueryFailure> => {
    const name = keyName(key);
    const known = proven.get(name) ?? proveKey(key, answers.get(name), point, verifier);
    proven.set(name, known);
    return known;
  };
  return states.map((state) => ({ state, result: toResult(state, valueOf, point, options) }));
}

function toResult(
  state: QueryState,
  valueOf: (key: QueryKey) => Result<StorageValue, QueryFailure>,
  { at }: ProofPoint,
  { sender, allowKvCallbacks }: ProofOptions,
): Result<ProvenResult, QueryFailure> {
  const kvResults: StorageValue[] = [];
  for (const key of state.query.keys) {
    const value = valueOf(key);
    if (!value.ok) return value;
    kvResults.push(value.value);
  }
  const content = { kvResults, block: undefined, height: at.height, revision: at.revision, allowKvCallbacks };
  return good({
    state,
    message: submitMessage(state.query.id, content, sender),
    keys: kvResults.length + (allowKvCallbacks ? KEYS_PER_CALLBACK : 0),
  });
}

function proveKey(
  key: QueryKey,
  read: Result<StoreAnswer, QueryFailure> | undefined,
  point: ProofPoint,
  verifier: ProofVerifier,
): Result<StorageValue, QueryFailure> {
  if (read === undefined) return bad({ code: "read-failed", reason: `${keyName(key)} was not read` });
  if (!read.ok) return read;
  const answer = read.value;
  if (answer.code !== 0) return bad(refusal(answer, key));
  if (answer.height !== point.at.height) {
    const reason = `${keyName(key)} was read at height ${answer.height} instead of ${point.at.height}`;
    return bad({ code: "read-failed", reason });
  }
  return verify(answer, key, point, verifier);
}

function verify(
  answer: StoreAnswer,
  key: QueryKey,
  point: ProofPoint,
  verifier: ProofVerifier,
): Result<StorageValue, QueryFailure> {
  const decoded = verifier.decode(answer.proof.map(({ data }) => data));
  if (!decoded.ok) return bad(queryFailure(decoded.error, key));
  const claim = { root: point.appHash, store: key.path, key: key.key, proof: decoded.value };
  const isThere = decoded.value[0]?.kind === "exist";
  const value = answer.value ?? new Uint8Array();
  const verdict = isThere ? verifier.verifyMembership(claim, value) : verifier.verifyNonMembership(claim);
  if (!verdict.ok) return bad(queryFailure(verdict.error, key));
  const ops = answer.proof.map(({ type, key: opKey, data }) => ({ type, key: opKey, data }));
  return good({ storagePrefix: key.path, key: key.key, value, Proof: { ops } });
}

/** The errors of a proof that are the question's own: ICS-23 has no proof for what is there. */
const UNANSWERABLE: Partial<Record<ProofFailureCode, QueryFailure>> = {
  "empty-value": { code: "empty-value", reason: "has an empty value, which ICS-23 cannot prove" },
  "empty-tree": { code: "empty-store", reason: "is absent from an empty store, which ICS-23 cannot prove" },
  "empty-neighbour": {
    code: "absence-not-provable",
    reason:
      "is absent, but a neighbouring key has an empty value, which ICS-23 cannot prove; it may heal when the tree changes",
  },
};

function queryFailure(error: ProofFailure, key: QueryKey): QueryFailure {
  const known = UNANSWERABLE[error.code];
  if (known !== undefined) return { code: known.code, reason: `${keyName(key)} ${known.reason}` };
  return { code: "proof-refused", reason: `${keyName(key)}: ${error.text}` };
}

function refusal(answer: StoreAnswer, key: QueryKey): QueryFailure {
  if (/no such store/i.test(answer.log)) {
    return { code: "no-such-store", reason: `the remote chain has no store ${JSON.stringify(key.path)}` };
  }
  return {
    code: "read-failed",
    reason: `${keyName(key)} was refused with ${answer.codespace}/${answer.code}: ${answer.log}`,
  };
}
