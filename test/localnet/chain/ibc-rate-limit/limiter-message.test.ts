import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type LimiterCall,
  limiterMessage,
} from "../../../../src/localnet/chain/modules/ibc-rate-limit/module.ts";
import { readReceiver, readTransferData } from "../../../../src/localnet/chain/modules/transfer/packet.ts";
import { profileNamed } from "../../../../src/localnet/chain/deviations/profile-named.ts";
import type { Packet } from "../../../../src/localnet/chain/modules/ibc/host/packet.ts";
import { utf8 } from "../../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../../src/platform/base/json.ts";
import { fixtureFile } from "../../../support/fixture-file.ts";

// SOURCE: test/fixtures/sudo.json, sudo calls recorded on a real chain of release 6.0.3.

interface RecordedCall {
  readonly height: number;
  readonly sudo: readonly string[];
}
const RECORDED: readonly RecordedCall[] = JSON.parse(readFileSync(fixtureFile("sudo.json"), "utf8"));
const CALLS = RECORDED.flatMap(({ sudo }) => sudo).filter((message) => message.includes('"packet"'));

function numberOf(value: unknown): bigint {
  return typeof value === "number" || typeof value === "string" ? BigInt(value) : 0n;
}

function packetOf(fields: Record<string, unknown>, timestamp: string): Packet {
  const height = isRecord(fields["timeout_height"]) ? fields["timeout_height"] : {};
  return {
    sequence: numberOf(fields["sequence"]),
    source: { portId: String(fields["source_port"]), channelId: String(fields["source_channel"]) },
    destination: {
      portId: String(fields["destination_port"]),
      channelId: String(fields["destination_channel"]),
    },
    data: utf8(JSON.stringify(fields["data"] ?? {})),
    timeout: {
      height: {
        revisionNumber: numberOf(height["revision_number"]),
        revisionHeight: numberOf(height["revision_height"]),
      },
      timestamp: BigInt(timestamp),
    },
  };
}

describe("the message to the limiter", () => {
  it("has 4 recorded cases", () => expect([RECORDED.length, CALLS.length]).toEqual([24, 4]));

  it.each(CALLS)("is the recorded one: %s", (text) => {
    const [call, body] = Object.entries(JSON.parse(text))[0] ?? [];
    if (!isRecord(body) || !isRecord(body["packet"])) throw new Error("no packet");
    // The number does not fit into a double.
    const timestamp = /"timeout_timestamp":(\d+)/.exec(text)?.[1] ?? "0";
    const packet = packetOf(body["packet"], timestamp);
    const known: readonly LimiterCall[] = ["send_packet", "recv_packet", "undo_send"];
    const name = known.find((one) => one === call);
    if (name === undefined) throw new Error(`unknown call ${call}`);
    const data = readTransferData(packet.data);
    expect(limiterMessage(name, packet, data)).toBe(text);
    expect(limiterMessage(name, packet, data, profileNamed("deployed"))).toBe(text);
  });

  it("prints 64-bit numbers in full, escapes as Go does, and has a timeout of 0 when none is set", () => {
    const packet = packetOf(
      {
        source_port: "transfer",
        source_channel: "channel-0",
        destination_port: "a",
        destination_channel: "b",
        sequence: "18446744073709551615",
      },
      "0",
    );
    const data = { denom: "untrn", amount: "1", sender: "<a>&\u2028", receiver: "", memo: "" };
    expect(limiterMessage("recv_packet", packet, data)).toBe(
      '{"recv_packet":{"packet":{"sequence":18446744073709551615,"source_port":"transfer","source_channel":"channel-0","destination_port":"a","destination_channel":"b","data":{"denom":"untrn","amount":"1","sender":"\\u003ca\\u003e\\u0026\\u2028"},"timeout_height":{},"timeout_timestamp":0}}}',
    );
  });

  it("has the memo and no unset timeout with the profile deployed", () => {
    const packet = packetOf({ sequence: "1", timeout_height: { revision_height: "100" } }, "0");
    const data = { denom: "untrn", amount: "1", sender: "", receiver: "b", memo: "m" };
    const message = limiterMessage("recv_packet", packet, data, profileNamed("deployed"));
    expect(message).toContain('"data":{"denom":"untrn","amount":"1","receiver":"b","memo":"m"}');
    expect(message).toMatch(/"timeout_height":\{"revision_height":100\}\}\}\}$/);
    const timed = packetOf({ sequence: "1" }, "5");
    expect(limiterMessage("recv_packet", timed, data, profileNamed("deployed"))).toMatch(
      /"timeout_height":\{\},"timeout_timestamp":5\}\}\}$/,
    );
  });
});

describe("the data of a packet", () => {
  it("is read as Go reads it: names in any case, the last of equal names, other members ignored", () => {
    const text = '{"Denom":"a","denom":"b","AMOUNT":"7","x":{"y":[1]},"receiver":null,"memo":"m"}';
    expect(readTransferData(utf8(text))).toEqual({
      denom: "b",
      amount: "7",
      sender: "",
      receiver: "",
      memo: "m",
    });
  });

  it.each(['{"amount":7}', '"text"', "[]", "{", ""])("%s is no transfer", (text) => {
    expect(() => readTransferData(utf8(text))).toThrow();
  });

  it("has a receiver whatever the other members are", () => {
    expect(readReceiver(utf8('{"amount":7,"receiver":"me"}'))).toBe("me");
    expect(readReceiver(utf8("null"))).toBe("");
    expect(() => readReceiver(utf8('{"receiver":7}'))).toThrow(
      "json: cannot unmarshal number into Go struct field FungibleTokenPacketData.receiver of type string",
    );
  });
});
