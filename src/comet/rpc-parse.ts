import { fromBase64, fromHex } from "../base/bytes.ts";
import { isRecord } from "../base/json.ts";
import { parseRfc3339Ns } from "../base/rfc3339.ts";
import type {
  BlockId,
  Commit,
  CommitSig,
  Header,
  SignedHeader,
  Validator,
  ValidatorSet,
} from "./block-types.ts";
import { type CometError, malformed } from "./comet-error.ts";
import { PUBLIC_KEY_SIZE } from "./ed25519.ts";
import { validatorSetOf } from "./validator-set.ts";

/** Most validators, and so signatures in a commit, that CometBFT knows. */
export const MAX_VALIDATORS = 10_000;

const INT64 = /^-?\d{1,19}$/;

/** Reads `signed_header` of a `commit` answer. Shape and encodings are checked, not whether it holds. Throws `CometError`. */
export function parseSignedHeader(json: unknown): SignedHeader {
  const signed = record(json, "signed_header");
  return { header: parseHeader(signed["header"]), commit: parseCommit(signed["commit"]) };
}

/** Reads a block header. Throws `CometError`. */
export function parseHeader(json: unknown): Header {
  const header = record(json, "header");
  const version = record(header["version"] ?? {}, "header.version");
  const hash = (name: string): Uint8Array => hex(header[name], `header.${name}`);
  return {
    version: {
      block: integer(version["block"] ?? "0", "header.version.block"),
      app: integer(version["app"] ?? "0", "header.version.app"),
    },
    chainId: text(header["chain_id"], "header.chain_id"),
    height: integer(header["height"], "header.height"),
    timeNs: time(header["time"], "header.time"),
    lastBlockId: parseBlockId(header["last_block_id"]),
    lastCommitHash: hash("last_commit_hash"),
    dataHash: hash("data_hash"),
    validatorsHash: hash("validators_hash"),
    nextValidatorsHash: hash("next_validators_hash"),
    consensusHash: hash("consensus_hash"),
    appHash: hash("app_hash"),
    lastResultsHash: hash("last_results_hash"),
    evidenceHash: hash("evidence_hash"),
    proposerAddress: hash("proposer_address"),
  };
}

/** Reads a commit. Throws `CometError`. */
export function parseCommit(json: unknown): Commit {
  const commit = record(json, "commit");
  return {
    height: integer(commit["height"], "commit.height"),
    round: small(commit["round"], "commit.round"),
    blockId: parseBlockId(commit["block_id"]),
    signatures: list(commit["signatures"], "commit.signatures").map(parseCommitSig),
  };
}

/** Reads a block id. Throws `CometError`. */
export function parseBlockId(json: unknown): BlockId {
  const id = record(json, "block_id");
  const parts = record(id["parts"], "block_id.parts");
  return {
    hash: hex(id["hash"], "block_id.hash"),
    parts: {
      total: small(parts["total"], "block_id.parts.total"),
      hash: hex(parts["hash"], "block_id.parts.hash"),
    },
  };
}

/** Reads the list `validators` of a `validators` answer, the proposer computed from the priorities. Throws `CometError`. */
export function parseValidators(json: unknown): ValidatorSet {
  return validatorSetOf(list(json, "validators").map(parseValidator));
}

function parseCommitSig(json: unknown): CommitSig {
  const sig = record(json, "commit signature");
  const signature = sig["signature"];
  return {
    flag: small(sig["block_id_flag"], "block_id_flag"),
    validatorAddress: hex(sig["validator_address"], "validator_address"),
    timestampNs: time(sig["timestamp"], "timestamp"),
    signature: signature === null ? new Uint8Array(0) : base64(signature, "signature"),
  };
}

function parseValidator(json: unknown): Validator {
  const validator = record(json, "validator");
  const key = record(validator["pub_key"], "pub_key");
  if (key["type"] !== "tendermint/PubKeyEd25519") {
    throw malformed("validator", `key type ${text(key["type"], "pub_key.type")} is not supported`);
  }
  const publicKey = base64(key["value"], "pub_key.value");
  if (publicKey.length !== PUBLIC_KEY_SIZE) throw wrong("pub_key.value", `${PUBLIC_KEY_SIZE} bytes`);
  return {
    address: hex(validator["address"], "address"),
    publicKey,
    power: integer(validator["voting_power"], "voting_power"),
    priority: integer(validator["proposer_priority"] ?? "0", "proposer_priority"),
  };
}

function record(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw wrong(what, "an object");
  return value;
}

function list(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(what, "a list");
  if (value.length > MAX_VALIDATORS) throw wrong(what, `at most ${MAX_VALIDATORS} entries`);
  return value;
}

function text(value: unknown, what: string): string {
  if (typeof value !== "string" || value.length > 256) throw wrong(what, "a text of at most 256 characters");
  return value;
}

function integer(value: unknown, what: string): bigint {
  const digits = text(value, what);
  const number = INT64.test(digits) ? BigInt(digits) : undefined;
  if (number === undefined || BigInt.asIntN(64, number) !== number) throw wrong(what, "an int64 as text");
  return number;
}

function small(value: unknown, what: string): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
    throw wrong(what, "a whole number of 32 bits");
  }
  return value;
}

function hex(value: unknown, what: string): Uint8Array {
  return decoded(value, what, fromHex);
}

function base64(value: unknown, what: string): Uint8Array {
  return decoded(value, what, fromBase64);
}

function time(value: unknown, what: string): bigint {
  return decoded(value, what, parseRfc3339Ns);
}

function decoded<T>(value: unknown, what: string, decode: (text: string) => T): T {
  const encoded = text(value, what);
  try {
    return decode(encoded);
  } catch (error) {
    throw wrong(what, error instanceof Error ? error.message : "another encoding");
  }
}

function wrong(what: string, expected: string): CometError {
  return malformed(what, `${what}: expected ${expected}`);
}
