import { unchecked } from "../../../../cli/command-inputs.ts";
import { query, queryCommands } from "../../../../cli/module-query.ts";

const PROPOSAL = `PROPOSAL id, TITLE title, STATUS status, DEPOSITS UNTIL deposit_end_time,
      VOTES UNTIL voting_end_time`;
const VOTE = "PROPOSAL proposal_id, VOTER voter, OPTIONS options";
const DEPOSIT = "PROPOSAL proposal_id, DEPOSITOR depositor, AMOUNT amount";
const TALLY = "YES yes_count, ABSTAIN abstain_count, NO no_count, NO WITH VETO no_with_veto_count";

/** `relaywatch query gov`. Names are those of a Cosmos SDK binary. */
export const queryGovCommand = queryCommands({
  service: "cosmos.gov.v1.Query",
  fields: {
    proposal_id: ["<proposal-id> number of the proposal", unchecked],
    voter: "<voter> address of the voter",
    depositor: "<depositor> address of the depositor",
  },
  queries: {
    params: query("Params", "print deposits, periods and shares of votes", { takes: [] }),
    proposal: query("Proposal", "print a proposal", PROPOSAL),
    proposals: query("Proposals", "list the proposals", { columns: PROPOSAL, takes: [] }),
    vote: query("Vote", "print a vote", VOTE),
    votes: query("Votes", "list the votes for a proposal; when they end, they are deleted", VOTE),
    deposit: query("Deposit", "print a deposit", DEPOSIT),
    deposits: query("Deposits", "list the deposits of a proposal", DEPOSIT),
    tally: query("TallyResult", "print the result of a vote, or its result so far", TALLY),
  },
});
