import { expect, it } from "vitest";
import { fromUtf8, utf8 } from "../../../../src/platform/base/bytes.ts";
import { createRateLimitModule } from "../../../../src/localnet/chain/modules/ibc-rate-limit/module.ts";
import { createEchoApplication } from "../../../support/ibc/echo-application.ts";
import { createMemoryWorld } from "../../../support/memory-context.ts";

const END = { portId: "transfer", channelId: "channel-0" };

it("a receiver of 4096 bytes is refused with code 3, also without a contract; one byte less passes", () => {
  const limits = createRateLimitModule(
    { chainName: "neutron", bech32Prefix: "neutron", authority: "" },
    { contracts: { sudo: () => undefined } },
  );
  const application = limits.rateLimitMiddleware(createEchoApplication());
  const receive = (receiver: string): string => {
    const packet = {
      sequence: 1n,
      source: END,
      destination: END,
      data: utf8(JSON.stringify({ receiver })),
      timeout: { height: { revisionNumber: 0n, revisionHeight: 0n }, timestamp: 1n },
      relayer: new Uint8Array(20),
    };
    return fromUtf8(application.onReceive(createMemoryWorld().context(), packet)?.bytes ?? new Uint8Array());
  };
  const refused = '{"error":"ABCI code: 3: error handling packet: see events for details"}';
  expect(receive("x".repeat(4_096))).toBe(refused);
  expect(receive("é".repeat(2_048))).toBe(refused);
  expect(receive("x".repeat(4_095))).toContain("xxx");
});
