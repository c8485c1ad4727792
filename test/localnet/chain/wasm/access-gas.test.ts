import { expect, it } from "vitest";
import { createBinaryContracts } from "../../../../src/localnet/chain/modules/wasm/binary-contract.ts";
import { UNTRACED } from "../../../../src/localnet/chain/runtime/gas-trace.ts";
import { createGasMeter } from "../../../../src/localnet/chain/runtime/gas.ts";
import { GAS_MULTIPLIER } from "../../../../src/localnet/vm/gas.ts";
import type { EntryPoint } from "../../../../src/localnet/vm/host.ts";
import { createVm, type Vm } from "../../../../src/localnet/vm/vm.ts";
import { utf8 } from "../../../../src/platform/base/bytes.ts";
import { createMemoryWorld } from "../../../support/memory-context.ts";

/** Gas of reading an absent entry with a key of one byte behind the prefix and the address. */
const READ = 1_000n + 3n * 34n;

/** Calls an entry point that reads one entry. Returns the VM gas that the access took from the contract, and the chain's gas. */
function readIn(entryPoint: EntryPoint): { readonly vm: bigint; readonly chain: bigint } {
  let taken = 0n;
  const vm: Vm = {
    ...createVm(),
    call: ({ host }) => {
      taken = host.get(utf8("k")).gas;
      return { result: utf8("{}"), gasUsed: 0n, gasUsedExternally: 0n };
    },
  };
  const contracts = createBinaryContracts({
    vm,
    bech32Prefix: "neutron",
    tracer: UNTRACED,
    messageDepth: () => 0,
    query: () => new Uint8Array(0),
  });
  const code = { address: "", bytes: new Uint8Array(32), hash: new Uint8Array(32) };
  const gas = createGasMeter(1_000_000n);
  const context = createMemoryWorld().context({ gas });
  contracts.call(context, { code, entryPoint, message: utf8("{}") }, () => undefined);
  return { vm: taken, chain: gas.used() };
}

it("an access in an entry point of IBC takes one unit of VM gas for each gas, as recorded", () => {
  expect(readIn("ibc_packet_receive")).toEqual({ vm: READ, chain: READ });
});

it("an access in any other entry point takes all of its gas", () => {
  expect(readIn("sudo")).toEqual({ vm: READ * GAS_MULTIPLIER, chain: READ });
});
