import { create, createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { toChainFile } from "../../../src/cosmos/proto/chain-files.ts";
import {
  type FileInfo,
  findFile,
  findFileOfSymbol,
  protoRegistry,
} from "../../../src/cosmos/proto/registry.ts";

function requireFile(found: FileInfo | undefined): FileInfo {
  if (found === undefined) throw new Error("no such file");
  return found;
}

describe("definition files of a chain with another name", () => {
  it("resolve each other under that name", () => {
    const files = [...protoRegistry().files].map((file) => requireFile(findFile(`${file.name}.proto`)));
    const renamed = files.map((file) =>
      fromBinary(FileDescriptorProtoSchema, toChainFile(file, "mychain").bytes),
    );
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: renamed }));
    const method = registry.getService("mychain.interchainqueries.Query")?.method["lastRemoteHeight"];
    expect(method?.input.typeName).toBe("mychain.interchainqueries.QueryLastRemoteHeight");
    const response = registry.getMessage("mychain.interchainqueries.QueryParamsResponse");
    expect(response?.fields[0]?.message?.typeName).toBe("mychain.interchainqueries.Params");
    const names = [...registry].map((desc) => desc.typeName);
    expect(names.filter((name) => name.startsWith("neutron."))).toEqual([]);
    expect(names.length).toBe([...protoRegistry()].length);
  });

  it("have the new path and imports", () => {
    const file = requireFile(findFileOfSymbol("neutron.harpoon.Query"));
    const renamed = toChainFile(file, "mychain");
    expect(renamed.name).toBe("mychain/harpoon/query.proto");
    expect(renamed.imports).toEqual(["google/api/annotations.proto", "mychain/harpoon/hooks.proto"]);
    expect(toChainFile(file, "neutron")).toBe(file);
  });
});
