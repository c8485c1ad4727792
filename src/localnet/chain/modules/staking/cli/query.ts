import { Argument, type Command, Option } from "commander";
import { isRecord, type JsonValue } from "../../../../../platform/base/json.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { parseUint64 } from "../../../../../platform/cli/options.ts";
import { cellText, column, type Column, fieldAt, listAt } from "../../../../../platform/cli/table.ts";
import {
  type AnswerTable,
  PARAMS_TABLE,
  type ServiceQuery,
  serviceQueryCommands,
} from "../../../../cli/module-query.ts";
import { operatorArgument } from "./arguments.ts";

/** `relaywatch query staking`. Names and arguments are those of a Cosmos SDK binary. */
export function queryStakingCommand(context: CliContext): Command {
  return serviceQueryCommands(
    {
      service: "cosmos.staking.v1beta1.Query",
      arguments: ARGUMENTS,
      tables: STAKING_TABLES,
      queries: QUERIES,
    },
    context,
  );
}

const ARGUMENTS = {
  validator_addr: () => operatorArgument(),
  src_validator_addr: () => operatorArgument("<source>", "operator address that the stake left"),
  dst_validator_addr: () => operatorArgument("<destination>", "operator address that got the stake"),
  delegator_addr: () => new Argument("<delegator>", "account address"),
  height: () => new Argument("<height>", "height of a block").argParser(parseUint64),
};

const QUERIES: readonly ServiceQuery<keyof typeof ARGUMENTS, keyof typeof STAKING_TABLES>[] = [
  {
    name: "validators",
    rpc: "Validators",
    description: "list validators",
    options: {
      status: () =>
        new Option(
          "--status <status>",
          "only BOND_STATUS_BONDED, BOND_STATUS_UNBONDING or BOND_STATUS_UNBONDED",
        ),
    },
    isList: true,
  },
  {
    name: "validator",
    rpc: "Validator",
    description: "print a validator",
    arguments: ["validator_addr"],
  },
  {
    name: "delegation",
    rpc: "Delegation",
    description: "print the delegation of a delegator to a validator",
    arguments: ["delegator_addr", "validator_addr"],
  },
  {
    name: "delegations",
    rpc: "DelegatorDelegations",
    description: "list the delegations of a delegator",
    arguments: ["delegator_addr"],
    isList: true,
  },
  {
    name: "delegations-to",
    rpc: "ValidatorDelegations",
    description: "list the delegations to a validator",
    arguments: ["validator_addr"],
    isList: true,
  },
  {
    name: "unbonding-delegation",
    rpc: "UnbondingDelegation",
    description: "print what a delegator gets back from a validator, and when",
    arguments: ["delegator_addr", "validator_addr"],
  },
  {
    name: "unbonding-delegations",
    rpc: "DelegatorUnbondingDelegations",
    description: "list what a delegator gets back, and when",
    arguments: ["delegator_addr"],
    isList: true,
  },
  {
    name: "unbonding-delegations-from",
    rpc: "ValidatorUnbondingDelegations",
    description: "list the undelegations from a validator",
    arguments: ["validator_addr"],
    isList: true,
  },
  {
    name: "redelegation",
    rpc: "Redelegations",
    description: "print the redelegations of a delegator between two validators",
    arguments: ["delegator_addr", "src_validator_addr", "dst_validator_addr"],
  },
  {
    name: "redelegations",
    rpc: "Redelegations",
    description: "list the redelegations of a delegator",
    arguments: ["delegator_addr"],
    isList: true,
  },
  {
    name: "redelegations-from",
    rpc: "Redelegations",
    description: "list the redelegations away from a validator",
    arguments: ["src_validator_addr"],
    isList: true,
  },
  {
    name: "delegator-validators",
    rpc: "DelegatorValidators",
    description: "list the validators of a delegator",
    arguments: ["delegator_addr"],
    isList: true,
  },
  {
    name: "delegator-validator",
    rpc: "DelegatorValidator",
    description: "print a validator of a delegator",
    arguments: ["delegator_addr", "validator_addr"],
  },
  {
    name: "historical-info",
    rpc: "HistoricalInfo",
    description: "print the validator set of a height",
    arguments: ["height"],
  },
  { name: "pool", rpc: "Pool", description: "print the tokens of the two pools" },
  { name: "params", rpc: "Params", description: "print the module's parameters" },
];

