import { fromHex, toBase64, upperHex } from "../../platform/base/bytes.ts";
import { JsonField, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
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

/** Maximum number of validators in a set, and therefore of signatures in a commit (CometBFT `MaxVotesCount`). */
export const MAX_VALIDATORS = 10_000;

/** Maximum length of a JSON string in characters. The longest string in a block is a signature, with 88 base64 characters. */
const MAX_STRING_LENGTH = 256;

/**
 * Parses `signed_header` from a `commit` response. Checks types, lengths and encodings, but neither hashes nor signatures. Throws
 * `CometError` with the path of the wrong field, as do all functions here.
 */
export function parseSignedHeader(json: unknown): SignedHeader {
  const signed = root(json, "signed_header");
  return { header: headerOf(signed.member("header")), commit: commitOf(signed.member("commit")) };
}

/** Parses the `validators` list from a `validators` response. The proposer is computed from the priorities. */
export function parseValidators(json: unknown): ValidatorSet {
  return validatorSetOf(list(root(json, "validators")).map(validatorOf));
}

function headerOf(field: JsonField): Header {
  const version = field.member("version");
  const hash = (name: string): Uint8Array => hex(field.member(name));
  return {
    // CometBFT omits version numbers that are zero, and the whole version if it is empty.
    version: {
      block: version.isPresent() ? int64OrZero(version.member("block")) : 0n,
      app: version.isPresent() ? int64OrZero(version.member("app")) : 0n,
    },
    chainId: string(field.member("chain_id")),
    height: int64(field.member("height")),
    timeNs: bounded(field.member("time")).asTimeNs(),
    lastBlockId: blockIdOf(field.member("last_block_id")),
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
    height: int64(field.member("height")),
    round: uint32(field.member("round")),
    blockId: blockIdOf(field.member("block_id")),
    signatures: list(field.member("signatures")).map(commitSigOf),
  };
}

function blockIdOf(field: JsonField): BlockId {
  const parts = field.member("parts");
  return {
    hash: hex(field.member("hash")),
    parts: { total: uint32(parts.member("total")), hash: hex(parts.member("hash")) },
  };
}

function commitSigOf(field: JsonField): CommitSig {
  const signature = field.member("signature");
  return {
    flag: uint32(field.member("block_id_flag")),
    validatorAddress: hex(field.member("validator_address")),
    timestampNs: bounded(field.member("timestamp")).asTimeNs(),
    // The signature of an absent validator is null, because Go prints an empty byte slice as null.
    signature: signature.value === null ? new Uint8Array(0) : bounded(signature).asBase64(),
  };
}

function validatorOf(field: JsonField): Validator {
  const key = field.member("pub_key");
  const type = string(key.member("type"));
  const keyType = Object.values(KEY_TYPES).find(({ jsonType }) => jsonType === type);
  if (keyType === undefined) throw malformed("validator", `key type ${type} is not supported`);
  const value = key.member("value");
  const publicKey = bounded(value).asBase64();
  if (publicKey.length !== keyType.size) throw value.error(value.path, `${keyType.size} bytes`);
  return {
    address: hex(field.member("address")),
    publicKey,
    power: int64(field.member("voting_power")),
    priority: int64OrZero(field.member("proposer_priority")),
  };
}

function root(value: unknown, path: string): JsonField {
  return new JsonField(value, path, wrongField);
}

function wrongField(path: string, expected: string): CometError {
  return malformed(path, `${path}: expected ${expected}`);
}

/** Checks a list's length and returns its elements. The check limits the work that a malicious response can cause. */
function list(field: JsonField): readonly JsonField[] {
  const { value } = field.required();
  if (Array.isArray(value) && value.length > MAX_VALIDATORS)
    throw field.error(field.path, `at most ${MAX_VALIDATORS} entries`);
  return field.elements();
}

/** Checks that a field is a string within the length limit. */
function bounded(field: JsonField): JsonField {
  if (typeof field.value !== "string" || field.value.length > MAX_STRING_LENGTH)
    throw field.error(field.path, `a string of at most ${MAX_STRING_LENGTH} characters`);
  return field;
}

function string(field: JsonField): string {
  return bounded(field).asText();
}

/** Parses a 64-bit integer from a string. Like CometBFT, refuses JSON numbers, which are inexact above 2^53. */
function int64(field: JsonField): bigint {
  return bounded(field).asInt64();
}

function int64OrZero(field: JsonField): bigint {
  return field.isPresent() ? int64(field) : 0n;
}

/** Parses a 32-bit integer, which CometBFT prints as a JSON number. */
function uint32(field: JsonField): number {
  if (typeof field.value !== "number") throw field.error(field.path, "a 32-bit unsigned integer");
  return field.asUint32();
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
 * Converts a header to CometBFT's RPC JSON. Hashes are upper-case hex, and 64-bit integers are strings. The `app` version is
 * omitted if it is 0.
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

/** Converts a commit to CometBFT's RPC JSON. A missing signature becomes null. */
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

/** Converts a block id to CometBFT's RPC JSON. */
export function blockIdToJson(id: BlockId): JsonObject {
  return { hash: upperHex(id.hash), parts: { total: id.parts.total, hash: upperHex(id.parts.hash) } };
}

/** Converts a validator to an entry in the RPC's `validators` response. */
export function validatorToJson(validator: Validator): JsonObject {
  return {
    address: upperHex(validator.address),
    pub_key: { type: keyTypeOf(validator.publicKey).jsonType, value: toBase64(validator.publicKey) },
    voting_power: `${validator.power}`,
    proposer_priority: `${validator.priority}`,
  };
}
