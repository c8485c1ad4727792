import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  chainGasText,
  flameGraph,
  gasByPlace,
  nodeAt,
  percentText,
  totalGas,
} from "../../../src/workbench/profile/gas-places.ts";
import {
  formatOfFile,
  formatProfile,
  parseProfileReport,
  parseProfileRequest,
  type ProfileReport,
  profileReportJson,
} from "../../../src/workbench/profile/profile-json.ts";
import type { GasNode } from "../../../src/workbench/profile/gas-recorder.ts";

function node(place: GasNode["place"], name: string, self: bigint, ...children: GasNode[]): GasNode {
  return { place, name, calls: 1, self, children };
}

/** `a` calls itself, and `<b;c>`. The rounding gives gas back. */
const ROOT = node(
  "step",
  "transaction",
  0n,
  node(
    "wasm",
    "execute",
    0n,
    node("function", "a", 100n, node("function", "a", 50n, node("function", "<b;c>", 25n))),
    node("cost", "rounding of VM gas", -5n),
  ),
  node("storage", "store read", 280_030n),
);

const REPORT: ProfileReport = {
  height: 7n,
  code: 0,
  codespace: "",
  log: "",
  gasUsed: 2n,
  failures: [{ error: "unreachable", stack: ["a", "execute"] }],
  root: ROOT,
};

/** The parts of speedscope's schema that an evented profile needs. */
const speedscopeFile = z.strictObject({
  $schema: z.literal("https://www.speedscope.app/file-format-schema.json"),
  name: z.string(),
  exporter: z.string(),
  activeProfileIndex: z.literal(0),
  shared: z.strictObject({ frames: z.array(z.strictObject({ name: z.string() })) }),
  profiles: z.tuple([
    z.strictObject({
      type: z.literal("evented"),
      name: z.string(),
      unit: z.literal("none"),
      startValue: z.number(),
      endValue: z.number(),
      events: z.array(
        z.strictObject({ type: z.enum(["O", "C"]), frame: z.number().int(), at: z.number().int() }),
      ),
    }),
  ]),
});

describe("the formats of profiles", () => {
  it("follow from the file's name", () => {
    expect(
      ["a.json", "a.speedscope.json", "a.speedscope", "a.folded", "a.txt", "a"].map(formatOfFile),
    ).toEqual(["json", "speedscope", "speedscope", "folded", "folded", "json"]);
  });

  it("json is the complete tree, and is read back", () => {
    const json = formatProfile(REPORT, "json", "a title");
    expect(parseProfileReport(JSON.parse(json))).toEqual(REPORT);
    expect(profileReportJson({ ...REPORT, height: null })["height"]).toBeNull();
  });

  it.each([
    ["no object", 1],
    [
      "a place of another kind",
      { ...profileReportJson(REPORT), root: { place: "x", name: "", calls: 1, self: "0" } },
    ],
    [
      "gas that is no number",
      { ...profileReportJson(REPORT), root: { place: "step", name: "", calls: 1, self: "x" } },
    ],
  ])("json that is not a profile, %s, is refused", (_, value) => {
    expect(() => parseProfileReport(value)).toThrow(/^profile/);
  });

  it("folded has a line for each place with gas of its own", () => {
    expect(formatProfile(REPORT, "folded", "t")).toBe(
      [
        "transaction;wasm execute;a 100",
        "transaction;wasm execute;a;a 50",
        "transaction;wasm execute;a;a;<b,c> 25",
        "transaction;store read 280030",
        "",
      ].join("\n"),
    );
  });

  it("speedscope opens and closes each place, in order, and ends with the sum", () => {
    const file = speedscopeFile.parse(JSON.parse(formatProfile(REPORT, "speedscope", "a title")));
    const [profile] = file.profiles;
    expect(profile).toMatchObject({ type: "evented", unit: "none", startValue: 0, endValue: 280_205 });
    const open: number[] = [];
    let at = 0;
    for (const event of profile.events) {
      expect(event.at).toBeGreaterThanOrEqual(at);
      ({ at } = event);
      if (event.type === "O") open.push(event.frame);
      else expect(open.pop()).toBe(event.frame);
    }
    expect(open).toEqual([]);
    expect(file.shared.frames.map(({ name }) => name)).toEqual([
      "transaction",
      "wasm execute",
      "a",
      "<b;c>",
      "rounding of VM gas",
      "store read",
    ]);
  });
});

describe("the places of a profile", () => {
  it("add up to its gas; a function that calls itself counts once in its total", () => {
    const places = gasByPlace(ROOT);
    expect(places.reduce((sum, { self }) => sum + self, 0n)).toBe(totalGas(ROOT));
    expect(places[0]).toMatchObject({ name: "store read", self: 280_030n });
    expect(places.find(({ name }) => name === "a")).toMatchObject({ calls: 2, self: 150n, total: 175n });
  });

  it("are printed as the chain's gas", () => {
    expect([0n, 140n, 140_000n, -70_000n, 172_234_000_000n].map(chainGasText)).toEqual([
      "0.000",
      "0.001",
      "1.000",
      "-0.500",
      "1230242.857",
    ]);
    expect([percentText(1n, 3n), percentText(1n, 0n), percentText(-1n, 10n)]).toEqual([
      "33.3",
      "0.0",
      "-10.0",
    ]);
  });
});

describe("the flame graph", () => {
  it("draws each place that is wide enough, escaped, with a link to it", () => {
    const { text } = flameGraph(ROOT, "", (path) => `?at=${path}`);
    expect(text.match(/<rect/g)).toHaveLength(2);
    const part = flameGraph(ROOT, "0", (path) => `?at=${path}`).text;
    expect(part).toContain('href="?at=0.0.0.0"');
    expect(part).toContain("&lt;b;c&gt;");
    expect(part).not.toContain("<b;c>");
    expect(part).not.toContain("rounding");
  });

  it("finds a part by its path", () => {
    expect(nodeAt(ROOT, "0.0.0")?.self).toBe(50n);
    expect(nodeAt(ROOT, "")).toBe(ROOT);
    expect(nodeAt(ROOT, "0.7")).toBeUndefined();
    expect(nodeAt(ROOT, "x")).toBeUndefined();
  });
});

describe("requests for profiles", () => {
  it.each([
    [{ kind: "tx", hash: "ab".repeat(32) }, true],
    [{ kind: "tx", hash: "ab" }, false],
    [{ kind: "simulation", tx: "" }, true],
    [{ kind: "simulation" }, false],
    [{ kind: "query", path: "/a", request: "" }, true],
    [{ kind: "query", path: "/a" }, false],
    [{ kind: "other" }, false],
    [null, false],
  ])("%j", (value, isValid) => {
    expect(parseProfileRequest(value) !== undefined).toBe(isValid);
  });
});
