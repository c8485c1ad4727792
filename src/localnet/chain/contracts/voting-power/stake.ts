import { concat, fromUtf8, prefixEnd, uint64BigEndian, utf8 } from "../../../../platform/base/bytes.ts";
import { type Dec18, quoDec18, truncateDec18 } from "../../../../platform/base/decimal.ts";
import type { JsonField, JsonValue } from "../../../../platform/base/json.ts";
import type { ContractScope } from "../../modules/wasm/contract.ts";
import { messageFields, text } from "../messages.ts";

/** A validator's stake as tracked by the contract. */
export interface TrackedValidator {
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

/** A delegator's validators, including former ones, because the history needs their shares. */
const VALIDATORS_OF = utf8("validators-of/");

/** A delegator's shares in a validator. */
export function sharesOf(delegator: string, validator: string): History<Dec18> {
  const history = sharesHistory(`${delegator}/${validator}`);
  return {
    get: history.get,
    set: (scope, shares) => {
      scope.storage.set(concat(VALIDATORS_OF, utf8(`${delegator}/${validator}`)), utf8("1"));
      history.set(scope, shares);
    },
  };
}

/** A validator's stake. Writing it also updates the total power. */
export function validatorOf(validator: string): History<TrackedValidator> {
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
export function totalPower(scope: ContractScope, height: bigint): bigint {
  return total.get(scope, height) ?? 0n;
}

/** Returns a delegator's tokens at bonded validators at the end of a block. Linear in its validators, including former ones. */
export function votingPower(scope: ContractScope, delegator: string, height: bigint): bigint {
  let power = 0n;
  for (const name of validatorsOf(scope, delegator)) {
    const validator = validatorOf(name).get(scope, height);
    const shares = sharesOf(delegator, name).get(scope, height) ?? 0n;
    if (validator?.bonded === true && shares > 0n) power += tokensOf(validator, shares);
  }
  return power;
}

function validatorsOf({ storage }: ContractScope, delegator: string): readonly string[] {
  const prefix = concat(VALIDATORS_OF, utf8(`${delegator}/`));
  return [...storage.iterate(prefix, prefixEnd(prefix))].map(([key]) =>
    fromUtf8(key.subarray(prefix.length)),
  );
}

/** Returns the tokens that the shares are worth, rounded as in the staking module. */
function tokensOf({ tokens, shares: all }: TrackedValidator, shares: Dec18): bigint {
  return truncateDec18(quoDec18(shares * tokens, all));
}

/** Returns the validator without these shares and their tokens. */
export function withoutShares(validator: TrackedValidator, shares: Dec18): TrackedValidator {
  const tokens = validator.tokens - tokensOf(validator, shares);
  return { ...validator, tokens, shares: validator.shares - shares };
}

/** A value and its history. `get` returns the value at the end of a block, or the current value by default. */
interface History<T> {
  readonly get: (scope: ContractScope, height?: bigint) => T | undefined;
  readonly set: (scope: ContractScope, value: T) => void;
}

interface JsonCodec<T> {
  readonly read: (json: JsonField) => T;
  readonly write: (value: T) => JsonValue;
}

/** Declares values with a history: one entry for each height at which the value changed, stored as `name / key 0x00 height`. */
function createHistory<T>(name: string, { read, write }: JsonCodec<T>): (key: string) => History<T> {
  return (key) => {
    // No address contains the byte 0, so no key begins with another one.
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
