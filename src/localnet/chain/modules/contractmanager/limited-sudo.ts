import { utf8 } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { event } from "../../runtime/events.ts";
import { createGasMeter, isPastLimit } from "../../runtime/gas.ts";
import { ModuleError, isOutOfGas } from "../../runtime/errors.ts";
import { ErrSudoOutOfGas } from "./errors.ts";
import { addFailure, paramsOf } from "./failures.ts";
import type { Environment } from "./types.ts";

/**
 * Calls a contract on behalf of the chain, with the gas that the params allow. When it fails, its writes and events are dropped,
 * and the call is stored, so that the contract can ask for it again. Never throws for a failure of the contract. The caller's
 * gas pays for the call, at most the limit; throws `ErrOutOfGas` when it cannot.
 */
export function limitedSudo(
  context: Context,
  contract: string,
  message: string,
  { contracts }: Environment,
): void {
  const limit = paramsOf(context).sudoCallGasLimit;
  const gas = createGasMeter(limit);
  try {
    context.withGas(gas).atomically((inner) => contracts.sudo(inner, contract, message));
  } catch (error) {
    if (!(error instanceof ModuleError)) throw error;
    // A message of the contract may reach a limit of its own, which is an error like any other.
    const isOverLimit = isOutOfGas(error) && isPastLimit(gas);
    storeFailure(context, contract, message, isOverLimit ? ErrSudoOutOfGas() : error);
  }
  const used = gas.used();
  context.gas.consume(used < limit ? used : limit, "consume gas from cached context");
}

function storeFailure(context: Context, address: string, message: string, error: ModuleError): void {
  const { codespace, code } = error;
  const failure = addFailure(context, {
    address,
    sudoPayload: utf8(message),
    // Texts of errors may differ between nodes and must not reach the state.
    error: `codespace: ${codespace}, code: ${code}`,
  });
  context.emit(
    event("sudo", [
      ["_contract_address", address],
      ["failure_id", failure.id.toString()],
      ["error", error.message],
    ]),
  );
}
