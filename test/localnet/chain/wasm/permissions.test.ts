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
  ["everybody, everybody", everybody, everybody, true],
  ["a list, everybody", list("a"), everybody, true],
  ["nobody, everybody", nobody, everybody, true],
  ["nobody, nobody", nobody, nobody, true],
  ["nobody, a list", nobody, list("a"), true],
  ["everybody, nobody", everybody, nobody, false],
  ["everybody, a list", everybody, list("a"), false],
  ["a list, nobody", list("a"), nobody, false],
  ["a part of a list, the list", list("b"), list("a", "b"), true],
  ["the list in another order, the list", list("b", "a"), list("a", "b"), true],
  ["a longer list, the list", list("a", "b", "c"), list("a", "b"), false],
])("of two permissions, whether the first is within the second: %s", (_names, first, second, expected) => {
  expect(isSubset(first, second)).toBe(expected);
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
