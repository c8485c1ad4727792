import { expect, it } from "vitest";
import { createVmHost, MAX_ITERATORS } from "../../../../src/localnet/chain/modules/wasm/binary-contract.ts";
import { createMemoryWorld } from "../../../support/memory-context.ts";

it("a call has as many iterators as in the deployed VM, and not one more", () => {
  const context = createMemoryWorld().context();
  const storage = context.store("wasm");
  const host = createVmHost({
    context,
    storage,
    bech32Prefix: "neutron",
    query: () => new Uint8Array(),
    accessScale: 1n,
  });
  const scan = () => host.scan(undefined, undefined, false).value;
  let last = -1;
  for (let count = 0; count < MAX_ITERATORS; count++) last = scan();
  expect([MAX_ITERATORS, last]).toEqual([32_768, 32_767]);
  expect(scan).toThrow(
    expect.objectContaining({ problem: { kind: "user", message: "Reached iterator limit (32768)" } }),
  );
  expect(host.next(last).value).toBeUndefined();
});
