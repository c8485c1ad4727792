import { errorText } from "../../../../platform/base/errors.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/genesis.ts";
import {
  QueryAdminsRequest,
  QueryAdminsResponse,
} from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/query.ts";
import {
  MsgSubmitProposal,
  MsgSubmitProposalResponse,
} from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/tx.ts";
import { TYPE_URL } from "../../../../cosmos/proto/type-urls.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { atPath, type GenesisSchema, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { toMessageHandler, toQueryHandler } from "../../runtime/handlers.ts";
import type { ChainModule, MessageHandler } from "../../runtime/module.ts";
import { MODULE_NAME } from "./keys.ts";
import { admins, submitProposal } from "./proposals.ts";

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

const FORM: GenesisSchema<GenesisState> = {
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
    exportGenesis: (context) => printGenesis(FORM, { admins: listOf(context) }),
  };
}

/** Stores the admins. Throws `GenesisError` for an invalid address and for one that is there twice. */
function initGenesis(context: Context, json: JsonValue | undefined, bech32Prefix: string): void {
  const given = readGenesis(FORM, json)?.admins ?? [];
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
