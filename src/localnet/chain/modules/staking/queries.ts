import { invalidArgument, notFound, GrpcCode, QueryError } from "../../runtime/errors.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/query.ts";
import { truncateDec18 } from "../../../../platform/base/decimal.ts";
import { moduleAddress } from "../../runtime/address.ts";
import type { Context, QueryHandler } from "../../runtime/context.ts";
import { parseQueryAddress, queryHandlers } from "../../runtime/handlers.ts";
import { filteredPageOf, pageOf } from "../../runtime/pagination.ts";
import { lengthPrefixed } from "../../store/collections.ts";
import { ErrNoDelegation } from "./errors.ts";
import { BONDED_POOL, NOT_BONDED_POOL, moduleParams, type Keepers, type Pair } from "./types.ts";
import { historicalInfos } from "./validator-set.ts";
import * as validators from "./validators.ts";
import * as delegations from "./delegations.ts";
import * as records from "./records.ts";
import * as staking from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/staking.ts";

const STATUSES: ReadonlyMap<string, number> = new Map(
  (["BOND_STATUS_UNBONDED", "BOND_STATUS_UNBONDING", "BOND_STATUS_BONDED"] as const).map((name) => [
    name,
    staking.BondStatus[name],
  ]),
);

export function createQueryHandlers(keepers: Keepers): readonly QueryHandler[] {
  const { bech32Prefix, bank, operators } = keepers;
  const parseDelegator = (text: string): Uint8Array => parseQueryAddress(bech32Prefix, text);
  const parseValidator = (text: string): Uint8Array => parseQueryAddress(`${bech32Prefix}valoper`, text);
  const delegatorOf = (text: string): Uint8Array => parseDelegator(requireGiven("delegator", text));
  const validatorOf = (text: string): Uint8Array => parseValidator(requireGiven("validator", text));
  const pairOf = ({ delegatorAddr, validatorAddr }: wire.QueryDelegationRequest): Pair => {
    requireGiven("delegator", delegatorAddr);
    requireGiven("validator", validatorAddr);
    return { delegator: parseDelegator(delegatorAddr), validator: parseValidator(validatorAddr) };
  };
  const poolBalance = (context: Context, pool: string): string =>
    bank.balance(context, moduleAddress(pool), moduleParams.get(context).bondDenom).amount.toString();
  return queryHandlers(wire.Query, {
    Params: moduleParams.query,
    Pool: (context) => ({
      pool: {
        notBondedTokens: poolBalance(context, NOT_BONDED_POOL),
        bondedTokens: poolBalance(context, BONDED_POOL),
      },
    }),
    HistoricalInfo: (context, { height }) => {
      if (height < 0n) throw invalidArgument("height cannot be negative");
      return { hist: found(historicalInfos.get(context, height), `historical info for height ${height}`) };
    },
    Validators: (context, { status, pagination: request }) => {
      const wanted = STATUSES.get(status);
      if (status !== "" && wanted === undefined) throw invalidArgument(`invalid validator status ${status}`);
      const { items, pagination } = filteredPageOf(
        validators.byOperator.range(context),
        request,
        (validator) =>
          wanted === undefined || validator.status === wanted
            ? records.validatorToWire(validator)
            : undefined,
      );
      return { validators: items, pagination };
    },
    Validator: (context, { validatorAddr }) => {
      const validator = validators.byOperator.get(context, validatorOf(validatorAddr));
      return { validator: records.validatorToWire(found(validator, `validator ${validatorAddr}`)) };
    },
    Delegation: (context, request) => {
      const delegation = delegations.byPair.get(context, pairOf(request));
      if (delegation === undefined) throw noPair("delegation", request);
      return { delegationResponse: withBalance(context, keepers, delegation) };
    },
    UnbondingDelegation: (context, request) => {
      const unbonding = delegations.unbondings.get(context, pairOf(request));
      if (unbonding === undefined) throw noPair("unbonding delegation", request);
      return { unbond: records.unbondingToWire(unbonding) };
    },
    DelegatorDelegations: (context, request) => {
      const range = delegations.byPair.range(context, lengthPrefixed(delegatorOf(request.delegatorAddr)));
      const { items, pagination } = pageOf(range, request.pagination, (one) =>
        withBalance(context, keepers, one),
      );
      return { delegationResponses: items, pagination };
    },
    DelegatorUnbondingDelegations: (context, request) => {
      const range = delegations.unbondings.range(context, lengthPrefixed(delegatorOf(request.delegatorAddr)));
      const { items, pagination } = pageOf(range, request.pagination, records.unbondingToWire);
      return { unbondingResponses: items, pagination };
    },
    ValidatorDelegations: (context, request) => {
      const range = delegations.byValidator.range(
        context,
        lengthPrefixed(validatorOf(request.validatorAddr)),
      );
      const page = pageOf(range, request.pagination, (_value, pair) => delegations.byPair.get(context, pair));
      const known = page.items.filter((one) => one !== undefined);
      return {
        delegationResponses: known.map((one) => withBalance(context, keepers, one)),
        pagination: page.pagination,
      };
    },
    ValidatorUnbondingDelegations: (context, request) => {
      const range = delegations.unbondingsByValidator.range(
        context,
        lengthPrefixed(validatorOf(request.validatorAddr)),
      );
      const page = pageOf(range, request.pagination, (_value, pair) =>
        delegations.unbondings.get(context, pair),
      );
      const known = page.items.filter((one) => one !== undefined);
      return { unbondingResponses: known.map(records.unbondingToWire), pagination: page.pagination };
    },
    DelegatorValidators: (context, request) => {
      const range = delegations.byPair.range(context, lengthPrefixed(delegatorOf(request.delegatorAddr)));
      const { items, pagination } = pageOf(range, request.pagination, ({ validatorAddress }) =>
        records.validatorToWire(validators.requireValidator(context, operators.parse(validatorAddress))),
      );
      return { validators: items, pagination };
    },
    DelegatorValidator: (context, request) => {
      const pair = pairOf(request);
      if (!delegations.byPair.has(context, pair))
        throw new QueryError(GrpcCode.Internal, ErrNoDelegation().message);
      return { validator: records.validatorToWire(validators.requireValidator(context, pair.validator)) };
    },
    // As in the SDK, the source is ignored if the request has a delegator but no destination.
    Redelegations: (context, request) => {
      const { delegatorAddr, srcValidatorAddr, dstValidatorAddr, pagination } = request;
      if (delegatorAddr !== "" && srcValidatorAddr !== "" && dstValidatorAddr !== "") {
        const delegator = parseDelegator(delegatorAddr);
        const source = parseValidator(srcValidatorAddr);
        const triplet = { delegator, source, destination: parseValidator(dstValidatorAddr) };
        const one = delegations.redelegations.get(context, triplet);
        if (one === undefined) throw noRedelegation(request);
        return { redelegationResponses: [withBalances(context, keepers, one)], pagination: undefined };
      }
      if (delegatorAddr === "" && srcValidatorAddr !== "" && dstValidatorAddr === "") {
        const within = lengthPrefixed(parseValidator(srcValidatorAddr));
        const page = pageOf(
          delegations.redelegationsBySource.range(context, within),
          pagination,
          (_value, triplet) => {
            const one = delegations.redelegations.get(context, triplet);
            return one === undefined ? [] : [withBalances(context, keepers, one)];
          },
        );
        return { redelegationResponses: page.items.flat(), pagination: page.pagination };
      }
      const within = lengthPrefixed(parseDelegator(delegatorAddr));
      const page = pageOf(delegations.redelegations.range(context, within), pagination, (one) =>
        withBalances(context, keepers, one),
      );
      return { redelegationResponses: page.items, pagination: page.pagination };
    },
  });
}

