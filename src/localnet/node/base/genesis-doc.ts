import { addressOf } from "../../../cosmos/comet/validator-key.ts";
import { fromUtf8, toBase64, upperHex, utf8 } from "../../../platform/base/bytes.ts";
import { isRecord, JsonField, type JsonObject, type JsonValue } from "../../../platform/base/json.ts";
import { formatRfc3339Ns } from "../../../platform/base/time.ts";
import { PROFILE_NAMES, type ProfileName } from "../../chain/deviations/deviations.ts";
import type { ValidatorPower } from "../../chain/runtime/abci.ts";
import { NodeError } from "./errors.ts";

/** Consensus parameters. A header's `consensus_hash` covers only `maxBytes` and `maxGas`. */
export interface ConsensusParams {
  /** Maximum size of an encoded block, in bytes. */
  readonly maxBytes: bigint;
  /** Maximum gas per block, or -1 if there is no limit. */
  readonly maxGas: bigint;
  readonly evidenceMaxAgeBlocks: bigint;
  readonly evidenceMaxAgeNs: bigint;
  readonly evidenceMaxBytes: bigint;
  /** First height with vote extensions. If 0, vote extensions are disabled, so blocks contain only transactions. */
  readonly voteExtensionsEnableHeight: bigint;
}

/** Default parameters of a local chain. The parameters are the same as on the real network, except that vote extensions are disabled. */
export const DEFAULT_CONSENSUS_PARAMS: ConsensusParams = {
  maxBytes: 22_020_096n,
  maxGas: 1_000_000_000n,
  evidenceMaxAgeBlocks: 100_000n,
  evidenceMaxAgeNs: 172_800_000_000_000n,
  evidenceMaxBytes: 1_048_576n,
  voteExtensionsEnableHeight: 0n,
};

/** Returns the parameters as JSON, in the format of genesis documents and of the RPC method `consensus_params`. */
export function consensusParamsToJson(
  params: ConsensusParams,
  version: JsonObject = { app: "0" },
): JsonObject {
  return {
    block: { max_bytes: params.maxBytes.toString(), max_gas: params.maxGas.toString() },
    evidence: {
      max_age_num_blocks: params.evidenceMaxAgeBlocks.toString(),
      max_age_duration: params.evidenceMaxAgeNs.toString(),
      max_bytes: params.evidenceMaxBytes.toString(),
    },
    validator: { pub_key_types: ["ed25519"] },
    version,
    abci: { vote_extensions_enable_height: params.voteExtensionsEnableHeight.toString() },
  };
}

/** Parses the output of {@link consensusParamsToJson}. If a parameter is missing or invalid, throws an error that names the field. */
function parseConsensusParams(params: JsonField): ConsensusParams {
  const block = params.member("block");
  const evidence = params.member("evidence");
  const abci = params.member("abci");
  return {
    maxBytes: quotedInt64(block.member("max_bytes")),
    maxGas: quotedInt64(block.member("max_gas")),
    evidenceMaxAgeBlocks: quotedInt64(evidence.member("max_age_num_blocks")),
    evidenceMaxAgeNs: quotedInt64(evidence.member("max_age_duration")),
    evidenceMaxBytes: quotedInt64(evidence.member("max_bytes")),
    voteExtensionsEnableHeight: quotedInt64(abci.member("vote_extensions_enable_height")),
  };
}

/** Reads a 64-bit integer, which CometBFT's JSON represents as a string. Throws an error that names the field for any other value. */
function quotedInt64(field: JsonField): bigint {
  if (typeof field.value !== "string" || !/^-?\d+$/.test(field.value)) {
    throw field.error(field.path, "a number in quotes");
  }
  return field.asInt64();
}

/** A chain's genesis document, as in CometBFT's genesis.json. */
export interface GenesisDoc {
  readonly genesisTimeNs: bigint;
  readonly chainId: string;
  readonly initialHeight: bigint;
  readonly consensusParams: ConsensusParams;
  readonly validators: readonly ValidatorPower[];
  readonly appState: JsonObject;
  /** The chain's profile. Default: `specification`. CometBFT ignores this additional field. */
  readonly profile?: ProfileName;
}

