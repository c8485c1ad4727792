import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { requireService } from "../../../src/cosmos/proto/registry.ts";
import { encodeBech32 } from "../../../src/platform/base/bytes.ts";
import {
  addInputs,
  type Fields,
  type Inputs,
  nestFields,
  requireOwnAddresses,
} from "../../../src/localnet/cli/command-inputs.ts";

/** Parses words for a message of a service. */
function parse(service: string, rpc: string, inputs: Inputs, ...words: readonly string[]): Fields {
  const message = requireService(service).methods.find(({ name }) => name === rpc)?.input;
  if (message === undefined) throw new Error(`no ${rpc}`);
  const command = new Command("test").exitOverride().configureOutput({ writeErr: () => {} });
  const read = addInputs(command, inputs, { message, words: undefined, signer: "delegator_address" });
  command.action(() => {}).parse([...words], { from: "user" });
  return read();
}

const VALIDATOR = encodeBech32("neutronvaloper", new Uint8Array(20));
const STAKING = "cosmos.staking.v1beta1.Msg";
const HEIGHT = { fields: { creation_height: "<height> height of the undelegation" } };

describe("the addresses of a message", () => {
  const message = (rpc: string, service: string) =>
    requireService(service).methods.find(({ name }) => name === rpc)?.input ??
    expect.unreachable(`no ${rpc}`);
  const sender = encodeBech32("neutron", new Uint8Array(20));
  const foreign = encodeBech32("cosmos", new Uint8Array(20));

  it("are on the sender's chain", () => {
    const send = message("Send", "cosmos.bank.v1beta1.Msg");
    expect(() => requireOwnAddresses(send, { to_address: sender }, sender)).not.toThrow();
    expect(() => requireOwnAddresses(send, { to_address: foreign }, sender)).toThrow(
      "to_address: expected an address that begins with neutron; cosmos1… is an address on another chain",
    );
    const delegate = message("Delegate", STAKING);
    expect(() => requireOwnAddresses(delegate, { validator_address: VALIDATOR }, sender)).not.toThrow();
    const other = encodeBech32("cosmosvaloper", new Uint8Array(20));
    expect(() => requireOwnAddresses(delegate, { validator_address: other }, sender)).toThrow(
      "cosmosvaloper1…",
    );
  });

  it("may be on another chain where they receive a transfer to it", () => {
    const transfer = message("Transfer", "ibc.applications.transfer.v1.Msg");
    expect(() => requireOwnAddresses(transfer, { receiver: foreign }, sender)).not.toThrow();
  });
});

describe("the inputs of a command", () => {
  it("are the message's fields without the signer, with parsers by their types", () => {
    const words = [VALIDATOR, "5untrn", "7"];
    expect(parse(STAKING, "CancelUnbondingDelegation", HEIGHT, ...words)).toEqual({
      validator_address: VALIDATOR,
      amount: { denom: "untrn", amount: "5" },
      creation_height: "7",
    });
  });

  it.each([
    [[VALIDATOR, "5", "7"], "an amount with a denomination"],
    [[VALIDATOR, "5untrn", "-"], "expected an integer below 2^64"],
    [[VALIDATOR, "5untrn"], "missing required argument"],
    [[VALIDATOR.replace("q", "p"), "5untrn", "7"], "a letter may be wrong"],
    [["validator", "5untrn", "7"], "expected a bech32 address"],
  ])("refuse %j", (words, text) => {
    expect(() => parse(STAKING, "CancelUnbondingDelegation", HEIGHT, ...words)).toThrow(text);
  });

  it("collect the words of a list, and take fields in the given order", () => {
    const sequences = {
      takes: ["channel_id", "packet_ack_sequences"],
      fields: { packet_ack_sequences: "<sequence...> numbers" },
    };
    expect(parse("ibc.core.channel.v1.Query", "UnreceivedAcks", sequences, "channel-1", "3", "4")).toEqual({
      channel_id: "channel-1",
      packet_ack_sequences: ["3", "4"],
    });
  });

  it("have options by field; one with a dash sets none", () => {
    const inputs: Inputs = {
      takes: [],
      options: { status: ["--state <state>", "state"], "--no-effect": ["--no-effect", "nothing"] },
    };
    const service = "cosmos.staking.v1beta1.Query";
    expect(parse(service, "Validators", inputs, "--state", "x", "--no-effect")).toEqual({ status: "x" });
    expect(parse(service, "Validators", inputs)).toEqual({});
  });

  it("go into the messages that their paths name", () => {
    expect(nestFields({ "plan.name": "a", "plan.info": "", other: undefined, top: "1" })).toEqual({
      plan: { name: "a", info: "" },
      top: "1",
    });
  });
});
