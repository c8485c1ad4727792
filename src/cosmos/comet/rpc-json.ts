import { fromHex, toBase64, upperHex } from "../../platform/base/bytes.ts";
import {
  asBase64,
  asInt64,
  asText,
  asTimeNs,
  asUint32,
  elements,
  isPresent,
  type JsonField,
  type JsonObject,
  type JsonValue,
  member,
  required,
} from "../../platform/base/json.ts";
import { formatRfc3339Ns } from "../../platform/base/time.ts";
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
import { KEY_TYPES, keyTypeOf } from "./validator-key.ts";
import { validatorSetOf } from "./validator-set.ts";

/** Maximum number of validators in a set, and so of signatures in a commit (CometBFT `MaxVotesCount`). */
export const MAX_VALIDATORS = 10_000;

/** Maximum length of a string. The longest one in a block is a signature: 88 characters of base64. */
const MAX_STRING_LENGTH = 256;

/**
 * Parses the `signed_header` of a `commit` response. Checks types, lengths and encodings, but not hashes and
 * signatures. Throws `CometError` with the path of the wrong field, as do all functions here.
 */
export function parseSignedHeader(json: unknown): SignedHeader {
  const signed = root(json, "signed_header");
  return { header: headerOf(member(signed, "header")), commit: commitOf(member(signed, "commit")) };
}

/** Parses a block header. */
export function parseHeader(json: unknown): Header {
  return headerOf(root(json, "header"));
}

/** Parses the list `validators` of a `validators` response. The proposer is computed from the priorities. */
export function parseValidators(json: unknown): ValidatorSet {
  return validatorSetOf(list(root(json, "validators")).map(validatorOf));
}

