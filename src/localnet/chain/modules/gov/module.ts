import { timestampToNs } from "../../../../cosmos/comet/timestamp.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/gov/v1/genesis.ts";
import {
  type Deposit,
  type Proposal,
  ProposalStatus,
  type Vote,
} from "../../../../cosmos/proto/gen/cosmos/gov/v1/gov.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmos/gov/v1/query.ts";
import * as legacy from "../../../../cosmos/proto/gen/cosmos/gov/v1beta1/query.ts";
import { uint64BigEndian } from "../../../../platform/base/bytes.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Context, dryRun } from "../../runtime/context.ts";
import { GrpcCode, QueryError } from "../../runtime/errors.ts";
import { atPath, genesisSchema, partOr, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { orQueryError, type QueryFunctions, queryHandlers } from "../../runtime/handlers.ts";
import type { ChainModule } from "../../runtime/module.ts";
import { paginate, paginateFiltered } from "../../runtime/pagination.ts";
import { createHandlers } from "./handlers.ts";
import * as keeper from "./keeper.ts";
import * as keys from "./keys.ts";
import { legacyQueries } from "./legacy-queries.ts";
import { defaultParams, moduleParams } from "./params.ts";
import { endBlock, tally } from "./tally.ts";

/** Creates the `gov` module: proposals whose messages run as the chain's authority if stakeholders vote for them. */
export function createGovModule(options: keeper.GovOptions, deps: keeper.GovDeps): ChainModule {
  const keepers: keeper.Keepers = { ...options, ...deps };
  const queries = createQueries(keepers);
  return {
    name: keys.MODULE_NAME,
    stores: [keys.MODULE_NAME],
    messages: createHandlers(keepers),
    queries: [...queryHandlers(wire.Query, queries), ...queryHandlers(legacy.Query, legacyQueries(queries))],
    endBlock: (context) => endBlock(context, keepers),
    initGenesis: (context, json) => initGenesis(context, json, keepers),
    exportGenesis,
  };
}

function createQueries(keepers: keeper.Keepers) {
  return {
    Constitution: (context) => ({ constitution: keeper.constitution.get(context) ?? "" }),
    Proposal: (context, { proposalId }) => ({ proposal: proposalOf(context, proposalId) }),
    Proposals: (context, request) => queryProposals(context, request, keepers),
    Params: queryParams,
    TallyResult: (context, { proposalId }) => ({ tally: tallyOf(context, proposalId, keepers) }),
    ...createPartQueries(keepers),
  } satisfies Partial<QueryFunctions<typeof wire.Query>>;
}

/** Creates the queries for votes and deposits. */
function createPartQueries(keepers: keeper.Keepers) {
  return {
    Vote: (context, { proposalId, voter }) => {
      if (voter === "") throw new QueryError(GrpcCode.InvalidArgument, "empty voter address");
      const vote = keeper.votes.get(context, partKeyOf(requireId(proposalId), voter, keepers));
      if (vote !== undefined) return { vote };
      throw new QueryError(GrpcCode.InvalidArgument, `voter: ${voter} not found for proposal: ${proposalId}`);
    },
    Votes: (context, { proposalId, pagination }) => {
      const list: Vote[] = [];
      const page = paginate(partsOf(context, keys.VOTES, proposalId), pagination, (_key, value) =>
        list.push(keeper.voteCodec.decode(value)),
      );
      return { votes: list, pagination: page };
    },
    Deposit: (context, { proposalId, depositor }) => {
      if (depositor === "") throw new QueryError(GrpcCode.InvalidArgument, "empty depositor address");
      const deposit = keeper.deposits.get(context, partKeyOf(requireId(proposalId), depositor, keepers));
      if (deposit !== undefined) return { deposit };
      throw new QueryError(
        GrpcCode.NotFound,
        `depositer: ${depositor} not found for proposal: ${proposalId}`,
      );
    },
    Deposits: (context, { proposalId, pagination }) => {
      const list: Deposit[] = [];
      const page = paginate(partsOf(context, keys.DEPOSITS, proposalId), pagination, (_key, value) =>
        list.push(keeper.depositCodec.decode(value)),
      );
      return { deposits: list, pagination: page };
    },
  } satisfies Partial<QueryFunctions<typeof wire.Query>>;
}

function partsOf(context: Context, prefix: Uint8Array, id: bigint) {
  return {
    store: context.store(keys.MODULE_NAME),
    prefix: Uint8Array.from([...prefix, ...uint64BigEndian(requireId(id))]),
  };
}

function partKeyOf(id: bigint, address: string, { bech32Prefix }: keeper.Keepers): Uint8Array {
  return keys.partKey(
    id,
    orQueryError(() => parseAddress(bech32Prefix, address)),
  );
}

function requireId(id: bigint): bigint {
  if (id === 0n) throw new QueryError(GrpcCode.InvalidArgument, "proposal id can not be 0");
  return id;
}

function proposalOf(context: Context, id: bigint): Proposal {
  const proposal = keeper.proposals.get(context, requireId(id));
  if (proposal === undefined) throw new QueryError(GrpcCode.NotFound, `proposal ${id} doesn't exist`);
  return proposal;
}

/** Returns the stored result if the vote has ended, or else the result as if the vote ended now. */
function tallyOf(context: Context, id: bigint, keepers: keeper.Keepers): Proposal["finalTallyResult"] {
  const proposal = proposalOf(context, id);
  if (proposal.status === ProposalStatus.PROPOSAL_STATUS_VOTING_PERIOD)
    return dryRun(context, (inner) => tally(inner, proposal, keepers, false).result);
  return proposal.finalTallyResult;
}

/** Lists proposals. An absent filter matches every proposal. */
function queryProposals(
  context: Context,
  { proposalStatus, voter, depositor, pagination }: wire.QueryProposalsRequest,
  keepers: keeper.Keepers,
): wire.QueryProposalsResponse {
  const list: Proposal[] = [];
  const matches = ({ id, status }: Proposal): boolean =>
    (proposalStatus === ProposalStatus.PROPOSAL_STATUS_UNSPECIFIED || status === proposalStatus) &&
    (voter === "" || keeper.votes.has(context, partKeyOf(id, voter, keepers))) &&
    (depositor === "" || keeper.deposits.has(context, partKeyOf(id, depositor, keepers)));
  const paged = { store: context.store(keys.MODULE_NAME), prefix: keys.PROPOSALS };
  const page = paginateFiltered(paged, pagination, (_key, value, onPage) => {
    const proposal = keeper.proposalCodec.decode(value);
    if (!matches(proposal)) return false;
    if (onPage) list.push(proposal);
    return true;
  });
  return { proposals: list, pagination: page };
}

/** `params` always contains all parameters; the separate parts from earlier releases are added on request. */
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
      throw new QueryError(GrpcCode.InvalidArgument, `${paramsType} is not a valid parameter type`);
  }
}

