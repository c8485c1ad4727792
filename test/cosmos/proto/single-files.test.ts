import { createFileRegistry, type DescMessage, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { DESCRIPTOR_SET_BASE64 } from "../../../src/cosmos/proto/gen/descriptor-set.ts";
import {
  extensionOf,
  protoRegistry,
  requireMessage,
  requireService,
  signerFields,
} from "../../../src/cosmos/proto/registry.ts";
import { fromBase64 } from "../../../src/platform/base/bytes.ts";

// Not of the module that is tested: when it has all files, it looks into none alone.
const ALL = [...createFileRegistry(fromBinary(FileDescriptorSetSchema, fromBase64(DESCRIPTOR_SET_BASE64)))];

const fieldsOf = ({ typeName, fields }: DescMessage) => [
  typeName,
  fields.map((field) => [field.name, field.number, field.fieldKind, field.message?.typeName]),
];

it.each(["before", "after"])("each file alone declares what it does among all: %s all are built", (when) => {
  if (when === "after") expect(protoRegistry().getMessage("cosmos.tx.v1beta1.Tx")).toBeDefined();
  const counts = { message: 0, service: 0, extension: 0, enum: 0 };
  for (const expected of ALL) {
    const { kind, typeName } = expected;
    counts[kind] += 1;
    if (kind === "message") expect(fieldsOf(requireMessage(typeName))).toEqual(fieldsOf(expected));
    if (kind === "extension") expect(extensionOf(typeName).number).toBe(expected.number);
    if (kind === "service")
      expect(
        requireService(typeName).methods.map(({ name, input, output }) => [
          name,
          fieldsOf(input),
          fieldsOf(output),
        ]),
      ).toEqual(expected.methods.map(({ name, input, output }) => [name, fieldsOf(input), fieldsOf(output)]));
  }
  expect(counts.message).toBeGreaterThan(800);
  expect(counts.service).toBeGreaterThan(40);
  expect(counts.extension).toBeGreaterThan(10);
});

it("a service that no definition has is an error", () => {
  expect(() => requireService("cosmos.nothing.v1.Query")).toThrow("no service cosmos.nothing.v1.Query");
});

it.each([
  ["cosmos.bank.v1beta1.Msg", "Send", ["from_address"]],
  ["cosmos.staking.v1beta1.Msg", "CreateValidator", ["validator_address"]],
  ["cosmos.staking.v1beta1.Msg", "Delegate", ["delegator_address"]],
  ["neutron.dex.Msg", "UpdateParams", ["authority"]],
  ["ibc.core.client.v1.Msg", "UpdateClientParams", ["signer"]],
  ["cosmos.bank.v1beta1.Query", "Balance", []],
])("the request of %s/%s is signed by %j", (service, method, expected) => {
  const found = requireService(service).methods.find(({ name }) => name === method);
  expect(found && signerFields(found.input)).toEqual(expected);
});
