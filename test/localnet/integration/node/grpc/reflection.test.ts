import { create, createFileRegistry, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../../../../src/localnet/chain/app.ts";
import { createGrpcTestClient, type GrpcTestClient } from "../../../../support/grpc-client.ts";
import { type RecordedNode, startRecordedNode } from "../../../../support/recorded-node.ts";

/** Services of the node itself. */
const NODE_SERVICES = [
  "cosmos.base.node.v1beta1.Service",
  "cosmos.base.reflection.v1beta1.ReflectionService",
  "cosmos.base.tendermint.v1beta1.Service",
  "cosmos.tx.v1beta1.Service",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];

/** Services of the modules, from the paths of their queries. */
function moduleServices(): readonly string[] {
  const paths = createApp({ kind: "local", denom: "untrn" }).queryPaths();
  return paths.map((path) => path.slice(1, path.lastIndexOf("/")));
}

let node: RecordedNode;
let client: GrpcTestClient;

beforeAll(async () => {
  node = await startRecordedNode();
  client = createGrpcTestClient(node.grpcAddress);
});
afterAll(async () => {
  client.close();
  await node.stop();
});

describe("server reflection", () => {
  it.each(["v1", "v1alpha"] as const)("%s lists the services", async (version) => {
    const [answer] = await client.reflect(version, [{ $case: "listServices", value: "" }]);
    const names =
      answer?.$case === "listServicesResponse" ? answer.value.service.map(({ name }) => name) : [];
    expect(names).toEqual([...new Set([...NODE_SERVICES, ...moduleServices()])].toSorted());
    expect(names).toContain("neutron.interchainqueries.Query");
  });

  it("sends the file of a symbol with all its imports, each once in a stream", async () => {
    const answers = await client.reflect("v1", [
      { $case: "fileContainingSymbol", value: "neutron.interchainqueries.Query" },
      { $case: "fileContainingSymbol", value: "neutron.interchainqueries.Query.Params" },
    ]);
    const [first = [], second = []] = answers.map((answer) =>
      answer?.$case === "fileDescriptorResponse"
        ? answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
        : [],
    );
    expect(first[0]?.name).toBe("neutron/interchainqueries/query.proto");
    expect(first.map(({ name }) => name)).toContain("cosmos/base/query/v1beta1/pagination.proto");
    expect(second.map(({ name }) => name)).toEqual(["neutron/interchainqueries/query.proto"]);
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(first) }));
    expect(registry.getService("neutron.interchainqueries.Query")?.methods).toHaveLength(5);
  });

  it("is enough to call a service without its definitions, as grpcurl does", async () => {
    const service = "cosmos.base.node.v1beta1.Service";
    const [answer] = await client.reflect("v1", [{ $case: "fileContainingSymbol", value: service }]);
    const files =
      answer?.$case === "fileDescriptorResponse"
        ? answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
        : [];
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(files) }));
    const methods = registry.getService(service)?.methods ?? [];
    const replies: Record<string, unknown> = {};
    for (const { name, input, output } of methods) {
      const { value } = await client.call(`/${service}/${name}`, toBinary(input, create(input)));
      replies[name] = toJson(output, fromBinary(output, value), { alwaysEmitImplicit: true, registry });
    }
    expect(replies).toMatchObject({
      Config: { minimumGasPrice: "0.002500000000000000untrn", haltHeight: "0" },
      Status: { height: "12", earliestStoreHeight: "0" },
    });
  });

  it("describes no method that the server does not have", async () => {
    const paths = new Set(createApp({ kind: "local", denom: "untrn" }).queryPaths());
    const services = [...new Set(moduleServices())].filter((name) => !NODE_SERVICES.includes(name));
    expect(services.length).toBeGreaterThan(5);
    const answers = await client.reflect(
      "v1",
      services.map((value) => ({ $case: "fileContainingSymbol" as const, value })),
    );
    const described = answers.flatMap((answer, index) => {
      const [first] = answer?.$case === "fileDescriptorResponse" ? answer.value.fileDescriptorProto : [];
      if (first === undefined) throw new Error(`no file of ${services[index]}`);
      const file = fromBinary(FileDescriptorProtoSchema, first);
      return file.service.flatMap(({ name, method }) =>
        services.includes(`${file.package}.${name}`)
          ? method.map((each) => `/${file.package}.${name}/${each.name}`)
          : [],
      );
    });
    expect(described.filter((path) => !paths.has(path))).toEqual([]);
    expect(described.length).toBeGreaterThan(40);
  });

  it("finds extensions, and reports unknown names", async () => {
    const [numbers, file, ...absent] = await client.reflect("v1", [
      { $case: "allExtensionNumbersOfType", value: "google.protobuf.MethodOptions" },
      {
        $case: "fileContainingExtension",
        value: { containingType: "google.protobuf.MethodOptions", extensionNumber: 72295728 },
      },
      { $case: "fileByFilename", value: "nosuch.proto" },
      { $case: "fileContainingSymbol", value: "nosuch.Type" },
      { $case: "allExtensionNumbersOfType", value: "nosuch.Type" },
      {
        $case: "fileContainingExtension",
        value: { containingType: "google.protobuf.MethodOptions", extensionNumber: 1 },
      },
    ]);
    expect(numbers).toMatchObject({ value: { extensionNumber: expect.arrayContaining([72295728]) } });
    expect(file?.$case).toBe("fileDescriptorResponse");
    expect(absent.map((answer) => answer?.$case)).toEqual(Array(4).fill("errorResponse"));
    expect(absent.map((answer) => answer?.$case === "errorResponse" && answer.value.errorCode)).toEqual([
      5, 5, 5, 5,
    ]);
    const [nothing] = await client.reflect("v1", [undefined]);
    expect(nothing).toMatchObject({ $case: "errorResponse", value: { errorCode: 3 } });
  });
});

/** Sorts files so that each follows its imports, as a descriptor set requires. Throws when an import is missing. */
function importsFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const ordered = new Set<FileDescriptorProto>();
  const visit = (wanted: string): void => {
    const file = files.find(({ name }) => name === wanted);
    if (file === undefined) throw new Error(`${wanted} is missing`);
    for (const each of file.dependency) visit(each);
    ordered.add(file);
  };
  for (const { name } of files) visit(name);
  return [...ordered];
}
