import { expect, it } from "vitest";
import { protoRegistry } from "../../../src/cosmos/proto/registry.ts";
import { requireService, signerFields } from "../../../src/cosmos/proto/service-descriptor.ts";

const SERVICES = [...protoRegistry().files].flatMap(({ services }) => services);

it("there are services to compare", () => expect(SERVICES.length).toBeGreaterThan(40));

it.each(SERVICES.map((service) => [service.typeName, service] as const))(
  "%s alone has the methods and fields that it has among all definitions",
  (name, expected) => {
    const shapeOf = ({ methods }: typeof expected) =>
      methods.map(({ name: rpc, input, output }) => [
        rpc,
        ...[input, output].map(({ typeName, fields }) => [
          typeName,
          fields.map((field) => [field.name, field.number, field.fieldKind, field.message?.typeName]),
        ]),
      ]);
    expect(shapeOf(requireService(name))).toEqual(shapeOf(expected));
  },
);

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
