import { describe, expect, it } from "vitest";
import { httpRules } from "../../../../src/cosmos/proto/http-rules.ts";
import { matchPath, parsePathTemplate } from "../../../../src/localnet/node/rest/route-table.ts";

function match(template: string, path: string): Record<string, string> | undefined {
  const values = matchPath(parsePathTemplate(template), path.slice(1).split("/"));
  return values === undefined ? undefined : Object.fromEntries(values);
}

describe("path templates", () => {
  it.each([
    ["/a/b", "/a/b", {}],
    ["/a/{x}/c", "/a/1/c", { x: "1" }],
    ["/a/{x}", "/a/", { x: "" }],
    ["/a/{x=**}", "/a/b/c", { x: "b/c" }],
    ["/a/{x=**}/total", "/a/ibc/1/total", { x: "ibc/1" }],
    ["/a/{x=**}/total", "/a/total", { x: "" }],
  ])("%s matches %s", (template, path, values) => expect(match(template, path)).toEqual(values));

  it.each([
    ["/a/b", "/a"],
    ["/a/b", "/a/b/"],
    ["/a/b", "/a/B"],
    ["/a/{x}", "/a/1/2"],
    ["/a/{x}", "/a"],
    ["/a/{x=**}/total", "/a/b"],
  ])("%s does not match %s", (template, path) => expect(match(template, path)).toBeUndefined());

  it("parse every template of the definitions", () => {
    const templates = httpRules().map(({ template }) => parsePathTemplate(template));
    expect(templates.length).toBeGreaterThan(100);
    expect(templates.filter(({ variables }) => variables.length > 0).length).toBeGreaterThan(40);
  });

  it("reject a form that the definitions do not have", () => {
    expect(() => parsePathTemplate("/a/{x=b/*}")).toThrow("unsupported form");
  });
});
