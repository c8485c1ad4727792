import { encodeBech32 } from "../../platform/base/bytes.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../platform/base/json.ts";
import { classicContractAddress } from "../chain/modules/wasm/address.ts";
import { HookType } from "../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import { accountNamed } from "./accounts.ts";
import type { ChainProfile } from "./chains.ts";

/** Hook types that the contract `voting-power` needs. */
const POWER_HOOKS: readonly HookType[] = [
  HookType.HOOK_TYPE_AFTER_VALIDATOR_CREATED,
  HookType.HOOK_TYPE_AFTER_VALIDATOR_REMOVED,
  HookType.HOOK_TYPE_AFTER_VALIDATOR_BONDED,
  HookType.HOOK_TYPE_AFTER_VALIDATOR_BEGIN_UNBONDING,
  HookType.HOOK_TYPE_BEFORE_DELEGATION_REMOVED,
  HookType.HOOK_TYPE_AFTER_DELEGATION_MODIFIED,
  HookType.HOOK_TYPE_BEFORE_VALIDATOR_SLASHED,
];

/** Genesis state of the wasm module. */
export interface WasmState {
  readonly codes: readonly { readonly name: string; readonly creator: string }[];
  readonly gen_msgs: readonly JsonObject[];
}

interface Instance {
  readonly state: WasmState;
  readonly address: string;
}

/**
 * Content of the scenario `hooks-demo`: `echo` returns every hook as an event, and `voting-power` follows the stake. Both are
 * subscribed before the first validator bonds.
 */
export function seedHooksDemo(
  chain: ChainProfile,
  wasm: WasmState,
): { readonly wasm: WasmState; readonly harpoon: JsonObject } {
  const echo = instantiate(chain, wasm, "echo");
  const power = instantiate(chain, echo.state, "voting-power");
  const types = Object.entries(HookType).filter(([, type]) => type !== HookType.HOOK_TYPE_UNSPECIFIED);
  const hook_subscriptions: JsonValue = types.map(([name, type]) => ({
    hook_type: name,
    contract_addresses: POWER_HOOKS.includes(type) ? [echo.address, power.address] : [echo.address],
  }));
  return { wasm: power.state, harpoon: { hook_subscriptions } };
}

/** Adds the instance of a contract, and its code if the state has none. */
function instantiate(chain: ChainProfile, { codes, gen_msgs }: WasmState, name: string): Instance {
  const creator = accountNamed(chain, "operator").address;
  const all = codes.some((code) => code.name === name) ? codes : [...codes, { name, creator }];
  const codeId = BigInt(all.findIndex((code) => code.name === name) + 1);
  const instances = gen_msgs.filter((message) => isRecord(message["instantiate_contract"])).length;
  const message = {
    instantiate_contract: {
      sender: creator,
      admin: creator,
      code_id: codeId.toString(),
      label: name,
      msg: {},
      funds: [],
    },
  };
  return {
    state: { codes: all, gen_msgs: [...gen_msgs, message] },
    address: encodeBech32(chain.bech32Prefix, classicContractAddress(codeId, BigInt(instances + 1))),
  };
}
