import { fromBase64, fromUtf8, toBase64, toHex, utf8 } from "../base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../base/json.ts";
import { formatRfc3339Ns, parseRfc3339Ns } from "../base/rfc3339.ts";
import type { ValidatorPower } from "../chain/abci.ts";
import { addressOf } from "../comet/ed25519.ts";
import { type ConsensusParams, consensusParamsToJson, parseConsensusParams } from "./consensus-params.ts";
import { NodeError } from "./errors.ts";

/** A chain's first document, as CometBFT's genesis.json. Times are ns since the Unix epoch. */
export interface GenesisDoc {
  readonly genesisTimeNs: bigint;
  readonly chainId: string;
  readonly initialHeight: bigint;
  readonly consensusParams: ConsensusParams;
  readonly validators: readonly ValidatorPower[];
  readonly appState: JsonObject;
}

/** The document as CometBFT prints it. */
export function genesisToJson(doc: GenesisDoc): JsonObject {
  return {
    genesis_time: formatRfc3339Ns(doc.genesisTimeNs),
    chain_id: doc.chainId,
    initial_height: doc.initialHeight.toString(),
    consensus_params: consensusParamsToJson(doc.consensusParams),
    validators: doc.validators.map(({ publicKey, power }, index) => ({
      address: toHex(addressOf(publicKey)).toUpperCase(),
      pub_key: { type: "tendermint/PubKeyEd25519", value: toBase64(publicKey) },
      power: power.toString(),
      name: `validator-${index}`,
    })),
    app_hash: "",
    app_state: doc.appState,
  };
}

/** The document's bytes: two equal documents have equal bytes. */
export function encodeGenesis(doc: GenesisDoc): Uint8Array {
  return utf8(JSON.stringify(genesisToJson(doc)));
}

/** Reads what {@link encodeGenesis} wrote. Throws `NodeError` `bad-genesis`. */
export function decodeGenesis(bytes: Uint8Array): GenesisDoc {
  let document: unknown;
  try {
    document = JSON.parse(fromUtf8(bytes));
  } catch (error) {
    throw badGenesis("", "not JSON", error);
  }
  return parseGenesis(document);
}

/** Reads a genesis document in CometBFT's JSON form. Throws `NodeError` `bad-genesis` that names the path. */
export function parseGenesis(document: unknown): GenesisDoc {
  if (!isRecord(document)) throw badGenesis("", "an object was expected");
  const { genesis_time, chain_id, initial_height, consensus_params, validators, app_state } = document;
  if (typeof chain_id !== "string" || !/^[\w-]{1,50}$/.test(chain_id)) {
    throw badGenesis("chain_id", "1 to 50 characters were expected");
  }
  if (!isJsonObject(app_state)) throw badGenesis("app_state", "an object was expected");
  if (!Array.isArray(validators) || validators.length === 0) {
    throw badGenesis("validators", "at least one was expected");
  }
  return {
    chainId: chain_id,
    genesisTimeNs: read("genesis_time", () => parseRfc3339Ns(String(genesis_time))),
    initialHeight: read("initial_height", () => positive(initial_height)),
    consensusParams: read("consensus_params", () => parseConsensusParams(consensus_params)),
    validators: validators.map((one: unknown, index) =>
      read(`validators[${index}]`, () => parseValidator(one)),
    ),
    appState: app_state,
  };
}

function parseValidator(value: unknown): ValidatorPower {
  if (!isRecord(value) || !isRecord(value.pub_key)) throw new Error("pub_key was expected");
  if (value.pub_key.type !== "tendermint/PubKeyEd25519") throw new Error("an ed25519 key was expected");
  const publicKey = fromBase64(String(value.pub_key.value));
  if (publicKey.length !== 32) throw new Error("a key of 32 bytes was expected");
  return { publicKey, power: positive(value.power) };
}

function positive(value: unknown): bigint {
  if (typeof value !== "string" || !/^[1-9]\d{0,18}$/.test(value)) {
    throw new Error("a positive number in quotes was expected");
  }
  return BigInt(value);
}

function read<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw badGenesis(path, error instanceof Error ? error.message : "unreadable", error);
  }
}

function badGenesis(path: string, what: string, cause?: unknown): NodeError {
  const where = path === "" ? "the genesis document" : `genesis document, ${path}`;
  return new NodeError({ code: "bad-genesis", path }, `${where}: ${what}`, { cause });
}

/** Whether a value is an object of JSON values. The document came from JSON or from typed code, so one look suffices. */
function isJsonObject(value: unknown): value is { readonly [key: string]: JsonValue } {
  return isRecord(value);
}
