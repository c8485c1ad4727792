import { HookType } from "../../../../cosmos/proto/gen/neutron/harpoon/hooks.ts";
import { formatAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { wrapErrors } from "../../runtime/errors.ts";
import { nameOfHook } from "./hook-type.ts";
import { subscribedContracts } from "./subscriptions.ts";
import type { ContractKeeper, Environment } from "./types.ts";

/** Without it and in lower case, the name of a hook type is the key of its sudo message. */
const NAME_PREFIX = "HOOK_TYPE_";

/** What the staking module calls. Addresses are bytes. Every call throws the error of the first contract that fails. */
export type HarpoonHooks = ReturnType<typeof createHooks>;

/**
 * Creates the hooks. Each sends one sudo message, as JSON text of Go's `encoding/json`, to the contracts of its type
 * (chain-extension-modules.md, "Hook subscription module").
 */
export function createHooks(environment: Environment) {
  const { bech32Prefix } = environment;
  const account = (bytes: Uint8Array): string => formatAddress(bech32Prefix, bytes);
  const operator = (bytes: Uint8Array): string => formatAddress(`${bech32Prefix}valoper`, bytes);
  const consensus = (bytes: Uint8Array): string => formatAddress(`${bech32Prefix}valcons`, bytes);
  const call = (context: Context, hook: HookType, members: Readonly<Record<string, string>>): void =>
    callSubscribers(context, environment.contracts, hook, JSON.stringify(members));
  const ofValidator =
    (hook: HookType) =>
    (context: Context, validator: Uint8Array): void =>
      call(context, hook, { val_addr: operator(validator) });
  const ofConsensus =
    (hook: HookType) =>
    (context: Context, key: Uint8Array, validator: Uint8Array): void =>
      call(context, hook, { cons_addr: consensus(key), val_addr: operator(validator) });
  const ofDelegation =
    (hook: HookType) =>
    (context: Context, delegator: Uint8Array, validator: Uint8Array): void =>
      call(context, hook, { del_addr: account(delegator), val_addr: operator(validator) });
  return {
    afterValidatorCreated: ofValidator(HookType.HOOK_TYPE_AFTER_VALIDATOR_CREATED),
    beforeValidatorModified: ofValidator(HookType.HOOK_TYPE_BEFORE_VALIDATOR_MODIFIED),
    afterValidatorRemoved: ofConsensus(HookType.HOOK_TYPE_AFTER_VALIDATOR_REMOVED),
    afterValidatorBonded: ofConsensus(HookType.HOOK_TYPE_AFTER_VALIDATOR_BONDED),
    afterValidatorBeginUnbonding: ofConsensus(HookType.HOOK_TYPE_AFTER_VALIDATOR_BEGIN_UNBONDING),
    beforeDelegationCreated: ofDelegation(HookType.HOOK_TYPE_BEFORE_DELEGATION_CREATED),
    beforeDelegationSharesModified: ofDelegation(HookType.HOOK_TYPE_BEFORE_DELEGATION_SHARES_MODIFIED),
    beforeDelegationRemoved: ofDelegation(HookType.HOOK_TYPE_BEFORE_DELEGATION_REMOVED),
    afterDelegationModified: ofDelegation(HookType.HOOK_TYPE_AFTER_DELEGATION_MODIFIED),
    /** `fraction` has 18 decimals, as text. */
    beforeValidatorSlashedWithTokensToBurn: (
      context: Context,
      validator: Uint8Array,
      { fraction, tokensToBurn }: { readonly fraction: string; readonly tokensToBurn: bigint },
    ): void =>
      call(context, HookType.HOOK_TYPE_BEFORE_VALIDATOR_SLASHED, {
        val_addr: operator(validator),
        fraction,
        tokens_to_burn: tokensToBurn.toString(),
      }),
    afterUnbondingInitiated: (context: Context, id: bigint): void => {
      // The id is a JSON number up to 2^64 - 1, which JSON.stringify would round.
      const body = `{"id":${id}}`;
      callSubscribers(context, environment.contracts, HookType.HOOK_TYPE_AFTER_UNBONDING_INITIATED, body);
    },
  };
}

/**
 * Calls the contracts of a hook type in order, in the caller's context: without a cache layer and without a gas limit of
 * its own. The first error ends the calls; its codespace and code are kept. `body` is the JSON of the message's value.
 */
function callSubscribers(context: Context, contracts: ContractKeeper, hook: HookType, body: string): void {
  const name = nameOfHook(hook);
  const message = `{"${name.slice(NAME_PREFIX.length).toLowerCase()}":${body}}`;
  for (const contract of subscribedContracts(context, hook)) {
    const call = `hook_type=${name}, msg=${message}, contract_address=${contract}`;
    wrapErrors(
      (error) =>
        error
          .wrap(`could not execute sudo call successfully for ${call}`)
          .wrap(`failed to call sudo for subscriptions for hookType=${name}`),
      () => contracts.sudo(context, contract, message),
    );
  }
}
