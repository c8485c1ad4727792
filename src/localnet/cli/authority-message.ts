import { encodeBech32, decodeBech32 } from "../../platform/base/bytes.ts";
import type { JsonObject } from "../../platform/base/json.ts";
import { moduleAddress } from "../chain/runtime/address.ts";
import { toChainTypeUrl, TYPE_URL } from "../../cosmos/proto/type-urls.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { sendJsonMessage } from "./json-message.ts";
import type { TxOptions } from "./send-message.ts";

/** A message that only the chain's authority may send. */
interface AuthorityMessage {
  /** Type under the canonical chain name. */
  readonly type: string;
  /** Its fields without `authority`. */
  readonly fields: JsonObject;
}

/** Help text of such a command. */
export const AUTHORITY_HELP = `
Only the chain's authority, the adminmodule account, may do this. The command sends the message in a proposal, so the
signing account must be an adminmodule admin. On the localnet this is "operator".`;

/** Sends an authority message in a proposal by the signing account. */
export function sendAuthorityMessage(
  { type, fields }: AuthorityMessage,
  options: TxOptions,
  context: CliContext,
): Promise<void> {
  const message = (proposer: string): JsonObject => ({
    "@type": toChainTypeUrl(`/${type}`, options.chainName),
    authority: encodeBech32(decodeBech32(proposer).prefix, moduleAddress("adminmodule")),
    ...fields,
  });
  return sendJsonMessage(
    {
      type: TYPE_URL.submitProposal.slice(1),
      fields: (proposer) => ({ messages: [message(proposer)], proposer }),
      printed: [["proposal", "proposal_id"]],
    },
    options,
    context,
  );
}
