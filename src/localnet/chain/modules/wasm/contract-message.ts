import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { MsgSend } from "../../../../cosmos/proto/gen/cosmos/bank/v1beta1/tx.ts";
import type { Coin as WireCoin } from "../../../../cosmos/proto/gen/cosmos/base/v1beta1/coin.ts";
import {
  MsgBeginRedelegate,
  MsgDelegate,
  MsgUndelegate,
} from "../../../../cosmos/proto/gen/cosmos/staking/v1beta1/tx.ts";
import * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/tx.ts";
import { MsgTransfer } from "../../../../cosmos/proto/gen/ibc/applications/transfer/v1/tx.ts";
import { MsgChannelCloseInit } from "../../../../cosmos/proto/gen/ibc/core/channel/v1/tx.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { formatDec18, parseDec18 } from "../../../../platform/base/decimal.ts";
import { GoJsonError } from "../../../../platform/base/go-json.ts";
import { parseInt256 } from "../../../../platform/base/integers.ts";
import { type Coin, isDenom, sumCoins, toWireCoin } from "../../runtime/coins.ts";
import * as errors from "../../runtime/errors.ts";
import type { ContractMessage } from "./contract.ts";
import type { GoField } from "./go-field.ts";
import type { Timeout } from "../ibc/host/packet.ts";
import { ErrUnknownMsg, portOf } from "./keys.ts";

/** A sub-message that fails because no module on the chain handles it. */
const NO_HANDLER: ContractMessage = { kind: "invalid", error: ErrUnknownMsg("no handler found") };

type Encoder = (body: GoField, contract: string) => ContractMessage;

/**
 * Decodes a binary contract's message (wasmd 0.53 `DefaultEncoders`). An unknown message or a message with invalid coins gets the
 * kind `invalid`, so that it fails only when it runs. Throws `GoJsonError` if a member has the wrong type.
 */
export function parseContractMessage(message: GoField, contract: string): ContractMessage {
  return message.variant(KINDS, contract) ?? NO_HANDLER;
}

/** Creates the encoder for a module's messages. If an encoder throws, the message is not rejected immediately, but fails when it runs. */
function moduleEncoder(encoders: Readonly<Record<string, Encoder>>): Encoder {
  return (body, contract) => {
    try {
      return body.variant(encoders, contract) ?? NO_HANDLER;
    } catch (error) {
      if (!(error instanceof errors.ModuleError) || error instanceof errors.ChainPanic) throw error;
      return { kind: "invalid", error };
    }
  };
}

interface Codec<T> {
  encode(message: T): { finish(): Uint8Array };
}

/** Encodes a module's message together with its type URL. */
export function any<T>(typeUrl: string, type: Codec<T>, message: T): ContractMessage {
  return { kind: "any", typeUrl, value: type.encode(message).finish() };
}

const encodeBank = moduleEncoder({
  send: (body, contract) => {
    const toAddress = body.member("to_address").text();
    const amount = wireCoins(body.member("amount"));
    // Like wasmd, send no message for a payment without coins.
    if (body.member("amount").items().length === 0) return { kind: "nothing" };
    return any(TYPE_URL.send, MsgSend, { fromAddress: contract, toAddress, amount });
  },
  burn: (body) => ({ kind: "burn", coins: parseCoins(body.member("amount")) }),
});

const encodeStaking = moduleEncoder({
  delegate: (body, delegator) =>
    any("/cosmos.staking.v1beta1.MsgDelegate", MsgDelegate, delegationOf(delegator, body)),
  undelegate: (body, delegator) =>
    any("/cosmos.staking.v1beta1.MsgUndelegate", MsgUndelegate, delegationOf(delegator, body)),
  redelegate: (body, delegatorAddress) =>
    any("/cosmos.staking.v1beta1.MsgBeginRedelegate", MsgBeginRedelegate, {
      delegatorAddress,
      validatorSrcAddress: body.member("src_validator").text(),
      validatorDstAddress: body.member("dst_validator").text(),
      amount: wireCoin(body.member("amount")),
    }),
});

function delegationOf(delegatorAddress: string, body: GoField): MsgDelegate {
  const validatorAddress = body.member("validator").text();
  return { delegatorAddress, validatorAddress, amount: wireCoin(body.member("amount")) };
}

const encodeDistribution = moduleEncoder({
  set_withdraw_address: (body, delegator) =>
    described("/cosmos.distribution.v1beta1.MsgSetWithdrawAddress", [
      [1, "delegator_address", delegator],
      [2, "withdraw_address", body.member("address").text()],
    ]),
  withdraw_delegator_reward: (body, delegator) =>
    described("/cosmos.distribution.v1beta1.MsgWithdrawDelegatorReward", [
      [1, "delegator_address", delegator],
      [2, "validator_address", body.member("validator").text()],
    ]),
});

