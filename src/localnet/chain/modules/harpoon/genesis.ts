import { allSubscriptions, setSubscriptions } from "./subscriptions.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/neutron/harpoon/genesis.ts";
import type { HookSubscriptions } from "../../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { atPath, type GenesisSchema, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { ErrInvalidAddress } from "../../runtime/errors.ts";
import { requireHookType } from "./hook-type.ts";
import { MODULE_NAME } from "./keys.ts";
import type { Environment } from "./types.ts";

const FORM: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "neutron.harpoon.GenesisState",
  type: GenesisState,
};

/**
 * Stores the subscriptions of a genesis document. Throws `GenesisError` for an invalid, repeated or missing contract and
 * for an invalid or repeated hook type.
 */
export function initGenesis(context: Context, json: JsonValue | undefined, environment: Environment): void {
  const records = readGenesis(FORM, json)?.hookSubscriptions ?? [];
  const seen = new Set<number>();
  records.forEach((record, index) => {
    atPath(`app_state.${MODULE_NAME}.hook_subscriptions[${index}]`, () => {
      requireHookType(record.hookType);
      if (seen.has(record.hookType)) throw new Error(`duplicate hook type: ${record.hookType}`);
      seen.add(record.hookType);
      requireContracts(context, record, environment);
      setSubscriptions(context, record);
    });
  });
}

/** Prints the subscriptions in ascending order of hook types. */
export function exportGenesis(context: Context): JsonValue {
  return printGenesis(FORM, { hookSubscriptions: [...allSubscriptions(context)] });
}

function requireContracts(
  context: Context,
  { hookType, contractAddresses }: HookSubscriptions,
  { bech32Prefix, contracts }: Environment,
): void {
  const seen = new Set<string>();
  for (const address of contractAddresses) {
    requireAddress(bech32Prefix, address);
    if (seen.has(address))
      throw new Error(`duplicate contract address: ${address} for hook type: ${hookType}`);
    seen.add(address);
    if (!contracts.isContract(context, address))
      throw ErrInvalidAddress(`contract address not found: ${address}`);
  }
}

function requireAddress(bech32Prefix: string, address: string): void {
  try {
    parseAddress(bech32Prefix, address);
  } catch (thrown) {
    throw new Error(`invalid contract_address=${address} in genesis state: ${errorText(thrown)}`, {
      cause: thrown,
    });
  }
}
