import { invalidArgument, notFound } from "../../runtime/errors.ts";
import { filteredPageOf, pageOf } from "../../runtime/pagination.ts";
import { eachAtPath, atPath, genesisSchema, partOr } from "../../runtime/genesis.ts";
import { timestampToNs } from "../../../../cosmos/comet/timestamp.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/gov/v1/genesis.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/gov/v1/query.ts";
import * as legacy from "../../../../cosmos/proto/gen/cosmos/gov/v1beta1/query.ts";
import { uint64BigEndian, utf8 } from "../../../../platform/base/bytes.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Context, dryRun, type ChainModule } from "../../runtime/context.ts";
import {
  orQueryError,
  type QueryFunctions,
  queryHandlers,
  type ServedQueries,
} from "../../runtime/handlers.ts";
import { createHandlers } from "./handlers.ts";
import * as keeper from "./keeper.ts";
import { defaultParams, moduleParams, MODULE_NAME, partKey, queueKey } from "./keys.ts";
import { endBlock, tally as countVotes } from "./tally.ts";
import { MsgExecLegacyContent } from "../../../../cosmos/proto/gen/cosmos/gov/v1/tx.ts";
import * as v1 from "../../../../cosmos/proto/gen/cosmos/gov/v1/gov.ts";
import type * as gov from "../../../../cosmos/proto/gen/cosmos/gov/v1beta1/gov.ts";
import { parseDec18 } from "../../../../platform/base/decimal.ts";

/** Creates the `gov` module. If the stakers approve a proposal, its messages run with the chain's authority. */
export function createGovModule(options: keeper.GovOptions, deps: keeper.GovDeps): ChainModule {
  const keepers: keeper.Keepers = { ...options, ...deps };
  const queries = createQueries(keepers);
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: createHandlers(keepers),
    queries: [...queryHandlers(wire.Query, queries), ...queryHandlers(legacy.Query, legacyQueries(queries))],
    endBlock: (context) => endBlock(context, keepers),
    initGenesis: (context, json) => initGenesis(context, json, keepers),
    exportGenesis,
  };
}

function createQueries(keepers: keeper.Keepers) {
  return {
    Constitution: (context) => ({ constitution: keeper.constitution.get(context) }),
    Proposal: (context, { proposalId }) => ({ proposal: proposalOf(context, proposalId) }),
    Proposals: (context, request) => queryProposals(context, request, keepers),
    Params: queryParams,
    TallyResult: (context, { proposalId }) => ({ tally: tallyOf(context, proposalId, keepers) }),
    Vote: (context, { proposalId, voter }) => {
      if (voter === "") throw invalidArgument("empty voter address");
      const vote = keeper.votes.get(context, partKeyOf(requireId(proposalId), voter, keepers));
      if (vote !== undefined) return { vote };
      throw invalidArgument(`voter: ${voter} not found for proposal: ${proposalId}`);
    },
    Votes: (context, { proposalId, pagination: request }) => {
      const range = keeper.votes.range(context, uint64BigEndian(requireId(proposalId)));
      const { items, pagination } = pageOf(range, request, (vote) => vote);
      return { votes: items, pagination };
    },
    Deposit: (context, { proposalId, depositor }) => {
      if (depositor === "") throw invalidArgument("empty depositor address");
      const deposit = keeper.deposits.get(context, partKeyOf(requireId(proposalId), depositor, keepers));
      if (deposit !== undefined) return { deposit };
      throw notFound(`depositer: ${depositor} not found for proposal: ${proposalId}`);
    },
    Deposits: (context, { proposalId, pagination: request }) => {
      const range = keeper.deposits.range(context, uint64BigEndian(requireId(proposalId)));
      const { items, pagination } = pageOf(range, request, (deposit) => deposit);
      return { deposits: items, pagination };
    },
  } satisfies QueryFunctions<typeof wire.Query>;
}

function partKeyOf(id: bigint, address: string, { bech32Prefix }: keeper.Keepers): Uint8Array {
  return partKey(
    id,
    orQueryError(() => parseAddress(bech32Prefix, address)),
  );
}

function requireId(id: bigint): bigint {
  if (id === 0n) throw invalidArgument("proposal id can not be 0");
  return id;
}

function proposalOf(context: Context, id: bigint): v1.Proposal {
  const proposal = keeper.proposals.get(context, requireId(id));
  if (proposal === undefined) throw notFound(`proposal ${id} doesn't exist`);
  return proposal;
}

/** Returns the current tally during the voting period, and the stored result otherwise. */
function tallyOf(context: Context, id: bigint, keepers: keeper.Keepers): v1.Proposal["finalTallyResult"] {
  const proposal = proposalOf(context, id);
  if (proposal.status === v1.ProposalStatus.PROPOSAL_STATUS_VOTING_PERIOD)
    return dryRun(context, (inner) => countVotes(inner, proposal, keepers, false).result);
  return proposal.finalTallyResult;
}

/** Lists the proposals that match all filters. A filter that is not set matches every proposal. */
function queryProposals(
  context: Context,
  { proposalStatus, voter, depositor, pagination }: wire.QueryProposalsRequest,
  keepers: keeper.Keepers,
): wire.QueryProposalsResponse {
  const matches = ({ id, status }: v1.Proposal): boolean =>
    (proposalStatus === v1.ProposalStatus.PROPOSAL_STATUS_UNSPECIFIED || status === proposalStatus) &&
    (voter === "" || keeper.votes.has(context, partKeyOf(id, voter, keepers))) &&
    (depositor === "" || keeper.deposits.has(context, partKeyOf(id, depositor, keepers)));
  const page = filteredPageOf(keeper.proposals.range(context), pagination, (proposal) =>
    matches(proposal) ? proposal : undefined,
  );
  return { proposals: page.items, pagination: page.pagination };
}

