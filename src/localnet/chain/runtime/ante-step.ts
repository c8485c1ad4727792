import type { BaseAccount, Params } from "../../../cosmos/proto/gen/cosmos/auth/v1beta1/auth.ts";
import type { Context } from "./context.ts";
import type { DecodedTx } from "./tx.ts";
import type { Vesting } from "./vesting.ts";

export interface Account {
  readonly base: BaseAccount;
  /** The module that owns the account, or undefined for ordinary accounts. */
  readonly module?: { readonly name: string; readonly permissions: readonly string[] };
  /** The account's vesting schedule and coins, or undefined if the account is not a vesting account. */
  readonly vesting?: Vesting;
}

/** The accounts and parameters that the ante steps access, as implemented by the auth module. */
export interface AnteAccounts {
  readonly params: (context: Context) => Params;
  readonly get: (context: Context, address: Uint8Array) => Account | undefined;
  readonly set: (context: Context, account: Account) => void;
  /** Parses a bech32 address with this chain's prefix. Throws `AddressError`. */
  readonly parseAddress: (text: string) => Uint8Array;
}

/** Block properties that determine fees and limits. */
export interface TxEnvironment {
  /** Address (20 bytes) of the block's proposer, who receives the tips. */
  readonly proposerAddress: Uint8Array;
  /** Total gas that a block's transactions may use. If 0 or less, there is no limit. */
  readonly maxBlockGas: bigint;
  /** Gas limit for simulations. If undefined, only the block's limit applies. */
  readonly simulationGas?: bigint | undefined;
}

/** A step that runs before or after a transaction's messages and throws `ModuleError` to reject the transaction. */
export type AnteStep = (context: Context, tx: DecodedTx, environment: TxEnvironment) => void;

/** An {@link AnteStep} that reads or writes accounts. */
export type AccountStep = (accounts: AnteAccounts, context: Context, tx: DecodedTx) => void;