const SCHEMA = genesisSchema(keys.MODULE_NAME, "cosmos.gov.v1.GenesisState", GenesisState);

/** Stores the state. Throws `GenesisError` for invalid params, and for votes or deposits on unknown proposals. */
function initGenesis(context: Context, json: JsonValue | undefined, keepers: keeper.Keepers): void {
  const state = readGenesis(SCHEMA, json) ?? GenesisState.decode(new Uint8Array(0));
  const path = `app_state.${keys.MODULE_NAME}`;
  keeper.nextProposalId.set(context, state.startingProposalId === 0n ? 1n : state.startingProposalId);
  atPath(`${path}.params`, () =>
    moduleParams.set(context, partOr(json, "params", state.params, defaultParams(keepers.denom))),
  );
  keeper.constitution.set(context, state.constitution);
  state.proposals.forEach((proposal, index) =>
    atPath(`${path}.proposals[${index}]`, () =>
      addStoredProposal(context, proposal, state.startingProposalId),
    ),
  );
  state.deposits.forEach((deposit, index) =>
    atPath(`${path}.deposits[${index}]`, () =>
      keeper.deposits.set(
        context,
        storedPart(context, deposit.proposalId, deposit.depositor, keepers),
        deposit,
      ),
    ),
  );
  state.votes.forEach((vote, index) =>
    atPath(`${path}.votes[${index}]`, () =>
      keeper.votes.set(context, storedPart(context, vote.proposalId, vote.voter, keepers), vote),
    ),
  );
}

function addStoredProposal(context: Context, proposal: Proposal, startingId: bigint): void {
  if (proposal.id === 0n || proposal.id >= startingId)
    throw new Error(
      `an id from 1 to below starting_proposal_id (${startingId}) was expected, got ${proposal.id}`,
    );
  if (keeper.proposals.has(context, proposal.id)) throw new Error(`duplicate proposal id: ${proposal.id}`);
  keeper.setProposal(context, proposal);
  const { PROPOSAL_STATUS_DEPOSIT_PERIOD, PROPOSAL_STATUS_VOTING_PERIOD } = ProposalStatus;
  const queue = (endNs: bigint): Uint8Array => keys.queueKey(endNs, proposal.id);
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
    throw new Error(`proposal ${id} was expected in app_state.gov.proposals`);
  return keys.partKey(id, parseAddress(bech32Prefix, address));
}

/** Prints the state. */
function exportGenesis(context: Context): JsonValue {
  return printGenesis(SCHEMA, {
    ...GenesisState.decode(new Uint8Array(0)),
    startingProposalId: keeper.nextProposalId.get(context) ?? 1n,
    deposits: [...keeper.deposits.entries(context)].map(([, deposit]) => deposit),
    votes: [...keeper.votes.entries(context)].map(([, vote]) => vote),
    proposals: [...keeper.proposals.entries(context)].map(([, proposal]) => proposal),
    params: moduleParams.get(context),
    constitution: keeper.constitution.get(context) ?? "",
  });
}
