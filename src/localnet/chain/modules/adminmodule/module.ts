import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/genesis.ts";
import { Query } from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/query.ts";
import {
  Msg,
  MsgSubmitProposal,
  type MsgSubmitProposalLegacy,
  MsgSubmitProposalResponse,
} from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/tx.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { type JsonValue, isRecord, type JsonField } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import {
  type Context,
  type ChainModule,
  type ChainNames,
  type FindMessage,
  type MessageHandler,
  event,
} from "../../runtime/context.ts";
import { eachAtPath, genesisSchema } from "../../runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import { nsToTimestamp } from "../../../../cosmos/comet/timestamp.ts";
import { Proposal, ProposalStatus } from "../../../../cosmos/proto/gen/cosmos/gov/v1/gov.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { toCanonicalTypeUrl, findMessageByTypeUrl, TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { createItem, createMap, messageCodec, textCodec, uint64Codec } from "../../store/collections.ts";
import * as errors from "../../runtime/errors.ts";
import { messageFromJson } from "../../../../cosmos/proto/json.ts";
import { customFields } from "../wasm/custom-json.ts";
import type { CustomMessageResult } from "../wasm/types.ts";

/** Name of the module and its store. The module's account is the authority of the chain's other modules. */
export const MODULE_NAME = "adminmodule";

const SCHEMA = genesisSchema(MODULE_NAME, "cosmos.adminmodule.adminmodule.GenesisState", GenesisState);

/** Creates the `adminmodule` module. Admins submit proposals, whose messages run as the chain's authority. */
export function createAdminModule(
  options: Pick<ChainNames, "chainName" | "bech32Prefix" | "authority">,
  { findMessage }: { readonly findMessage: FindMessage },
): ChainModule {
  const deps = { ...options, findMessage };
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: messageHandlers(Msg, {
      SubmitProposal: (context, message) => ({ proposalId: submitProposal(context, message, deps) }),
      SubmitProposalLegacy: submitLegacyProposal,
      DeleteAdmin: "not served",
      AddAdmin: "not served",
    }),
    queries: queryHandlers(Query, {
      Admins: (context) => ({ admins: admins.values(context) }),
      ArchivedProposals: (context) => ({ proposals: archive.values(context) }),
    }),
    initGenesis: (context, json) => initGenesis(context, json, options.bech32Prefix),
    exportGenesis: (context) => SCHEMA.print({ admins: admins.values(context) }),
  };
}

/** Stores the admins and sets the first proposal id. Throws `GenesisError` if an admin is invalid or listed twice. */
function initGenesis(context: Context, json: JsonValue | undefined, bech32Prefix: string): void {
  const given = SCHEMA.read(json)?.admins ?? [];
  nextProposalId.set(context, 1n);
  nextLegacyProposalId.set(context, 1n);
  eachAtPath(`app_state.${MODULE_NAME}.admins`, given, (admin) => {
    requireAddress(bech32Prefix, admin);
    if (admins.has(context, admin)) throw new Error(`duplicate admin: ${admin}`);
    admins.set(context, admin, admin);
  });
}

function requireAddress(bech32Prefix: string, address: string): void {
  try {
    parseAddress(bech32Prefix, address);
  } catch (cause) {
    throw new Error(`invalid admin address ${address}: ${errorText(cause)}`, { cause });
  }
}

const proposalCodec = messageCodec(Proposal);

/** Accounts that may submit proposals, keyed by address. */
const admins = createMap(MODULE_NAME, utf8("Admin-"), textCodec, textCodec);
export const nextProposalId = createItem(MODULE_NAME, Uint8Array.of(0x06), uint64Codec);
/**
 * Id of the next legacy proposal. This chain has no legacy proposals (SDK 0.46 replaced them), but InitGenesis still writes the
 * id.
 */
const nextLegacyProposalId = createItem(MODULE_NAME, Uint8Array.of(0x03), uint64Codec);
const proposals = createMap(MODULE_NAME, Uint8Array.of(0x04), uint64Codec, proposalCodec);
/** Executed proposals, keyed by id. */
const archive = createMap(MODULE_NAME, utf8("ArchiveSdk47-\x04"), uint64Codec, proposalCodec);

/** The chain's names, and a function that finds the handler for each message in a proposal. */
interface ProposalDeps extends Pick<ChainNames, "chainName" | "authority"> {
  readonly findMessage: FindMessage;
}