const encodeGov = moduleEncoder({
  vote: (body, voter) =>
    described("/cosmos.gov.v1.MsgVote", [
      [1, "proposal_id", body.member("proposal_id").uint64()],
      [2, "voter", voter],
      [3, "option", readVote(body)],
    ]),
  vote_weighted: (body, voter) =>
    described("/cosmos.gov.v1.MsgVoteWeighted", [
      [1, "proposal_id", body.member("proposal_id").uint64()],
      [2, "voter", voter],
      ...body.member("options").items().map(readWeightedOption),
    ]),
});

/** Reads the vote option, a field that contracts older than cosmwasm 2.0 call "vote". */
function readVote(body: GoField): EnumValue {
  const [option, vote] = [body.member("option"), body.member("vote")];
  if (option.isPresent() && vote.isPresent())
    throw new GoJsonError("invalid VoteMsg: both 'option' and 'vote' fields are set");
  if (!option.isPresent() && !vote.isPresent())
    throw errors.goPanic("runtime error: invalid memory address or nil pointer dereference");
  return readVoteOption(option.isPresent() ? option : vote);
}

function readVoteOption(field: GoField): EnumValue {
  const text = field.text();
  const found = VOTE_OPTIONS.find(({ json }) => json === text);
  if (found === undefined) throw new GoJsonError(`invalid vote option '${text}'`);
  return found;
}

function readWeightedOption(item: GoField, index: number): WireField {
  const option = readVoteOption(item.member("option"));
  const weight = errors.wrapErrors(`weight for vote ${index + 1}`, () =>
    readWeight(item.member("weight").text()),
  );
  const fields: readonly WireField[] = [
    [1, "option", option],
    [2, "weight", weight],
  ];
  return [3, "options", fields];
}

/** Formats a weighted vote's weight as a decimal with 18 digits. Throws an unregistered error for text that is not a decimal. */
function readWeight(text: string): string {
  return errors.orThrow(() => formatDec18(parseDec18(text)), errors.unregisteredError);
}

interface EnumValue {
  readonly number: number;
  readonly name: string;
}

const VOTE_OPTIONS: readonly (EnumValue & { readonly json: string })[] = [
  { json: "yes", number: 1, name: "VOTE_OPTION_YES" },
  { json: "abstain", number: 2, name: "VOTE_OPTION_ABSTAIN" },
  { json: "no", number: 3, name: "VOTE_OPTION_NO" },
  { json: "no_with_veto", number: 4, name: "VOTE_OPTION_NO_WITH_VETO" },
];

type WireValue = string | bigint | EnumValue | readonly WireField[];

/** A protobuf field to encode. A repeated field has a separate entry for each of its values. */
type WireField = readonly [number: number, name: string, value: WireValue];

/** Creates a message for a module that may not exist on this chain. */
function described(typeUrl: string, fields: readonly WireField[]): ContractMessage {
  return { kind: "any", typeUrl, value: encodeFields(fields), text: textOf(fields) };
}

function isZero(value: WireValue): boolean {
  return value === "" || value === 0n;
}

function encodeFields(fields: readonly WireField[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const [number, , value] of fields) {
    if (isZero(value)) continue;
    if (typeof value === "string") writer.tag(number, WireType.LengthDelimited).string(value);
    else if (typeof value === "bigint") writer.tag(number, WireType.Varint).uint64(value);
    else if ("number" in value) writer.tag(number, WireType.Varint).int32(value.number);
    else writer.tag(number, WireType.LengthDelimited).bytes(encodeFields(value));
  }
  return writer.finish();
}

/** Formats fields in Go's protobuf text format: each field with a value, followed by a space. */
function textOf(fields: readonly WireField[]): string {
  return fields
    .filter(([, , value]) => !isZero(value))
    .map(([, name, value]) => `${name}:${textOfValue(value)} `)
    .join("");
}

function textOfValue(value: WireValue): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return value.toString();
  return "number" in value ? value.name : `<${textOf(value)}>`;
}

