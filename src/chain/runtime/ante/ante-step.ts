import type { BaseAccount, Params } from "../../../proto/gen/cosmos/auth/v1beta1/auth.ts";
import type { Context } from "../context.ts";
import type { DecodedTx } from "../tx.ts";

/** An account; `module` is there when a module owns it. */
export interface Account {
  readonly base: BaseAccount;
  readonly module?: { readonly name: string; readonly permissions: readonly string[] };
}

/** What checking a transaction needs of the auth module. */
export interface AnteAccounts {
  readonly params: (context: Context) => Params;
  readonly get: (context: Context, address: Uint8Array) => Account | undefined;
  readonly set: (context: Context, account: Account) => void;
  /** Bytes of a bech32 address of this chain; throws a plain error. */
  readonly parseAddress: (text: string) => Uint8Array;
}

/** The block that a transaction runs in, as far as fees and limits need it. */
export interface TxEnvironment {
  /** 20 bytes; who gets tips. */
  readonly proposerAddress: Uint8Array;
  /** Gas that all transactions of a block may use together; 0 or less: no limit. */
  readonly maxBlockGas: bigint;
}

/** One step before or after the messages. Throws `ModuleError` to refuse the transaction. */
export type AnteStep = (context: Context, tx: DecodedTx, environment: TxEnvironment) => void;
