import type { ContractInfo } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { errorText, bad, good, type Result } from "../../../../platform/base/errors.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { ErrInvalid, ErrNoSuchCode, ErrNoSuchContract } from "./keys.ts";
import { codes, contracts } from "./keeper.ts";

/** A contract with the code that a call runs. */
export interface LoadedCode {
  /** bech32. */
  readonly address: string;
  /** The same address as bytes. */
  readonly bytes: Uint8Array;
  /** Hash of the code. */
  readonly hash: Uint8Array;
}

/** A stored contract. */
export interface LoadedContract extends LoadedCode {
  readonly info: ContractInfo;
}

/** Loads a contract by its address. Throws ErrInvalid, ErrNoSuchContract or ErrNoSuchCode. */
export function loadContract(context: Context, address: string, bech32Prefix: string): LoadedContract {
  const bytes = readAddress(bech32Prefix, address);
  if (!bytes.ok) throw ErrInvalid(`contract: ${bytes.error}`);
  const info = contracts.get(context, bytes.value);
  if (info === undefined) throw ErrNoSuchContract(`address ${address}`);
  const code = codes.get(context, info.codeId);
  if (code === undefined) throw ErrNoSuchCode(`code id ${info.codeId}`);
  return { address, bytes: bytes.value, hash: code.codeHash, info };
}

/** Parses an address. Returns its bytes or the text of the error. */
export function readAddress(prefix: string, address: string): Result<Uint8Array, string> {
  try {
    return good(parseAddress(prefix, address));
  } catch (error) {
    return bad(errorText(error));
  }
}
