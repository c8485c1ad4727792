import {
  QueryDelegationRequest,
  QueryValidatorDelegationsRequest,
  QueryValidatorRequest,
} from "../../../cosmos/proto/gen/cosmos/staking/v1beta1/query.ts";
import {
  toBase64,
  concat,
  fromUtf8,
  prefixEnd,
  uint64BigEndian,
  utf8,
} from "../../../platform/base/bytes.ts";
import { type Dec18, parseDec18, quoDec18, truncateDec18 } from "../../../platform/base/decimal.ts";
import type { JsonField, JsonObject, JsonValue } from "../../../platform/base/json.ts";
import * as wasm from "../modules/wasm/contract.ts";
import { byName, messageFields, respond, text } from "./messages.ts";

/**
 * A contract that uses the staking module's hooks to track every delegator's voting power and its history. The contract must be
 * subscribed to the hook types 1, 3, 4, 5, 8, 9 and 10. The contract ignores all other hook types.
 *
 * A validator that existed before the subscription is not tracked until `sync {val_addr}` is sent, which any account may do. The
 * smart queries are `voting_power_at_height {address, height}`, `total_power_at_height {height}`, `validator_at_height {address,
 * height}`. A query returns the value at the end of the block at `height`. Default: the current height.
 */
export const votingPowerContract: wasm.ContractCode = {
  name: "voting-power",
  instantiate: () => wasm.NO_RESPONSE,
  execute: (scope, _caller, message) => execute(scope, message),
  sudo: (scope, message) => {
    runHook(scope, message);
    return wasm.NO_RESPONSE;
  },
  query: (scope, message) => query(scope, message),
};

const execute = byName("ExecuteMsg", { sync: (scope, fields) => sync(scope, text(fields, "val_addr")) });

/** Ignores a hook, because other hooks report the same stake changes. */
const ignore = (): void => undefined;

const runHook = byName<void>("SudoMsg", {
  after_validator_created: (scope, fields) => loadValidator(scope, text(fields, "val_addr")),
  before_validator_modified: ignore,
  after_validator_removed: (scope, fields) => {
    const validator = validatorOf(text(fields, "val_addr"));
    if (validator.get(scope) !== undefined) validator.set(scope, { tokens: 0n, shares: 0n, bonded: false });
  },
  after_validator_bonded: (scope, fields) => setBonded(scope, fields, true),
  after_validator_begin_unbonding: (scope, fields) => setBonded(scope, fields, false),
  before_delegation_created: ignore,
  before_delegation_shares_modified: ignore,
  before_delegation_removed: (scope, fields) => changeShares(scope, fields, 0n),
  after_delegation_modified: (scope, fields) => {
    const [delegator, validator] = [text(fields, "del_addr"), text(fields, "val_addr")];
    if (validatorOf(validator).get(scope) === undefined) return;
    changeShares(scope, fields, queryShares(scope, delegator, validator));
  },
  before_validator_slashed: (scope, fields) => {
    const validator = validatorOf(text(fields, "val_addr"));
    const known = validator.get(scope);
    const burned = BigInt(text(fields, "tokens_to_burn"));
    if (known !== undefined) validator.set(scope, { ...known, tokens: known.tokens - burned });
  },
  after_unbonding_initiated: ignore,
});

function loadValidator(scope: wasm.ContractScope, address: string): void {
  validatorOf(address).set(scope, queryValidator(scope, address));
}

function setBonded(scope: wasm.ContractScope, fields: JsonField, bonded: boolean): void {
  const validator = validatorOf(text(fields, "val_addr"));
  const known = validator.get(scope);
  if (known !== undefined) validator.set(scope, { ...known, bonded });
}

/**
 * Stores a delegation's shares and updates the validator. At the time of the hook, the validator's totals already include added
 * shares, but also still include removed shares.
 */
function changeShares(scope: wasm.ContractScope, fields: JsonField, shares: bigint): void {
  const address = text(fields, "val_addr");
  const known = validatorOf(address).get(scope);
  if (known === undefined) return;
  const delegation = sharesOf(text(fields, "del_addr"), address);
  const before = delegation.get(scope) ?? 0n;
  delegation.set(scope, shares);
  if (shares >= before) loadValidator(scope, address);
  else validatorOf(address).set(scope, withoutShares(known, before - shares));
}