const encodeIbc = moduleEncoder({
  close_channel: (body, signer) =>
    any("/ibc.core.channel.v1.MsgChannelCloseInit", MsgChannelCloseInit, {
      portId: portOf(signer),
      channelId: body.member("channel_id").text(),
      signer,
    }),
  transfer: (body, sender) => {
    const timeout = parseTimeout(body.member("timeout"));
    const message = any(TYPE_URL.transfer, MsgTransfer, {
      sourcePort: "transfer",
      sourceChannel: body.member("channel_id").text(),
      token: wireCoin(body.member("amount")),
      sender,
      receiver: body.member("to_address").text(),
      timeoutHeight: timeout.height,
      timeoutTimestamp: timeout.timestamp,
      memo: body.member("memo").text(),
    });
    return { ...message, isTransfer: true };
  },
  send_packet: (body) => ({
    kind: "send_packet",
    channelId: body.member("channel_id").text(),
    data: body.member("data").bytes(),
    timeout: parseTimeout(body.member("timeout")),
  }),
});

function parseTimeout(field: GoField): Timeout {
  const block = field.member("block");
  const text = field.member("timestamp").text();
  return {
    height: {
      revisionNumber: block.member("revision").uint64(),
      revisionHeight: block.member("height").uint64(),
    },
    timestamp: /^\d{1,20}$/.test(text) ? BigInt(text) : 0n,
  };
}

/** Encodes a message for the `wasm` module. */
export function wasmAny<T>(name: string, type: Codec<T>, message: T): ContractMessage {
  const value = type.encode(message).finish();
  return { kind: "any", typeUrl: `/cosmwasm.wasm.v1.${name}`, value, isWasm: true };
}

const encodeWasm = moduleEncoder({
  execute: (body, sender) =>
    wasmAny("MsgExecuteContract", wire.MsgExecuteContract, {
      sender,
      contract: body.member("contract_addr").text(),
      msg: body.member("msg").bytes(),
      funds: wireCoins(body.member("funds")),
    }),
  instantiate: (body, sender) =>
    wasmAny("MsgInstantiateContract", wire.MsgInstantiateContract, instantiation(sender, body)),
  instantiate2: (body, sender) =>
    wasmAny("MsgInstantiateContract2", wire.MsgInstantiateContract2, {
      ...instantiation(sender, body),
      salt: body.member("salt").bytes(),
      // The address does not depend on the message. A contract that needs such an address can derive the salt from the message.
      fixMsg: false,
    }),
  migrate: (body, sender) =>
    wasmAny("MsgMigrateContract", wire.MsgMigrateContract, {
      sender,
      contract: body.member("contract_addr").text(),
      codeId: body.member("new_code_id").uint64(),
      msg: body.member("msg").bytes(),
    }),
  update_admin: (body, sender) =>
    wasmAny("MsgUpdateAdmin", wire.MsgUpdateAdmin, {
      sender,
      newAdmin: body.member("admin").text(),
      contract: body.member("contract_addr").text(),
    }),
  clear_admin: (body, sender) =>
    wasmAny("MsgClearAdmin", wire.MsgClearAdmin, { sender, contract: body.member("contract_addr").text() }),
});

function instantiation(sender: string, body: GoField): wire.MsgInstantiateContract {
  return {
    sender,
    admin: body.member("admin").text(),
    codeId: body.member("code_id").uint64(),
    label: body.member("label").text(),
    msg: body.member("msg").bytes(),
    funds: wireCoins(body.member("funds")),
  };
}

function wireCoin(field: GoField): WireCoin {
  return toWireCoin(parseCoin(field.coin()));
}

function wireCoins(field: GoField): WireCoin[] {
  return parseCoins(field).map(toWireCoin);
}

/**
 * Reads coins, sums them by denomination and sorts them. Throws sdk/10 for an invalid amount, and an unregistered error for an
 * invalid denomination or a negative amount.
 */
function parseCoins(field: GoField): readonly Coin[] {
  return sumCoins(field.coins().map(parseCoin));
}

function parseCoin({ denom, amount }: WireCoin): Coin {
  let parsed: bigint;
  try {
    parsed = parseInt256(amount);
  } catch {
    throw errors.ErrInvalidCoins(`${amount}${denom}`);
  }
  if (!isDenom(denom)) throw errors.unregisteredError(`invalid denom: ${denom}`);
  if (parsed < 0n) throw errors.unregisteredError(`negative coin amount: ${amount}`);
  return { denom, amount: parsed };
}

const encodePacked: Encoder = (body) => ({
  kind: "any",
  typeUrl: body.member("type_url").text(),
  value: body.member("value").bytes(),
});

/** Encoders by message kind, in the order in which wasmd tries them. */
const KINDS: Readonly<Record<string, Encoder>> = {
  bank: encodeBank,
  custom: (body) => ({ kind: "custom", message: body.message() }),
  staking: encodeStaking,
  distribution: encodeDistribution,
  gov: encodeGov,
  ibc: encodeIbc,
  wasm: encodeWasm,
  any: encodePacked,
  stargate: encodePacked,
};