/** Returns all parameters in `params`. The response fields from earlier SDK releases are set only if `params_type` requests them. */
function queryParams(context: Context, { paramsType }: wire.QueryParamsRequest): wire.QueryParamsResponse {
  const params = moduleParams.get(context);
  const { minDeposit, maxDepositPeriod, votingPeriod, quorum, threshold, vetoThreshold } = params;
  const none = { votingParams: undefined, depositParams: undefined, tallyParams: undefined, params };
  switch (paramsType) {
    case "deposit":
      return { ...none, depositParams: { minDeposit, maxDepositPeriod } };
    case "voting":
      return { ...none, votingParams: { votingPeriod } };
    case "tallying":
      return { ...none, tallyParams: { quorum, threshold, vetoThreshold } };
    case "":
      return none;
    default:
      throw invalidArgument(`${paramsType} is not a valid parameter type`);
  }
}

const SCHEMA = genesisSchema(MODULE_NAME, "cosmos.gov.v1.GenesisState", GenesisState);

/** Stores the module's genesis. Throws `GenesisError` for invalid params, and for votes or deposits on unknown proposals. */
function initGenesis(context: Context, json: JsonValue | undefined, keepers: keeper.Keepers): void {
  const state = SCHEMA.read(json) ?? GenesisState.decode(new Uint8Array(0));
  const path = `app_state.${MODULE_NAME}`;
  keeper.nextProposalId.set(context, state.startingProposalId === 0n ? 1n : state.startingProposalId);
  atPath(`${path}.params`, () =>
    moduleParams.set(context, partOr(json, "params", state.params, defaultParams(keepers.denom))),
  );
  keeper.constitution.set(context, state.constitution);
  eachAtPath(`${path}.proposals`, state.proposals, (proposal) =>
    addStoredProposal(context, proposal, state.startingProposalId),
  );
  eachAtPath(`${path}.deposits`, state.deposits, (deposit) => {
    const key = storedPart(context, deposit.proposalId, deposit.depositor, keepers);
    keeper.deposits.set(context, key, deposit);
  });
  eachAtPath(`${path}.votes`, state.votes, (vote) =>
    keeper.votes.set(context, storedPart(context, vote.proposalId, vote.voter, keepers), vote),
  );
}

function addStoredProposal(context: Context, proposal: v1.Proposal, startingId: bigint): void {
  if (proposal.id === 0n || proposal.id >= startingId)
    throw new Error(
      `expected an id of at least 1 and below starting_proposal_id (${startingId}), got ${proposal.id}`,
    );
  if (keeper.proposals.has(context, proposal.id)) throw new Error(`duplicate proposal id: ${proposal.id}`);
  keeper.setProposal(context, proposal);
  const { PROPOSAL_STATUS_DEPOSIT_PERIOD, PROPOSAL_STATUS_VOTING_PERIOD } = v1.ProposalStatus;
  const queue = (endNs: bigint): Uint8Array => queueKey(endNs, proposal.id);
  if (proposal.status === PROPOSAL_STATUS_DEPOSIT_PERIOD)
    keeper.inactiveQueue.set(context, queue(timestampToNs(proposal.depositEndTime)), proposal.id);
  if (proposal.status === PROPOSAL_STATUS_VOTING_PERIOD)
    keeper.activeQueue.set(context, queue(timestampToNs(proposal.votingEndTime)), proposal.id);
}

function storedPart(
  context: Context,
  id: bigint,
  address: string,
  { bech32Prefix }: keeper.Keepers,
): Uint8Array {
  if (!keeper.proposals.has(context, id))
    throw new Error(`expected proposal ${id} in app_state.gov.proposals`);
  return partKey(id, parseAddress(bech32Prefix, address));
}

function exportGenesis(context: Context): JsonValue {
  return SCHEMA.print({
    ...GenesisState.decode(new Uint8Array(0)),
    startingProposalId: keeper.nextProposalId.get(context),
    deposits: keeper.deposits.values(context),
    votes: keeper.votes.values(context),
    proposals: keeper.proposals.values(context),
    params: moduleParams.get(context),
    constitution: keeper.constitution.get(context),
  });
}

/** Creates the `cosmos.gov.v1beta1` queries from the v1 queries. Requests and deposit responses have the same fields as in v1. */
function legacyQueries(queries: ServedQueries<typeof wire.Query>): QueryFunctions<typeof legacy.Query> {
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

/** Returns a proposal's legacy content or, as on the deployed chain, its first message if there is no legacy content. */
function contentOf({ messages }: Pick<v1.Proposal, "messages">): gov.Proposal["content"] {
  const [exec] = messages.filter(({ typeUrl }) => typeUrl === "/cosmos.gov.v1.MsgExecLegacyContent");
  return exec === undefined ? messages[0] : MsgExecLegacyContent.decode(exec.value).content;
}

function toLegacyTally(tally: v1.TallyResult): gov.TallyResult {
  const { yesCount: yes, abstainCount: abstain, noCount: no, noWithVetoCount: noWithVeto } = tally;
  return { yes, abstain, no, noWithVeto };
}

/** Converts a v1 vote to a legacy vote. The v1 weights are decimals with a point. The legacy weights have no point. */
function toLegacyVote({ options, ...vote }: v1.Vote): gov.Vote {
  return {
    ...vote,
    option: v1.VoteOption.VOTE_OPTION_UNSPECIFIED,
    options: options.map(({ option, weight }) => ({ option, weight: digitsOf(weight) })),
  };
}

function toLegacyParams(params: wire.QueryParamsResponse): legacy.QueryParamsResponse {
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

/** Returns a decimal in its wire encoding: the digits without a point. */
function digitsOf(decimal: string): string {
  return parseDec18(decimal).toString();
}