/** Starts tracking an existing validator by reading all its delegations. The caller pays gas for each read. */
function sync(scope: wasm.ContractScope, address: string): wasm.ContractResponse {
  if (validatorOf(address).get(scope) !== undefined)
    throw new wasm.ContractError(`${address} is followed already`);
  loadValidator(scope, address);
  let delegations = 0;
  for (const { delegator, shares } of queryDelegations(scope, address)) {
    sharesOf(delegator, address).set(scope, shares);
    delegations += 1;
  }
  return respond({ method: "sync", delegations: delegations.toString() });
}

const query = byName<wasm.MessageJson>("QueryMsg", {
  voting_power_at_height: (scope, fields) => {
    const height = heightOf(scope, fields);
    return powerAt(votingPower(scope, text(fields, "address"), height), height);
  },
  total_power_at_height: (scope, fields) => {
    const height = heightOf(scope, fields);
    return powerAt(totalPower(scope, height), height);
  },
  validator_at_height: (scope, fields) => {
    const found = validatorOf(text(fields, "address")).get(scope, heightOf(scope, fields));
    return found === undefined
      ? null
      : { tokens: found.tokens.toString(), shares: found.shares.toString(), bonded: found.bonded };
  },
});

function heightOf(scope: wasm.ContractScope, fields: JsonField): bigint {
  const field = fields.member("height");
  const height = field.isPresent() ? field.asUint64() : scope.height;
  if (height <= scope.height) return height;
  throw new wasm.ContractError(`height ${height} is in the future; the chain is at ${scope.height}`);
}

/** Builds a response in the format of a DAO voting contract, whose height is a JSON number. */
function powerAt(power: bigint, height: bigint): JsonObject {
  return { power: power.toString(), height: Number(height) };
}

// The following functions query the staking module's gRPC service.

const SERVICE = "/cosmos.staking.v1beta1.Query";
/** Number of delegations per query response. */
const PAGE = 100n;

/** Reads a validator from the staking module. */
function queryValidator(scope: wasm.ContractScope, validatorAddr: string): TrackedValidator {
  const response = queryStaking(scope, "Validator", QueryValidatorRequest.encode({ validatorAddr }));
  const validator = response.member("validator");
  return {
    tokens: BigInt(text(validator, "tokens")),
    shares: parseDec18(text(validator, "delegator_shares")),
    bonded: text(validator, "status") === "BOND_STATUS_BONDED",
  };
}

/** Reads the shares of an existing delegation. */
function queryShares(scope: wasm.ContractScope, delegatorAddr: string, validatorAddr: string): Dec18 {
  const request = QueryDelegationRequest.encode({ delegatorAddr, validatorAddr });
  return delegationOf(queryStaking(scope, "Delegation", request).member("delegation_response")).shares;
}

interface Delegation {
  readonly delegator: string;
  readonly shares: Dec18;
}

