import { expect, it } from "vitest";
import {
  channelCapability,
  chargeAuthentication,
  chargeCapability,
  chargeLookup,
  chargePort,
  portCapability,
} from "../../../../src/localnet/chain/modules/ibc/host/capability.ts";
import type { Context } from "../../../../src/localnet/chain/runtime/context.ts";
import { createGasMeter } from "../../../../src/localnet/chain/runtime/gas.ts";
import { createMemoryWorld } from "../../../support/memory-context.ts";

/** A contract's port on a chain whose addresses begin with "neutron". */
const PORT = `wasm.neutron1${"a".repeat(58)}`;

function gasOf(charge: (context: Context) => void): bigint {
  const gas = createGasMeter();
  charge(createMemoryWorld().context({ gas }));
  return gas.used();
}

it("binding a contract's port costs what it costs on a real chain", () => {
  // Recorded: an instance with a port costs 44,699 more, of which 30 for each of the 73 bytes of the port in its ContractInfo.
  expect(gasOf((context) => chargePort(context, "wasm", PORT))).toBe(44_699n - 30n * 73n);
});

it("a port that nobody has bound is looked for once", () => {
  const name = portCapability(PORT);
  expect(gasOf((context) => chargeLookup(context, name, undefined))).toBe(1_000n + 3n * (8n + 77n));
  const owners = BigInt(2 + (2 + 3 + 2 + 77) + 2 + (2 + 4 + 2 + 77));
  const found = 2n * (1_000n + 3n * (8n + 77n + 8n)) + 1_000n + 3n * (24n + owners);
  expect(gasOf((context) => chargeLookup(context, name, "wasm"))).toBe(found);
});

it("an entry is charged with its value only when there is one", () => {
  const name = channelCapability({ portId: "transfer", channelId: "channel-0" });
  const length = BigInt(name.length);
  expect(gasOf((context) => chargeCapability(context, "wasm", name, false))).toBe(
    1_000n + 3n * (9n + length),
  );
  expect(gasOf((context) => chargeCapability(context, "wasm", name, true))).toBe(
    1_000n + 3n * (17n + length),
  );
  const key = 3n * (4n + 5n + 16n);
  expect(gasOf((context) => chargeAuthentication(context, "wasm", name, false))).toBe(1_000n + key);
  expect(gasOf((context) => chargeAuthentication(context, "wasm", name))).toBe(1_000n + key + 3n * length);
});
