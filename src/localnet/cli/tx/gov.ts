import { Argument, type Command, InvalidArgumentError } from "commander";
import type { JsonObject } from "../../../platform/base/json.ts";
import type { CliContext } from "../../../platform/cli/cli-context.ts";
import { parseCoin, requiredOption, textOf } from "../command-inputs.ts";
import { message, messageCommands } from "../module-tx.ts";

/** Command-line names for votes. */
const OPTIONS: Readonly<Record<string, string>> = {
  yes: "VOTE_OPTION_YES",
  abstain: "VOTE_OPTION_ABSTAIN",
  no: "VOTE_OPTION_NO",
  no_with_veto: "VOTE_OPTION_NO_WITH_VETO",
};

const legacyCommands = messageCommands({
  service: "cosmos.gov.v1beta1.Msg",
  messages: {
    "submit-legacy-proposal": message("SubmitProposal", "propose a text", {
      takes: [],
      options: {
        "content.title": requiredOption("--title <text>", "title, up to 140 bytes"),
        "content.description": requiredOption("--description <text>", "summary, up to 10,000 bytes"),
        initial_deposit: requiredOption(
          "--deposit <coin>",
          "initial deposit, e.g. 10000000uatom",
          parseOneCoin,
        ),
      },
      complete: (given) => ({ ...given, "content.@type": "/cosmos.gov.v1beta1.TextProposal" }),
      prints: { proposal: "proposal_id" },
    }),
  },
});

const govCommands = messageCommands({
  service: "cosmos.gov.v1.Msg",
  fields: {
    proposal_id: "<proposal-id> proposal id",
    amount: ["<amount> amount with denomination, e.g. 1000000untrn", parseOneCoin],
    option: () => new Argument("<option>", "the vote").choices(Object.keys(OPTIONS)),
    options: ["<options> weighted options, e.g. yes=0.6,no=0.4", parseWeights],
  },
  messages: {
    deposit: message("Deposit", "add to a proposal's deposit; the vote starts once it is large enough"),
    vote: message("Vote", "vote for or against a proposal; replaces an earlier vote", {
      takes: ["proposal_id", "option"],
      complete: (given) => ({ ...given, option: OPTIONS[textOf(given["option"])] }),
    }),
    "weighted-vote": message("VoteWeighted", "split a vote", { takes: ["proposal_id", "options"] }),
    "cancel-proposal": message("CancelProposal", "withdraw your proposal; part of its deposit is lost"),
  },
});

/** `relaywatch tx gov`. Uses the same names as a Cosmos SDK binary. */
export function txGovCommand(context: CliContext): Command {
  const group = legacyCommands(context);
  for (const command of govCommands(context).commands) group.addCommand(command);
  return group;
}

function parseOneCoin(text: string): readonly JsonObject[] {
  return [parseCoin(text)];
}

function parseWeights(text: string): readonly JsonObject[] {
  return text.split(",").map((part) => {
    const [name = "", weight = ""] = part.split("=");
    const option = OPTIONS[name];
    if (option !== undefined && /^\d+(\.\d{1,18})?$/.test(weight)) return { option, weight };
    throw new InvalidArgumentError(
      `${JSON.stringify(part)} is not a weighted option, e.g. yes=0.5 (options: ${Object.keys(OPTIONS).join(", ")})`,
    );
  });
}
