import type { Context } from "../../../runtime/context.ts";
import type { ContractScope } from "../contract.ts";
import { contractStore, readOnly } from "../keeper.ts";
import type { ContractQuerier } from "../dispatch/querier.ts";

/** The contract of a call; `readOnly` for questions. */
interface CalledContract {
  readonly address: string;
  readonly bytes: Uint8Array;
  readonly readOnly?: true;
}

/** What a contract sees of the chain in one call. */
export function createScope(
  context: Context,
  contract: CalledContract,
  querier: ContractQuerier,
): ContractScope {
  const storage = contractStore(context, contract.bytes);
  return {
    chainId: context.chainId,
    height: context.height,
    timeNs: context.timeNs,
    address: contract.address,
    storage: contract.readOnly === true ? readOnly(storage) : storage,
    query: (request) => querier(context, request),
  };
}
