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
      "genesis document, profile: specification or deployed was expected",
    );
    expect(() => parseGenesis(withMember(["profile"], null))).toThrow("profile: specification or deployed");
  });

  it("is rejected when it is not JSON", () => {
    expect(() => decodeGenesis(utf8("{"))).toThrow("the genesis document: not JSON");
  });

  it("is rejected when it is not an object", () => {
    expect(() => parseGenesis([])).toThrow("the genesis document: an object was expected");
  });

  it.each([
    ["chain_id", 5, "chain_id: 1 to 50 characters were expected"],
    ["chain_id", "", "chain_id: 1 to 50 characters were expected"],
    ["chain_id", "a b", "chain_id: 1 to 50 characters were expected"],
    ["app_state", undefined, "app_state: an object was expected"],
    ["validators", undefined, "validators: at least one was expected"],
    ["validators", [], "validators: at least one was expected"],
    ["validators.1", 7, "validators[1]: an object was expected"],
    ["validators.1.pub_key", undefined, "validators[1].pub_key: an object was expected"],
    ["validators.1.pub_key.type", "secp256k1", "validators[1].pub_key.type: an ed25519 key was expected"],
    ["validators.1.pub_key.value", "AAAA", "validators[1].pub_key.value: a key of 32 bytes was expected"],
    ["validators.1.pub_key.value", "*", "validators[1].pub_key.value: base64 was expected"],
    ["validators.1.power", "0", "validators[1].power: a positive number in quotes was expected"],
    ["validators.1.power", 5, "validators[1].power: a number in quotes was expected"],
    ["genesis_time", undefined, "genesis_time: an RFC 3339 time was expected"],
    ["genesis_time", "now", "genesis_time: an RFC 3339 time was expected"],
    ["initial_height", "0", "initial_height: a positive number in quotes was expected"],
    ["consensus_params", undefined, "consensus_params: an object was expected"],
    ["consensus_params.block", undefined, "consensus_params.block: an object was expected"],
    ["consensus_params.block.max_gas", 5, "consensus_params.block.max_gas: a number in quotes was expected"],
    [
      "consensus_params.evidence.max_bytes",
      "1x",
      "consensus_params.evidence.max_bytes: a number in quotes was expected",
    ],
    ["consensus_params.abci", undefined, "consensus_params.abci: an object was expected"],
    [
      "consensus_params.block.max_bytes",
      "9".repeat(19),
      "consensus_params.block.max_bytes: a 64-bit integer was expected",
    ],
  ])("is rejected when %s is %j", (path, value, message) => {
    const document = withMember(path.split("."), value);
    expect(() => parseGenesis(document)).toThrow(`genesis document, ${message}`);
  });
});
