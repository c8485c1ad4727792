import { type ProposalDeps, submitLegacyProposal } from "./module.ts";
import {
  MsgSubmitProposal,
  MsgSubmitProposalResponse,
} from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/tx.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { messageFromJson } from "../../../../cosmos/proto/json.ts";
import { findMessageByTypeUrl, TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { isRecord, type JsonField } from "../../../../platform/base/json.ts";
import type { Context } from "../../runtime/context.ts";
import { customFields } from "../wasm/custom-json.ts";
import type { CustomMessageResult } from "../wasm/types.ts";
import * as errors from "../../runtime/errors.ts";

/**
 * Runs a contract's `{"submit_admin_proposal":{"admin_proposal":{"proposal_execute_message":{"message":"…"}}}}`, where `message`
 * is proto JSON as text. Returns undefined for other modules' messages.
 */
export function handleAdminMessage(
  context: Context,
  sender: string,
  message: unknown,
  deps: ProposalDeps,
): CustomMessageResult | undefined {
  const submit = isRecord(message) ? message["submit_admin_proposal"] : undefined;
  if (!isRecord(submit)) return undefined;
  const proposal = customFields(submit).member("admin_proposal").orEmpty();
  requireOne(proposal);
  const execute = proposal.member("proposal_execute_message");
  if (!execute.isPresent())
    return errors.wrapErrors("failed to submit admin proposal legacy", () =>
      submitLegacyProposal(context, { proposer: sender, content: undefined }),
    );
  return errors.wrapErrors("failed to submit admin proposal", () =>
    submitProposal(context, sender, execute.member("message").asText(), deps),
  );
}

function requireOne(proposal: JsonField): void {
  const kinds = ["param_change_proposal", "proposal_execute_message"];
  const count = kinds.filter((kind) => proposal.member(kind).isPresent()).length;
  if (count === 1) return;
  const words = count === 0 ? "no admin proposal type is" : "more than one admin proposal type is";
  throw errors.unregisteredError(`invalid proposal quantity: ${words} present in message`);
}

function submitProposal(
  context: Context,
  proposer: string,
  json: string,
  deps: ProposalDeps,
): CustomMessageResult {
  const message = errors.wrapErrors("failed to unmarshall incoming sdk message", () =>
    parseAny(json, deps.chainName),
  );
  requireAuthority(message, deps);
  const handler = deps.findMessage(TYPE_URL.submitProposal);
  if (handler === undefined) throw errors.ErrUnknownRequest(TYPE_URL.submitProposal);
  const response = errors.wrapErrors("failed to submit proposal", () =>
    handler.handle(context, MsgSubmitProposal.encode({ proposer, messages: [message] }).finish()),
  );
  const { proposalId } = MsgSubmitProposalResponse.decode(response.response);
  return { data: utf8(`{"proposal_id":${proposalId}}`), response };
}

/** Parses a message whose type is given by its member `@type`. Throws `ModuleError`. */
function parseAny(json: string, chainName: string): Any {
  const { "@type": typeUrl, ...fields } = parseObject(json);
  if (typeof typeUrl !== "string") throw errors.unregisteredError("Any JSON doesn't have '@type'");
  const type = findMessageByTypeUrl(typeUrl, chainName)?.typeName;
  if (type === undefined) throw errors.unregisteredError(`unable to resolve type URL ${typeUrl}`);
  return {
    typeUrl,
    value: errors.orThrow(() => messageFromJson(type, fields, chainName), errors.unregisteredError),
  };
}

function parseObject(json: string): Readonly<Record<string, unknown>> {
  const value = errors.orThrow<unknown>(() => JSON.parse(json), errors.unregisteredError);
  if (!isRecord(value)) throw errors.unregisteredError("json: expected an object");
  return value;
}

/** Throws unless the authority is the message's only signer. */
function requireAuthority({ typeUrl, value }: Any, { authority, findMessage }: ProposalDeps): void {
  const handler = findMessage(typeUrl);
  // A message without a handler fails in the proposal.
  if (handler === undefined) return;
  const signers = handler.signers(value);
  if (signers.length !== 1) throw errors.ErrorInvalidSigner("should be 1 signer");
  if (signers[0] !== authority)
    throw errors.ErrUnauthorized("authority in incoming msg is not equal to admin module");
}
