import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/genesis.ts";
import {
  QueryAdminsRequest,
  QueryAdminsResponse,
} from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/query.ts";
import {
  MsgSubmitProposal,
  MsgSubmitProposalResponse,
} from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/tx.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { utf8 } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import {
  ErrorInvalidSigner,
  ErrUnknownRequest,
  isOutOfGas,
  ModuleError,
  unregisteredError,
} from "../../runtime/errors.ts";
import { event } from "../../runtime/events.ts";
import { atPath, type GenesisSchema, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { toMessageHandler, toQueryHandler } from "../../runtime/handlers.ts";
import type { ChainModule, MessageHandler } from "../../runtime/module.ts";
import { createItem, createMap, textCodec, uint64Codec } from "../../store/collections.ts";

/** Name of the module and of its store. Its account is the authority of the chain. */
export const MODULE_NAME = "adminmodule";

/** `Admin-` | address as text: the address. */
const ADMINS = utf8("Admin-");
/** The id of the next proposal, 8 bytes. */
const PROPOSAL_ID = Uint8Array.of(0x04);

/** Accounts that may submit proposals, by address. */
const admins = createMap(MODULE_NAME, ADMINS, textCodec, textCodec);
/** The id of the next proposal. */
export const nextProposalId = createItem(MODULE_NAME, PROPOSAL_ID, uint64Codec);

interface AdminOptions {
  /** Prefix of account addresses. */
  readonly bech32Prefix: string;
  /** The account that signs the messages of a proposal, bech32. */
  readonly authority: string;
}

interface AdminDeps {
  /** Finds the handler of a message of any module. */
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
}

const SCHEMA: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "cosmos.adminmodule.adminmodule.GenesisState",
  type: GenesisState,
};

/** Creates the module `adminmodule`: its admins send messages of the chain's authority. */
export function createAdminModule(options: AdminOptions, deps: AdminDeps): ChainModule {
  const { bech32Prefix, authority } = options;
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: [
      toMessageHandler({
        typeUrl: TYPE_URL.submitProposal,
        type: MsgSubmitProposal,
        signers: ({ proposer }) => [proposer],
        handle: (context, message) => {
          const proposalId = submitProposal(context, message, { authority, ...deps });
          return MsgSubmitProposalResponse.encode({ proposalId }).finish();
        },
      }),
    ],
    queries: [
      toQueryHandler(
        "/cosmos.adminmodule.adminmodule.Query/Admins",
        { request: QueryAdminsRequest, response: QueryAdminsResponse },
        (context) => ({ admins: listOf(context) }),
      ),
    ],
    initGenesis: (context, json) => initGenesis(context, json, bech32Prefix),
    exportGenesis: (context) => printGenesis(SCHEMA, { admins: listOf(context) }),
  };
}

/** Stores the admins. Throws `GenesisError` for an invalid address and for one that is there twice. */
function initGenesis(context: Context, json: JsonValue | undefined, bech32Prefix: string): void {
  const given = readGenesis(SCHEMA, json)?.admins ?? [];
  given.forEach((admin, index) =>
    atPath(`app_state.${MODULE_NAME}.admins[${index}]`, () => {
      requireAddress(bech32Prefix, admin);
      if (admins.has(context, admin)) throw new Error(`duplicate admin: ${admin}`);
      admins.set(context, admin, admin);
    }),
  );
}

function requireAddress(bech32Prefix: string, address: string): void {
  try {
    parseAddress(bech32Prefix, address);
  } catch (cause) {
    throw new Error(`invalid admin address ${address}: ${errorText(cause)}`, { cause });
  }
}

function listOf(context: Context): string[] {
  return [...admins.entries(context)].map(([, admin]) => admin);
}

interface ProposalDeps {
  /** The account that signs the messages of a proposal, bech32. */
  readonly authority: string;
  readonly findMessage: (typeUrl: string) => MessageHandler | undefined;
}

/** Runs the messages of a proposal as the authority. Returns the id of the proposal. The first failure fails all of them. */
function submitProposal(
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
