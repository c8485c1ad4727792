import { Command } from "commander";
import type { JsonObject, JsonValue } from "../../platform/base/json.ts";
import { messageFromJson } from "../../cosmos/proto/json.ts";
import { toChainTypeUrl } from "../../cosmos/proto/type-urls.ts";
import { addConnectionOptions } from "./chain-connection.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { addTxOptions, sendMessage, type TxOptions } from "./send-message.ts";
import { cellText, fieldAt } from "../../platform/cli/table.ts";

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
