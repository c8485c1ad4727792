import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHex, encodeBech32 } from "../../../src/platform/base/bytes.ts";
import { formatAddress, moduleAddress, parseAddress } from "../../../src/localnet/chain/runtime/address.ts";

describe("addresses", () => {
  it("round-trip through bech32", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 255 }), (bytes) => {
        expect(parseAddress("neutron", formatAddress("neutron", bytes))).toEqual(bytes);
      }),
    );
  });

  it("of module accounts equal those of the deployed chain", () => {
    const of = (name: string): string => formatAddress("neutron", moduleAddress(name));
    expect(of("interchainqueries")).toBe("neutron19dhua4r55gpc86fqtzfhdkklryspmsjy3h6300");
    expect(of("feemarket-fee-collector")).toBe("neutron13pxn9n3qw79e03844rdadagmg0nshmwf6l9777");
    expect(of("revenue-fee-redistribute")).toBe("neutron1m7kmeak80lq38pkrqnng96acdfjjd52luk06sm");
  });

  it.each([
    ["", "empty address string is not allowed"],
    ["  ", "empty address string is not allowed"],
    ["garbage", "decoding bech32 failed: invalid bech32 string length 7"],
    [
      "neutron1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqvx3x2w",
      "decoding bech32 failed: invalid checksum (expected hufaa6 got vx3x2w)",
    ],
    ["neutron1Qqqqqqqqq", "decoding bech32 failed: string not all lowercase or all uppercase"],
    ["neutronqqqqqqqqqq", "decoding bech32 failed: invalid separator index -1"],
    ["neutron1bqqqqqqqqqq", "decoding bech32 failed: invalid character not part of charset: 98"],
    ["neutron1 qqqqqqqqqq", "decoding bech32 failed: invalid character in string: ' '"],
    [encodeBech32("cosmos", new Uint8Array(20)), "invalid Bech32 prefix; expected neutron, got cosmos"],
    [encodeBech32("neutron", new Uint8Array(0)), "addresses cannot be empty"],
    [encodeBech32("neutron", new Uint8Array(256)), "address max length is 255, got 256"],
  ])("%j is rejected", (text, message) => {
    expect(() => parseAddress("neutron", text)).toThrow(expect.objectContaining({ message }));
  });

  it("can be upper-case", () => {
    const text = formatAddress("neutron", moduleAddress("wasm"));
    expect(toHex(parseAddress("neutron", text.toUpperCase()))).toBe(toHex(moduleAddress("wasm")));
  });
});
