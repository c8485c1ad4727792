import { isRecord, type JsonValue } from "../../../platform/base/json.ts";
import { cellText, fieldAt, listAt } from "../../../platform/cli/table.ts";
import { query, queryCommands } from "../module-query.ts";

const STATUS_PREFIX = "BOND_STATUS_";

const VALIDATOR = {
  columns: {
    MONIKER: "description.moniker",
    OPERATOR: "operator_address",
    STATUS: (validator: JsonValue) =>
      cellText(fieldAt(validator, "status")).replace(STATUS_PREFIX, "").toLowerCase(),
    JAILED: "jailed",
    TOKENS: "tokens",
    SHARES: "delegator_shares",
    COMMISSION: "commission.commission_rates.rate",
  },
};

const DELEGATION = `DELEGATOR delegation.delegator_address, VALIDATOR delegation.validator_address,
      SHARES delegation.shares, TOKENS balance.amount, DENOM balance.denom`;

const UNBONDING = {
  columns: `DELEGATOR delegator_address, VALIDATOR validator_address, ID unbonding_id,
      HEIGHT creation_height, BALANCE balance, INITIAL initial_balance,
      COMPLETES completion_time`,
  rows: (unbonding: JsonValue) => entriesOf(unbonding, unbonding),
};

const REDELEGATION = {
  columns: `DELEGATOR delegator_address, SOURCE validator_src_address,
      DESTINATION validator_dst_address, ID redelegation_entry.unbonding_id,
      HEIGHT redelegation_entry.creation_height, TOKENS balance,
      SHARES redelegation_entry.shares_dst, COMPLETES redelegation_entry.completion_time`,
  rows: (response: JsonValue) => entriesOf(response, fieldAt(response, "redelegation")),
};

const HISTORY = {
  ...VALIDATOR,
  rows: (history: JsonValue) => listAt(history, "valset"),
  notes: [
    ["height: ", "hist.header.height"],
    ["time: ", "hist.header.time"],
  ],
} as const;

/** Returns a table row for each item in the record's `entries` list. Each row has the item's fields and the record's other fields. */
function entriesOf(record: JsonValue, fields: JsonValue): readonly JsonValue[] {
  return listAt(record, "entries").map((entry) => ({
    ...(isRecord(fields) ? fields : {}),
    ...(isRecord(entry) ? entry : {}),
  }));
}

/** `relaywatch query staking`, with the same names and arguments as Cosmos SDK programs. */
export const queryStakingCommand = queryCommands({
  service: "cosmos.staking.v1beta1.Query",
  fields: {
    src_validator_addr: "<source> operator address that the stake left",
    dst_validator_addr: "<destination> operator address that received the stake",
    height: "<height> block height",
  },
  queries: {
    validators: query("Validators", "list validators", {
      ...VALIDATOR,
      options: {
        status: [
          "--status <status>",
          "only BOND_STATUS_BONDED, BOND_STATUS_UNBONDING or BOND_STATUS_UNBONDED",
        ],
      },
    }),
    validator: query("Validator", "print a validator", VALIDATOR),
    delegation: query("Delegation", "print a delegator's delegation to a validator", DELEGATION),
    delegations: query("DelegatorDelegations", "list a delegator's delegations", DELEGATION),
    "delegations-to": query("ValidatorDelegations", "list a validator's delegations", DELEGATION),
    "unbonding-delegation": query(
      "UnbondingDelegation",
      "print the coins that a delegator is unbonding from a validator",
      UNBONDING,
    ),
    "unbonding-delegations": query(
      "DelegatorUnbondingDelegations",
      "list the coins that a delegator is unbonding",
      UNBONDING,
    ),
    "unbonding-delegations-from": query(
      "ValidatorUnbondingDelegations",
      "list the coins being unbonded from a validator",
      UNBONDING,
    ),
    redelegation: query("Redelegations", "print a delegator's redelegations between two validators", {
      ...REDELEGATION,
      isShort: true,
    }),
    redelegations: query("Redelegations", "list a delegator's redelegations", {
      ...REDELEGATION,
      takes: ["delegator_addr"],
    }),
    "redelegations-from": query("Redelegations", "list redelegations from a validator to other validators", {
      ...REDELEGATION,
      takes: ["src_validator_addr"],
    }),
    "delegator-validators": query("DelegatorValidators", "list a delegator's validators", VALIDATOR),
    "delegator-validator": query("DelegatorValidator", "print one of a delegator's validators", VALIDATOR),
    "historical-info": query("HistoricalInfo", "print the validator set at a height", HISTORY),
    pool: query("Pool", "print the tokens in the bonded and unbonded pools", {
      columns: "BONDED bonded_tokens, NOT BONDED not_bonded_tokens",
    }),
    params: query("Params", "print the module's parameters"),
  },
});