const STATUS_PREFIX = "BOND_STATUS_";

const VALIDATOR_COLUMNS: readonly Column[] = [
  column("MONIKER", "description.moniker"),
  column("OPERATOR", "operator_address"),
  {
    title: "STATUS",
    cell: (row) => cellText(fieldAt(row, "status")).replace(STATUS_PREFIX, "").toLowerCase(),
  },
  column("JAILED", "jailed"),
  column("TOKENS", "tokens"),
  column("SHARES", "delegator_shares"),
  column("COMMISSION", "commission.commission_rates.rate"),
];

const DELEGATION_COLUMNS = [
  column("DELEGATOR", "delegation.delegator_address"),
  column("VALIDATOR", "delegation.validator_address"),
  column("SHARES", "delegation.shares"),
  column("TOKENS", "balance.amount"),
  column("DENOM", "balance.denom"),
];

const UNBONDING_COLUMNS = [
  column("DELEGATOR", "delegator_address"),
  column("VALIDATOR", "validator_address"),
  column("ID", "unbonding_id"),
  column("HEIGHT", "creation_height"),
  column("BALANCE", "balance"),
  column("INITIAL", "initial_balance"),
  column("COMPLETES", "completion_time"),
];

const REDELEGATION_COLUMNS = [
  column("DELEGATOR", "delegator_address"),
  column("SOURCE", "validator_src_address"),
  column("DESTINATION", "validator_dst_address"),
  column("ID", "redelegation_entry.unbonding_id"),
  column("HEIGHT", "redelegation_entry.creation_height"),
  column("TOKENS", "balance"),
  column("SHARES", "redelegation_entry.shares_dst"),
  column("COMPLETES", "redelegation_entry.completion_time"),
];

/** Tables of `cosmos.staking.v1beta1.Query`. */
const STAKING_TABLES = {
  Validators: { path: "validators", columns: VALIDATOR_COLUMNS },
  Validator: { path: "validator", columns: VALIDATOR_COLUMNS },
  DelegatorValidators: { path: "validators", columns: VALIDATOR_COLUMNS },
  DelegatorValidator: { path: "validator", columns: VALIDATOR_COLUMNS },
  Delegation: { path: "delegation_response", columns: DELEGATION_COLUMNS },
  DelegatorDelegations: { path: "delegation_responses", columns: DELEGATION_COLUMNS },
  ValidatorDelegations: { path: "delegation_responses", columns: DELEGATION_COLUMNS },
  UnbondingDelegation: { path: "unbond", columns: UNBONDING_COLUMNS, rows: entriesOf },
  DelegatorUnbondingDelegations: { path: "unbonding_responses", columns: UNBONDING_COLUMNS, rows: entriesOf },
  ValidatorUnbondingDelegations: { path: "unbonding_responses", columns: UNBONDING_COLUMNS, rows: entriesOf },
  Redelegations: {
    path: "redelegation_responses",
    columns: REDELEGATION_COLUMNS,
    rows: (response) => entriesOf(response, fieldAt(response, "redelegation")),
  },
  HistoricalInfo: {
    path: "hist",
    columns: VALIDATOR_COLUMNS,
    rows: (hist) => listAt(hist, "valset"),
    notes: [
      ["height: ", "hist.header.height"],
      ["time: ", "hist.header.time"],
    ],
  },
  Pool: {
    path: "pool",
    columns: [column("BONDED", "bonded_tokens"), column("NOT BONDED", "not_bonded_tokens")],
  },
  Params: PARAMS_TABLE,
} as const satisfies Readonly<Record<string, AnswerTable>>;

/** Returns one row for each entry, with the fields of its record. */
function entriesOf(record: JsonValue, fields: JsonValue = record): readonly JsonValue[] {
  return listAt(record, "entries").map((entry) => ({
    ...(isRecord(fields) ? fields : {}),
    ...(isRecord(entry) ? entry : {}),
  }));
}
