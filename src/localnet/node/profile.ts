import { equalBytes, fromBase64, fromHex, fromUtf8, toHex, utf8 } from "../../platform/base/bytes.ts";
import { CodedError, errorText } from "../../platform/base/errors.ts";
import { stringifyJson } from "../../platform/base/json.ts";
import type {
  Application,
  FinalizeBlockRequest,
  Profiled,
  QueryRequest,
  QueryResponse,
  TxResult,
} from "../chain/runtime/abci.ts";
import { ErrInvalidRequest } from "../chain/runtime/errors.ts";
import { errorResponse, okResponse } from "../chain/runtime/query-router.ts";
import { InterruptedError } from "../chain/runtime/interrupt.ts";
import { ProfileTooLargeError } from "../vm/call-profile.ts";
import { createDeadline } from "./base/deadline.ts";
import type { StoredBlock } from "./base/node-view.ts";
import {
  parseProfileRequest,
  PROFILE_PATH,
  type ProfileReport,
  profileReportJson,
  type ProfileRequest,
} from "../profile/profile-json.ts";
import { signersOf } from "./consensus/make-block.ts";
import { validatorsAt } from "./consensus/validator-history.ts";
import type { BlockStore } from "./storage/block-store.ts";
import { txAt } from "./storage/search.ts";

export type ProfileErrorFacts =
  | { readonly code: "profile-no-tx"; readonly hash: string }
  | { readonly code: "profile-no-state"; readonly height: bigint }
  | { readonly code: "profile-differs"; readonly height: bigint }
  | { readonly code: "profile-too-large" }
  | { readonly code: "profile-bad-request" };

/** Thrown when a profile cannot be made. */
export class ProfileError extends CodedError<ProfileErrorFacts> {}

interface ProfileDeps {
  readonly app: Pick<Application, "profileTx" | "profileSimulation" | "profileQuery">;
  readonly store: BlockStore;
  readonly queryTimeMs: number;
}

/** A profile takes several times as long as what it shows. */
const PROFILE_TIME = 10;

/** Makes a profile. It runs the transaction or query again and changes no state. Throws {@link ProfileError}. */
export function makeProfile(
  request: ProfileRequest,
  { app, store, queryTimeMs }: ProfileDeps,
): ProfileReport {
  const deadline = createDeadline(PROFILE_TIME * queryTimeMs);
  try {
    switch (request.kind) {
      case "tx":
        return profileOfTx(fromHex(request.hash), app, store);
      case "simulation":
        return reportOf(app.profileSimulation(decode(request.tx), deadline), null);
      case "query": {
        const { path } = request;
        const data = decode(request.request);
        const { result, profile } = app.profileQuery({ path, data, height: 0n, prove: false }, deadline);
        return reportOf({ result, profile }, null);
      }
    }
  } catch (thrown) {
    if (thrown instanceof ProfileTooLargeError || thrown instanceof InterruptedError)
      throw new ProfileError({ code: "profile-too-large" }, thrown.message);
    throw thrown;
  }
}

function decode(base64: string): Uint8Array {
  try {
    return fromBase64(base64);
  } catch (cause) {
    throw new ProfileError({ code: "profile-bad-request" }, "base64 was expected", { cause });
  }
}

function profileOfTx(hash: Uint8Array, app: ProfileDeps["app"], store: BlockStore): ProfileReport {
  const place = store.index.placeOf(hash);
  const tx = place === undefined ? undefined : txAt(store, place);
  if (tx === undefined) {
    const text = toHex(hash);
    throw new ProfileError(
      { code: "profile-no-tx", hash: text },
      `no transaction of this node has the hash ${text}: the block may be pruned`,
    );
  }
  const { height, index } = tx;
  const request = blockUpTo(store, height, index);
  const profiled = request && app.profileTx(request);
  if (profiled === undefined)
    throw new ProfileError(
      { code: "profile-no-state", height },
      `the state before block ${height} is not stored: a node stores that of the last 1000 blocks, and none before its first block`,
    );
  requireSame(store, height, profiled.result);
  return reportOf({ ...profiled, result: tx.result }, height);
}

/** A block's request with the transactions up to `index`. Undefined if parts of the block are not stored. */
function blockUpTo(store: BlockStore, height: bigint, index: number): FinalizeBlockRequest | undefined {
  const block = store.block(height);
  if (block === undefined) return undefined;
  return { ...requestOf(store, block), txs: block.txs.slice(0, index + 1) };
}

/** The evidence of a block is not stored. A block with evidence is refused by {@link requireSame} if it mattered. */
function requestOf(store: BlockStore, { header, txs, lastCommit }: StoredBlock): FinalizeBlockRequest {
  const { height, timeNs, proposerAddress, nextValidatorsHash } = header;
  const signed = signersOf(lastCommit);
  // No set signs before the first block.
  const voters = validatorsAt(store, height - 1n)?.validators ?? [];
  return {
    height,
    timeNs,
    proposerAddress,
    nextValidatorsHash,
    txs,
    lastCommit: voters.map(({ address, power }) => ({ address, power, signed: signed.has(toHex(address)) })),
  };
}

/** A profile is only of use if the transactions did the same as in their block. */
function requireSame(store: BlockStore, height: bigint, results: readonly TxResult[]): void {
  const isSame = results.every((result, index) => {
    const stored = store.txResult(height, index);
    return (
      stored !== undefined &&
      stored.code === result.code &&
      stored.gasUsed === result.gasUsed &&
      equalBytes(stored.data, result.data)
    );
  });
  if (isSame) return;
  throw new ProfileError(
    { code: "profile-differs", height },
    `the transactions of block ${height} did not do the same again: the block had evidence of a double sign, or the chain was upgraded`,
  );
}

function reportOf(
  { result, profile }: Profiled<Pick<TxResult, "code" | "codespace" | "log">>,
  height: bigint | null,
): ProfileReport {
  const { code, codespace, log } = result;
  return { height, code, codespace, log, ...profile };
}

/** Answers an `abci_query` of {@link PROFILE_PATH}: JSON in, JSON out. */
export function queryProfile(
  { data }: QueryRequest,
  profile: (request: ProfileRequest) => ProfileReport,
): QueryResponse {
  const request = parseProfileRequest(readJson(data));
  if (request === undefined) return errorResponse(ErrInvalidRequest(`no request of ${PROFILE_PATH}`));
  try {
    return okResponse({ value: utf8(stringifyJson(profileReportJson(profile(request)))) });
  } catch (thrown) {
    if (!(thrown instanceof ProfileError)) throw thrown;
    return errorResponse(ErrInvalidRequest(errorText(thrown)));
  }
}

function readJson(data: Uint8Array): unknown {
  try {
    return JSON.parse(fromUtf8(data));
  } catch {
    return undefined;
  }
}
