import { withSdkErrors, formatAddress, parseAddress } from "../../runtime/address.ts";
import type { ChainNames, Context } from "../../runtime/context.ts";
import type { BankKeeper } from "../bank/keeper.ts";
import { concat, uint64BigEndian, utf8 } from "../../../../platform/base/bytes.ts";
import { splitNs, joinNs } from "../../../../platform/base/time.ts";
import { type Coin, isDenom, parseWireInt } from "../../runtime/coins.ts";
import { DEC18_ONE } from "../../../../platform/base/decimal.ts";
import { trimGoSpace } from "../../../../platform/base/text.ts";
import { Params } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import { unregisteredError } from "../../runtime/errors.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";

export type StakingOptions = Pick<ChainNames, "bech32Prefix" | "authority" | "denom">;

export interface StakingDeps {
  readonly bank: Pick<BankKeeper, "balance" | "delegate" | "undelegate" | "sendBetweenModules" | "burn">;
  readonly hooks: StakingHooks;
  /** Returns the types of consensus keys that the chain allows, such as "ed25519". */
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

/** Raw addresses of a delegator and a validator. */
export interface Pair {
  readonly delegator: Uint8Array;
  readonly validator: Uint8Array;
}

/** Raw addresses of a delegator and of a redelegation's two validators. */
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

/** Creates the address codec for a bech32 prefix. Parsing throws the errors of {@link withSdkErrors}. */
function addressCodec(prefix: string): AddressCodec {
  return {
    parse: (text) => withSdkErrors(() => parseAddress(prefix, text)),
    format: (bytes) => formatAddress(prefix, bytes),
  };
}

type ValidatorHook = (context: Context, validator: Uint8Array) => void;
type ConsensusHook = (context: Context, consensus: Uint8Array, validator: Uint8Array) => void;
type DelegationHook = (context: Context, delegator: Uint8Array, validator: Uint8Array) => void;

/** Staking hooks that other modules implement, with addresses as bytes. A hook that throws fails the action; see README, "Hooks". */
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
  /** `fraction` is a decimal string with 18 decimal places. */
  readonly beforeValidatorSlashedWithTokensToBurn: (
    context: Context,
    validator: Uint8Array,
    slash: { readonly fraction: string; readonly tokensToBurn: bigint },
  ) => void;
  readonly afterUnbondingInitiated: (context: Context, id: bigint) => void;
}

/** Combines the hooks of several modules. The hooks run in order until one of them throws. `members` is called again for each hook. */
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

/** Name of the module and its store. The store has the SDK's layout, because other chains verify proofs of its keys. */
export const MODULE_NAME = "staking";

/** Names of the two module accounts with the staked tokens: one for bonded validators, one for all other validators. */
export const BONDED_POOL = "bonded_tokens_pool";
export const NOT_BONDED_POOL = "not_bonded_tokens_pool";

// Shared key prefixes from x/staking/types/keys.go. Here, `|` means concatenation, and `lp` puts an address's length (1 byte) before it.
/** Prefix of validators' keys, which are `0x21 | lp(operator)`. */
export const VALIDATORS = Uint8Array.of(0x21);
/** Prefix of the validators' power order, with keys from {@link powerKey}. */
export const VALIDATORS_BY_POWER = Uint8Array.of(0x23);
/** Prefix of unbonding delegations' keys, which are `0x32 | lp(delegator) | lp(validator)`. */
export const UNBONDINGS = Uint8Array.of(0x32);
/** Prefix of redelegations' keys, which are `0x34 | lp(delegator) | lp(source) | lp(destination)`. */
export const REDELEGATIONS = Uint8Array.of(0x34);
/** Prefix of the queue of unbonding validators, with keys from {@link validatorQueueKey}. */
export const VALIDATOR_QUEUE = Uint8Array.of(0x43);

/** Returns a validator's key in the power order: `0x23 | power (8 bytes) | length | inverted operator`. */
export function powerKey(power: bigint, operator: Uint8Array): Uint8Array {
  const inverted = operator.map((byte) => byte ^ 0xff);
  return concat(VALIDATORS_BY_POWER, uint64BigEndian(power), Uint8Array.of(operator.length), inverted);
}

/** Formats a time as sortable text, like the SDK's `FormatTimeBytes`: "2026-11-21T21:15:34.231472455". */
export function timeKey(timeNs: bigint): Uint8Array {
  const { seconds, nanos } = splitNs(timeNs);
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return utf8(`${whole}.${nanos.toString().padStart(9, "0")}`);
}

/** Returns a validator's queue key: `0x43 | length of time (8 bytes) | time | height (8 bytes)`. */
export function validatorQueueKey(timeNs: bigint, height: bigint): Uint8Array {
  const time = timeKey(timeNs);
  return concat(VALIDATOR_QUEUE, uint64BigEndian(BigInt(time.length)), time, uint64BigEndian(height));
}

/** Staking parameters. All fields are zero until genesis stores them. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(0x51),
  type: Params,
  defaults: Params.decode(new Uint8Array(0)),
  validate: validateParams,
});

/** Returns the deployed chain's parameters, which are used if a genesis contains no parameters. */
export function defaultParams(denom: string): Params {
  return {
    unbondingTime: { seconds: 1_814_400n, nanos: 0 },
    maxValidators: 100,
    maxEntries: 7,
    historicalEntries: 10_000,
    bondDenom: denom,
    minCommissionRate: "0",
  };
}

export function unbondingTimeNs({ unbondingTime }: Params): bigint {
  return joinNs(unbondingTime);
}

/** Throws an unregistered error with the SDK's message if the parameters are invalid. */
function validateParams(params: Params): void {
  const time = unbondingTimeNs(params);
  if (time <= 0n) throw unregisteredError(`unbonding time must be positive: ${time}`);
  if (params.maxValidators === 0)
    throw unregisteredError(`max validators must be positive: ${params.maxValidators}`);
  if (params.maxEntries === 0) throw unregisteredError(`max entries must be positive: ${params.maxEntries}`);
  if (trimGoSpace(params.bondDenom) === "") throw unregisteredError("bond denom cannot be blank");
  if (!isDenom(params.bondDenom)) throw unregisteredError(`invalid denom: ${params.bondDenom}`);
  const rate = parseWireInt(params.minCommissionRate);
  if (rate < 0n) throw unregisteredError(`minimum commission rate cannot be negative: ${rate}`);
  if (rate > DEC18_ONE)
    throw unregisteredError(`minimum commission rate cannot be greater than 100%: ${rate}`);
}

/** Returns an amount as coins in the bonded denomination, or an empty list if the amount is zero. */
export function bondCoins(context: Context, amount: bigint): readonly Coin[] {
  return amount === 0n ? [] : [{ denom: moduleParams.get(context).bondDenom, amount }];
}
