import { parseWireInt, arePositive, formatCoins, parseCoins } from "../../runtime/coins.ts";
import { nsToTimestamp } from "../../../../cosmos/comet/timestamp.ts";
import { VoteOption, type WeightedVoteOption } from "../../../../cosmos/proto/gen/cosmos/gov/v1/gov.ts";
import * as tx from "../../../../cosmos/proto/gen/cosmos/gov/v1/tx.ts";
import { TextProposal } from "../../../../cosmos/proto/gen/cosmos/gov/v1beta1/gov.ts";
import * as legacy from "../../../../cosmos/proto/gen/cosmos/gov/v1beta1/tx.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { type Dec18, DEC18_ONE, formatDec18, parseDec18 } from "../../../../platform/base/decimal.ts";
import { isRecord } from "../../../../platform/base/json.ts";
import { enumName, trimGoSpace } from "../../../../platform/base/text.ts";
import { parseAddress } from "../../runtime/address.ts";
import { type Context, event, type MessageHandler } from "../../runtime/context.ts";
import { messageHandlers } from "../../runtime/handlers.ts";
import * as keeper from "./keeper.ts";
import * as keys from "./keys.ts";
import * as errors from "../../runtime/errors.ts";

/** Creates the handlers for `cosmos.gov.v1` and `cosmos.gov.v1beta1` messages. */
export function createHandlers(keepers: keeper.Keepers): readonly MessageHandler[] {
  return [...currentHandlers(keepers), ...legacyHandlers(keepers)];
}

function currentHandlers(keepers: keeper.Keepers): readonly MessageHandler[] {
  const { authority, denom } = keepers;
  return messageHandlers(tx.Msg, {
    SubmitProposal: (context, message) => ({
      proposalId: submitProposal(context, message, message.initialDeposit, keepers),
    }),
    Vote: (context, message) => vote(context, message, keepers),
    VoteWeighted: (context, message) => voteWeighted(context, message, keepers),
    Deposit: (context, message) => deposit(context, message, keepers),
    CancelProposal: (context, { proposalId, proposer }) => {
      requireAddress("proposer", proposer, keepers);
      keeper.cancelProposal(context, proposalId, proposer, keepers);
      context.emit(event("cancel_proposal", { sender: proposer, proposal_id: proposalId.toString() }));
      const canceledTime = nsToTimestamp(context.timeNs);
      return { proposalId, canceledTime, canceledHeight: context.height };
    },
    // Only passed proposals can contain the following messages, because their signer is the module's account.
    ExecLegacyContent: (_context, message) => {
      if (message.authority !== authority)
        throw errors.ErrInvalidSigner(`expected ${authority} got ${message.authority}`);
      // Text proposals have no effect on the chain, and this chain supports no other legacy content.
      readContent(message.content);
    },
    UpdateParams: keys.moduleParams.update({
      authority,
      signerError: errors.ErrInvalidSigner,
      absent: { ...keys.defaultParams(denom), minDeposit: [] },
    }),
  });
}

function legacyHandlers(keepers: keeper.Keepers): readonly MessageHandler[] {
  return messageHandlers(legacy.Msg, {
    SubmitProposal: {
      signers: ({ content, proposer }) => {
        readContent(content);
        return [proposer];
      },
      handle: (context, message) => ({ proposalId: submitText(context, message, keepers) }),
    },
    Vote: (context, message) => vote(context, { ...message, metadata: "" }, keepers),
    VoteWeighted: (context, { options, ...message }) =>
      voteWeighted(
        context,
        {
          ...message,
          options: options.map(({ option, weight }) => ({ option, weight: decimalText(weight) })),
          metadata: "",
        },
        keepers,
      ),
    Deposit: (context, message) => deposit(context, message, keepers),
  });
}

/** Converts a decimal from its wire encoding (the digits without a point) to decimal text. */
function decimalText(digits: string): string {
  return formatDec18(parseWireInt(digits));
}

/** Reads a legacy proposal's content. Throws sdk/2 for a content type that the chain does not support. */
function readContent(content: Any | undefined): TextProposal | undefined {
  if (content === undefined) return undefined;
  if (content.typeUrl !== "/cosmos.gov.v1beta1.TextProposal")
    throw errors.ErrTxDecode(
      `no concrete type registered for type URL ${content.typeUrl} against interface *v1beta1.Content`,
    );
  return errors.orThrow(() => TextProposal.decode(content.value), errors.ErrTxDecode);
}

const MAX_TITLE_BYTES = 140;
const MAX_DESCRIPTION_BYTES = 10_000;

/** MsgSubmitProposal (v1beta1): submits a v1 proposal that wraps the content in a MsgExecLegacyContent. */
function submitText(context: Context, message: legacy.MsgSubmitProposal, keepers: keeper.Keepers): bigint {
  const { proposer, initialDeposit } = message;
  const content = readContent(message.content);
  if (content === undefined) throw keys.ErrInvalidProposalContent("missing content");
  const { title, description } = content;
  requireText("title", title, MAX_TITLE_BYTES);
  requireText("description", description, MAX_DESCRIPTION_BYTES);
  const exec = tx.MsgExecLegacyContent.encode({ content: message.content, authority: keepers.authority });
  const draft: keeper.Draft = {
    messages: [{ typeUrl: "/cosmos.gov.v1.MsgExecLegacyContent", value: exec.finish() }],
    metadata: "",
    title,
    summary: description,
    proposer,
    expedited: false,
  };
  return submitProposal(context, draft, initialDeposit, keepers);
}

