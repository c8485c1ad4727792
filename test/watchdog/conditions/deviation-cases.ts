import type { ChainPrice } from "../../../src/watchdog/sources/observation.ts";
import {
  all,
  BTC_USD as BTC,
  type Change,
  failed,
  type Frame,
  notConfigured,
  START_MS,
  up,
  withChain,
  withNode,
  withPrices,
} from "../../support/watchdog/frames.ts";
import type { Cases } from "./cases.ts";

/** The sidecar has this price. */
const ownPrice = (price: bigint | ((atMs: number) => bigint)): Change => {
  return (frame) =>
    withPrices(() => ({
      prices: new Map([["BTC/USD", typeof price === "bigint" ? price : price(frame.observation.atMs)]]),
    }))(frame);
};

/** The chain has this price, of a block that is `ageMs` old. */
function chainPrice(
  price: bigint | ((atMs: number) => bigint),
  ageMs = 2000,
  more?: Partial<ChainPrice>,
): Change {
  return (frame) => {
    const { atMs } = frame.observation;
    const value = typeof price === "bigint" ? price : price(atMs);
    const stored = {
      pair: "BTC/USD",
      height: 1n,
      blockTimeMs: atMs - ageMs,
      price: value,
      decimals: 5,
      ...more,
    };
    return withChain(() => ({ prices: up([stored]) }))(frame);
  };
}

/** The other sidecars have these prices. */
function otherSidecars(...prices: readonly bigint[]): Change {
  return (frame: Frame) => ({
    ...frame,
    peers: prices.map((price, index) => ({
      validator: `other-${index}`,
      node: "node",
      atMs: frame.observation.atMs,
      prices: new Map([["BTC/USD", price]]),
      decimals: new Map(),
    })),
  });
}

const percent = (whole: bigint): bigint => BTC + (BTC * whole) / 100n;

/** A price that rises by a fifth of a percent each second, for a quarter of an hour. */
const moving = (atMs: number): bigint =>
  BTC + (BTC * BigInt(Math.max(0, Math.floor((atMs - START_MS) / 1000)))) / 500n;

/** Cases of the conditions of prices that differ. */
export const DEVIATION_CASES: Readonly<Record<string, Cases>> = {
  "prices-differ-from-chain": {
    fires: all(ownPrice(percent(3n)), chainPrice(BTC)),
    alsoFires: {
      "a price that is too low": all(ownPrice(percent(-3n)), chainPrice(BTC)),
      "a price of another scale": all(ownPrice(BTC), chainPrice(BTC * 10n)),
    },
    quiet: {
      "exactly the limit": all(ownPrice(percent(2n)), chainPrice(BTC)),
      "the same price with more decimals on the chain": all(
        withNode(({ sidecar }) => ({
          sidecar:
            sidecar.state === "up" ? up({ ...sidecar.value, decimals: new Map([["BTC/USD", 5]]) }) : sidecar,
        })),
        ownPrice(BTC),
        chainPrice(BTC * 1000n, 2000, { decimals: 8 }),
      ),
      "a market that moves by 12 percent a minute, with the chain behind it": all(
        ownPrice(moving),
        chainPrice((atMs) => moving(atMs - 12_000), 9000),
      ),
      "a pair that the sidecar does not have": chainPrice(BTC),
    },
    missing: {
      "the chain's prices": all(
        ownPrice(percent(3n)),
        withChain(() => ({ prices: failed("timeout") })),
      ),
      "a chain in the configuration": all(
        ownPrice(percent(3n)),
        withChain(() => ({ prices: notConfigured })),
      ),
      "a fresh price of the chain": all(ownPrice(percent(3n)), chainPrice(BTC, 31_000)),
      "any price of the pair on the chain": all(
        ownPrice(percent(3n)),
        chainPrice(0n, 0, { blockTimeMs: undefined }),
      ),
      "the sidecar's prices": all(
        chainPrice(BTC),
        withNode(() => ({ prices: failed() })),
      ),
      "prices with a value": all(
        ownPrice(percent(3n)),
        chainPrice(BTC),
        withPrices(() => ({ isDerived: true })),
      ),
    },
  },
  "prices-differ-from-sidecars": {
    fires: all(ownPrice(percent(3n)), otherSidecars(BTC, BTC)),
    alsoFires: { "two sidecars": all(ownPrice(percent(3n)), otherSidecars(BTC)) },
    quiet: {
      "exactly the limit": all(ownPrice(percent(2n)), otherSidecars(BTC, BTC)),
      "another sidecar that is wrong": otherSidecars(BTC, percent(50n)),
    },
    missing: {
      "other sidecars": all(ownPrice(percent(3n)), otherSidecars()),
      "a recent price of other sidecars": all(ownPrice(percent(3n)), (frame) => ({
        ...frame,
        peers: frame.peers.map((peer) => ({ ...peer, atMs: peer.atMs - 31_000 })),
      })),
      "the sidecar's prices": withNode(() => ({ prices: failed() })),
    },
  },
};
