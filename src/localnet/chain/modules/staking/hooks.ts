import type { Context } from "../../runtime/context.ts";

type ValidatorHook = (context: Context, validator: Uint8Array) => void;
type ConsensusHook = (context: Context, consensus: Uint8Array, validator: Uint8Array) => void;
type DelegationHook = (context: Context, delegator: Uint8Array, validator: Uint8Array) => void;

/** What staking tells other modules. Addresses are bytes. A hook throws to fail the action; see README, "Hooks". */
export interface StakingHooks {
  readonly afterValidatorCreated: ValidatorHook;
  readonly beforeValidatorModified: ValidatorHook;
  readonly afterValidatorRemoved: ConsensusHook;
  readonly afterValidatorBonded: ConsensusHook;
  readonly afterValidatorBeginUnbonding: ConsensusHook;
  readonly beforeDelegationCreated: DelegationHook;
  readonly beforeDelegationSharesModified: DelegationHook;
  readonly beforeDelegationRemoved: DelegationHook;
  readonly afterDelegationModified: DelegationHook;
  /** `fraction` has 18 decimals, as text. */
  readonly beforeValidatorSlashedWithTokensToBurn: (
    context: Context,
    validator: Uint8Array,
    slash: { readonly fraction: string; readonly tokensToBurn: bigint },
  ) => void;
  readonly afterUnbondingInitiated: (context: Context, id: bigint) => void;
}

/** Calls the hooks of several modules in order. The first error ends the calls. `members` is read at every call. */
export function joinHooks(members: () => readonly Partial<StakingHooks>[]): StakingHooks {
  const each = (call: (member: Partial<StakingHooks>) => void): void => {
    for (const member of members()) call(member);
  };
  return {
    afterValidatorCreated: (...args) => each((one) => one.afterValidatorCreated?.(...args)),
    beforeValidatorModified: (...args) => each((one) => one.beforeValidatorModified?.(...args)),
    afterValidatorRemoved: (...args) => each((one) => one.afterValidatorRemoved?.(...args)),
    afterValidatorBonded: (...args) => each((one) => one.afterValidatorBonded?.(...args)),
    afterValidatorBeginUnbonding: (...args) => each((one) => one.afterValidatorBeginUnbonding?.(...args)),
    beforeDelegationCreated: (...args) => each((one) => one.beforeDelegationCreated?.(...args)),
    beforeDelegationSharesModified: (...args) => each((one) => one.beforeDelegationSharesModified?.(...args)),
    beforeDelegationRemoved: (...args) => each((one) => one.beforeDelegationRemoved?.(...args)),
    afterDelegationModified: (...args) => each((one) => one.afterDelegationModified?.(...args)),
    beforeValidatorSlashedWithTokensToBurn: (...args) =>
      each((one) => one.beforeValidatorSlashedWithTokensToBurn?.(...args)),
    afterUnbondingInitiated: (...args) => each((one) => one.afterUnbondingInitiated?.(...args)),
  };
}
