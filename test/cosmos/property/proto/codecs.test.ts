import { type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concat, toHex } from "../../../../src/platform/base/bytes.ts";
import { messageFromJson, messageToJson } from "../../../../src/cosmos/proto/json.ts";
import { protoRegistry } from "../../../../src/cosmos/proto/registry.ts";
import { arbitraryBytes, integersForCosmjs } from "../../../support/proto/arbitrary-message.ts";
import { type Codec, cosmjsCodec, generatedFiles, ownCodec } from "../../../support/proto/codecs.ts";

/** Packages that only declare options. None of their messages is sent. */
const OPTION_PACKAGES = new Set(["amino", "google.api", "cosmos_proto", "relaywatch"]);

/** Messages that cosmjs-types takes from another release of ibc-go, or in which it resolves a type to another package. */
const DIFFERENT = new Set([
  "cosmos.ics23.v1.ProofSpec",
  "ibc.applications.transfer.v1.GenesisState",
  "ibc.applications.transfer.v1.MsgUpdateParams",
  "ibc.core.channel.v1.Channel",
  "ibc.core.channel.v1.IdentifiedChannel",
  "ibc.core.channel.v1.MsgChannelCloseConfirm",
  "ibc.core.channel.v1.MsgTimeoutOnClose",
  "ibc.core.client.v1.QueryVerifyMembershipRequest",
  "ibc.core.connection.v1.MsgUpdateParams",
  "ibc.core.connection.v1.QueryConnectionParamsResponse",
]);

/** Each comparison covers at least this many messages. A smaller number means that the test compares nothing. */
const MIN_MESSAGES = 200;

const messages = [...protoRegistry()]
  .filter((desc) => desc.kind === "message")
  .filter((desc) => !OPTION_PACKAGES.has(desc.file.proto.package) && !desc.file.name.endsWith("/descriptor"));

describe("generated codecs", () => {
  it("agree with the descriptors on every message that has one", async () => {
    const generated = await generatedCodecs();
    for (const { desc, codec } of generated) {
      // An encoder may write or omit the zero value of a map entry. Such messages are normalised before the comparison.
      const exact = !desc.fields.some((field) => field.fieldKind === "map");
      fc.assert(
        fc.property(arbitraryBytes(desc), (bytes) => {
          const back = exact ? codec.roundTrip(bytes) : normalised(desc, codec, bytes);
          expect(toHex(back), desc.typeName).toBe(toHex(bytes));
        }),
        { numRuns: 10 },
      );
    }
    expect(generated.length).toBeGreaterThan(MIN_MESSAGES);
  });

  it("merge a message field that occurs again, as the descriptors do", async () => {
    const generated = (await generatedCodecs()).filter(({ desc }) => isMerged(desc, new Set()));
    for (const { desc, codec } of generated) {
      fc.assert(
        fc.property(arbitraryBytes(desc), arbitraryBytes(desc), (first, second) => {
          const twice = concat(first, second);
          const expected = toHex(toBinary(desc, fromBinary(desc, twice)));
          expect(toHex(codec.roundTrip(twice)), desc.typeName).toBe(expected);
        }),
        { numRuns: 10 },
      );
    }
    expect(generated.length).toBeGreaterThan(MIN_MESSAGES);
  });

  it("are generated from definitions only", () => {
    const defined = new Set([...protoRegistry().files].map((file) => file.name));
    expect([...generatedFiles()].filter((name) => !defined.has(name))).toEqual([]);
  });

  it("agree with cosmjs-types on every message that both define in the same way", () => {
    let compared = 0;
    for (const desc of messages) {
      const codec = cosmjsCodec(desc);
      if (codec === undefined || reachesDifferent(desc, new Set())) continue;
      compared += 1;
      fc.assert(
        fc.property(arbitraryBytes(desc, integersForCosmjs), (bytes) => {
          expect(toHex(normalised(desc, codec, bytes)), desc.typeName).toBe(toHex(bytes));
        }),
        { numRuns: 10 },
      );
    }
    expect(compared).toBeGreaterThan(MIN_MESSAGES);
  });
});

describe("proto JSON", () => {
  it("converts back to the same bytes for every message without an Any or JSON text", () => {
    let compared = 0;
    for (const desc of messages) {
      if (!isPlain(desc, new Set())) continue;
      compared += 1;
      fc.assert(
        fc.property(arbitraryBytes(desc), (bytes) => {
          const json: unknown = JSON.parse(JSON.stringify(messageToJson(desc.typeName, bytes)));
          expect(toHex(messageFromJson(desc.typeName, json)), desc.typeName).toBe(toHex(bytes));
        }),
        { numRuns: 10 },
      );
    }
    expect(compared).toBeGreaterThan(MIN_MESSAGES);
  });
});

/** The messages that have a generated codec. */
async function generatedCodecs(): Promise<readonly { readonly desc: DescMessage; readonly codec: Codec }[]> {
  const files = generatedFiles();
  const found = messages
    .filter((desc) => files.has(desc.file.name))
    .map(async (desc) => ({ desc, codec: await ownCodec(desc) }));
  return (await Promise.all(found)).flatMap(({ desc, codec }) =>
    codec === undefined ? [] : [{ desc, codec }],
  );
}

/** Whether Go merges all message fields below: it replaces times, durations and members of a oneof. */
function isMerged(desc: DescMessage, visited: Set<string>): boolean {
  if (visited.has(desc.typeName)) return true;
  visited.add(desc.typeName);
  return desc.fields.every((field) => {
    if (field.fieldKind === "map") return false;
    if (field.message === undefined) return true;
    const isTime = /^google\.protobuf\.(Timestamp|Duration)$/.test(field.message.typeName);
    return !isTime && field.oneof === undefined && isMerged(field.message, visited);
  });
}

/** The codec's round trip, encoded again by descriptor: cosmjs-types, for one, writes empty packed lists. */
function normalised(desc: DescMessage, codec: Codec, bytes: Uint8Array): Uint8Array {
  return toBinary(desc, fromBinary(desc, codec.roundTrip(bytes)));
}

function reachesDifferent(desc: DescMessage, visited: Set<string>): boolean {
  if (DIFFERENT.has(desc.typeName)) return true;
  if (visited.has(desc.typeName)) return false;
  visited.add(desc.typeName);
  return desc.fields.some((field) => field.message !== undefined && reachesDifferent(field.message, visited));
}

function isPlain(desc: DescMessage, visited: Set<string>): boolean {
  if (desc.typeName === "google.protobuf.Any") return false;
  if (visited.has(desc.typeName)) return true;
  visited.add(desc.typeName);
  return desc.fields.every(
    (field) =>
      !hasRawJson(desc, field.name) && (field.message === undefined || isPlain(field.message, visited)),
  );
}

/** Contract messages hold JSON text, and arbitrary bytes are not JSON. */
function hasRawJson(desc: DescMessage, field: string): boolean {
  return desc.file.proto.package === "cosmwasm.wasm.v1" && (field === "msg" || field === "data");
}
