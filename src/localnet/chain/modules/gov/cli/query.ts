import { Argument, type Command } from "commander";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { column } from "../../../../../platform/cli/table.ts";
import {
  type AnswerTable,
  PARAMS_TABLE,
  type ServiceQuery,
  serviceQueryCommands,
} from "../../../../cli/module-query.ts";

/** `relaywatch query gov`. Names are those of a Cosmos SDK binary. */
export function queryGovCommand(context: CliContext): Command {
  return serviceQueryCommands(
    { service: "cosmos.gov.v1.Query", arguments: ARGUMENTS, tables: GOV_TABLES, queries: QUERIES },
    context,
  );
}

const PROPOSAL_COLUMNS = [
  column("PROPOSAL", "id"),
  column("TITLE", "title"),
  column("STATUS", "status"),
  column("DEPOSITS UNTIL", "deposit_end_time"),
  column("VOTES UNTIL", "voting_end_time"),
];
const VOTE_COLUMNS = [
  column("PROPOSAL", "proposal_id"),
  column("VOTER", "voter"),
  column("OPTIONS", "options"),
];
const DEPOSIT_COLUMNS = [
  column("PROPOSAL", "proposal_id"),
  column("DEPOSITOR", "depositor"),
  column("AMOUNT", "amount"),
];

/** Tables of `cosmos.gov.v1.Query`. */
const GOV_TABLES = {
  Params: PARAMS_TABLE,
  Proposal: { path: "proposal", columns: PROPOSAL_COLUMNS },
  Proposals: { path: "proposals", columns: PROPOSAL_COLUMNS },
  Vote: { path: "vote", columns: VOTE_COLUMNS },
  Votes: { path: "votes", columns: VOTE_COLUMNS },
  Deposit: { path: "deposit", columns: DEPOSIT_COLUMNS },
  Deposits: { path: "deposits", columns: DEPOSIT_COLUMNS },
  TallyResult: {
    path: "tally",
    columns: [
      column("YES", "yes_count"),
      column("ABSTAIN", "abstain_count"),
      column("NO", "no_count"),
      column("NO WITH VETO", "no_with_veto_count"),
    ],
  },
} as const satisfies Readonly<Record<string, AnswerTable>>;

const ARGUMENTS = {
  proposal_id: () => new Argument("<proposal-id>", "number of the proposal"),
  voter: () => new Argument("<voter>", "address of the voter"),
  depositor: () => new Argument("<depositor>", "address of the depositor"),
};

const QUERIES: readonly ServiceQuery<keyof typeof ARGUMENTS, keyof typeof GOV_TABLES>[] = [
  { name: "params", rpc: "Params", description: "print deposits, periods and shares of votes" },
  { name: "proposal", rpc: "Proposal", description: "print a proposal", arguments: ["proposal_id"] },
  { name: "proposals", rpc: "Proposals", description: "list the proposals", isList: true },
  { name: "vote", rpc: "Vote", description: "print a vote", arguments: ["proposal_id", "voter"] },
  {
    name: "votes",
    rpc: "Votes",
    description: "list the votes for a proposal; when they end, they are deleted",
    arguments: ["proposal_id"],
    isList: true,
  },
  {
    name: "deposit",
    rpc: "Deposit",
    description: "print a deposit",
    arguments: ["proposal_id", "depositor"],
  },
  {
    name: "deposits",
    rpc: "Deposits",
    description: "list the deposits of a proposal",
    arguments: ["proposal_id"],
    isList: true,
  },
  {
    name: "tally",
    rpc: "TallyResult",
    description: "print the result of a vote, or its result so far",
    arguments: ["proposal_id"],
  },
];
