import { describe, expect, it } from "vitest";
import { decodeAddress, decodeBech32, encodeBech32, isAddress } from "../../../src/base/bech32.ts";
import { sha256 } from "../../../src/base/sha256.ts";
import { utf8 } from "../../../src/base/bytes.ts";

const MODULE = "neutron19dhua4r55gpc86fqtzfhdkklryspmsjy3h6300";

describe("bech32", () => {
  it("prints and reads a module account's address", () => {
    const bytes = sha256(utf8("interchainqueries")).subarray(0, 20);
    expect(encodeBech32("neutron", bytes)).toBe(MODULE);
    expect(decodeAddress("neutron", MODULE)).toEqual(new Uint8Array(bytes));
    expect(decodeBech32(MODULE).prefix).toBe("neutron");
  });

  it("takes upper case and refuses mixed case", () => {
    expect(isAddress("neutron", MODULE.toUpperCase())).toBe(true);
    expect(isAddress("neutron", MODULE.replace("dhua", "DHUA"))).toBe(false);
  });

  it("says why a text is not an address", () => {
    expect(() => decodeAddress("neutron", " ")).toThrow("empty address string is not allowed");
    expect(() => decodeAddress("neutron", "notbech32")).toThrow();
    expect(() => decodeAddress("cosmos", MODULE)).toThrow(
      "invalid Bech32 prefix; expected cosmos, got neutron",
    );
    expect(() => decodeAddress("neutron", encodeBech32("neutron", new Uint8Array(0)))).toThrow("1 to 255");
    expect(isAddress("neutron", `${MODULE.slice(0, -1)}q`)).toBe(false);
  });
});
