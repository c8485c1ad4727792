import type { Dec18 } from "../../../../platform/base/decimal.ts";
import type { BondStatus } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";
import type { Context } from "../../runtime/context.ts";

export interface SlashingOptions {
  /** Bech32 prefix of account addresses. Operator and consensus addresses append `valoper` and `valcons`. */
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change parameters. */
  readonly authority: string;
}

/** A validator as known to the staking module. Addresses are 20 bytes. */
interface ValidatorFacts {
  readonly consensus: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly jailed: boolean;
  readonly status: BondStatus;
  readonly minSelfDelegation: bigint;
}

/** Staking module functions that slashing calls. */
interface SlashingStaking {
  readonly byConsensus: (context: Context, consensus: Uint8Array) => ValidatorFacts | undefined;
  /** All validators. */
  readonly operators: (context: Context) => Iterable<Uint8Array>;
  readonly byOperator: (
    context: Context,
    operator: Uint8Array,
  ) => ValidatorFacts & { readonly ownTokens: () => bigint | undefined };
  readonly slash: (
    context: Context,
    infraction: {
      readonly consensus: Uint8Array;
      readonly height: bigint;
      readonly power: bigint;
      readonly fraction: Dec18;
    },
  ) => bigint;
  readonly jail: (context: Context, consensus: Uint8Array) => void;
  readonly unjail: (context: Context, consensus: Uint8Array) => void;
}

export interface SlashingDeps {
  readonly staking: SlashingStaking;
  /** Returns the maximum age of evidence, in blocks and in nanoseconds. Evidence that exceeds both is ignored. */
  readonly evidenceAge: (context: Context) => { readonly blocks: bigint; readonly timeNs: bigint };
}

/** Options, and keepers of other modules. */
export interface Keepers extends SlashingOptions, SlashingDeps {
  /** Formats a consensus address as text. */
  readonly format: (consensus: Uint8Array) => string;
}
