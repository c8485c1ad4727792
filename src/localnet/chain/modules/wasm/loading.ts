import type { ContractInfo } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { tryParseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalid, ErrNoSuchCode, ErrNoSuchContract } from "./keys.ts";
import { codes, contracts } from "./keeper.ts";

/** A contract, and the code that a call runs. */
export interface LoadedCode {
  /** bech32. */
  readonly address: string;
  /** The same address as bytes. */
  readonly bytes: Uint8Array;
  /** The code's hash. */
  readonly hash: Uint8Array;
  /** True if the code is written in TypeScript and part of the program. */
  readonly isTypeScript?: true;
}

/** A stored contract. */
export interface LoadedContract extends LoadedCode {
  readonly info: ContractInfo;
}

/** Loads a contract by its address. Throws ErrInvalid, ErrNoSuchContract or ErrNoSuchCode. */
export function loadContract(context: Context, address: string, bech32Prefix: string): LoadedContract {
  const bytes = tryParseAddress(bech32Prefix, address);
  if (!bytes.ok) throw ErrInvalid(`contract: ${bytes.error}`);
  const info = contracts.get(context, bytes.value);
  if (info === undefined) throw ErrNoSuchContract(`address ${address}`);
  const code = codes.get(context, info.codeId);
  if (code === undefined) throw ErrNoSuchCode(`code id ${info.codeId}`);
  return { address, bytes: bytes.value, hash: code.codeHash, info };
}
