import { expect, it } from "vitest";
import { AccessType } from "../../../../src/cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { isAllowed, isSubset } from "../../../../src/localnet/chain/modules/wasm/keeper.ts";

const everybody = { permission: AccessType.ACCESS_TYPE_EVERYBODY, addresses: [] };
const nobody = { permission: AccessType.ACCESS_TYPE_NOBODY, addresses: [] };
const list = (...addresses: readonly string[]) => ({
  permission: AccessType.ACCESS_TYPE_ANY_OF_ADDRESSES,
  addresses: [...addresses],
});

// As `AccessConfig.IsSubset` of wasmd.
it.each([
  ["everybody", everybody, "everybody", everybody, true],
  ["a list", list("a"), "everybody", everybody, true],
  ["nobody", nobody, "everybody", everybody, true],
  ["nobody", nobody, "nobody", nobody, true],
  ["nobody", nobody, "a list", list("a"), true],
  ["everybody", everybody, "nobody", nobody, false],
  ["everybody", everybody, "a list", list("a"), false],
  ["a list", list("a"), "nobody", nobody, false],
  ["a part of a list", list("b"), "the list", list("a", "b"), true],
  ["an equal list", list("b", "a"), "the list", list("a", "b"), true],
  ["a longer list", list("a", "b", "c"), "the list", list("a", "b"), false],
])("$0 and $2: the first is within the second ($4)", (_name, config, _of, whole, expected) => {
  expect(isSubset(config, whole)).toBe(expected);
});

it("a permission allows everybody, the listed accounts, or nobody", () => {
  const allowed = [everybody, nobody, list("a"), undefined].map((config) =>
    ["a", "b"].map((account) => isAllowed(config, account)),
  );
  expect(allowed).toEqual([
    [true, true],
    [false, false],
    [true, false],
    [false, false],
  ]);
});