/** Returns the document in CometBFT's JSON format. */
export function genesisToJson(doc: GenesisDoc): JsonObject {
  return {
    genesis_time: formatRfc3339Ns(doc.genesisTimeNs),
    chain_id: doc.chainId,
    initial_height: doc.initialHeight.toString(),
    consensus_params: consensusParamsToJson(doc.consensusParams),
    validators: doc.validators.map(({ publicKey, power }, index) => ({
      address: upperHex(addressOf(publicKey)),
      pub_key: { type: ED25519_KEY_TYPE, value: toBase64(publicKey) },
      power: power.toString(),
      name: `validator-${index}`,
    })),
    app_hash: "",
    app_state: doc.appState,
    // Omit the default profile, so that each document has only one encoding.
    ...(doc.profile === "deployed" ? { profile: doc.profile } : {}),
  };
}

const ED25519_KEY_TYPE = "tendermint/PubKeyEd25519";

/**
 * Encodes a genesis document as JSON. A restarted node compares these bytes with the stored bytes, so the order of the fields in
 * `appState` matters.
 */
export function encodeGenesis(doc: GenesisDoc): Uint8Array {
  return utf8(JSON.stringify(genesisToJson(doc)));
}

/** Parses a genesis document's JSON bytes. Throws `NodeError` `bad-genesis` for invalid JSON or an invalid field. */
export function decodeGenesis(bytes: Uint8Array): GenesisDoc {
  let document: unknown;
  try {
    document = JSON.parse(fromUtf8(bytes));
  } catch (error) {
    throw badGenesis("", "not JSON", error);
  }
  return parseGenesis(document);
}

/** Parses a genesis document in CometBFT's JSON format. Throws `NodeError` `bad-genesis` with the field's path. */
export function parseGenesis(document: unknown): GenesisDoc {
  const root = new JsonField(document, "", (path, expected) => badGenesis(path, `expected ${expected}`));
  return {
    chainId: parseChainId(root.member("chain_id")),
    genesisTimeNs: root.member("genesis_time").asTimeNs(),
    initialHeight: positive(root.member("initial_height")),
    consensusParams: parseConsensusParams(root.member("consensus_params")),
    validators: parseValidators(root.member("validators")),
    appState: parseAppState(root.member("app_state")),
    ...parseProfile(root.member("profile")),
  };
}

function parseProfile(field: JsonField): Pick<GenesisDoc, "profile"> {
  if (field.value === undefined) return {};
  const profile = PROFILE_NAMES.find((name) => name === field.value);
  if (profile === undefined) throw field.error(field.path, PROFILE_NAMES.join(" or "));
  return { profile };
}

function parseChainId({ value, path }: JsonField): string {
  if (typeof value === "string" && /^[\w-]{1,50}$/.test(value)) return value;
  throw badGenesis(path, "expected 1 to 50 characters");
}

function parseValidators(field: JsonField): readonly ValidatorPower[] {
  const validators = field.elements();
  if (validators.length === 0) throw field.error(field.path, "at least one");
  return validators.map((validator) => {
    const key = validator.member("pub_key");
    const type = key.member("type");
    if (type.value !== ED25519_KEY_TYPE) throw type.error(type.path, "an ed25519 key");
    const keyBytes = key.member("value");
    const publicKey = keyBytes.asBase64();
    if (publicKey.length !== 32) throw keyBytes.error(keyBytes.path, "a key of 32 bytes");
    return { publicKey, power: positive(validator.member("power")) };
  });
}

/** Returns the application state, which must be an object. Each module validates its state later, when it reads the genesis. */
function parseAppState(field: JsonField): JsonObject {
  if (!isJsonObject(field.value)) throw field.error(field.path, "an object");
  return field.value;
}

function positive(field: JsonField): bigint {
  const number = quotedInt64(field);
  if (number < 1n) throw field.error(field.path, "a positive number in quotes");
  return number;
}

function badGenesis(path: string, problem: string, cause?: unknown): NodeError {
  const where = path === "" ? "the genesis document" : `genesis document, ${path}`;
  return new NodeError({ code: "bad-genesis", path }, `${where}: ${problem}`, { cause });
}

/** Returns whether the value is an object. The object's fields need no check, because genesis documents come from JSON or typed code. */
function isJsonObject(value: unknown): value is { readonly [key: string]: JsonValue } {
  return isRecord(value);
}
