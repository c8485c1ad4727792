import { z } from "zod";
import {
  digits,
  errorOf,
  getJson,
  getText,
  postJson,
  type RouteDefinition,
  time,
} from "../../platform/http/route-about.ts";

const address = z.string().regex(/^[0-9A-Fa-f]{40}$/);
const chain = z.strictObject({
  chain_id: z.string(),
  prefix: z.string(),
  height: digits,
  halted: z.boolean(),
  absent: z.array(address),
  validators: z.array(z.strictObject({ address, power: digits })),
});
const times = { time, rate: z.number() };
const snapshot = z.strictObject({ id: z.int(), time, heights: z.record(z.string(), digits) });
const snapshots = z.strictObject({ snapshots: z.array(snapshot) });
const snapshotId = z.object({ id: z.int().min(1) });
const count = z.int().min(1).max(1_000).optional();

const refusals = {
  400: errorOf("an invalid body (`bad-order`)"),
  409: errorOf("the chain rejects the command"),
};

const command = (path: string, summary: string, reply: z.ZodType, body?: z.ZodType): RouteDefinition =>
  postJson(path, summary, reply, { ...(body === undefined ? {} : { body }), replies: refusals });

const chainCommand = (name: string, summary: string, reply: z.ZodType, body?: z.ZodType): RouteDefinition =>
  postJson(`/chains/:chain/${name}`, summary, reply, {
    ...(body === undefined ? {} : { body }),
    replies: { ...refusals, 404: errorOf("no such chain") },
  });

/** Routes for the chains, their clock and their snapshots. */
export const CHAIN_API = {
  chains: getJson(
    "/chains",
    "both chains with their heights and validators",
    z.strictObject({ chains: z.array(chain) }),
  ),
  halt: chainCommand("halt", "stops making blocks", z.strictObject({ halted: z.literal(true) })),
  resume: chainCommand("resume", "makes blocks again", z.strictObject({ halted: z.literal(false) })),
  produce: chainCommand(
    "blocks",
    'makes blocks immediately, even on a halted chain: `{"count": 3}`',
    z.strictObject({ height: digits }),
    z.object({ count }),
  ),
  absent: chainCommand(
    "absent",
    'makes only the given validators stop signing: `{"validators": ["<address, 40 hex digits>"]}`',
    z.strictObject({ absent: z.array(address) }),
    z.object({ validators: z.array(address) }),
  ),
  doubleSign: chainCommand(
    "double-sign",
    'puts evidence of a double sign into the next block: the validator signed the last block twice: `{"validator": "<address>"}`',
    z.strictObject({ accused: address }),
    z.object({ validator: address }),
  ),
  validators: chainCommand(
    "validators",
    'sets the voting power of a test validator, selected by its index (`{"index": 4, "power": "10"}`), or of the validator whose key has the given seed (`{"seed": "<64 hex digits>", "power": "10"}`). Power 0 removes the validator',
    z.strictObject({ address }),
    z.object({ power: digits, index: z.int().optional(), seed: z.string().optional() }),
  ),
  faucet: chainCommand(
    "faucet",
    'sends coins from the `faucet` account: `{"address": "…", "amount": "1000000"}`',
    z.strictObject({ hash: z.string(), amount: z.string() }),
    z.object({ address: z.string(), amount: digits }),
  ),
  time: getJson(
    "/time",
    "the chains' current time, and its rate relative to real time",
    z.strictObject(times),
  ),
  setTime: command(
    "/time",
    'moves the time: `{"add": "21d"}`, `{"set": "2027-01-31T23:59:00Z"}` or `{"rate": 86400}`',
    z.strictObject(times),
    z.object({ add: z.string(), set: time, rate: z.number() }).partial(),
  ),
  mine: command(
    "/blocks",
    'makes blocks on both chains, and moves the time forward by the interval before each block: `{"count": 3, "interval": "6s"}`',
    z.strictObject({ ...times, chains: z.array(chain) }),
    z.object({ count, interval: z.string().optional() }),
  ),
  snapshots: getJson("/snapshots", "all snapshots", snapshots),
  takeSnapshot: command("/snapshots", "takes a snapshot of both chains at their last blocks", snapshot),
  revert: command("/snapshots/revert", 'reverts to a snapshot: `{"id": 1}`', snapshot, snapshotId),
  removeSnapshot: command("/snapshots/remove", 'removes a snapshot: `{"id": 1}`', snapshots, snapshotId),
};

export const LOCALNET_METRICS_ROUTE = getText(
  "/metrics",
  "[metrics](metrics.md#ibc-relayer-and-traffic-of-a-localnet) of the IBC relayer and the simulated traffic",
);
