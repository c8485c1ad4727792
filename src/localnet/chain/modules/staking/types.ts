import { AddressError, formatAddress, parseAddress } from "../../runtime/address.ts";
import type { Coin } from "../../runtime/coins.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrLogic } from "../../runtime/errors.ts";

export interface StakingOptions {
  /** Bech32 prefix of account addresses. Operator and consensus addresses append `valoper` and `valcons`. */
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change parameters. */
  readonly authority: string;
  /** Denomination used in the default parameters. */
  readonly denom: string;
}

/** Bank module functions that staking calls. `module` is the name of a pool. */
interface StakingBank {
  readonly balance: (context: Context, address: Uint8Array, denom: string) => Coin;
  /** Moves a delegator's coins into a pool. */
  readonly delegate: (context: Context, from: Uint8Array, module: string, coins: readonly Coin[]) => void;
  /** Moves coins from a pool back to a delegator. */
  readonly undelegate: (context: Context, module: string, to: Uint8Array, coins: readonly Coin[]) => void;
  readonly sendBetweenModules: (context: Context, from: string, to: string, coins: readonly Coin[]) => void;
  readonly burn: (context: Context, module: string, coins: readonly Coin[]) => void;
}

export interface StakingDeps {
  readonly bank: StakingBank;
  readonly hooks: StakingHooks;
  /** Returns the consensus key types that the chain allows. */
  readonly keyTypes: (context: Context) => readonly string[];
}

/** Converts addresses between bytes and text. */
export interface AddressCodec {
  readonly parse: (text: string) => Uint8Array;
  readonly format: (bytes: Uint8Array) => string;
}

/** Options, other modules' keepers and address codecs. */
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

/** Creates the codec for a prefix. As in the SDK, a wrong prefix throws sdk/35; any other invalid text throws `AddressError`. */
function addressCodec(prefix: string): AddressCodec {
  return {
    parse: (text) => {
      try {
        return parseAddress(prefix, text);
      } catch (error) {
        if (!(error instanceof AddressError) || error.facts.code !== "wrong-prefix") throw error;
        const { expected, got } = error.facts;
        throw ErrLogic(`hrp does not match bech32 prefix: expected '${expected}' got '${got}'`);
      }
    },
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
