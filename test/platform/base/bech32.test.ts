import { describe, expect, it } from "vitest";
import { decodeBech32, encodeBech32, sha256, utf8 } from "../../../src/platform/base/bytes.ts";

const MODULE = "neutron19dhua4r55gpc86fqtzfhdkklryspmsjy3h6300";

describe("bech32", () => {
  it("encodes and decodes the address of a module account", () => {
    const bytes = sha256(utf8("interchainqueries")).subarray(0, 20);
    expect(encodeBech32("neutron", bytes)).toBe(MODULE);
    expect(decodeBech32(MODULE)).toEqual({ prefix: "neutron", bytes: new Uint8Array(bytes) });
  });

  it("accepts upper case and rejects mixed case, a wrong checksum and a missing separator", () => {
    expect(decodeBech32(MODULE.toUpperCase()).prefix).toBe("neutron");
    expect(() => decodeBech32(MODULE.replace("dhua", "DHUA"))).toThrow();
    expect(() => decodeBech32(`${MODULE.slice(0, -1)}q`)).toThrow();
    expect(() => decodeBech32("neutron")).toThrow("no bech32 separator");
  });
});
