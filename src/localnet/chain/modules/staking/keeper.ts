import {
  addToPowerOrder,
  requireValidator,
  setValidator,
  validatorByConsensus,
  validators,
} from "./validators.ts";
import { truncateDec18 } from "../../../../platform/base/decimal.ts";
import type { ValidatorPower } from "../../runtime/abci.ts";
import type { Context } from "../../runtime/context.ts";
import { jail } from "./delegate.ts";
import { delegations } from "./delegations.ts";
import { consensusAddressOf, consensusKeyOf, type Validator } from "./records.ts";
import { tokensFromShares } from "./shares.ts";
import { type Infraction, slash } from "./slash.ts";
import type { Environment } from "./types.ts";
import { updatesOf } from "./validator-set.ts";

/** What slashing knows about a validator. */
interface ValidatorFacts {
  readonly consensus: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly jailed: boolean;
  readonly status: Validator["status"];
  readonly minSelfDelegation: bigint;
}

interface OwnedValidator extends ValidatorFacts {
  /** Reads the tokens of the operator's own delegation; undefined without one. */
  readonly ownTokens: () => bigint | undefined;
}

/** Validators for other modules. `consensus` is the address of a consensus key, 20 bytes; `operator` that of the operator. */
export interface StakingKeeper {
  readonly byConsensus: (context: Context, consensus: Uint8Array) => ValidatorFacts | undefined;
  /** All operators, in ascending order. */
  readonly operators: (context: Context) => Iterable<Uint8Array>;
  /** Throws staking/3 for an unknown operator. */
  readonly byOperator: (context: Context, operator: Uint8Array) => OwnedValidator;
  /** Burns a part of the stake. Returns what the validator lost. */
  readonly slash: (context: Context, infraction: Infraction) => bigint;
  /** Jails a validator that is not jailed. */
  readonly jail: (context: Context, consensus: Uint8Array) => void;
  readonly unjail: (context: Context, consensus: Uint8Array) => void;
  /** The changes of the validator set in this block. */
  readonly validatorUpdates: (context: Context) => readonly ValidatorPower[];
}

/** Creates the keeper. */
export function createStakingKeeper(environment: Environment): StakingKeeper {
  return {
    byConsensus: (context, consensus) => {
      const validator = validatorByConsensus(context, consensus);
      return validator === undefined ? undefined : factsOf(validator);
    },
    operators: (context) => [...validators.entries(context)].map(([operator]) => operator),
    byOperator: (context, operator) => {
      const validator = requireValidator(context, operator);
      const ownTokens = (): bigint | undefined => {
        const own = delegations.get(context, { delegator: operator, validator: operator });
        return own === undefined ? undefined : truncateDec18(tokensFromShares(validator, own.shares));
      };
      return { ...factsOf(validator), ownTokens };
    },
    slash: (context, infraction) => slash(context, environment, infraction),
    jail: (context, consensus) => {
      const validator = validatorByConsensus(context, consensus);
      if (validator !== undefined && !validator.jailed) jail(context, environment, validator);
    },
    unjail: (context, consensus) => {
      const validator = validatorByConsensus(context, consensus);
      if (validator === undefined || !validator.jailed) return;
      const free = { ...validator, jailed: false };
      setValidator(context, environment, free);
      addToPowerOrder(context, environment, free);
    },
    validatorUpdates: updatesOf,
  };
}

function factsOf(validator: Validator): ValidatorFacts {
  const { jailed, status, minSelfDelegation } = validator;
  const publicKey = consensusKeyOf(validator);
  return { consensus: consensusAddressOf(validator), publicKey, jailed, status, minSelfDelegation };
}
