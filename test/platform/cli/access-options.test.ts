import { describe, expect, it } from "vitest";
import { accessOf } from "../../../src/platform/cli/options.ts";

describe("accessOf", () => {
  it.each([
    ["nothing", {}, ["localhost"]],
    ["--no-cors", { cors: false }, []],
    ["--cors ORIGIN", { cors: ["https://dapp.example"] }, ["https://dapp.example"]],
  ])("allows pages of these origins with %s", (_, options, origins) => {
    expect(accessOf(options)).toEqual({ hosts: [], origins });
  });

  it("allows the named hosts", () => {
    expect(accessOf({ allowHost: ["box.example"] }).hosts).toEqual(["box.example"]);
  });
});