function requireGiven(role: "delegator" | "validator", text: string): string {
  if (text === "") throw invalidArgument(`${role} address cannot be empty`);
  return text;
}

function found<T>(value: T | undefined, words: string): T {
  if (value === undefined) throw notFound(`${words} not found`);
  return value;
}

function noPair(kind: string, { delegatorAddr, validatorAddr }: wire.QueryDelegationRequest): QueryError {
  const text = `${kind} with delegator ${delegatorAddr} not found for validator ${validatorAddr}`;
  return notFound(text);
}

function noRedelegation({ delegatorAddr, srcValidatorAddr }: wire.QueryRedelegationsRequest): QueryError {
  const words = `redelegation not found for delegator address ${delegatorAddr} from validator address ${srcValidatorAddr}`;
  return new QueryError(GrpcCode.Internal, `rpc error: code = NotFound desc = ${words}`);
}

/** Adds the amount of tokens to the response for a delegation. */
function withBalance(
  context: Context,
  keepers: Keepers,
  delegation: records.Delegation,
): staking.DelegationResponse {
  const validator = validators.requireValidator(
    context,
    keepers.operators.parse(delegation.validatorAddress),
  );
  const amount = truncateDec18(validators.tokensFromShares(validator, delegation.shares));
  const balance = { denom: moduleParams.get(context).bondDenom, amount: amount.toString() };
  return { delegation: records.delegationToWire(delegation), balance };
}

/**
 * Converts a redelegation to the response format. The entries become a separate list, and the token amount of the shares at the
 * destination validator is added to each entry.
 */
function withBalances(
  context: Context,
  keepers: Keepers,
  redelegation: records.Redelegation,
): staking.RedelegationResponse {
  const destination = keepers.operators.parse(redelegation.validatorDstAddress);
  const validator = validators.requireValidator(context, destination);
  const { entries, ...rest } = records.redelegationToWire(redelegation);
  return {
    redelegation: { ...rest, entries: [] },
    entries: entries.map((redelegationEntry, index) => {
      const shares = redelegation.entries[index]?.sharesDst ?? 0n;
      const balance = truncateDec18(validators.tokensFromShares(validator, shares)).toString();
      return { redelegationEntry, balance };
    }),
  };
}