/** Yields all delegations to a validator, which are queried page by page. */
function* queryDelegations(scope: wasm.ContractScope, validatorAddr: string): IterableIterator<Delegation> {
  let key = new Uint8Array(0);
  do {
    const pagination = { key, offset: 0n, limit: PAGE, countTotal: false, reverse: false };
    const request = QueryValidatorDelegationsRequest.encode({ validatorAddr, pagination });
    const response = queryStaking(scope, "ValidatorDelegations", request);
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

function queryStaking(scope: wasm.ContractScope, rpc: string, request: { finish(): Uint8Array }): JsonField {
  const stargate = { path: `${SERVICE}/${rpc}`, data: toBase64(request.finish()) };
  return messageFields(scope.query({ stargate }));
}

/** A validator's stake as tracked by the contract. */
interface TrackedValidator {
  readonly tokens: bigint;
  readonly shares: Dec18;
  /** True if the validator's stake counts toward voting power. */
  readonly bonded: boolean;
}

const validatorHistory = createHistory<TrackedValidator>("validator", {
  read: (json) => ({
    tokens: BigInt(text(json, "tokens")),
    shares: BigInt(text(json, "shares")),
    bonded: json.member("bonded").asBoolean(),
  }),
  write: ({ tokens, shares, bonded }) => ({ tokens: `${tokens}`, shares: `${shares}`, bonded }),
});

const amountCodec: JsonCodec<bigint> = {
  read: (json) => BigInt(text(json, "amount")),
  write: (amount) => ({ amount: `${amount}` }),
};
const sharesHistory = createHistory<Dec18>("shares", amountCodec);
const total = createHistory<bigint>("total", amountCodec)("");

/**
 * Key prefix for the list of a delegator's validators. The list includes former validators, because queries at past heights need
 * their shares.
 */
const VALIDATORS_OF = utf8("validators-of/");

function sharesOf(delegator: string, validator: string): History<Dec18> {
  const history = sharesHistory(`${delegator}/${validator}`);
  return {
    get: history.get,
    set: (scope, shares) => {
      scope.storage.set(concat(VALIDATORS_OF, utf8(`${delegator}/${validator}`)), utf8("1"));
      history.set(scope, shares);
    },
  };
}

/** Returns a validator's stake with its history. Writing the stake also updates the total power. */
function validatorOf(validator: string): History<TrackedValidator> {
  const history = validatorHistory(validator);
  return {
    get: history.get,
    set: (scope, value) => {
      const change = powerOf(value) - powerOf(history.get(scope));
      if (change !== 0n) total.set(scope, (total.get(scope) ?? 0n) + change);
      history.set(scope, value);
    },
  };
}

function powerOf(validator: TrackedValidator | undefined): bigint {
  return validator?.bonded === true ? validator.tokens : 0n;
}

/** Returns the total power of all bonded validators at the end of a block. */
function totalPower(scope: wasm.ContractScope, height: bigint): bigint {
  return total.get(scope, height) ?? 0n;
}

/**
 * Returns a delegator's tokens at bonded validators at the end of a block. Takes time linear in the number of the delegator's
 * current and former validators.
 */
function votingPower(scope: wasm.ContractScope, delegator: string, height: bigint): bigint {
  let power = 0n;
  for (const name of validatorsOf(scope, delegator)) {
    const validator = validatorOf(name).get(scope, height);
    const shares = sharesOf(delegator, name).get(scope, height) ?? 0n;
    if (validator?.bonded === true && shares > 0n) power += tokensOf(validator, shares);
  }
  return power;
}

function validatorsOf({ storage }: wasm.ContractScope, delegator: string): readonly string[] {
  const prefix = concat(VALIDATORS_OF, utf8(`${delegator}/`));
  return [...storage.iterate(prefix, prefixEnd(prefix))].map(([key]) =>
    fromUtf8(key.subarray(prefix.length)),
  );
}

/** Returns how many of the validator's tokens the shares are worth, rounded as in the staking module. */
function tokensOf({ tokens, shares: all }: TrackedValidator, shares: Dec18): bigint {
  return truncateDec18(quoDec18(shares * tokens, all));
}

/** Subtracts shares, and the tokens that the shares are worth, from a validator's totals. */
function withoutShares(validator: TrackedValidator, shares: Dec18): TrackedValidator {
  const tokens = validator.tokens - tokensOf(validator, shares);
  return { ...validator, tokens, shares: validator.shares - shares };
}

/** A stored value with all its earlier values. `get` returns the value at the end of the block at `height`. Default: the current height. */
interface History<T> {
  readonly get: (scope: wasm.ContractScope, height?: bigint) => T | undefined;
  readonly set: (scope: wasm.ContractScope, value: T) => void;
}

interface JsonCodec<T> {
  readonly read: (json: JsonField) => T;
  readonly write: (value: T) => JsonValue;
}

/** Declares values with a history: one entry for each height at which the value changed, stored as `name / key 0x00 height`. */
function createHistory<T>(name: string, { read, write }: JsonCodec<T>): (key: string) => History<T> {
  return (key) => {
    // No address contains the byte 0, so no key is a prefix of another.
    const prefix = concat(utf8(`${name}/${key}`), Uint8Array.of(0));
    return {
      get: ({ height: now, storage }, height = now) => {
        const end = concat(prefix, uint64BigEndian(height + 1n));
        for (const [, value] of storage.iterateReverse(prefix, end))
          return read(messageFields(JSON.parse(fromUtf8(value))));
        return undefined;
      },
      set: ({ height, storage }, value) =>
        storage.set(concat(prefix, uint64BigEndian(height)), utf8(JSON.stringify(write(value)))),
    };
  };
}