/** Runs a proposal's messages, archives the proposal and returns its id. If one message fails, no message takes effect. */
function submitProposal(
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
  context.emit(event("submit_admin_proposal", { proposal_type: "submit_sdk_message" }));
  return id;
}

function handlerOf(
  { typeUrl, value }: Any,
  { authority, chainName, findMessage }: ProposalDeps,
): MessageHandler {
  const handler = findMessage(typeUrl);
  if (handler === undefined) throw errors.ErrUnknownRequest(`no message handler found for ${typeUrl}`);
  const signers = handler.signers(value);
  const [signer] = signers;
  if (signer === undefined || signers.length > 1)
    throw errors.unregisteredError(`should be only 1 signer in message, received: ${signers.join(" ")}`);
  if (signer !== authority) throw errors.ErrorInvalidSigner(signer);
  if (!isAllowed(typeUrl, chainName))
    throw errors.unregisteredError(`sdk.Msg is not whitelisted: ${typeUrl}`);
  return handler;
}

/**
 * Messages that a proposal may contain in addition to `MsgUpdateParams`: the deployed chain's list, without modules that this chain
 * lacks.
 */
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

/**
 * MsgSubmitProposalLegacy: always throws. The deployed chain allows only legacy IBC client proposals, which this chain does not
 * support.
 */
function submitLegacyProposal(context: Context, { proposer }: MsgSubmitProposalLegacy): never {
  requireAdmin(context, proposer);
  throw errors.unregisteredError("proposal content is not whitelisted");
}

function requireAdmin(context: Context, proposer: string): void {
  if (admins.get(context, proposer) === undefined)
    throw errors.unregisteredError(`proposer ${proposer} must be admin to submit proposals to admin-module`);
}

/** Runs one message of a proposal. As in Go, a failed message's error loses its codespace and code. */
function runMessage(context: Context, handler: MessageHandler, { value }: Any, index: number): void {
  try {
    handler.handle(context, value);
  } catch (error) {
    if (!(error instanceof errors.ModuleError) || errors.isOutOfGas(error)) throw error;
    throw errors.unregisteredError(
      `failed to submit proposal: failed to handle ${handler.typeUrl} msg #${index} in proposal: ${error.message}`,
    );
  }
}

/** Creates the `x/gov` proposal record. Most fields stay empty, because there is no vote and no deposit. */
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

/**
 * Runs a contract's `{"submit_admin_proposal":{"admin_proposal":{"proposal_execute_message":{"message":"…"}}}}`, where `message`
 * is a string of proto JSON. Returns undefined for messages to other modules.
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
    submitAsContract(context, sender, execute.member("message").asText(), deps),
  );
}

function requireOne(proposal: JsonField): void {
  const kinds = ["param_change_proposal", "proposal_execute_message"];
  const count = kinds.filter((kind) => proposal.member(kind).isPresent()).length;
  if (count === 1) return;
  const words = count === 0 ? "no admin proposal type is" : "more than one admin proposal type is";
  throw errors.unregisteredError(`invalid proposal quantity: ${words} present in message`);
}

function submitAsContract(
  context: Context,
  proposer: string,
  json: string,
  deps: ProposalDeps,
): CustomMessageResult {
  const message = errors.wrapErrors("failed to unmarshall incoming sdk message", () =>
    parseAny(json, deps.chainName),
  );
  requireAuthoritySigns(message, deps);
  const handler = deps.findMessage(TYPE_URL.submitProposal);
  if (handler === undefined) throw errors.ErrUnknownRequest(TYPE_URL.submitProposal);
  const response = errors.wrapErrors("failed to submit proposal", () =>
    handler.handle(context, MsgSubmitProposal.encode({ proposer, messages: [message] }).finish()),
  );
  const { proposalId } = MsgSubmitProposalResponse.decode(response.response);
  return { data: utf8(`{"proposal_id":${proposalId}}`), response };
}

/** Converts a message from proto JSON, whose `@type` field contains the type URL, to an `Any`. Throws `ModuleError`. */
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

/** Throws unless the chain's authority is the message's only signer. */
function requireAuthoritySigns({ typeUrl, value }: Any, { authority, findMessage }: ProposalDeps): void {
  const handler = findMessage(typeUrl);
  // Submitting the proposal will reject a message without a handler.
  if (handler === undefined) return;
  const signers = handler.signers(value);
  if (signers.length !== 1) throw errors.ErrorInvalidSigner("should be 1 signer");
  if (signers[0] !== authority)
    throw errors.ErrUnauthorized("authority in incoming msg is not equal to admin module");
}
