import { bad, good, type Result } from "../base/result.ts";
import { errorText } from "../base/errors.ts";
import { toHex } from "../base/bytes.ts";
import type { ChainClient, StoreAnswer } from "../client/chain-client.ts";
import type { ProofFault, ProofFaultCode } from "../merkle/ics23/proof-fault.ts";
import { createProofVerifier, type ProofVerifier } from "../merkle/ics23/proof-verifier.ts";
import type { StorageValue } from "../proto/gen/neutron/interchainqueries/tx.ts";
import type { ProvenResult } from "./plan.ts";
import type { QueryFault, QueryState } from "./query-state.ts";
import type { QueryKey, RemoteHeight } from "./registered-query.ts";
import { submitMessage } from "./submission.ts";

/** The state that is read: all keys at one height, under the app hash that the next block's header holds. */
export interface ProofPoint {
  readonly appHash: Uint8Array;
  readonly at: RemoteHeight;
}

/** A contract that reads and keeps its result takes about as much gas as this many keys (77,000 measured on localnet). */
const KEYS_PER_CALLBACK = 3;

/** What proving needs. */
export interface ProveDeps {
  readonly remote: Pick<ChainClient, "readStore">;
  /** Bech32 address that submits. */
  readonly sender: string;
  readonly allowKvCallbacks: boolean;
}

/** A query with its proven result, or the reason why it has none. */
export interface ProofOutcome {
  readonly state: QueryState;
  readonly result: Result<ProvenResult, QueryFault>;
}

/**
 * Reads all keys of all queries at one height in parallel, each key once, and verifies each proof before anybody pays
 * for it. A query that can't be answered gets its reason; it costs the others nothing.
 */
export async function proveAll(
  deps: ProveDeps,
  point: ProofPoint,
  states: readonly QueryState[],
  signal: AbortSignal,
): Promise<readonly ProofOutcome[]> {
  const verifier = createProofVerifier();
  const reads = new Map<string, Promise<Result<StorageValue, QueryFault>>>();
  const read = (key: QueryKey): Promise<Result<StorageValue, QueryFault>> => {
    const name = `${key.path}/${toHex(key.key)}`;
    const known = reads.get(name) ?? readKey(deps, { ...point, verifier }, key, signal);
    reads.set(name, known);
    return known;
  };
  return Promise.all(
    states.map(async (state) => {
      const values = await Promise.all(state.query.keys.map(read));
      return { state, result: toResult(deps, point, state, values) };
    }),
  );
}

function toResult(
  deps: ProveDeps,
  point: ProofPoint,
  state: QueryState,
  values: readonly Result<StorageValue, QueryFault>[],
): Result<ProvenResult, QueryFault> {
  const kvResults: StorageValue[] = [];
  for (const value of values) {
    if (!value.ok) return value;
    kvResults.push(value.value);
  }
  const { revision, height } = point.at;
  const content = { kvResults, block: undefined, height, revision, allowKvCallbacks: deps.allowKvCallbacks };
  return good({
    state,
    message: submitMessage(state.query.id, content, deps.sender),
    keys: kvResults.length + (deps.allowKvCallbacks ? KEYS_PER_CALLBACK : 0),
  });
}

async function readKey(
  deps: ProveDeps,
  point: ProofPoint & { readonly verifier: ProofVerifier },
  key: QueryKey,
  signal: AbortSignal,
): Promise<Result<StorageValue, QueryFault>> {
  try {
    const answer = await deps.remote.readStore(
      { store: key.path, key: key.key, height: point.at.height },
      signal,
    );
    return judge(answer, point, key);
  } catch (fault) {
    signal.throwIfAborted();
    return bad({ code: "read-failed", reason: `${place(key)} could not be read: ${errorText(fault)}` });
  }
}

function judge(
  answer: StoreAnswer,
  point: ProofPoint & { readonly verifier: ProofVerifier },
  key: QueryKey,
): Result<StorageValue, QueryFault> {
  if (answer.code !== 0) return bad(refusal(answer, key));
  if (answer.height !== point.at.height) {
    return bad({
      code: "read-failed",
      reason: `${place(key)} was read at height ${answer.height} instead of ${point.at.height}`,
    });
  }
  const { verifier } = point;
  const decoded = verifier.decode(answer.proof.map(({ data }) => data));
  if (!decoded.ok) return bad(queryFault(decoded.fault, key));
  const claim = { root: point.appHash, store: key.path, key: key.key, proof: decoded.value };
  const isThere = decoded.value[0]?.kind === "exist";
  const value = answer.value ?? new Uint8Array();
  const verdict = isThere ? verifier.verifyMembership(claim, value) : verifier.verifyNonMembership(claim);
  if (!verdict.ok) return bad(queryFault(verdict.fault, key));
  const ops = answer.proof.map(({ type, key: opKey, data }) => ({ type, key: opKey, data }));
  return good({ storagePrefix: key.path, key: key.key, value, Proof: { ops } });
}

/** The faults of a proof that are the question's own: ICS-23 has no proof for what is there. */
const UNANSWERABLE: Partial<Record<ProofFaultCode, QueryFault>> = {
  "empty-value": { code: "empty-value", reason: "has an empty value, which ICS-23 cannot prove" },
  "empty-tree": { code: "empty-store", reason: "is absent from an empty store, which ICS-23 cannot prove" },
  "empty-neighbour": {
    code: "absence-not-provable",
    reason:
      "is absent, but a neighbouring key has an empty value, which ICS-23 cannot prove; it may heal when the tree changes",
  },
};

function queryFault(fault: ProofFault, key: QueryKey): QueryFault {
  const known = UNANSWERABLE[fault.code];
  if (known !== undefined) return { code: known.code, reason: `${place(key)} ${known.reason}` };
  return { code: "proof-refused", reason: `${place(key)}: ${fault.text}` };
}

function refusal(answer: StoreAnswer, key: QueryKey): QueryFault {
  if (/no such store/i.test(answer.log)) {
    return { code: "no-such-store", reason: `the remote chain has no store ${JSON.stringify(key.path)}` };
  }
  return {
    code: "read-failed",
    reason: `${place(key)} was refused with ${answer.codespace}/${answer.code}: ${answer.log}`,
  };
}

function place(key: QueryKey): string {
  return `${key.path}/${toHex(key.key)}`;
}
