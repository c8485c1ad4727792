import { describe, expect, it } from "vitest";
import { accessOf } from "../../../src/platform/cli/options.ts";

describe("accessOf", () => {
  it.each([
    ["nothing", undefined, ["localhost"]],
    ["--no-cors", false, []],
    ["--cors ORIGIN", ["https://dapp.example"], ["https://dapp.example"]],
  ])("allows pages of these origins with %s", (_, cors, origins) => {
    expect(accessOf({ cors })).toEqual({ hosts: [], origins });
  });

  it("allows the named hosts", () => {
    expect(accessOf({ allowHost: ["box.example"] }).hosts).toEqual(["box.example"]);
  });
});
