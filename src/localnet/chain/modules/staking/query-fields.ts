import { GrpcCode, ModuleError, QueryError } from "../../runtime/errors.ts";
import type { Query } from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/query.ts";
import { orQueryError, type QueryFunctions } from "../../runtime/handlers.ts";
import type { AddressCodec, Keepers } from "./types.ts";

/** Implementations of some of the module's queries. */
export type Queries = Partial<QueryFunctions<typeof Query>>;

/** Creates the error for a missing address. */
export function emptyAddress(role: "delegator" | "validator"): QueryError {
  return new QueryError(GrpcCode.InvalidArgument, `${role} address cannot be empty`);
}

export function operatorOf({ operators }: Keepers, text: string): Uint8Array {
  return parse(operators, text);
}

export function delegatorOf({ accounts }: Keepers, text: string): Uint8Array {
  return parse(accounts, text);
}

function parse(codec: AddressCodec, text: string): Uint8Array {
  try {
    return codec.parse(text);
  } catch (error) {
    // A registered error has its codespace in the text of the query.
    if (error instanceof ModuleError) throw error;
    return orQueryError(() => {
      throw error;
    });
  }
}
