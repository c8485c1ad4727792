import { Command } from "commander";
import { messageFromJson } from "../../cosmos/proto/json.ts";
import { toChainTypeUrl, TYPE_URL, requireService, signerFields } from "../../cosmos/proto/registry.ts";
import { decodeBech32, encodeBech32 } from "../../platform/base/bytes.ts";
import { unreachable } from "../../platform/base/errors.ts";
import type { JsonObject, JsonValue } from "../../platform/base/json.ts";
import type { CliContext } from "../../platform/cli/cli-context.ts";
import { cellText, fieldAt } from "../../platform/cli/table.ts";
import { moduleAddress } from "../chain/runtime/address.ts";
import * as inputs from "./command-inputs.ts";
import { addConnectionOptions } from "./connection-options.ts";
import type { OutgoingMessage } from "./send-message.ts";
import { addTxOptions, type TxOptions } from "./tx-options.ts";

/** Command names, arguments and settings for a module's messages, which supplement the protobuf definitions. */
export interface MessageGroup {
  /** Service name with the canonical chain name, such as `neutron.dex.Msg`. */
  readonly service: string;
  /** Names and help for arguments that `FIELD_WORDS` does not contain or describes differently. */
  readonly fields?: inputs.FieldTable;
  /** Messages, keyed by the deployed program's command name and aliases, such as `unbond|undelegate`. */
  readonly messages: Readonly<Record<string, Message>>;
  /** Settings for all of the module's messages, including messages from the authority. */
  readonly sending?: Pick<OutgoingMessage, "callsContract">;
}

interface MessageMore extends inputs.Inputs {
  /** Paths of the response fields to print, keyed by label. */
  readonly prints?: Readonly<Record<string, string>>;
  /** Additional text at the end of the help. */
  readonly note?: string;
  /** Converts the given values to the message's fields, except the signer. Throws a `CliError` if the values are inconsistent. */
  readonly complete?: (given: inputs.Fields, options: TxOptions) => inputs.Fields | Promise<inputs.Fields>;
  /** Encodes a message whose fields cannot be written as proto JSON, such as a contract message's exact bytes. */
  readonly encode?: (fields: JsonObject) => Uint8Array;
  /** Response formatter and dry-run query, for messages whose response is not just a list of fields as in `prints`. */
  readonly sending?: Pick<OutgoingMessage, "response" | "simulation">;
}

export interface Message extends MessageMore {
  readonly rpc: string;
  readonly description: string;
}

/** Describes a message and its command. By default, each field except the signer becomes a command-line argument. */
export function message(rpc: string, description: string, more: MessageMore = {}): Message {
  return { rpc, description, ...more };
}

/** Returns a function that creates a command for each message. Commands sign and send their message with `sendMessage`. */
export function messageCommands(group: MessageGroup): (context: CliContext) => Command {
  return (context) => {
    const parent = new Command();
    for (const name of Object.keys(group.messages)) parent.addCommand(messageCommand(group, name, context));
    return parent;
  };
}

export function messageCommand(group: MessageGroup, words: string, context: CliContext): Command {
  const more = group.messages[words] ?? unreachable(`no message ${words}`);
  const { methods } = requireService(group.service);
  const { input } = methods.find(({ name }) => name === more.rpc) ?? unreachable(`no message ${more.rpc}`);
  const [name = "", ...aliases] = words.split("|");
  const command = addTxOptions(addConnectionOptions(new Command(name).description(more.description)));
  command.aliases(aliases);
  const [signer = unreachable(`${input.typeName} without a signer`)] = signerFields(input);
  const read = inputs.addInputs(command, more, { message: input, words: group.fields, signer });
  const note = (signer === AUTHORITY ? [AUTHORITY_HELP] : []).concat(more.note ?? []).join("\n");
  if (note !== "") command.addHelpText("after", note);
  return command.action(async () => {
    const options = command.opts<TxOptions>();
    const given = read();
    const fields = inputs.nestFields((await more.complete?.(given, options)) ?? given);
    const { sendMessage } = await import("./send-message.ts");
    const ready = { type: input.typeName, fields, signer, more };
    const outgoing = (signer === AUTHORITY ? proposal : signed)(ready, options);
    const encode = (sender: string): Uint8Array => {
      inputs.requireOwnAddresses(input, fields, sender);
      return outgoing.encode(sender);
    };
    await sendMessage({ ...group.sending, ...outgoing, encode }, options, context);
  });
}

/** A message whose signer field is still empty. `encode` later sets this field to the signing account's address. */
interface ReadyMessage {
  readonly type: string;
  readonly fields: JsonObject;
  readonly signer: string;
  readonly more: MessageMore;
}

function signed({ type, fields, signer, more }: ReadyMessage, { chainName }: TxOptions): OutgoingMessage {
  const { encode = (json: JsonObject) => messageFromJson(type, json, chainName), prints, sending } = more;
  return {
    typeUrl: toChainTypeUrl(`/${type}`, chainName),
    // If the signer field's name starts with "validator", set the field to the account's operator address.
    encode: (sender) =>
      encode({ ...fields, [signer]: signer.startsWith("validator") ? operatorOf(sender) : sender }),
    ...(prints === undefined ? {} : { response: printedResponse(type, prints) }),
    ...sending,
  };
}

function printedResponse(type: string, prints: Readonly<Record<string, string>>) {
  const format = (response: JsonValue): string =>
    Object.entries(prints)
      .map(([words, path]) => `${words}: ${cellText(fieldAt(response, path))}`)
      .join("\n");
  return { type: `${type}Response`, format };
}

/** Name of the signer field in messages that only the chain's authority may send. */
const AUTHORITY = "authority";

/** Returns an account's operator address, i.e. the same bytes with the operator prefix. */
export function operatorOf(account: string): string {
  const { prefix, bytes } = decodeBech32(account);
  return encodeBech32(`${prefix}valoper`, bytes);
}

const AUTHORITY_HELP = `
Only the chain's authority, the adminmodule account, may do this. The command sends the message in a proposal, so the
signing account must be an adminmodule admin. On the localnet this is "operator".`;

/** Wraps a message that needs the authority's signature in an `adminmodule` proposal from the signing account. */
function proposal({ type, fields }: ReadyMessage, options: TxOptions): OutgoingMessage {
  const submit = TYPE_URL.submitProposal.slice(1);
  const proposed = (proposer: string): JsonObject => ({
    "@type": toChainTypeUrl(`/${type}`, options.chainName),
    [AUTHORITY]: encodeBech32(decodeBech32(proposer).prefix, moduleAddress("adminmodule")),
    ...fields,
  });
  const encode = (json: JsonObject): Uint8Array =>
    messageFromJson(
      submit,
      { ...json, messages: [proposed(inputs.textOf(json["proposer"]))] },
      options.chainName,
    );
  const more = { encode, prints: { proposal: "proposal_id" } };
  return signed({ type: submit, fields: {}, signer: "proposer", more }, options);
}
