import { GenesisState } from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/genesis.ts";
import { Query } from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/query.ts";
import { Msg } from "../../../../cosmos/proto/gen/cosmos/adminmodule/adminmodule/tx.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import type { JsonValue } from "../../../../platform/base/json.ts";
import { parseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { atPath, type GenesisSchema, printGenesis, readGenesis } from "../../runtime/genesis.ts";
import { messageHandlers, queryHandlers } from "../../runtime/handlers.ts";
import type { ChainModule } from "../../runtime/module.ts";
import {
  admins,
  archive,
  MODULE_NAME,
  nextLegacyProposalId,
  nextProposalId,
  type ProposalDeps,
  submitLegacyProposal,
  submitProposal,
} from "./proposals.ts";

interface AdminOptions {
  readonly chainName: string;
  /** Bech32 prefix of account addresses. */
  readonly bech32Prefix: string;
  /** Bech32 address of the account that signs a proposal's messages. */
  readonly authority: string;
}

type AdminDeps = Pick<ProposalDeps, "findMessage">;

const SCHEMA: GenesisSchema<GenesisState> = {
  module: MODULE_NAME,
  typeName: "cosmos.adminmodule.adminmodule.GenesisState",
  type: GenesisState,
};

/** Creates the `adminmodule` module, whose admins send messages as the chain's authority. */
export function createAdminModule(options: AdminOptions, deps: AdminDeps): ChainModule {
  const { bech32Prefix } = options;
  return {
    name: MODULE_NAME,
    stores: [MODULE_NAME],
    messages: messageHandlers(Msg, {
      SubmitProposal: (context, message) => {
        const proposalId = submitProposal(context, message, { ...options, ...deps });
        return { proposalId };
      },
      SubmitProposalLegacy: submitLegacyProposal,
      DeleteAdmin: "not served",
      AddAdmin: "not served",
    }),
    queries: queryHandlers(Query, {
      Admins: (context) => ({ admins: listOf(context) }),
      ArchivedProposals: (context) => ({
        proposals: [...archive.entries(context)].map(([, proposal]) => proposal),
      }),
    }),
    initGenesis: (context, json) => initGenesis(context, json, bech32Prefix),
    exportGenesis: (context) => printGenesis(SCHEMA, { admins: listOf(context) }),
  };
}

/** Stores the admins and the first proposal ids. Throws `GenesisError` if an address is invalid or listed twice. */
function initGenesis(context: Context, json: JsonValue | undefined, bech32Prefix: string): void {
  const given = readGenesis(SCHEMA, json)?.admins ?? [];
  nextProposalId.set(context, 1n);
  nextLegacyProposalId.set(context, 1n);
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
