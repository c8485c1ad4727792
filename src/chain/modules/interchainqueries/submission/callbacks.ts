import { toBase64 } from "../../../../base/bytes.ts";
import type { RegisteredQuery } from "../../../../proto/gen/neutron/interchainqueries/genesis.ts";
import type { Height } from "../../../../proto/gen/ibc/core/client/v1/client.ts";
import type { Context } from "../../../runtime/context.ts";
import { ModuleError } from "../../../runtime/module-error.ts";
import { wrapErrors } from "../../../runtime/wrap-errors.ts";
import type { ContractKeeper } from "../types.ts";

/** Tells the owner that a KV result is there to be read. A refusal fails the submission with undefined/1. */
export function callKvOwner(context: Context, contracts: ContractKeeper, query: RegisteredQuery): void {
  const message = `{"kv_query_result":{"query_id":${query.id}}}`;
  callOwner(context, contracts, query, {
    message,
    refusal: `contract ${query.owner} rejected KV query result (query_id: ${query.id})`,
  });
}

/** A transaction to hand over: `height` is the remote height of its block, `hash` lower-case hex. */
export interface DeliveredTx {
  readonly height: Height;
  readonly data: Uint8Array;
  readonly hash: string;
}

/** Hands a verified transaction to the owner. A refusal fails the submission with undefined/1. */
export function callTxOwner(
  context: Context,
  contracts: ContractKeeper,
  query: RegisteredQuery,
  tx: DeliveredTx,
): void {
  callOwner(context, contracts, query, {
    message: txQueryResult(query.id, tx),
    refusal: `contract ${query.owner} rejected transaction query result (tx_hash: ${tx.hash})`,
  });
}

/** The callback's text. Numbers are JSON numbers up to 2^64-1; a height's zero members are left out. */
function txQueryResult(queryId: bigint, { height, data }: DeliveredTx): string {
  const members = [
    ...(height.revisionNumber === 0n ? [] : [`"revision_number":${height.revisionNumber}`]),
    ...(height.revisionHeight === 0n ? [] : [`"revision_height":${height.revisionHeight}`]),
  ];
  const encoded = data.length === 0 ? "null" : `"${toBase64(data)}"`;
  return `{"tx_query_result":{"query_id":${queryId},"height":{${members.join(",")}},"data":${encoded}}}`;
}

/** The contract's own code and codespace are not passed on; running out of gas is. */
function callOwner(
  context: Context,
  contracts: ContractKeeper,
  query: RegisteredQuery,
  call: { readonly message: string; readonly refusal: string },
): void {
  wrapErrors(
    (error) => new ModuleError("undefined", 1, `${call.refusal}: failed to sudo: ${error.message}`),
    () => {
      if (!contracts.isContract(context, query.owner))
        throw new ModuleError("undefined", 1, `${query.owner} is not a contract address`);
      contracts.sudo(context, query.owner, call.message);
    },
  );
}
