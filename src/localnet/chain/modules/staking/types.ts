import { withSdkErrors, formatAddress, parseAddress } from "../../runtime/address.ts";
import type { ChainNames, Context } from "../../runtime/context.ts";
import type { BankKeeper } from "../bank/keeper.ts";

export type StakingOptions = Pick<ChainNames, "bech32Prefix" | "authority" | "denom">;

export interface StakingDeps {
  readonly bank: Pick<BankKeeper, "balance" | "delegate" | "undelegate" | "sendBetweenModules" | "burn">;
  readonly hooks: StakingHooks;
  /** Returns the consensus key types that the chain allows. */
  readonly keyTypes: (context: Context) => readonly string[];
}

export interface AddressCodec {
  readonly parse: (text: string) => Uint8Array;
  readonly format: (bytes: Uint8Array) => string;
}

export interface Keepers extends StakingOptions, StakingDeps {
  readonly accounts: AddressCodec;
  readonly operators: AddressCodec;
  readonly consensus: AddressCodec;
}

/** A delegator and a validator, as bytes. */
export interface Pair {
  readonly delegator: Uint8Array;
  readonly validator: Uint8Array;
}

/** A delegator and the two validators of a redelegation, as bytes. */
export interface Triplet {
  readonly delegator: Uint8Array;
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
}

export function createKeepers(options: StakingOptions, deps: StakingDeps): Keepers {
  const { bech32Prefix } = options;
  return {
    ...options,
    ...deps,
    accounts: addressCodec(bech32Prefix),
    operators: addressCodec(`${bech32Prefix}valoper`),
    consensus: addressCodec(`${bech32Prefix}valcons`),
  };
}

/** Creates the codec for a prefix. Parsing throws like {@link withSdkErrors}. */
function addressCodec(prefix: string): AddressCodec {
  return {
    parse: (text) => withSdkErrors(() => parseAddress(prefix, text)),
    format: (bytes) => formatAddress(prefix, bytes),
  };
}

type ValidatorHook = (context: Context, validator: Uint8Array) => void;
type ConsensusHook = (context: Context, consensus: Uint8Array, validator: Uint8Array) => void;
type DelegationHook = (context: Context, delegator: Uint8Array, validator: Uint8Array) => void;

/** Staking hooks that other modules implement. Addresses are bytes. A hook fails the action by throwing; see README, "Hooks". */
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
  /** `fraction` is decimal text with 18 decimal places. */
  readonly beforeValidatorSlashedWithTokensToBurn: (
    context: Context,
    validator: Uint8Array,
    slash: { readonly fraction: string; readonly tokensToBurn: bigint },
  ) => void;
  readonly afterUnbondingInitiated: (context: Context, id: bigint) => void;
}

/** Calls the hooks of several modules in order. The first error ends the calls. `members` is called each time. */
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
