import { errorText, bad, good, type Result } from "../../../../platform/base/errors.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { type ContractCode, ContractError } from "./contract.ts";
import { ErrInvalid, ErrNoSuchCode, ErrNoSuchContract } from "./keys.ts";
import { codes, contracts } from "./keeper.ts";

/** Finds a code by its hash. */
export type FindCode = (hash: Uint8Array) => ContractCode | undefined;

interface LoadedContract {
  /** Address bytes of the contract. */
  readonly bytes: Uint8Array;
  readonly code: ContractCode;
}

/** Loads a contract by its address. Throws ErrInvalid, ErrNoSuchContract or ErrNoSuchCode. */
export function loadContract(
  context: Context,
  address: string,
  { bech32Prefix, findCode }: { readonly bech32Prefix: string; readonly findCode: FindCode },
): LoadedContract {
  const bytes = readAddress(bech32Prefix, address);
  if (!bytes.ok) throw ErrInvalid(`contract: ${bytes.error}`);
  const info = contracts.get(context, bytes.value);
  if (info === undefined) throw ErrNoSuchContract(`address ${address}`);
  return { bytes: bytes.value, code: loadCode(context, info.codeId, findCode) };
}

/** Loads a code by its id. Throws ErrNoSuchCode. */
export function loadCode(context: Context, codeId: bigint, findCode: FindCode): ContractCode {
  const info = codes.get(context, codeId);
  const code = info === undefined ? undefined : findCode(info.codeHash);
  if (code === undefined) throw ErrNoSuchCode(`code id ${codeId}`);
  return code;
}

/** Parses an address. Returns its bytes or the text of the error. */
export function readAddress(prefix: string, address: string): Result<Uint8Array, string> {
  try {
    return good(parseAddress(prefix, address));
  } catch (error) {
    return bad(errorText(error));
  }
}

/** Returns an entry point of a code. Throws `ContractError` when the code does not have it. */
export function entryPoint<K extends "execute" | "sudo" | "reply" | "query">(
  code: ContractCode,
  name: K,
): NonNullable<ContractCode[K]> {
  const entry = code[name];
  if (entry === undefined) throw new ContractError(`contract ${code.name} has no entry point ${name}`);
  return entry;
}