function headerOf(field: JsonField): Header {
  const version = member(field, "version");
  const hash = (name: string): Uint8Array => hex(member(field, name));
  return {
    // CometBFT omits version numbers that are zero, and an empty version.
    version: {
      block: isPresent(version) ? int64OrZero(member(version, "block")) : 0n,
      app: isPresent(version) ? int64OrZero(member(version, "app")) : 0n,
    },
    chainId: string(member(field, "chain_id")),
    height: int64(member(field, "height")),
    timeNs: asTimeNs(bounded(member(field, "time"))),
    lastBlockId: blockIdOf(member(field, "last_block_id")),
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

function commitOf(field: JsonField): Commit {
  return {
    height: int64(member(field, "height")),
    round: uint32(member(field, "round")),
    blockId: blockIdOf(member(field, "block_id")),
    signatures: list(member(field, "signatures")).map(commitSigOf),
  };
}

function blockIdOf(field: JsonField): BlockId {
  const parts = member(field, "parts");
  return {
    hash: hex(member(field, "hash")),
    parts: { total: uint32(member(parts, "total")), hash: hex(member(parts, "hash")) },
  };
}

function commitSigOf(field: JsonField): CommitSig {
  const signature = member(field, "signature");
  return {
    flag: uint32(member(field, "block_id_flag")),
    validatorAddress: hex(member(field, "validator_address")),
    timestampNs: asTimeNs(bounded(member(field, "timestamp"))),
    // Go prints an empty byte slice as null: the signature of an absent validator.
    signature: signature.value === null ? new Uint8Array(0) : asBase64(bounded(signature)),
  };
}

function validatorOf(field: JsonField): Validator {
  const key = member(field, "pub_key");
  const type = string(member(key, "type"));
  const keyType = Object.values(KEY_TYPES).find(({ jsonType }) => jsonType === type);
  if (keyType === undefined) throw malformed("validator", `key type ${type} is not supported`);
  const value = member(key, "value");
  const publicKey = asBase64(bounded(value));
  if (publicKey.length !== keyType.size) throw value.error(value.path, `${keyType.size} bytes`);
  return {
    address: hex(member(field, "address")),
    publicKey,
    power: int64(member(field, "voting_power")),
    priority: int64OrZero(member(field, "proposer_priority")),
  };
}

function root(value: unknown, path: string): JsonField {
  return { value, path, error: wrongField };
}

function wrongField(path: string, expected: string): CometError {
  return malformed(path, `${path}: expected ${expected}`);
}

/** Returns the elements of a list. Checks the length first, so that the work on a hostile response stays small. */
function list(field: JsonField): readonly JsonField[] {
  const { value } = required(field);
  if (Array.isArray(value) && value.length > MAX_VALIDATORS)
    throw field.error(field.path, `at most ${MAX_VALIDATORS} entries`);
  return elements(field);
}

/** Checks that a field is a string of limited length. */
function bounded(field: JsonField): JsonField {
  if (typeof field.value !== "string" || field.value.length > MAX_STRING_LENGTH)
    throw field.error(field.path, `a string of at most ${MAX_STRING_LENGTH} characters`);
  return field;
}

function string(field: JsonField): string {
  return asText(bounded(field));
}

/** Parses a 64-bit integer. CometBFT prints them as strings and refuses JSON numbers, which are inexact above 2^53. */
function int64(field: JsonField): bigint {
  return asInt64(bounded(field));
}

function int64OrZero(field: JsonField): bigint {
  return isPresent(field) ? int64(field) : 0n;
}

/** Parses a 32-bit integer. CometBFT prints them as JSON numbers. */
function uint32(field: JsonField): number {
  if (typeof field.value !== "number") throw field.error(field.path, "a 32-bit unsigned integer");
  return asUint32(field);
}

function hex(field: JsonField): Uint8Array {
  const encoded = string(field);
  try {
    return fromHex(encoded);
  } catch {
    throw field.error(field.path, "hex");
  }
}

/**
 * Converts a header to the JSON of CometBFT's RPC. Hashes are upper-case hex, and 64-bit integers are strings. An `app`
 * version of zero is omitted.
 */
export function headerToJson(header: Header): JsonObject {
  const { block, app } = header.version;
  return {
    version: app === 0n ? { block: `${block}` } : { block: `${block}`, app: `${app}` },
    chain_id: header.chainId,
    height: `${header.height}`,
    time: formatRfc3339Ns(header.timeNs),
    last_block_id: blockIdToJson(header.lastBlockId),
    last_commit_hash: upperHex(header.lastCommitHash),
    data_hash: upperHex(header.dataHash),
    validators_hash: upperHex(header.validatorsHash),
    next_validators_hash: upperHex(header.nextValidatorsHash),
    consensus_hash: upperHex(header.consensusHash),
    app_hash: upperHex(header.appHash),
    last_results_hash: upperHex(header.lastResultsHash),
    evidence_hash: upperHex(header.evidenceHash),
    proposer_address: upperHex(header.proposerAddress),
  };
}

/** Converts a commit to the JSON of CometBFT's RPC. An absent signature is null. */
export function commitToJson(commit: Commit): JsonObject {
  return {
    height: `${commit.height}`,
    round: commit.round,
    block_id: blockIdToJson(commit.blockId),
    signatures: commit.signatures.map(
      (sig): JsonValue => ({
        block_id_flag: sig.flag,
        validator_address: upperHex(sig.validatorAddress),
        timestamp: formatRfc3339Ns(sig.timestampNs),
        signature: sig.signature.length === 0 ? null : toBase64(sig.signature),
      }),
    ),
  };
}

/** Converts a block id to the JSON of CometBFT's RPC. */
export function blockIdToJson(id: BlockId): JsonObject {
  return { hash: upperHex(id.hash), parts: { total: id.parts.total, hash: upperHex(id.parts.hash) } };
}

/** Converts a validator to an entry of the RPC's `validators` response. */
export function validatorToJson(validator: Validator): JsonObject {
  return {
    address: upperHex(validator.address),
    pub_key: { type: keyTypeOf(validator.publicKey).jsonType, value: toBase64(validator.publicKey) },
    voting_power: `${validator.power}`,
    proposer_priority: `${validator.priority}`,
  };
}
