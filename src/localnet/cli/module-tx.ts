import { Command } from "commander";
import { messageFromJson } from "../../cosmos/proto/json.ts";
import { toChainTypeUrl, TYPE_URL } from "../../cosmos/proto/registry.ts";
import { decodeBech32, encodeBech32 } from "../../platform/base/bytes.ts";
import type { JsonObject, JsonValue } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { cellText, fieldAt } from "../../platform/cli/table.ts";
import { moduleAddress } from "../chain/runtime/address.ts";
import { addConnectionOptions } from "./chain-connection.ts";
import { sendMessage } from "./send-message.ts";
import { addTxOptions, type TxOptions } from "./tx-options.ts";

/** A message in proto JSON. */
export interface JsonMessage {
  /** Type under the canonical chain name: `cosmos.staking.v1beta1.MsgDelegate`. */
  readonly type: string;
  /** Returns its fields. `sender` is the signing account's bech32 address. */
  readonly fields: (sender: string) => JsonObject;
  /** Printed response fields: a label, and the field's path. */
  readonly printed?: readonly (readonly [words: string, path: string])[];
}

/** Creates a command that sends a message. */
export function txMessageCommand(name: string, description: string): Command {
  return addTxOptions(addConnectionOptions(new Command(name).description(description)));
}

/** Signs and sends a message, as {@link sendMessage}. */
export function sendJsonMessage(
  { type, fields, printed }: JsonMessage,
  options: TxOptions,
  context: CliContext,
): Promise<void> {
  const { chainName } = options;
  const format = (response: JsonValue): string =>
    (printed ?? []).map(([words, path]) => `${words}: ${cellText(fieldAt(response, path))}`).join("\n");
  return sendMessage(
    {
      typeUrl: toChainTypeUrl(`/${type}`, chainName),
      encode: (sender) => messageFromJson(type, fields(sender), chainName),
      ...(printed === undefined ? {} : { response: { type: `${type}Response`, format } }),
    },
    options,
    context,
  );
}

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
