import { nsToTimestamp } from "../../../../cosmos/comet/timestamp.ts";
import type {
  MsgSubmitProposal,
  MsgSubmitProposalLegacy,
} from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/tx.ts";
import { Proposal, ProposalStatus } from "../../../../cosmos/proto/gen/cosmos/gov/v1/gov.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { toCanonicalTypeUrl } from "../../../../cosmos/proto/registry.ts";
import { concat, utf8 } from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import {
  ErrorInvalidSigner,
  ErrUnknownRequest,
  isOutOfGas,
  ModuleError,
  unregisteredError,
} from "../../runtime/errors.ts";
import { event } from "../../runtime/events.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import { createItem, createMap, messageCodec, textCodec, uint64Codec } from "../../store/collections.ts";

/** Name of the module and its store. The module's account is the chain's authority. */
export const MODULE_NAME = "adminmodule";

/** `Admin-` | address as text. The value is the address. */
const ADMINS = utf8("Admin-");
/** `0x04` | id, 8 bytes. */
const PROPOSALS = Uint8Array.of(0x04);
/** Prefix of an archived proposal's key. */
const ARCHIVE = utf8("ArchiveSdk47-");
const LEGACY_PROPOSAL_ID = Uint8Array.of(0x03);
const PROPOSAL_ID = Uint8Array.of(0x06);

const proposalCodec = messageCodec<Proposal>(Proposal);

/** Accounts that may submit proposals, by address. */
export const admins = createMap(MODULE_NAME, ADMINS, textCodec, textCodec);
/** The id of the next proposal. */
export const nextProposalId = createItem(MODULE_NAME, PROPOSAL_ID, uint64Codec);
/** The next legacy proposal's id. This chain has no legacy proposals (SDK 0.46 replaced them), but genesis contains the id. */
export const nextLegacyProposalId = createItem(MODULE_NAME, LEGACY_PROPOSAL_ID, uint64Codec);
const proposals = createMap(MODULE_NAME, PROPOSALS, uint64Codec, proposalCodec);
/** Executed proposals, by id. */
export const archive = createMap(MODULE_NAME, concat(ARCHIVE, PROPOSALS), uint64Codec, proposalCodec);

export interface ProposalDeps {
  readonly chainName: string;
  /** Bech32 address of the account that signs a proposal's messages. */
  readonly authority: string;
  /** Returns the handler for a message of any module. */
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
}

/**
 * Runs a proposal's messages as the authority, archives the proposal and returns its id. If one message fails, none take effect.
 */
export function submitProposal(
  context: Context,
  { proposer, messages }: MsgSubmitProposal,
  deps: ProposalDeps,
): bigint {
  requireAdmin(context, proposer);
  const handlers = messages.map((message) => handlerOf(message, deps));
  const id = nextProposalId.get(context) ?? 1n;
  handlers.forEach((handler, index) => {
    const message = messages[index];
    if (message !== undefined) runMessage(context, handler, message, index);
  });
  const proposal = passedProposal(context, id, messages);
  proposals.set(context, id, proposal);
  nextProposalId.set(context, id + 1n);
  archive.set(context, id, proposal);
  context.emit(event("submit_admin_proposal", [["proposal_type", "submit_sdk_message"]]));
  return id;
}

function handlerOf(
  { typeUrl, value }: Any,
  { authority, chainName, findMessage }: ProposalDeps,
): MessageHandler {
  const handler = findMessage(typeUrl);
  if (handler === undefined) throw ErrUnknownRequest(`no message handler found for ${typeUrl}`);
  const signers = handler.signers(value);
  const [signer] = signers;
  if (signer === undefined || signers.length > 1)
    throw unregisteredError(`should be only 1 signer in message, received: ${signers.join(" ")}`);
  if (signer !== authority) throw ErrorInvalidSigner(signer);
  if (!isAllowed(typeUrl, chainName)) throw unregisteredError(`sdk.Msg is not whitelisted: ${typeUrl}`);
  return handler;
}

/** Messages that a proposal may contain, as on the deployed chain: those of the modules here, plus any module's params update. */
const ALLOWED = [
  "/cosmwasm.wasm.v1.MsgClearAdmin",
  "/cosmwasm.wasm.v1.MsgUpdateAdmin",
  "/cosmwasm.wasm.v1.MsgPinCodes",
  "/cosmwasm.wasm.v1.MsgUnpinCodes",
  "/cosmos.upgrade.v1beta1.MsgSoftwareUpgrade",
  "/cosmos.upgrade.v1beta1.MsgCancelUpgrade",
  "/ibc.core.client.v1.MsgRecoverClient",
  "/ibc.core.client.v1.MsgIBCSoftwareUpgrade",
  "/neutron.cron.MsgAddSchedule",
  "/neutron.cron.MsgRemoveSchedule",
  "/neutron.harpoon.MsgManageHookSubscription",
  "/feemarket.feemarket.v1.MsgParams",
];

function isAllowed(typeUrl: string, chainName: string): boolean {
  if (typeUrl.endsWith(".MsgUpdateParams")) return true;
  return ALLOWED.includes(toCanonicalTypeUrl(typeUrl, chainName) ?? "");
}

/** MsgSubmitProposalLegacy always throws: the deployed chain allows only client changes, which do not exist here. */
export function submitLegacyProposal(context: Context, { proposer }: MsgSubmitProposalLegacy): never {
  requireAdmin(context, proposer);
  throw unregisteredError("proposal content is not whitelisted");
}

function requireAdmin(context: Context, proposer: string): void {
  if (admins.get(context, proposer) === undefined)
    throw unregisteredError(`proposer ${proposer} must be admin to submit proposals to admin-module`);
}

/** Runs one message. As in Go, an error loses its codespace and code. */
function runMessage(context: Context, handler: MessageHandler, { value }: Any, index: number): void {
  try {
    handler.handle(context, value);
  } catch (error) {
    if (!(error instanceof ModuleError) || isOutOfGas(error)) throw error;
    throw unregisteredError(
      `failed to submit proposal: failed to handle ${handler.typeUrl} msg #${index} in proposal: ${error.message}`,
    );
  }
}

/** Creates the `x/gov` record. Most of its fields do not apply, because there is no vote and no deposit. */
function passedProposal({ timeNs }: Context, id: bigint, messages: readonly Any[]): Proposal {
  const time = nsToTimestamp(timeNs);
  return {
    ...Proposal.decode(new Uint8Array(0)),
    id,
    messages: [...messages],
    status: ProposalStatus.PROPOSAL_STATUS_PASSED,
    finalTallyResult: { yesCount: "0", abstainCount: "0", noCount: "0", noWithVetoCount: "0" },
    submitTime: time,
    depositEndTime: time,
  };
}
