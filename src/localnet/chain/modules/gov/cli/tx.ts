import { Argument, Command, InvalidArgumentError, Option } from "commander";
import type { JsonObject } from "../../../../../platform/base/json.ts";
import type { CliContext } from "../../../../../platform/cli/cli-context.ts";
import { parseUint64 } from "../../../../../platform/cli/options.ts";
import { sendJsonMessage, txMessageCommand } from "../../../../cli/module-tx.ts";
import type { TxOptions } from "../../../../cli/tx-options.ts";
import { coinArgument, parseCoin } from "../../staking/cli/arguments.ts";

/** `relaywatch tx gov`. Names are those of a Cosmos SDK binary. */
export function txGovCommand(context: CliContext): Command {
  return new Command()
    .addCommand(submitCommand(context))
    .addCommand(depositCommand(context))
    .addCommand(voteCommand(context))
    .addCommand(weightedVoteCommand(context))
    .addCommand(cancelCommand(context));
}

interface ProposalOptions extends TxOptions {
  readonly title: string;
  readonly description: string;
  readonly deposit: JsonObject;
}

function submitCommand(context: CliContext): Command {
  return txMessageCommand("submit-legacy-proposal", "propose a text")
    .requiredOption("--title <text>", "up to 140 bytes")
    .requiredOption("--description <text>", "up to 10,000 bytes")
    .addOption(
      new Option("--deposit <coin>", "first deposit, such as 10000000uatom")
        .argParser(parseCoin)
        .makeOptionMandatory(),
    )
    .action(({ title, description, deposit, ...options }: ProposalOptions) =>
      sendJsonMessage(
        {
          type: "cosmos.gov.v1beta1.MsgSubmitProposal",
          fields: (proposer) => ({
            content: { "@type": "/cosmos.gov.v1beta1.TextProposal", title, description },
            initial_deposit: [deposit],
            proposer,
          }),
          printed: [["proposal", "proposal_id"]],
        },
        options,
        context,
      ),
    );
}

function depositCommand(context: CliContext): Command {
  return txMessageCommand("deposit", "add to the deposit of a proposal; enough of it starts the vote")
    .addArgument(proposalArgument())
    .addArgument(coinArgument())
    .action((id: string, amount: JsonObject, options: TxOptions) =>
      sendJsonMessage(
        {
          type: "cosmos.gov.v1.MsgDeposit",
          fields: (depositor) => ({ proposal_id: id, depositor, amount: [amount] }),
        },
        options,
        context,
      ),
    );
}

/** Names of votes on the command line. */
const OPTIONS: Readonly<Record<string, string>> = {
  yes: "VOTE_OPTION_YES",
  abstain: "VOTE_OPTION_ABSTAIN",
  no: "VOTE_OPTION_NO",
  no_with_veto: "VOTE_OPTION_NO_WITH_VETO",
};

function voteCommand(context: CliContext): Command {
  return txMessageCommand("vote", "vote for or against a proposal; replaces an earlier vote")
    .addArgument(proposalArgument())
    .addArgument(new Argument("<option>", "the vote").choices(Object.keys(OPTIONS)))
    .action((id: string, option: string, options: TxOptions) =>
      sendJsonMessage(
        {
          type: "cosmos.gov.v1.MsgVote",
          fields: (voter) => ({ proposal_id: id, voter, option: OPTIONS[option] ?? option }),
        },
        options,
        context,
      ),
    );
}

function weightedVoteCommand(context: CliContext): Command {
  return txMessageCommand("weighted-vote", "split a vote")
    .addArgument(proposalArgument())
    .addArgument(
      new Argument("<options>", "options with their weights, such as yes=0.6,no=0.4").argParser(parseWeights),
    )
    .action((id: string, weights: readonly JsonObject[], options: TxOptions) =>
      sendJsonMessage(
        {
          type: "cosmos.gov.v1.MsgVoteWeighted",
          fields: (voter) => ({ proposal_id: id, voter, options: [...weights] }),
        },
        options,
        context,
      ),
    );
}

function parseWeights(text: string): readonly JsonObject[] {
  return text.split(",").map((part) => {
    const [name = "", weight = ""] = part.split("=");
    const option = OPTIONS[name];
    if (option !== undefined && /^\d+(\.\d{1,18})?$/.test(weight)) return { option, weight };
    throw new InvalidArgumentError(
      `${JSON.stringify(part)} is not an option with its weight, such as yes=0.5 (options: ${Object.keys(OPTIONS).join(", ")})`,
    );
  });
}

function cancelCommand(context: CliContext): Command {
  return txMessageCommand("cancel-proposal", "withdraw your proposal; a part of its deposit is lost")
    .addArgument(proposalArgument())
    .action((id: string, options: TxOptions) =>
      sendJsonMessage(
        { type: "cosmos.gov.v1.MsgCancelProposal", fields: (proposer) => ({ proposal_id: id, proposer }) },
        options,
        context,
      ),
    );
}

function proposalArgument(): Argument {
  return new Argument("<proposal-id>", "number of the proposal").argParser((text: string) =>
    parseUint64(text).toString(),
  );
}
