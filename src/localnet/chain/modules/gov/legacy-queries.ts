import { MsgExecLegacyContent } from "../../../../cosmos/proto/gen/cosmos/gov/v1/tx.ts";
import type { Proposal } from "../../../../cosmos/proto/gen/cosmos/gov/v1/gov.ts";
import * as current from "../../../../cosmos/proto/gen/cosmos/gov/v1/query.ts";
import type * as gov from "../../../../cosmos/proto/gen/cosmos/gov/v1beta1/gov.ts";
import * as legacy from "../../../../cosmos/proto/gen/cosmos/gov/v1beta1/query.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { parseDec18 } from "../../../../platform/base/decimal.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import type { QueryHandler } from "../../runtime/module.ts";

const SERVICE = "/cosmos.gov.v1beta1.Query";

interface WireType<T> {
  decode(bytes: Uint8Array): T;
  encode(message: T): { finish(): Uint8Array };
}

/**
 * Creates the queries of `cosmos.gov.v1beta1` from those of v1. Requests have the same fields there, and so have the responses about deposits
 * and results.
 */
export function createLegacyQueries(queries: readonly QueryHandler[]): readonly QueryHandler[] {
  const derived = <T>(
    name: string,
    convert: (response: Uint8Array) => T,
    type: WireType<T>,
  ): QueryHandler => {
    const { query } =
      queries.find(({ path }) => path === `/cosmos.gov.v1.Query/${name}`) ?? unreachable(`no query ${name}`);
    return {
      path: `${SERVICE}/${name}`,
      query: (context, request) => type.encode(convert(query(context, request))).finish(),
    };
  };
  const same = <T>(name: string, type: WireType<T>): QueryHandler =>
    derived(name, (response) => type.decode(response), type);
  return [
    derived("Proposal", toProposal, legacy.QueryProposalResponse),
    derived("Proposals", toProposals, legacy.QueryProposalsResponse),
    derived("Params", toParams, legacy.QueryParamsResponse),
    derived("Vote", toVote, legacy.QueryVoteResponse),
    derived("Votes", toVotes, legacy.QueryVotesResponse),
    same("Deposit", legacy.QueryDepositResponse),
    same("Deposits", legacy.QueryDepositsResponse),
    same("TallyResult", legacy.QueryTallyResultResponse),
  ];
}

function toProposal(response: Uint8Array): legacy.QueryProposalResponse {
  const { proposal } = current.QueryProposalResponse.decode(response);
  return { proposal: proposal && toLegacy(proposal) };
}

function toProposals(response: Uint8Array): legacy.QueryProposalsResponse {
  const { proposals, pagination } = current.QueryProposalsResponse.decode(response);
  return { proposals: proposals.map(toLegacy), pagination };
}

function toLegacy({ id, finalTallyResult: tally, ...proposal }: Proposal): gov.Proposal {
  return {
    ...proposal,
    proposalId: id,
    content: contentOf(proposal),
    finalTallyResult: tally && {
      yes: tally.yesCount,
      abstain: tally.abstainCount,
      no: tally.noCount,
      noWithVeto: tally.noWithVetoCount,
    },
  };
}

/** The content that a message executes; of a proposal without one, as deployed, its first message. */
function contentOf({ messages }: Pick<Proposal, "messages">): gov.Proposal["content"] {
  const [exec] = messages.filter(({ typeUrl }) => typeUrl === "/cosmos.gov.v1.MsgExecLegacyContent");
  return exec === undefined ? messages[0] : MsgExecLegacyContent.decode(exec.value).content;
}

function toVote(response: Uint8Array): legacy.QueryVoteResponse {
  const { vote } = legacy.QueryVoteResponse.decode(response);
  return { vote: vote && withWeights(vote) };
}

function toVotes(response: Uint8Array): legacy.QueryVotesResponse {
  const { votes, pagination } = legacy.QueryVotesResponse.decode(response);
  return { votes: votes.map(withWeights), pagination };
}

/** The weights are decimals with a point in v1. */
function withWeights(vote: gov.Vote): gov.Vote {
  const options = vote.options.map(({ option, weight }) => ({ option, weight: digitsOf(weight) }));
  return { ...vote, options };
}

function toParams(response: Uint8Array): legacy.QueryParamsResponse {
  const { votingParams, depositParams, tallyParams } = current.QueryParamsResponse.decode(response);
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

/** A decimal in protobuf: its digits, without a point. */
function digitsOf(decimal: string): string {
  return parseDec18(decimal).toString();
}
