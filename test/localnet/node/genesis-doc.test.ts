import { describe, expect, it } from "vitest";
import { isRecord } from "../../../src/platform/base/json.ts";
import { utf8 } from "../../../src/platform/base/bytes.ts";
import {
  decodeGenesis,
  encodeGenesis,
  genesisToJson,
  parseGenesis,
} from "../../../src/localnet/node/base/genesis-doc.ts";
import { testGenesis } from "../../support/test-node.ts";

const DOCUMENT = { ...testGenesis("kv-1", [10n, 4n]), appState: { bank: { balances: [] } } };

/** Returns the JSON document with one member replaced; undefined removes it. */
function withMember(path: readonly string[], value: unknown): unknown {
  const replace = (parent: unknown, [name = "", ...below]: readonly string[]): unknown => {
    if (Array.isArray(parent))
      return parent.map((one: unknown, index) =>
        index === Number(name) ? (below.length === 0 ? value : replace(one, below)) : one,
      );
    if (!isRecord(parent)) throw new Error(`no object at ${name}`);
    return { ...parent, [name]: below.length === 0 ? value : replace(parent[name], below) };
  };
  return replace(JSON.parse(JSON.stringify(genesisToJson(DOCUMENT))), path);
}

describe("a genesis document", () => {
  it("survives encoding and decoding", () => {
    expect(decodeGenesis(encodeGenesis(DOCUMENT))).toEqual(DOCUMENT);
  });

  it("names a profile, except the default one", () => {
    const deployed = { ...DOCUMENT, profile: "deployed" as const };
    expect(genesisToJson(deployed)).toMatchObject({ profile: "deployed" });
    expect(decodeGenesis(encodeGenesis(deployed))).toEqual(deployed);
    // A document that names the default has the bytes of one that does not.
    expect(encodeGenesis(parseGenesis(withMember(["profile"], "specification")))).toEqual(
      encodeGenesis(DOCUMENT),
    );
    expect(() => parseGenesis(withMember(["profile"], "mainnet"))).toThrow(
      "genesis document, profile: expected specification or deployed",
    );
    expect(() => parseGenesis(withMember(["profile"], null))).toThrow(
      "profile: expected specification or deployed",
    );
  });

  it("is rejected when it is not JSON", () => {
    expect(() => decodeGenesis(utf8("{"))).toThrow("the genesis document: not JSON");
  });

  it("is rejected when it is not an object", () => {
    expect(() => parseGenesis([])).toThrow("the genesis document: expected an object");
  });

  it.each([
    ["chain_id", 5, "chain_id: expected 1 to 50 characters"],
    ["chain_id", "", "chain_id: expected 1 to 50 characters"],
    ["chain_id", "a b", "chain_id: expected 1 to 50 characters"],
    ["app_state", undefined, "app_state: expected an object"],
    ["validators", undefined, "validators: expected at least one"],
    ["validators", [], "validators: expected at least one"],
    ["validators.1", 7, "validators[1]: expected an object"],
    ["validators.1.pub_key", undefined, "validators[1].pub_key: expected an object"],
    ["validators.1.pub_key.type", "secp256k1", "validators[1].pub_key.type: expected an ed25519 key"],
    ["validators.1.pub_key.value", "AAAA", "validators[1].pub_key.value: expected a key of 32 bytes"],
    ["validators.1.pub_key.value", "*", "validators[1].pub_key.value: expected base64"],
    ["validators.1.power", "0", "validators[1].power: expected a positive number in quotes"],
    ["validators.1.power", 5, "validators[1].power: expected a number in quotes"],
    ["genesis_time", undefined, "genesis_time: expected an RFC 3339 time"],
    ["genesis_time", "now", "genesis_time: expected an RFC 3339 time"],
    ["initial_height", "0", "initial_height: expected a positive number in quotes"],
    ["consensus_params", undefined, "consensus_params: expected an object"],
    ["consensus_params.block", undefined, "consensus_params.block: expected an object"],
    ["consensus_params.block.max_gas", 5, "consensus_params.block.max_gas: expected a number in quotes"],
    [
      "consensus_params.evidence.max_bytes",
      "1x",
      "consensus_params.evidence.max_bytes: expected a number in quotes",
    ],
    ["consensus_params.abci", undefined, "consensus_params.abci: expected an object"],
    [
      "consensus_params.block.max_bytes",
      "9".repeat(19),
      "consensus_params.block.max_bytes: expected a 64-bit integer",
    ],
  ])("is rejected when %s is %j", (path, value, message) => {
    const document = withMember(path.split("."), value);
    expect(() => parseGenesis(document)).toThrow(`genesis document, ${message}`);
  });
});