function requireText(name: string, text: string, maxBytes: number): void {
  if (trimGoSpace(text) === "") throw keys.ErrInvalidProposalContent(`proposal ${name} cannot be blank`);
  if (Buffer.byteLength(text) > maxBytes)
    throw keys.ErrInvalidProposalContent(`proposal ${name} is longer than max length of ${maxBytes}`);
}

/** Additional gas per byte of a proposal, which is three times the gas for writing a byte to the store. */
const PROPOSAL_BYTE_GAS = 90n;

function submitProposal(
  context: Context,
  draft: keeper.Draft,
  initialDeposit: tx.MsgSubmitProposal["initialDeposit"],
  keepers: keeper.Keepers,
): bigint {
  if (draft.title === "") throw errors.ErrInvalidRequest("proposal title cannot be empty");
  if (draft.summary === "") throw errors.ErrInvalidRequest("proposal summary cannot be empty");
  requireAddress("proposer", draft.proposer, keepers);
  if (draft.messages.length === 0 && draft.metadata === "")
    throw keys.ErrNoProposalMsgs("either metadata or Msgs length must be non-nil");
  requireMetadata(draft);
  const amount = parseCoins(initialDeposit);
  keeper.checkInitialDeposit(keys.moduleParams.get(context), amount, draft.expedited);
  const proposal = keeper.addProposal(context, draft, keepers);
  const bytes = keeper.proposalCodec.encode(proposal).length;
  context.gas.consume(PROPOSAL_BYTE_GAS * BigInt(bytes), "submit proposal");
  const starts = keeper.addDeposit(context, { id: proposal.id, depositor: draft.proposer, amount }, keepers);
  if (starts) context.emit(event("submit_proposal", { voting_period_start: proposal.id.toString() }));
  return proposal.id;
}

/** If the metadata is JSON with a title and a summary, requires both to match the proposal's. Metadata in any other format is accepted. */
function requireMetadata({ metadata, title, summary }: keeper.Draft): void {
  const given = metadataOf(metadata);
  if (given === undefined) return;
  if (given.title !== title)
    throw keys.ErrInvalidProposalContent(
      `metadata title '${given.title}' must equal proposal title '${title}'`,
    );
  if (given.summary !== summary)
    throw keys.ErrInvalidProposalContent(
      `metadata summary '${given.summary}' must equal proposal summary '${summary}'`,
    );
}

function metadataOf(text: string): { readonly title: string; readonly summary: string } | undefined {
  if (text === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return undefined;
    const { title = "", summary = "" } = value;
    return typeof title === "string" && typeof summary === "string" ? { title, summary } : undefined;
  } catch {
    return undefined;
  }
}

function vote(context: Context, { option, ...message }: tx.MsgVote, keepers: keeper.Keepers): void {
  requireAddress("voter", message.voter, keepers);
  requireOption(option);
  keeper.addVote(context, { ...message, options: [{ option, weight: formatDec18(DEC18_ONE) }] }, keepers);
}

function voteWeighted(context: Context, message: tx.MsgVoteWeighted, keepers: keeper.Keepers): void {
  requireAddress("voter", message.voter, keepers);
  if (message.options.length === 0) throw errors.ErrInvalidRequest("null");
  const seen = new Set<number>();
  let total: Dec18 = 0n;
  for (const { option, weight } of message.options) {
    requireOption(option);
    total += weightOf(weight);
    if (seen.has(option)) throw keys.ErrInvalidVote("duplicated vote option");
    seen.add(option);
  }
  if (total > DEC18_ONE) throw keys.ErrInvalidVote("total weight overflow 1.00");
  if (total < DEC18_ONE) throw keys.ErrInvalidVote("total weight lower than 1.00");
  keeper.addVote(context, message, keepers);
}

function weightOf(text: string): Dec18 {
  const weight = errors.orThrowWith(keys.ErrInvalidVote, "invalid weight", () => parseDec18(text));
  if (weight <= 0n || weight > DEC18_ONE) throw keys.ErrInvalidVote(`invalid weight: ${text}`);
  return weight;
}

function requireOption(option: WeightedVoteOption["option"]): void {
  if (option === VoteOption.VOTE_OPTION_UNSPECIFIED || !Object.values<number>(VoteOption).includes(option))
    throw keys.ErrInvalidVote(enumName(VoteOption, option));
}

function deposit(context: Context, message: tx.MsgDeposit, keepers: keeper.Keepers): void {
  requireAddress("depositor", message.depositor, keepers);
  const amount = parseCoins(message.amount);
  if (!arePositive(amount)) throw errors.ErrInvalidCoins(formatCoins(amount));
  const { proposalId, depositor } = message;
  if (keeper.addDeposit(context, { id: proposalId, depositor, amount }, keepers))
    context.emit(event("proposal_deposit", { voting_period_start: proposalId.toString() }));
}

function requireAddress(name: string, text: string, { bech32Prefix }: keeper.Keepers): void {
  errors.orThrowWith(errors.ErrInvalidAddress, `invalid ${name} address`, () =>
    parseAddress(bech32Prefix, text),
  );
}
