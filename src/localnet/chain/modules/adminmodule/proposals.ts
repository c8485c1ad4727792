import type { MsgSubmitProposal } from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/tx.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import type { Context } from "../../runtime/context.ts";
import { event } from "../../runtime/events.ts";
import type { MessageHandler } from "../../runtime/module.ts";
import {
  ModuleError,
  unregisteredError,
  ErrorInvalidSigner,
  ErrUnknownRequest,
  isOutOfGas,
} from "../../runtime/errors.ts";
import { createItem, createMap, textCodec, uint64Codec } from "../../store/collections.ts";
import { ADMINS, MODULE_NAME, PROPOSAL_ID } from "./keys.ts";

/** Accounts that may submit proposals, by address. */
export const admins = createMap(MODULE_NAME, ADMINS, textCodec, textCodec);
/** The id of the next proposal. */
export const nextProposalId = createItem(MODULE_NAME, PROPOSAL_ID, uint64Codec);

interface ProposalDeps {
  /** The account that signs the messages of a proposal, bech32. */
  readonly authority: string;
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
}

/** Runs the messages of a proposal as the authority. Returns the id of the proposal. The first failure fails all of them. */
export function submitProposal(
  context: Context,
  { proposer, messages }: MsgSubmitProposal,
  { authority, findMessage }: ProposalDeps,
): bigint {
  if (!admins.has(context, proposer))
    throw unregisteredError(`proposer ${proposer} must be admin to submit proposals to admin-module`);
  const handlers = messages.map((message) => handlerOf(message, authority, findMessage));
  handlers.forEach((handler, index) => {
    const message = messages[index];
    if (message !== undefined) runMessage(context, handler, message, index);
  });
  const id = nextProposalId.get(context) ?? 1n;
  nextProposalId.set(context, id + 1n);
  context.emit(event("submit_admin_proposal", [["proposal_type", "submit_sdk_message"]]));
  return id;
}

function handlerOf(
  { typeUrl, value }: Any,
  authority: string,
  findMessage: ProposalDeps["findMessage"],
): MessageHandler {
  const handler = findMessage(typeUrl);
  if (handler === undefined) throw ErrUnknownRequest(`no message handler found for ${typeUrl}`);
  const signers = handler.signers(value);
  const [signer] = signers;
  if (signer === undefined || signers.length > 1)
    throw unregisteredError(`should be only 1 signer in message, received: ${signers.join(" ")}`);
  if (signer !== authority) throw ErrorInvalidSigner(signer);
  return handler;
}

/** As in Go, an error of the message loses its codespace and code. */
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
