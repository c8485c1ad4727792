import { describe, expect, it } from "vitest";
import { sha256, upperHex } from "../../src/platform/base/bytes.ts";
import { localnetOverview, localnetParts } from "../../src/localnet/network/overview-page.ts";
import { localnetScene, VOTES } from "../support/pages/localnet-scenes.ts";
import { pageContent } from "../support/pages/page-contents.ts";

describe("the overview of a localnet", () => {
  const textOf = async (scene: Parameters<typeof localnetScene>[0]) => {
    const { title, sections } = await pageContent([localnetOverview(localnetScene(scene))], "/");
    return { title, text: sections.map(({ content }) => content.text).join("") };
  };

  it("has a row for each part, with its verdict and number", async () => {
    const rows = async (scene: Parameters<typeof localnetScene>[0], noChains = false) => {
      const deps = localnetScene(scene);
      const parts = localnetParts(noChains ? { ...deps, chains: () => [] } : deps, await deps.faults.list());
      return parts.map(({ name, tone, verdict, number }) => `${name}: ${tone} ${verdict}, ${number}`);
    };
    expect((await rows({}, true))[0]).toBe("chains: unknown starting, ");
    expect(await rows({})).toEqual([
      "chain local-1: good makes blocks, height 12\u202f345",
      "chain remote-1: good makes blocks, height 12\u202f001",
      "sidecar: good no fault, ",
      "IBC relayer: unknown opening channels, 0 packets in flight",
    ]);
    expect((await rows({ on: ["slow"], halted: true })).slice(1)).toEqual([
      "chain remote-1: warn halted, height 12\u202f001",
      "sidecar: warn 1 fault on, slow",
      "IBC relayer: unknown opening channels, 0 packets in flight",
    ]);
  });

  it("says first what is not well", async () => {
    const whole = { ...localnetScene({}), ibcRelayer: undefined };
    expect((await pageContent([localnetOverview(whole)], "/")).title).toBe(
      "All parts are working – localnet",
    );
    const starting = { ...localnetScene({}), chains: () => [] };
    expect((await pageContent([localnetOverview(starting)], "/")).title).toBe("chains: starting – localnet");
    expect((await textOf({ halted: true })).title).toBe("Look at chain remote-1: halted – localnet");
  });

  it("has switches that need the token, for blocks and faults", async () => {
    const { text } = await textOf({ on: ["slow"], halted: true });
    const button = (path: string) =>
      new RegExp(`data-post="${path}" data-body="([^"]*)" data-needs="token"[^>]*>([^<]*)<`)
        .exec(text)
        ?.slice(1);
    expect(button("/chains/local-1/halt")).toEqual(["{}", "Halt"]);
    expect(button("/chains/remote-1/resume")).toEqual(["{}", "Resume"]);
    expect(button("/faults/slow")).toEqual(["{&quot;on&quot;:false}", "Switch off"]);
    expect(button("/faults/sidecar-down")).toEqual(["{&quot;on&quot;:true}", "Switch on"]);
  });

  it("has endpoints and accounts to copy, in display units, and the newest transactions", async () => {
    const { text } = await textOf({});
    expect(text).toContain('data-copy="http://127.0.0.1:26657"');
    expect(text).toMatch(/title="\d+ untrn">[\d\u202f]+ NTRN</);
    expect(text).toMatch(/UpdateClient, 2 × SubmitQueryResult/);
    expect(text.match(/id="tx-/g)).toHaveLength(5);
    // The votes are no transaction that failed.
    expect(text).not.toContain(upperHex(sha256(VOTES)));
  });
});
