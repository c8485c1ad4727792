import { toBase64 } from "../../../../platform/base/bytes.ts";
import { type Dec18, parseDec18 } from "../../../../platform/base/decimal.ts";
import type { JsonField } from "../../../../platform/base/json.ts";
import {
  QueryDelegationRequest,
  QueryValidatorDelegationsRequest,
  QueryValidatorRequest,
} from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/query.ts";
import type { ContractScope } from "../../modules/wasm/contract.ts";
import { messageFields, text } from "../messages.ts";
import type { TrackedValidator } from "./stake.ts";

const SERVICE = "/cosmos.staking.v1beta1.Query";
/** Delegations that one query reads. */
const PAGE = 100n;

/** Reads a validator of the staking module. */
export function queryValidator(scope: ContractScope, validatorAddr: string): TrackedValidator {
  const response = query(scope, "Validator", QueryValidatorRequest.encode({ validatorAddr }));
  const validator = response.member("validator");
  return {
    tokens: BigInt(text(validator, "tokens")),
    shares: parseDec18(text(validator, "delegator_shares")),
    bonded: text(validator, "status") === "BOND_STATUS_BONDED",
  };
}

/** Reads the shares of a delegation that exists. */
export function queryShares(scope: ContractScope, delegatorAddr: string, validatorAddr: string): Dec18 {
  const request = QueryDelegationRequest.encode({ delegatorAddr, validatorAddr });
  return delegationOf(query(scope, "Delegation", request).member("delegation_response")).shares;
}

interface Delegation {
  readonly delegator: string;
  readonly shares: Dec18;
}

/** Reads all delegations of a validator. */
export function* queryDelegations(scope: ContractScope, validatorAddr: string): IterableIterator<Delegation> {
  let key = new Uint8Array(0);
  do {
    const pagination = { key, offset: 0n, limit: PAGE, countTotal: false, reverse: false };
    const request = QueryValidatorDelegationsRequest.encode({ validatorAddr, pagination });
    const response = query(scope, "ValidatorDelegations", request);
    yield* response.member("delegation_responses").elements().map(delegationOf);
    const next = response.member("pagination").member("next_key");
    key = next.isPresent() ? Uint8Array.from(next.asBase64()) : new Uint8Array(0);
  } while (key.length > 0);
}

function delegationOf(response: JsonField): Delegation {
  const delegation = response.member("delegation");
  return {
    delegator: text(delegation, "delegator_address"),
    shares: parseDec18(text(delegation, "shares")),
  };
}

function query(scope: ContractScope, rpc: string, request: { finish(): Uint8Array }): JsonField {
  const stargate = { path: `${SERVICE}/${rpc}`, data: toBase64(request.finish()) };
  return messageFields(scope.query({ stargate }));
}
