import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { createReflectionStream } from "../../../../src/localnet/node/grpc/reflection.ts";
import type { ServerReflectionRequest } from "../../../../src/cosmos/proto/gen/grpc/reflection/v1/reflection.ts";
import { protoRegistry } from "../../../../src/cosmos/proto/registry.ts";

type Question = ServerReflectionRequest["messageRequest"];

function ask(chainName: string, question: Question, paths: readonly string[] = []) {
  const stream = createReflectionStream({ paths, chainName });
  return stream.respond({ host: "h", messageRequest: question }).messageResponse;
}

function fileNames(chainName: string, question: Question): readonly string[] {
  const answer = ask(chainName, question);
  if (answer?.$case !== "fileDescriptorResponse") return [];
  return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name);
}

describe("reflection of a chain of another name", () => {
  it("finds files and symbols by that name alone", () => {
    const file = "acme/interchainqueries/query.proto";
    for (const question of [
      { $case: "fileContainingSymbol", value: "acme.interchainqueries.Query" },
      { $case: "fileContainingSymbol", value: "acme.interchainqueries.RegisteredQuery" },
      { $case: "fileByFilename", value: file },
    ] as const) {
      const [first, ...imports] = fileNames("acme", question);
      expect(first).toBe(
        question.value.endsWith("RegisteredQuery") ? "acme/interchainqueries/genesis.proto" : file,
      );
      expect(imports.some((name) => name.startsWith("neutron/"))).toBe(false);
    }
    expect(
      fileNames("acme", { $case: "fileContainingSymbol", value: "neutron.interchainqueries.Query" }),
    ).toEqual([]);
    expect(
      fileNames("acme", { $case: "fileByFilename", value: "neutron/interchainqueries/query.proto" }),
    ).toEqual([]);
  });

  it("leaves the files of others as they are", () => {
    expect(fileNames("acme", { $case: "fileByFilename", value: "cosmos/bank/v1beta1/query.proto" })[0]).toBe(
      "cosmos/bank/v1beta1/query.proto",
    );
  });
});

describe("reflection of every definition", () => {
  const files = [...protoRegistry().files].map(({ name }) => `${name}.proto`);

  it("gives each file with all that it imports", () => {
    expect(files.length).toBeGreaterThan(80);
    for (const value of files) {
      const given = new Set(fileNames("neutron", { $case: "fileByFilename", value }));
      const answer = ask("neutron", { $case: "fileByFilename", value });
      if (answer?.$case !== "fileDescriptorResponse") throw new Error(`no answer for ${value}`);
      const missing = answer.value.fileDescriptorProto
        .flatMap((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).dependency)
        .filter((name) => !given.has(name));
      expect(missing).toEqual([]);
    }
  });

  it("finds every method of every service", () => {
    const methods = [...protoRegistry()].flatMap((desc) =>
      desc.kind === "service" ? desc.methods.map((method) => `${desc.typeName}.${method.name}`) : [],
    );
    expect(methods.length).toBeGreaterThan(150);
    for (const value of methods) {
      expect(fileNames("neutron", { $case: "fileContainingSymbol", value })).not.toEqual([]);
    }
  });
});

describe("the list of services", () => {
  it("holds each service with a served method once, and reflection", () => {
    const answer = ask("neutron", { $case: "listServices", value: "" }, [
      "/a.Query/X",
      "/a.Query/Y",
      "/b.Service/Z",
    ]);
    const names =
      answer?.$case === "listServicesResponse" ? answer.value.service.map(({ name }) => name) : [];
    expect(names).toEqual([
      "a.Query",
      "b.Service",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
    ]);
  });

  it("describes only the served methods of a service, and all of a service without any", () => {
    const methods = (paths: readonly string[]): readonly string[] => {
      const question = { $case: "fileContainingSymbol", value: "acme.interchainqueries.Query" } as const;
      const answer = ask("acme", question, paths);
      const [file] = answer?.$case === "fileDescriptorResponse" ? answer.value.fileDescriptorProto : [];
      if (file === undefined) throw new Error("no file");
      return fromBinary(FileDescriptorProtoSchema, file).service.flatMap(({ method }) =>
        method.map(({ name }) => name),
      );
    };
    const all = methods([]);
    expect(all.length).toBeGreaterThan(3);
    expect(methods(["/acme.interchainqueries.Query/Params"])).toEqual(["Params"]);
    expect(methods(all.map((name) => `/acme.interchainqueries.Query/${name}`))).toEqual(all);
  });
});
