import { MsgExecLegacyContent } from "../../../../cosmos/proto/gen/cosmos/gov/v1/tx.ts";
import { VoteOption } from "../../../../cosmos/proto/gen/cosmos/gov/v1/gov.ts";
import type * as v1 from "../../../../cosmos/proto/gen/cosmos/gov/v1/gov.ts";
import type * as current from "../../../../cosmos/proto/gen/cosmos/gov/v1/query.ts";
import type * as gov from "../../../../cosmos/proto/gen/cosmos/gov/v1beta1/gov.ts";
import type * as legacy from "../../../../cosmos/proto/gen/cosmos/gov/v1beta1/query.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { parseDec18 } from "../../../../platform/base/decimal.ts";
import type { QueryFunctions, ServedQueries } from "../../runtime/handlers.ts";

/** Creates the `cosmos.gov.v1beta1` queries from the v1 queries. Requests and deposit responses have the same fields in both. */
export function legacyQueries(
  queries: ServedQueries<typeof current.Query>,
): QueryFunctions<typeof legacy.Query> {
  return {
    Proposal: (context, request) => {
      const { proposal } = queries.Proposal(context, request);
      return { proposal: proposal && toLegacy(proposal) };
    },
    Proposals: (context, request) => {
      const { proposals, pagination } = queries.Proposals(context, request);
      return { proposals: proposals.map(toLegacy), pagination };
    },
    Vote: (context, request) => {
      const { vote } = queries.Vote(context, request);
      return { vote: vote && toLegacyVote(vote) };
    },
    Votes: (context, request) => {
      const { votes, pagination } = queries.Votes(context, request);
      return { votes: votes.map(toLegacyVote), pagination };
    },
    Params: (context, request) => toLegacyParams(queries.Params(context, request)),
    Deposit: queries.Deposit,
    Deposits: queries.Deposits,
    TallyResult: (context, request) => {
      const { tally } = queries.TallyResult(context, request);
      return { tally: tally && toLegacyTally(tally) };
    },
  };
}

function toLegacy({ id, finalTallyResult: tally, ...proposal }: v1.Proposal): gov.Proposal {
  return {
    ...proposal,
    proposalId: id,
    content: contentOf(proposal),
    finalTallyResult: tally && toLegacyTally(tally),
  };
}

/** Returns the legacy content that a proposal executes, or else its first message, as on the deployed chain. */
function contentOf({ messages }: Pick<v1.Proposal, "messages">): gov.Proposal["content"] {
  const [exec] = messages.filter(({ typeUrl }) => typeUrl === "/cosmos.gov.v1.MsgExecLegacyContent");
  return exec === undefined ? messages[0] : MsgExecLegacyContent.decode(exec.value).content;
}

function toLegacyTally(tally: v1.TallyResult): gov.TallyResult {
  const { yesCount: yes, abstainCount: abstain, noCount: no, noWithVetoCount: noWithVeto } = tally;
  return { yes, abstain, no, noWithVeto };
}

/** Converts a v1 vote, whose weights are decimals with a point. */
function toLegacyVote({ options, ...vote }: v1.Vote): gov.Vote {
  return {
    ...vote,
    option: VoteOption.VOTE_OPTION_UNSPECIFIED,
    options: options.map(({ option, weight }) => ({ option, weight: digitsOf(weight) })),
  };
}

function toLegacyParams(params: current.QueryParamsResponse): legacy.QueryParamsResponse {
  const { votingParams, depositParams, tallyParams } = params;
  return {
    votingParams,
    depositParams,
    tallyParams: tallyParams && {
      quorum: utf8(digitsOf(tallyParams.quorum)),
      threshold: utf8(digitsOf(tallyParams.threshold)),
      vetoThreshold: utf8(digitsOf(tallyParams.vetoThreshold)),
    },
  };
}

/** Returns a decimal as protobuf encodes it: its digits, without a point. */
function digitsOf(decimal: string): string {
  return parseDec18(decimal).toString();
}
