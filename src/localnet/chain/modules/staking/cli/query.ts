import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { parseUint64 } from "../../../../../platform/cli/options.ts";
import { type ServiceQuery, serviceQueryCommands } from "../../../../cli/module-query.ts";
import { operatorArgument } from "./arguments.ts";
import { STAKING_TABLES } from "./tables.ts";

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
    option: {
      flags: "--status <status>",
      field: "status",
      description: "only BOND_STATUS_BONDED, BOND_STATUS_UNBONDING or BOND_STATUS_UNBONDED",
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
