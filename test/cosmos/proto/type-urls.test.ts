import { describe, expect, it } from "vitest";
import {
  ProtoError,
  findMessageByTypeUrl,
  protoRegistry,
  CANONICAL_CHAIN_NAME,
  parseChainName,
  TYPE_URL,
  toCanonicalTypeUrl,
  toChainRestPath,
  toChainTypeUrl,
  typeNameOf,
} from "../../../src/cosmos/proto/registry.ts";

describe("the chain's own name", () => {
  it("replaces the root of type URLs, type names and gRPC paths in both directions", () => {
    const canonical = [
      "/neutron.harpoon.Query/SubscribedContracts",
      "neutron.harpoon.Params",
      TYPE_URL.submitQueryResult,
    ];
    const own = canonical.map((each) => toChainTypeUrl(each, "mychain"));
    expect(own).toEqual([
      "/mychain.harpoon.Query/SubscribedContracts",
      "mychain.harpoon.Params",
      "/mychain.interchainqueries.MsgSubmitQueryResult",
    ]);
    expect(own.map((each) => toCanonicalTypeUrl(each, "mychain"))).toEqual(canonical);
  });

  it("keeps other names, and has no canonical names on a chain of another name", () => {
    expect(toChainTypeUrl("/cosmos.bank.v1beta1.MsgSend", "mychain")).toBe("/cosmos.bank.v1beta1.MsgSend");
    expect(toChainTypeUrl("/neutronx.a.B", "mychain")).toBe("/neutronx.a.B");
    expect(toCanonicalTypeUrl("/neutron.harpoon.Params", "mychain")).toBeUndefined();
    expect(toCanonicalTypeUrl("/neutron.harpoon.Params", "neutron")).toBe("/neutron.harpoon.Params");
  });

  it("replaces the first segment of REST paths", () => {
    expect(toChainRestPath("/neutron/interchainqueries/params", "mychain")).toBe(
      "/mychain/interchainqueries/params",
    );
    expect(toChainRestPath("/cosmos/bank/v1beta1/params", "mychain")).toBe("/cosmos/bank/v1beta1/params");
  });

  it("consists of lower-case letters and digits", () => {
    expect(parseChainName("chain2")).toBe("chain2");
    for (const name of ["", "Neutron", "my-chain", "2chain", "a".repeat(33)]) {
      expect(() => parseChainName(name), name).toThrow("cannot be a chain's own name");
    }
  });
});

describe("the packages of other modules", () => {
  it("cannot be a chain's own name", () => {
    const packages = [...protoRegistry().files].map((file) => file.proto.package);
    const roots = new Set(packages.map((name) => name.replace(/\..*/, "")));
    expect(roots.delete(CANONICAL_CHAIN_NAME)).toBe(true);
    for (const root of roots) expect(() => parseChainName(root), root).toThrow(ProtoError);
  });
});

describe("type URLs", () => {
  it("that the program names exist", () => {
    const missing = Object.values(TYPE_URL).filter((url) => findMessageByTypeUrl(url) === undefined);
    expect(missing).toEqual([]);
    expect(Object.keys(TYPE_URL).length).toBeGreaterThan(0);
  });

  it("are resolved by the part after the last slash", () => {
    expect(typeNameOf("type.googleapis.com/a.B")).toBe("a.B");
    expect(typeNameOf("a.B")).toBe("a.B");
  });
});
